"""What programs and other documents expect of the handouts."""

import re
import unittest

from workbook.core.course import ROOT, labs, steps
from workbook.reporting import compose
from workbook.reporting.page import to_sheet
from workbook.verbs.hint import hints_of


def handout(lab: str) -> str:
    """The text that students begin with."""
    return (ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8")


def pages(lab: str) -> str:
    """The handout of a lab and the reference beside it."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "labs" / lab).glob("*.md")))


class Handouts(unittest.TestCase):
    """All labs."""

    def test_hints(self) -> None:
        """`hint` has some for each step."""
        for lab in labs():
            for step in steps(lab):
                self.assertTrue(hints_of(pages(lab), step.number), f"{lab} {step.number}")

    def test_reports(self) -> None:
        """`report` finds the title, the questions and the number of faults."""
        for lab in labs():
            self.assertRegex(compose.lab_title(lab), rf"^Lab {lab[:2]}: \w")
            numbers = [question.number for question in compose.questions_of(lab)]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)), lab)
            self.assertGreater(len(numbers), 5, lab)
            self.assertIn("| 1 | | | |", compose.unanswered(lab), lab)

    def test_core_questions(self) -> None:
        """Five, right after the number of the question."""
        for lab in labs():
            self.assertEqual(sum(question.core for question in compose.questions_of(lab)), 5, lab)
            self.assertEqual(handout(lab).count("**(core)**"), 5, lab)

    def test_predictions(self) -> None:
        """Each step after the first win asks for some, with numbers, which the sheet to print has."""
        for lab in labs():
            asked = dict(compose.predictions_of(lab))
            wanted = {step.number for step in steps(lab)} - ({0} if lab.startswith("01") else set())
            self.assertEqual({int(heading[len("Step ") :].partition(":")[0]) for heading in asked}, wanted, lab)
            page = to_sheet(compose.sheet_of_predictions(lab), "Predictions")
            items = sum(len(re.findall(r"(?m)^\d+\. ", text)) for text in asked.values())
            self.assertGreaterEqual(items, 2 * len(asked), lab)
            self.assertEqual(page.count('class="room"'), items, lab)

    def test_the_glossary_names_labs_that_use_its_words(self) -> None:
        glossary = (ROOT / "labs/README.md").read_text(encoding="utf-8").split("\n## Glossary\n")[1]
        rows = re.findall(r"(?m)^\| \*\*([^*(]+?)(?: \(\w+\))?\*\* \|.*\| (\d\d) \|$", glossary)
        self.assertEqual(len(rows), glossary.count("\n| **"))
        self.assertEqual([word for word, _ in rows], sorted((word for word, _ in rows), key=str.lower))
        texts = {lab[:2]: " ".join(pages(lab).lower().split()) for lab in labs()}
        self.assertEqual([row for row in rows if row[0].lower() not in texts[row[1]]], [])


if __name__ == "__main__":
    unittest.main()

"""Which answers of a report are empty, how they are marked, and predictions next to what was measured."""

from __future__ import annotations

import re
import unittest

from report_data import LAB

from workbook.reporting import compose, page
from workbook.reporting.tables import pipe

HEADINGS = ["what", "predicted", "measured"]
PARTS = {
    "statement": "the task",
    "program": "p",
    "n": "| a | b |\n|---|---:|\n| 1 | 2 |",
    "predictions": pipe(HEADINGS, [["02 shared, launches", "", "3"], ["02 shared, bytes per key", "", "8"]]),
}


class Answers(unittest.TestCase):
    """The answers of a report that was just made, and of one with words."""

    def setUp(self) -> None:
        self.text = compose.compose(LAB, "Lab", PARTS, None)

    def empty(self, text: str) -> list[tuple[str, int]]:
        return [(answer.section, answer.question) for answer in compose.answers(text, LAB) if answer.empty]

    def written(self, after: str, words: str) -> list[tuple[str, int]]:
        """The answers that are no longer empty when these words follow."""
        self.assertIn(after, self.text)
        mine = self.text.replace(after, after + words, 1)
        return sorted(set(self.empty(self.text)) - set(self.empty(mine)))

    def test_all_are_empty_at_first(self) -> None:
        found = compose.answers(self.text, LAB)
        self.assertTrue(all(answer.empty for answer in found))
        questions = len(compose.questions_of(LAB))
        self.assertGreater(questions, 5)
        self.assertEqual(sum(answer.section == compose.QUESTIONS for answer in found), questions)
        for section in ("Statement", "Method", compose.PREDICTIONS, "Program", "Bug hunt", "Conclusions"):
            self.assertIn((section, 0), self.empty(self.text))
        self.assertNotIn("Hardware and software", {answer.section for answer in found})  # it asks nothing

    def test_words_anywhere_in_a_section_are_an_answer(self) -> None:
        self.assertEqual(self.written("What would you do next?*", "\n\nI would sleep."), [("Conclusions", 0)])
        self.assertEqual(self.written("## Conclusions\n", "\nI would sleep.\n"), [("Conclusions", 0)])
        self.assertEqual(self.written("## Conclusions\n", "\n```\n# not a heading\n```\n"), [("Conclusions", 0)])
        self.assertEqual(self.written("What would you do next?*", "\n\n<!-- later -->"), [])
        prompt = re.search(r"(?s)## Conclusions\n\n(\*.*?\*)\n", self.text)
        assert prompt
        self.assertNotIn(("Conclusions", 0), self.empty(self.text.replace(prompt[1], "I replaced it.")))
        self.assertIn(("Conclusions", 0), self.empty(self.text.replace(prompt[1], "")))

    def test_questions(self) -> None:
        for words in (" It is 32.", "\nIt is 32.", "\n\nIt is 32."):
            self.assertEqual(self.written("*Your answer:*", words), [(compose.QUESTIONS, 1)])
        number, words = compose.questions_of(LAB)[1]
        self.assertEqual(self.written(f"**{number}.** {words}", " It is 32."), [(compose.QUESTIONS, 2)])
        self.assertEqual(self.written(f"**{number}.** {words}", "\n\nIt is 32."), [(compose.QUESTIONS, 2)])

    def test_the_bug_hunt_has_a_line_for_each_fault(self) -> None:
        self.assertEqual(len(re.findall(r"(?m)^\| \d \| \| \| \|$", self.text)), 4)
        self.assertEqual(self.written("\n| 2 |", " line 30"), [("Bug hunt", 0)])

    def test_a_section_that_was_deleted_asks_nothing(self) -> None:
        at = self.text.index("## Conclusions")
        self.assertNotIn(("Conclusions", 0), self.empty(self.text[:at]))

    def test_they_are_counted_and_marked(self) -> None:
        found = compose.answers(self.text, LAB)
        words = compose.summary(found)
        self.assertTrue(words.startswith(f"{len(found)} of {len(found)} answers are empty: Statement; Method; "))
        self.assertIn(f"questions 1 to {len(compose.questions_of(LAB))}", words)
        self.assertEqual(compose.numbers_in_words([1, 2, 3, 5, 7, 8]), "1 to 3, 5, 7, 8")
        html = page.to_page(compose.marked(self.text, LAB), "T", page.TEMPLATES, [])
        self.assertEqual(html.count("<mark>No answer yet</mark>"), len(found))
        self.assertIn(f"<mark>{len(found)} of {len(found)} answers are empty</mark>", html)
        for target in re.findall(r'href="#([\w-]+)"', html):
            self.assertIn(f'id="{target}"', html)
        done = self.text
        for answer in reversed(found):
            done = done[: answer.at] + "\nMy words.\n\n" + done[answer.at :]
        self.assertEqual(self.empty(done), [])
        self.assertEqual((compose.summary(compose.answers(done, LAB)), compose.marked(done, LAB)), ("", done))


class Predictions(unittest.TestCase):
    """One column of a table that is made belongs to the student."""

    def test_predictions_stay_next_to_new_numbers(self) -> None:
        text = compose.compose(LAB, "Lab", PARTS, None)
        mine = text.replace("| 02 shared, launches |  | 3 |", "| 02 shared, launches | about 5 | 3 |")
        self.assertNotEqual(text, mine)
        new = pipe(HEADINGS, [["02 shared, bytes per key", "", "9"], ["02 shared, launches", "", "4"]])
        again = compose.compose(LAB, "Lab", {**PARTS, "predictions": new}, mine)
        self.assertIn("| 02 shared, launches | about 5 | 4 |", again)
        self.assertIn("| 02 shared, bytes per key |  | 9 |", again)
        self.assertEqual(again.count("about 5"), 1)
        empty = [answer.section for answer in compose.answers(again, LAB) if answer.empty]
        self.assertNotIn(compose.PREDICTIONS, empty)


if __name__ == "__main__":
    unittest.main()

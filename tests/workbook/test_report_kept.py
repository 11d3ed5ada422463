"""report.md: what the student writes is kept, and answers that are empty are counted and marked."""

import argparse
import contextlib
import io
import re
import unittest
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from in_folder import InFolder
from report_data import LAB, MANY, lab_of, report_of, row

from workbook.core.console import Problem, Usage
from workbook.reporting import compose, page, place
from workbook.reporting.context import Context
from workbook.reporting.tables import pipe
from workbook.verbs import report

PARTS = {
    "statement": "the task",
    "machine": pipe(["what", "value"], [["GPU", "none"]], 2),
    "program": "p",
    "results": "r",
    "n": "| a | b |\n|---|---:|\n| 1 | 2 |",
}


class Kept(InFolder):
    """report.md, written again and again."""

    def setUp(self) -> None:
        super().setUp()
        self.first = compose.compose(LAB, "Lab", PARTS, None)

    def test_all_parts_and_no_others(self) -> None:
        for heading in (
            "# Report: Lab",
            "## Statement",
            "## Hardware and software",
            "## Method",
            "### Questions of the handout",
            "## Results",
            "### Time and speed against n",
            "## Conclusions",
        ):
            self.assertIn(f"\n{heading}\n", "\n" + self.first)
        self.assertNotIn("### Speed against the value range", self.first)
        self.assertGreater(self.first.count("*Your answer:*"), 1)

    def test_words_stay_and_results_are_new(self) -> None:
        mine = self.first.replace("Your name, your group, the date", "Ada L.").replace(
            "## Conclusions", "## Conclusions\n\nIt *is* fast.\n\n## Thanks\n\nTo all."
        )
        again = compose.compose(LAB, "Lab", {**PARTS, "n": "new numbers"}, mine)
        for words in ("Ada L.", "It *is* fast.", "## Thanks", "new numbers"):
            self.assertIn(words, again)
        self.assertNotIn("| 1 | 2 |", again)
        self.assertEqual(compose.compose(LAB, "Lab", {**PARTS, "n": "new numbers"}, again), again)

    def test_a_section_that_was_deleted_stays_away_and_a_new_one_comes(self) -> None:
        at, end = self.first.index("### Time and speed"), self.first.index("## Conclusions")
        mine = self.first[:at] + self.first[end:]
        again = compose.compose(LAB, "Lab", {**PARTS, "machines": "two"}, mine)
        self.assertNotIn("### Time and speed", again)
        self.assertLess(again.index("### Several machines"), again.index("## Conclusions"))
        self.assertEqual(again.count("### Several machines"), 1)

    def test_it_names_its_lab(self) -> None:
        self.assertEqual(compose.lab_of(self.first), LAB)
        self.assertIsNone(compose.lab_of("# Mine"))

    def test_a_missing_comment_is_named_and_nothing_changes(self) -> None:
        with self.assertRaisesRegex(Problem, "end of made --> is missing"):
            compose.compose(LAB, "Lab", PARTS, self.first.replace("<!-- end of made -->", "", 1))

    def test_what_was_changed_by_hand_is_not_overwritten(self) -> None:
        path = self.folder / "report.tex"
        remarks: list[str] = []

        def write(content: str) -> str:
            return place.write_signed(path, content, "% made of report.md: {}", remarks).name

        self.assertEqual([write("one\n"), write("two\n")], ["report.tex"] * 2)
        path.write_text(path.read_text().replace("two", "mine"))
        self.assertEqual(remarks, [])
        self.assertEqual([write("three\n"), write("four\n")], ["report-new.tex"] * 2)
        new = self.folder / "report-new.tex"
        new.write_text(new.read_text().replace("four", "mine too"))
        self.assertEqual([write("five\n"), write("six\n")], ["report-new-2.tex"] * 2)
        self.assertTrue(path.read_text().startswith("mine"))
        self.assertTrue(new.read_text().startswith("mine too"))
        self.assertIn("because you have changed report.tex and report-new.tex by hand", remarks[-1])

    def test_words_that_cannot_be_kept_are_refused(self) -> None:
        path = self.folder / "report.md"
        self.assertIsNone(compose.written_in(path, LAB))
        path.write_text(" \n")
        self.assertIsNone(compose.written_in(path, LAB))
        path.write_bytes("# \u00fcber".encode("latin1"))
        with self.assertRaisesRegex(Problem, "is not UTF-8"):
            compose.written_in(path, LAB)
        path.write_text(self.first.replace("<!-- end of made -->", "", 1))
        with self.assertRaisesRegex(Problem, "is missing"):
            compose.written_in(path, LAB)
        path.write_text(self.first)
        self.assertEqual(compose.written_in(path, LAB), self.first)
        with self.assertRaisesRegex(Usage, f"holds the report on {LAB}"):
            compose.written_in(path, "05-radix")

    def run_report(self, meanwhile: Callable[[], object], *options: str) -> str:
        """A report during whose measurements `meanwhile` happens. Returns what was printed."""
        parser = argparse.ArgumentParser()
        report.add_arguments(parser)

        def measured(*_: object) -> Context:
            meanwhile()
            return report_of([row()], self.folder, steps=lab_of(MANY).steps)

        printed = io.StringIO()
        with (
            mock.patch.multiple(
                report, prepare=lambda *_: ("cpu", Path()), measured=measured, JudgeClient=mock.MagicMock()
            ),
            mock.patch.object(report, "note", lambda _: None),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            report.main(parser.parse_args([LAB, "--out", str(self.folder), *options]))
        return printed.getvalue()

    def test_what_is_written_while_it_measures_stays(self) -> None:
        path = self.folder / "report.md"
        self.run_report(lambda: None)
        self.run_report(lambda: path.write_text(path.read_text().replace("Your name", "Ada \u0416.")))
        self.assertIn("Ada \u0416.", path.read_text())
        broken = path.read_text().replace("<!-- end of made -->", "", 1)
        with self.assertRaisesRegex(Problem, "is missing"):
            self.run_report(lambda: path.write_text(broken))
        self.assertEqual(path.read_text(), broken)

    def test_all_questions(self) -> None:
        printed = self.run_report(lambda: None)
        questions = compose.questions_of(LAB)
        more = sum(not question.core for question in questions)
        self.assertEqual(f"the handout has {more} more question" in printed, bool(more))
        self.assertNotIn("more question", self.run_report(lambda: None, "--all-questions"))
        text = (self.folder / "report.md").read_text()
        self.assertEqual(len(re.findall(r"(?m)^\*\*\d+\.\*\*", text)), len(questions))

    def test_missing_letters_and_pictures_are_reported(self) -> None:
        path = self.folder / "report.md"
        self.assertIn("pdflatex report.tex", self.run_report(lambda: None))
        path.write_text(path.read_text().replace("Your name", "\u0416\n\n![mine](plots/mine.png)\n\n"))
        printed = self.run_report(lambda: None)
        for words in ("lualatex report.tex", "no glyphs for \u0416", "the picture plots/mine.png is not in"):
            self.assertIn(words, printed)


HEADINGS = ["what", "predicted", "measured"]
WITH_PREDICTIONS = {
    "statement": "the task",
    "program": "p",
    "n": "| a | b |\n|---|---:|\n| 1 | 2 |",
    "predictions": pipe(HEADINGS, [["02 shared, launches", "", "3"], ["02 shared, bytes moved per key", "", "8"]]),
}


class Answers(unittest.TestCase):
    """The answers of a report that was just made, and of one with words."""

    def setUp(self) -> None:
        self.text = compose.compose(LAB, "Lab", WITH_PREDICTIONS, None)
        self.core = [question.number for question in compose.questions_of(LAB) if question.core]

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
        self.assertEqual([answer.question for answer in found if answer.section == compose.QUESTIONS], self.core)
        for section in ("Statement", "Method", compose.PREDICTIONS, "Program", "Bug hunt", "Conclusions"):
            self.assertIn((section, 0), self.empty(self.text))
        self.assertNotIn("Hardware and software", {answer.section for answer in found})  # it asks nothing

    def test_words_anywhere_in_a_section_are_an_answer(self) -> None:
        self.assertEqual(self.written("What would you do next?*", "\n\nI would sleep."), [("Conclusions", 0)])
        self.assertEqual(self.written("## Conclusions\n", "\nI would sleep.\n"), [("Conclusions", 0)])
        self.assertEqual(self.written("## Conclusions\n", "\n### Sleep\n\nI would.\n"), [("Conclusions", 0)])
        self.assertEqual(self.written("## Conclusions\n", "\n```\n# not a heading\n```\n"), [("Conclusions", 0)])
        self.assertEqual(self.written("What would you do next?*", "\n\n<!-- later -->"), [])
        prompt = re.search(r"(?s)## Conclusions\n\n(\*.*?\*)\n", self.text)
        assert prompt
        self.assertNotIn(("Conclusions", 0), self.empty(self.text.replace(prompt[1], "I replaced it.")))
        self.assertIn(("Conclusions", 0), self.empty(self.text.replace(prompt[1], "")))

    def test_questions(self) -> None:
        for words in (" It is 32.", "\nIt is 32.", "\n\nIt is 32."):
            self.assertEqual(self.written("*Your answer:*", words), [(compose.QUESTIONS, self.core[0])])
        second = next(question for question in compose.questions_of(LAB) if question.number == self.core[1])
        for words in (" It is 32.", "\n\nIt is 32."):
            written = self.written(f"**{second.number}.** {second.words}", words)
            self.assertEqual(written, [(compose.QUESTIONS, second.number)])

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
        self.assertIn(f"questions {compose.numbers_in_words(self.core)}", words)
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


HANDOUT = """# Lab

## Questions

1. **(core)** One, which is
   long?
2. Two?
3. **(core)**
   Three?
4. Four?
"""


class CoreQuestions(unittest.TestCase):
    """Of a handout that marks core questions, a report asks these unless told otherwise."""

    def setUp(self) -> None:
        patch = mock.patch.object(compose, "text_of", return_value=HANDOUT)
        self.handout = patch.start()
        self.addCleanup(patch.stop)
        self.text = compose.compose(LAB, "Lab", PARTS, None)

    def asked(self, text: str) -> list[int]:
        return [answer.question for answer in compose.answers(text, LAB) if answer.section == compose.QUESTIONS]

    def test_they_are_asked_and_counted(self) -> None:
        self.assertEqual(self.asked(self.text), [1, 3])
        self.assertIn("\n**1.** One, which is long?\n", self.text)
        self.assertNotIn("(core)", self.text)
        self.assertIn("; questions 1, 3; ", compose.summary(compose.answers(self.text, LAB)))
        self.assertEqual(compose.missing(self.text, LAB), 2)

    def test_a_handout_without_marks_has_all_asked(self) -> None:
        self.handout.return_value = HANDOUT.replace("**(core)**", "")
        self.assertEqual(self.asked(compose.compose(LAB, "Lab", PARTS, None)), [1, 2, 3, 4])

    def test_the_others_are_added_in_their_places(self) -> None:
        mine = self.text.replace(
            "**3.** Three?\n\n*Your answer:*", "**3.** Three?\n\nMine.\n\n#### And a heading\n\nMore."
        )
        every = compose.with_all_questions(mine, LAB)
        self.assertEqual(re.findall(r"(?m)^\*\*(\d)\.\*\*", every), ["1", "2", "3", "4"])
        self.assertEqual(compose.missing(every, LAB), 0)
        self.assertLess(every.index("More."), every.index("**4.**"))
        for added in ("**2.** Two?", "**4.** Four?"):
            every = every.replace(f"{added}\n\n*Your answer:*\n\n", "")
        self.assertEqual(every, mine)
        every = compose.with_all_questions(mine, LAB)
        self.assertEqual(compose.with_all_questions(every, LAB), every)
        self.assertEqual(compose.compose(LAB, "Lab", PARTS, every), every)  # they stay without the option

    def test_a_section_that_was_deleted_comes_back_if_all_are_wanted(self) -> None:
        at, end = (self.text.index(heading) for heading in (f"### {compose.QUESTIONS}", "## Program"))
        every = compose.with_all_questions(self.text[:at] + self.text[end:], LAB)
        self.assertEqual(self.asked(every), [1, 2, 3, 4])
        self.assertLess(every.index("**4.**"), every.index("## Program"))


class Predictions(unittest.TestCase):
    """One column of a table that is made belongs to the student."""

    def test_predictions_stay_next_to_new_numbers(self) -> None:
        text = compose.compose(LAB, "Lab", WITH_PREDICTIONS, None)
        mine = text.replace("| 02 shared, launches |  | 3 |", "| 02 shared, launches | about 5 | 3 |")
        self.assertNotEqual(text, mine)
        new = pipe(HEADINGS, [["02 shared, bytes moved per key", "", "9"], ["02 shared, launches", "", "4"]])
        again = compose.compose(LAB, "Lab", {**WITH_PREDICTIONS, "predictions": new}, mine)
        self.assertIn("| 02 shared, launches | about 5 | 4 |", again)
        self.assertIn("| 02 shared, bytes moved per key |  | 9 |", again)
        self.assertEqual(again.count("about 5"), 1)
        empty = [answer.section for answer in compose.answers(again, LAB) if answer.empty]
        self.assertNotIn(compose.PREDICTIONS, empty)

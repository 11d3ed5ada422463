"""The rubric: what the file means, and how names that do not exist are refused."""

from __future__ import annotations

import unittest
from pathlib import Path

from workbook.core import course
from workbook.core.console import Usage
from workbook.core.judge_types import Affordable, Budget, Lab, Step
from workbook.grading import rubric
from workbook.grading.class_run import RUBRIC

FILE = Path("my.toml")


def line(number: int, budget: Budget | None) -> Step:
    """A line of a lab's table."""
    affordable = Affordable(1, 1, 1)
    return Step(number, "x", f"{number:02}_x.cu", "", "sort", False, 0, None, None, ("u32",), budget, affordable)


BUDGETED = Lab("03-bitonic", "u32", None, (line(1, Budget(n=1024, bytes=8)), line(2, None)))


def setUpModule() -> None:
    """Skips all tests where nothing reads TOML."""
    if not rubric.reader_of_toml():
        raise unittest.SkipTest("this Python cannot read TOML")


class Values(unittest.TestCase):
    """What a rubric says."""

    def test_the_rubric_of_the_workbook(self) -> None:
        marks = rubric.read(RUBRIC)
        for lab in course.labs():
            self.assertGreater(marks.points(lab, None, "report"), 0)
            for step in course.steps(lab):
                self.assertGreater(marks.points(lab, step.number, "correct"), 0)
        self.assertEqual(marks.points("05-radix", 0, "speed"), 0)

    def test_single_steps_and_labs(self) -> None:
        text = "[step]\ncorrect = 4\ncheck = 1\n[lab]\nreport = 2\n[labs.03-bitonic]\nreport = 7\n"
        for name in ("02", "2", "shared", "02_shared"):
            marks = rubric.parse(f'{text}[labs.03-bitonic.steps."{name}"]\ncorrect = 9.5\n', FILE)
            self.assertEqual(marks.points("03-bitonic", 2, "correct"), 9.5)
            self.assertEqual(marks.points("03-bitonic", 2, "check"), 1)
            self.assertEqual(marks.points("03-bitonic", 1, "correct"), 4)
            self.assertEqual(marks.points("03-bitonic", 1, "speed"), 0)
            self.assertEqual(marks.points("03-bitonic", None, "report"), 7)
            self.assertEqual(marks.points("01-odd-even", None, "report"), 2)

    def test_speed(self) -> None:
        speed = rubric.Speed(none=0.2, full=1.0, levels=4, band=0.1)  # the levels need 0.4, 0.6, 0.8 and 1.0
        for ratio, share in (
            (0, 0),
            (0.35, 0),
            (0.37, 0.25),
            (0.4, 0.25),
            (0.55, 0.5),
            (0.89, 0.75),
            (0.91, 1),
            (9, 1),
        ):
            with self.subTest(ratio=ratio):
                self.assertEqual(speed.share(ratio), share)


class Refused(unittest.TestCase):
    """What does not exist is refused, with the line that names it."""

    def refused(self, text: str, *words: str) -> None:
        """Parses a text, whose error must have these words."""
        with self.assertRaises(Usage) as caught:
            rubric.parse(text, FILE)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_names(self) -> None:
        self.refused(
            "[step]\ncorrekt = 3\n", "my.toml:2", "no criterion 'correkt' (did you mean correct?)", "correkt = 3"
        )
        self.refused("\n[labs.07-foo]\nreport = 1\n", "my.toml:2", "no lab '07-foo'", "03-bitonic", "[labs.07-foo]")
        self.refused(
            "[labs.03-bitonic.steps.09]\ncorrect = 1\n", "my.toml:1", "no step of 03-bitonic '09'", "01, 02, 03"
        )
        self.refused("[labs.03-bitonic.steps.02]\nsped = 1\n", "my.toml:2", "no criterion of step 02 'sped'")
        self.refused("[labs.03-bitonic]\ncorrect = 1\n", "my.toml:2", "no criterion of 03-bitonic 'correct'")
        self.refused("[lab]\ncorrect = 1\n", "my.toml:2", "choose one of: report")
        self.refused("[penalties]\nlate = 1\n", "my.toml:1", "no table 'penalties'")
        self.refused("[speed]\nfast = 1\n", "my.toml:2", "no setting 'fast'")

    def test_values(self) -> None:
        for value in ("-1", "true", '"3"', "nan", "inf", "[1]"):
            self.refused(f"[step]\ncorrect = {value}\n", "my.toml:2", "correct must be a number from 0 on")
        self.refused("[correct]\nleast_share = 2\n", "my.toml:2", "a number from 0 to 1")
        self.refused('[speed]\nbuild = "gpu"\n', "my.toml:2", "build must be one of: cuda, cpu")
        self.refused("[speed]\nnone = 0.9\nfull = 0.5\n", "my.toml:3", "full must be greater than none")
        self.refused("[speed]\nlevels = 0\n", "my.toml:2", "levels must be a number from 1 on")
        self.refused("[speed]\nband = 1\n", "my.toml:2", "band must be less than 1")
        self.refused("step = 3\n", "my.toml:1", "step must be a table")
        self.refused("labs = []\n", "labs must be a table")

    def test_no_toml(self) -> None:
        self.refused("[step\n", "my.toml is not TOML", "line 1")
        with self.assertRaisesRegex(Usage, "cannot be read: No such file"):
            rubric.read(Path("/no/such/rubric.toml"))

    def test_budgets_of_a_step_that_has_none(self) -> None:
        marks = rubric.parse("[step]\nbudgets = 1\n", FILE)
        tables = [BUDGETED]
        marks.require_budgets(tables, FILE)
        marks = rubric.parse("[labs.03-bitonic.steps.02]\nbudgets = 1\n", FILE)
        with self.assertRaisesRegex(Usage, "step 02 of 03-bitonic has no budgets"):
            marks.require_budgets(tables, FILE)
        rubric.parse("[labs.03-bitonic.steps.01]\nbudgets = 1\n", FILE).require_budgets(tables, FILE)
        rubric.parse("[labs.03-bitonic.steps.02]\nbudgets = 0\n", FILE).require_budgets(tables, FILE)


if __name__ == "__main__":
    unittest.main()

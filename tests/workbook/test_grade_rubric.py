"""The rubric: what the file means, and which names are refused; and what the speed of a step is compared with."""

from __future__ import annotations

import unittest
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

from report_data import step

from workbook.core import course
from workbook.core.console import Usage
from workbook.core.judge_types import Affordable, Budget, Lab, Measurement, RunnerInfo, Step
from workbook.grading import judging, programs, rubric, unpack
from workbook.grading.class_run import RUBRIC

FILE = Path("my.toml")


BUDGETED = Lab("03-bitonic", "u32", None, (step(1, budget=Budget(n=1024, bytes=8)), step(2)))


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
            for known in course.steps(lab):
                self.assertGreater(marks.points(lab, known.number, "correct"), 0)
        for lab in ("01-odd-even", "05-radix"):
            self.assertEqual(marks.points(lab, 0, "speed"), 0)

    def test_what_a_rubric_leaves_out_is_as_in_that_of_the_workbook(self) -> None:
        """All but the points: a rubric without [correct], for instance, does not give points for less."""
        ours, empty = rubric.read(RUBRIC), rubric.parse("", FILE)
        for name in ("least_share", "unchecked_launch", "least_words", "speed", "whole"):
            if name != "whole":
                self.assertEqual(getattr(ours, name), getattr(empty, name), name)
        self.assertEqual((ours.whole.late, ours.whole.drop_lowest), (empty.whole.late, empty.whole.drop_lowest))

    def test_what_students_read_about_the_points(self) -> None:
        """The page has the numbers of the workbook's rubric, and of the programs that it is about."""
        ours = rubric.read(RUBRIC)
        page = " ".join((course.ROOT / "solutions/release/HANDING_IN.md").read_text(encoding="utf-8").split())
        usual = "03-bitonic", 2
        for name in (*rubric.STEP_CRITERIA, *rubric.LAB_CRITERIA):
            step_ = usual[1] if name in rubric.STEP_CRITERIA else None
            self.assertIn(f"| {name} | {ours.points(usual[0], step_, name):g} |", page)
        for words in (
            f"below {ours.least_share:.0%}".replace("%", " %"),
            f"at least {ours.least_words} words",
            f"costs {ours.unchecked_launch:g} point of `check`",
            f"larger than {unpack.MOST_TEXT >> 20} MiB",
        ):
            self.assertIn(words, page)
        self.assertEqual(programs.COMPILE_SECONDS, 60)  # "more than a minute"

    def test_a_lesser_fault_costs_one_point(self) -> None:
        self.assertEqual(rubric.read(RUBRIC).unchecked_launch, 1)
        self.assertEqual(rubric.parse("[check]\nunchecked_launch = 0.5\n", FILE).unchecked_launch, 0.5)

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

    def test_without_points_they_are_the_workbooks(self) -> None:
        """A deadline or the points of one step do not take all other points away."""
        ours = rubric.read(RUBRIC)
        late = rubric.parse("[late]\ndue = 2026-11-20\nper_day = 0.1\n", FILE)
        self.assertEqual((late.steps, late.labs), (ours.steps, ours.labs))
        one = rubric.parse("[labs.01-odd-even.steps.exchange]\ncorrect = 3\n", FILE)
        self.assertEqual(one.steps["01-odd-even", 0], {**ours.steps["01-odd-even", 0], "correct": 3})
        self.assertEqual(one.steps["03-bitonic", 2], ours.steps["03-bitonic", 2])
        none = rubric.parse("[step]", FILE)  # of a case that is run again
        self.assertEqual({most for points in none.steps.values() for most in points.values()}, {0})

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
        self.refused("[check]\nunchecked_launch = -1\n", "my.toml:2", "a number from 0 on")
        self.refused("[check]\nunchecked = 1\n", "my.toml:2", "no setting 'unchecked'")
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

    def test_no_points_at_all(self) -> None:
        """Every grade would be 0 of 0."""
        labs = ("03-bitonic",)
        for text, builds in (
            ("[step]\nspeed = 2\n", ("cpu", "check")),
            ("[lab]\nreport = 0\n", ("cpu", "check", "cuda")),
            (
                "[step]\n[labs.03-bitonic.steps.02]\ncorrect = 1\nextra = true\n",
                ("cpu", "check"),
            ),
        ):
            with (
                self.subTest(text=text),
                self.assertRaisesRegex(Usage, "must name every criterion that is to be judged"),
            ):
                rubric.parse(text, FILE).require_points(labs, builds, FILE)
        rubric.parse("[step]\nspeed = 2\n", FILE).require_points(labs, ("cpu", "check", "cuda"), FILE)
        rubric.read(RUBRIC).require_points(labs, ("cpu", "check"), FILE)

    def test_budgets_of_a_step_that_has_none(self) -> None:
        marks = rubric.parse("[step]\nbudgets = 1\n", FILE)
        tables = [BUDGETED]
        marks.require_budgets(tables, FILE)
        marks = rubric.parse("[labs.03-bitonic.steps.02]\nbudgets = 1\n", FILE)
        with self.assertRaisesRegex(Usage, "step 02 of 03-bitonic has no budgets"):
            marks.require_budgets(tables, FILE)
        rubric.parse("[labs.03-bitonic.steps.01]\nbudgets = 1\n", FILE).require_budgets(tables, FILE)
        rubric.parse("[labs.03-bitonic.steps.02]\nbudgets = 0\n", FILE).require_budgets(tables, FILE)


ON_DEVICE = Step(
    1, "x", "01_x.cu", "", "sort", False, 0, None, None, ("u32",), None, Affordable(1000, 1000, 1 << 24)
)  # fmt: skip
ON_HOST = replace(ON_DEVICE, number=2, memory="host", min_device_bytes=1 << 18)
BEYOND = "06-beyond-memory"
GOLD = (replace(ON_DEVICE, number=11), replace(ON_HOST, number=16))


def judge_of(gold: Sequence[Step] = (), *measurements: Measurement) -> mock.Mock:
    """A judge whose runner has these steps, and which measures this."""
    info = RunnerInfo("a GPU", "id", True, 4e12, (), tuple(gold))
    return mock.Mock(runner=mock.Mock(return_value=info), measure=mock.Mock(side_effect=measurements))


class Cases(unittest.TestCase):
    """What is timed."""

    def test_little_memory_for_keys_on_the_host(self) -> None:
        """A step that sorts data larger than the device's memory has several pieces to sort."""
        table = Lab(BEYOND, "u32", None, (ON_DEVICE, ON_HOST))
        marks = rubric.Speed(keys=1 << 24)
        case = judging.case_of(table, ON_HOST, marks, 7)
        self.assertGreater(4 * case.n, 3 * case.memory)
        self.assertEqual(judging.case_of(table, ON_DEVICE, marks, 7).memory, 0)
        few = judging.case_of(table, ON_HOST, rubric.Speed(keys=1000), 7)
        self.assertEqual(few.memory, ON_HOST.min_device_bytes)


class Rivals(unittest.TestCase):
    """What steps are compared with."""

    def test_where_the_keys_are(self) -> None:
        """Keys on the host are not compared with a sort of keys that are on the device already."""
        self.assertIs(judging.rival_in(GOLD, ON_DEVICE, "u32"), GOLD[0])
        self.assertIs(judging.rival_in(GOLD, ON_HOST, "u32"), GOLD[1])
        self.assertIsNone(judging.rival_in(GOLD, replace(ON_DEVICE, tile=128), "u32"))
        self.assertIsNone(judging.rival_in(GOLD, ON_HOST, "u64"))

    def test_a_step_without_a_rival(self) -> None:
        """That is said once, before anything is graded."""
        tables = [Lab(BEYOND, "u32", None, (ON_DEVICE, replace(ON_HOST, tile=128)))]
        text = '[step]\nspeed = 1\n[speed]\nagainst = "gold"\n'
        with self.assertRaisesRegex(Usage, r"my.toml: .* step 02 of 06-beyond-memory .* speed = 0"):
            judging.require_rivals(tables, rubric.parse(text, FILE), judge_of(GOLD), FILE)
        without = rubric.parse(f"{text}[labs.{BEYOND}.steps.02]\nspeed = 0\n", FILE)
        judging.require_rivals(tables, without, judge_of(GOLD), FILE)
        judging.require_rivals(tables, rubric.parse("[step]\nspeed = 1\n", FILE), judge_of(), FILE)


class Points(unittest.TestCase):
    """What becomes of the measurements of the rival and of the step."""

    def criterion(
        self, rival: Sequence[Measurement], own: Sequence[Measurement], against: str = "reference"
    ) -> tuple[float | None, str]:
        """The points, of 4, and the words."""
        self.trusted, judge = judge_of(GOLD, *rival), judge_of((), *own)
        marks = rubric.Speed(against=against, none=0, full=1, levels=4)
        raced = judging.Race(self.trusted, judge, marks).run(Lab(BEYOND, "u32", None, (ON_HOST,)), 2, Path("runner"), 7)
        found = judging.speed(BEYOND, 2, raced, marks, 4)
        return found.points, found.words

    def test_the_median_of_the_ratios(self) -> None:
        rival = [Measurement("verified", median_ms=milliseconds) for milliseconds in (5, 9, 2)]
        points, words = self.criterion(rival, [Measurement("verified", median_ms=10)] * 3)
        self.assertEqual(points, 2)
        self.assertIn("0.50 times as fast as the reference solution", words)

    def test_the_gold_standard_may_use_all_memory(self) -> None:
        measured = [Measurement("verified", median_ms=1)] * 3
        points, words = self.criterion(measured, measured, "gold")
        self.assertEqual(points, 4)
        self.assertIn("1.00 times as fast as the gold standard", words)
        case = self.trusted.measure.call_args[0][1]
        self.assertEqual((case.lab, case.step, case.memory), ("gold", 16, 0))

    def test_failures(self) -> None:
        """A step that fails when it is timed gets nothing. If the rival fails, that is not the student's fault."""
        fine, wrong = Measurement("verified", median_ms=1), Measurement("wrong", "key 3 is wrong")
        self.assertEqual(self.criterion([fine, fine], [fine, wrong]), (0, "when it was timed: wrong: key 3 is wrong"))
        busy = Measurement("busy", "the machine is busy")
        self.assertEqual(self.criterion([fine, fine], [fine, busy]), (None, "not measured: the machine is busy"))
        points, words = self.criterion([fine, wrong], [fine, fine])
        self.assertIsNone(points)
        self.assertIn("the reference solution could not be measured", words)

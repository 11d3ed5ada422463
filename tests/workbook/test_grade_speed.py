"""The speed of a step: what it is compared with, and on which keys."""

from __future__ import annotations

import unittest
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

from workbook.core.console import Usage
from workbook.core.judge_types import Affordable, Lab, Measurement, RunnerInfo, Step
from workbook.grading import rubric, speed

FILE = Path("my.toml")
ON_DEVICE = Step(
    1, "x", "01_x.cu", "", "sort", False, 0, None, None, ("u32",), None, Affordable(1000, 1000, 1 << 24)
)  # fmt: skip
ON_HOST = replace(ON_DEVICE, number=2, memory="host", min_device_bytes=1 << 18)
LAB = "06-beyond-memory"
GOLD = (replace(ON_DEVICE, number=11), replace(ON_HOST, number=16))


def setUpModule() -> None:
    """Skips all tests where nothing reads TOML."""
    if not rubric.reader_of_toml():
        raise unittest.SkipTest("this Python cannot read TOML")


def judge_of(gold: Sequence[Step] = (), *measurements: Measurement) -> mock.Mock:
    """A judge whose runner has these steps, and which measures this."""
    info = RunnerInfo("a GPU", "id", True, 4e12, (), tuple(gold))
    return mock.Mock(runner=mock.Mock(return_value=info), measure=mock.Mock(side_effect=measurements))


class Cases(unittest.TestCase):
    """What is timed."""

    def test_little_memory_for_keys_on_the_host(self) -> None:
        """A step that sorts data larger than the device's memory has several pieces to sort."""
        table = Lab(LAB, "u32", None, (ON_DEVICE, ON_HOST))
        marks = rubric.Speed(keys=1 << 24)
        case = speed.case_of(table, ON_HOST, marks, 7)
        self.assertGreater(4 * case.n, 3 * case.memory)
        self.assertEqual(speed.case_of(table, ON_DEVICE, marks, 7).memory, 0)
        few = speed.case_of(table, ON_HOST, rubric.Speed(keys=1000), 7)
        self.assertEqual(few.memory, ON_HOST.min_device_bytes)


class Rivals(unittest.TestCase):
    """What steps are compared with."""

    def test_where_the_keys_are(self) -> None:
        """Keys on the host are not compared with a sort of keys that are on the device already."""
        self.assertIs(speed.rival_in(GOLD, ON_DEVICE, "u32"), GOLD[0])
        self.assertIs(speed.rival_in(GOLD, ON_HOST, "u32"), GOLD[1])
        self.assertIsNone(speed.rival_in(GOLD, replace(ON_DEVICE, tile=128), "u32"))
        self.assertIsNone(speed.rival_in(GOLD, ON_HOST, "u64"))

    def test_a_step_without_a_rival(self) -> None:
        """That is said once, before anything is graded."""
        tables = [Lab(LAB, "u32", None, (ON_DEVICE, replace(ON_HOST, tile=128)))]
        text = '[step]\nspeed = 1\n[speed]\nagainst = "gold"\n'
        with self.assertRaisesRegex(Usage, r"my.toml: .* step 02 of 06-beyond-memory .* speed = 0"):
            speed.require_rivals(tables, rubric.parse(text, FILE), judge_of(GOLD), FILE)
        without = rubric.parse(f"{text}[labs.{LAB}.steps.02]\nspeed = 0\n", FILE)
        speed.require_rivals(tables, without, judge_of(GOLD), FILE)
        speed.require_rivals(tables, rubric.parse("[step]\nspeed = 1\n", FILE), judge_of(), FILE)


class Points(unittest.TestCase):
    """What becomes of the measurements of the rival and of the step."""

    def criterion(
        self, rival: Sequence[Measurement], own: Sequence[Measurement], against: str = "reference"
    ) -> tuple[float | None, str]:
        """The points, of 4, and the words."""
        self.trusted, judge = judge_of(GOLD, *rival), judge_of((), *own)
        race = speed.Race(self.trusted, judge, rubric.Speed(against=against, none=0, full=1, levels=4))
        found = race.criterion(Lab(LAB, "u32", None, (ON_HOST,)), 2, Path("runner"), 7, 4)
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
        points, words = self.criterion([fine, wrong], [fine, fine])
        self.assertIsNone(points)
        self.assertIn("the reference solution could not be measured", words)


if __name__ == "__main__":
    unittest.main()

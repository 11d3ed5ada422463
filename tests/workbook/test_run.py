"""The case that `run` and `profile` make from their options."""

from __future__ import annotations

import argparse
import unittest
from typing import Any

import fake_judge

from workbook.core.course import StepFile
from workbook.core.judge_types import Case, Lab, from_json
from workbook.verbs import profile, run

STEP = StepFile("03-bitonic", 1, "global")


def lab(**members: Any) -> Lab:
    """A lab whose only step has these members."""
    return from_json(Lab, {**fake_judge.LAB, "steps": [{**fake_judge.STEP, **members}]})


class Cases(unittest.TestCase):
    def case(self, table: Lab, *words: str, verb: Any = run) -> Case:
        """The case that the words after the step describe."""
        parser = argparse.ArgumentParser()
        verb.add_arguments(parser)
        case: Case = verb._case(parser.parse_args(["3", "1", *words]), table, STEP, "check")
        return case

    def test_the_default_is_keys_that_the_step_sorts(self) -> None:
        for verb in (run, profile):
            with self.subTest(verb=verb.__name__):
                self.assertEqual(self.case(lab(), verb=verb).input, "uniform")
                self.assertEqual(self.case(lab(max_range=256), verb=verb).input, "range:5000000:5000255")
                self.assertEqual(
                    self.case(lab(max_range=256, types=["u8"]), "--type", "u8", verb=verb).input, "uniform"
                )
                self.assertEqual(self.case(lab(max_range=256), "--input", "sorted", verb=verb).input, "sorted")

    def test_as_many_keys_as_take_about_a_second(self) -> None:
        slow = lab(affordable={"check": 1500, "cpu": 4200, "cuda": 65536})
        self.assertEqual(self.case(slow).n, 1500)
        self.assertEqual(self.case(slow, "--n", "65536").n, 65536)

    def test_arrays_that_begin_at_any_address(self) -> None:
        self.assertEqual(self.case(lab(), "--offset", "3").offset, 3)
        self.assertEqual(self.case(lab()).offset, 0)

    def test_device_memory_for_keys_in_host_memory(self) -> None:
        for verb in (run, profile):
            case = self.case(lab(memory="host"), "--memory", "256K", "--pageable", verb=verb)
            self.assertEqual((case.memory, case.pageable), (256 << 10, True))
            case = self.case(lab(), verb=verb)
            self.assertEqual((case.memory, case.pageable), (0, False))


if __name__ == "__main__":
    unittest.main()

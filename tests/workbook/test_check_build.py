"""The check build's verdict on a step: findings, costs and budgets."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import fake_judge
from test_judge_client import FAKE, FakeJudge

from workbook.core import check_build, profiles
from workbook.core.console import Problem
from workbook.core.judge_client import JudgeClient
from workbook.core.judge_types import Lab, from_json

LAUNCH = {
    "kernel": "k",
    "grid": [4, 1, 1],
    "block": [64, 1, 1],
    "barriers": 4 * 2 * 3,
    "shared_ld_wavefronts": 30,
    "shared_st_wavefronts": 10,
    "shared_ld_ideal_wavefronts": 10,
    "shared_st_ideal_wavefronts": 10,
    "global_ld_sectors": 64,
    "global_st_sectors": 64,
    "global_ld_ideal_sectors": 32,
    "global_st_ideal_sectors": 32,
}
CONFLICT = {
    "file": "a.cu",
    "line": 7,
    "kind": "bank-conflict",
    "ideal": 10,
    "actual": 30,
    "unit": "wavefronts",
    "requests": 10,
    "space": "shared",
    "access": "load",
}
RACE = {"file": "a.cu", "line": 9, "kind": "race", "text": "kernel k", "times": 3}


class CheckBuild(FakeJudge):
    """The check build's outcomes become a verdict: findings, costs, budgets."""

    def verdict(self, budget: dict[str, float] | None = None, **answer: Any) -> check_build.Verdict:
        """The verdict on a step with this budget, whose outcomes have these members."""
        self.client({"notes": [CONFLICT], "launches": [LAUNCH], **answer})
        step = {**fake_judge.STEP, "number": 2, "budget": budget}
        lab = from_json(Lab, {**fake_judge.LAB, "steps": [step]})
        with (
            mock.patch.object(JudgeClient, "lab", lambda *_: lab),
            mock.patch.object(check_build, "counts_exactly", lambda: True),
        ):
            return check_build.check_step("03-bitonic", 2, Path("runner"), judges=check_build.Judges(FAKE))

    def test_costs(self) -> None:
        costs = profiles.costs([LAUNCH, LAUNCH], 256)
        self.assertEqual(costs, {"conflicts": 2.0, "sectors": 2.0, "bytes": 32.0, "barriers": 3.0})

    def test_copies_within_the_device_are_bytes_moved(self) -> None:
        self.assertEqual(profiles.costs([LAUNCH], 256, 2560)["bytes"], 26.0)
        verdict = self.verdict({"n": 1000, "bytes": 5000.0}, copied_bytes=1000)
        self.assertEqual(verdict.costs[0].values["bytes"], (5096.0, 5000.0))
        self.assertIn("cudaMemcpy or cudaMemcpyAsync moves 1e+03 of these bytes per key", verdict.over[-1])

    def test_within_the_budget(self) -> None:
        # The fake judge's budget cases have 1 and 1000 keys.
        verdict = self.verdict({"n": 1000, "conflicts": 2.0, "sectors": 2.0, "bytes": 4096.0, "barriers": 3.0})
        self.assertTrue(verdict.passed, verdict)
        self.assertEqual(verdict.costs[0].values["bytes"], (4096.0, 4096.0))
        self.assertIn("conflicts 2.00 (at most 2)", str(verdict.costs[0]))

    def test_over_the_budget_names_where(self) -> None:
        verdict = self.verdict({"n": 1000, "conflicts": 1.9, "sectors": 0.0, "bytes": 0.0, "barriers": 0.0})
        self.assertEqual((verdict.passed, verdict.word), (False, "over budget"))
        self.assertIn("over budget: global, 2.00 wavefronts", verdict.over[0])
        self.assertTrue(verdict.over[0].endswith("; at most 1.9 is allowed"), verdict.over[0])
        self.assertTrue(verdict.over[1].startswith("a.cu:7: note: bank-conflict"))

    def test_a_finding_fails_a_case_that_came_out_right(self) -> None:
        verdict = self.verdict({"n": 256, "conflicts": 9.0}, findings=[RACE])
        self.assertEqual(
            verdict.lines()[:2], ["a.cu:9: error: race: kernel k (3 times)", "  the result was correct, by luck"]
        )
        self.assertEqual((verdict.passed, verdict.word), (False, "failed"))

    def test_wrong_without_a_finding(self) -> None:
        verdict = self.verdict(status="wrong", passed=False, message="wrong key", replay="SIMT_SEED=0 ./workbook run x")
        assert verdict.failed
        self.assertIn("wrong key", verdict.lines()[0])
        self.assertEqual(verdict.lines()[-1], "  again: SIMT_SEED=0 ./workbook run x --build check")

    def test_a_refusal_that_the_case_allows_is_no_failure(self) -> None:
        self.assertTrue(self.verdict(status="unsupported", passed=True, message="no such shape").passed)

    def test_requests_that_the_judge_refuses(self) -> None:
        self.client("usage")
        with self.assertRaises(Problem):
            check_build.check_step("03-bitonic", 2, Path("runner"), judges=check_build.Judges(FAKE))

    def test_the_limits_of_kernels_reach_the_runner(self) -> None:
        self.verdict()
        runs = [request for request in self.requests() if request["ask"] == "run"]
        self.assertTrue(runs)
        self.assertEqual({json.dumps(request["environment"]) for request in runs}, {'{"SIMT_SECONDS": "6"}'})


if __name__ == "__main__":
    unittest.main()

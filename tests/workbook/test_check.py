"""How `check` runs its tests, the check build's verdicts, and what `watch` sees."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import fake_judge
from test_judge_client import FAKE, FakeJudge

from workbook.core import check_build, checking, profiles
from workbook.core.console import Problem
from workbook.core.course import StepFile
from workbook.core.judge_client import Case, Finding, JudgeClient, JudgeDied, Outcome
from workbook.core.judge_types import Lab, from_json
from workbook.verbs import watch

STEP = StepFile("03-bitonic", 2, "shared")
CASE = Case("03-bitonic", 2, 1023, type="u32", seed=42)
WRONG = Outcome(
    "wrong",
    False,
    CASE,
    "keys[3] is 9, not 4; before it 1 2 3, after it 5",
    replay="./workbook run 03-bitonic 2 --n 1023",
    title="03-bitonic step 2 shared: 1023 u32 keys, sorted, descending",
    file="labs/03-bitonic/02_shared.cu",
    printed="hello\n",
)


class CheckStep(FakeJudge):
    """The quick tests come first; the full ones only after them; each verdict is remembered."""

    def check(
        self, mode: object = "", several: bool = False, explain: Any = list
    ) -> tuple[bool, list[str], list[str], str]:
        """Whether the step passed, the sets that ran, the verdicts saved, and what was printed."""
        saved: list[str] = []
        keeper = SimpleNamespace(save_verdict=lambda step, kind, verdict: saved.append(verdict))
        with (
            mock.patch.object(checking, "ProgressFile", lambda: keeper),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            passed = checking.check_step(self.client(mode), STEP, "cpu", several, 3, explain)
        sets = [request["set"] for request in self.requests() if request["ask"] == "cases"]
        return passed, sets, saved, printed.getvalue()

    def test_passed(self) -> None:
        passed, sets, saved, printed = self.check()
        self.assertEqual((passed, sets, saved), (True, ["quick", "public"], ["passed"]))
        self.assertRegex(printed, r"^ok      step 02 shared: 4 cases on the cpu build, \d+\.\d s\n$")
        self.assertTrue(all(request["timeout"] == 3 for request in self.requests() if request["ask"] == "run"))

    def test_failed_at_once(self) -> None:
        wrong = {"status": "wrong", "passed": False, "message": "keys[3] is 9, not 4", "line": 41}
        passed, sets, saved, printed = self.check(wrong, several=True, explain=lambda: ["a.cu:9: error: race: k", ""])
        self.assertEqual((passed, sets, saved), (False, ["quick"], ["failed"]))
        self.assertIn(
            "FAILED  step 02 shared, cpu build. The first thing to fix:\n\na.cu:9: error: race: k\n\n", printed
        )
        self.assertIn("labs/03-bitonic/01_global.cu:41: keys[3] is 9, not 4", printed)
        self.assertIn("  again: ./workbook run 03-bitonic 2 --n 1 --build cpu\n", printed)
        self.assertEqual(sum(request["ask"] == "run" for request in self.requests()), 1)

    def test_failed_in_the_full_tests(self) -> None:
        groups = [SimpleNamespace(what="any n", cases=[CASE, CASE, CASE])]
        outcomes = iter([SimpleNamespace(passed=True)] * 4 + [WRONG, WRONG])
        judge = SimpleNamespace(cases=lambda *_: groups, run=lambda *_, **__: next(outcomes))
        graded = checking.public_tests(judge, STEP, "cpu", None)  # type: ignore[arg-type]
        self.assertEqual((graded.cases, graded.failure), (5, WRONG))

    def test_not_written(self) -> None:
        unwritten = {"status": "not-written", "passed": False, "message": "step 02 is not written yet", "line": 86}
        passed, sets, saved, printed = self.check(unwritten)
        self.assertEqual((passed, sets, saved), (False, ["quick"], ["not written"]))
        self.assertIn("step 02 is not written yet: labs/03-bitonic/01_global.cu:86\n", printed)
        self.assertIn("./workbook hint 03-bitonic 2", printed)

    def test_a_judge_that_dies_is_no_pass(self) -> None:
        with self.assertRaises(JudgeDied):
            self.check("dies")


class Failures(unittest.TestCase):
    """A failed case, as lines."""

    def test_a_wrong_key(self) -> None:
        self.assertEqual(
            check_build.failure_lines(WRONG, " --build cpu"),
            [
                "labs/03-bitonic/02_shared.cu: keys[3] is 9, not 4; before it 1 2 3, after it 5",
                "  03-bitonic step 2 shared: 1023 u32 keys, sorted, descending, seed 42",
                "  the runner printed:",
                "hello",
                "  again: ./workbook run 03-bitonic 2 --n 1023 --build cpu",
            ],
        )

    def test_a_finding_names_the_line_to_mend(self) -> None:
        finding = Finding("labs/a.cu", 7, "out-of-bounds", "read")
        outcome = Outcome("crashed", False, CASE, "signal 11", findings=(finding,), file="labs/a.cu")
        self.assertEqual(
            check_build.failure_lines(outcome)[:2], ["labs/a.cu:7: error: out-of-bounds: read", "  crashed: signal 11"]
        )

    def test_a_shape_that_must_be_refused(self) -> None:
        case = Case("03-bitonic", 2, 10, blocks=-1, expect="refused")
        lines = check_build.failure_lines(Outcome("verified", False, case, file="labs/a.cu"))
        self.assertEqual(
            lines[0],
            "labs/a.cu: blocks -1, threads per block 0: the step must throw lab::Unsupported and touch nothing; "
            "it ended as verified",
        )


class Watch(unittest.TestCase):
    def test_a_save_shows(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            lab = Path(folder) / "labs/03-bitonic"
            lab.mkdir(parents=True)
            (lab / "01_global.cu").write_text("a")
            (lab / ".01_global.cu.swp.cu").write_text("an editor's own")
            (lab / "README.md").write_text("not a source")
            before = watch.snapshot("03-bitonic", Path(folder))
            self.assertEqual([path.name for path in before], ["01_global.cu"])
            self.assertEqual(watch.snapshot("03-bitonic", Path(folder)), before)
            (lab / "01_global.cu").write_text("ab")
            after = watch.snapshot("03-bitonic", Path(folder))
            self.assertNotEqual(after, before)
            self.assertRegex(watch.difference(before, after), r"\.cu was saved$")
            self.assertRegex(watch.difference(before, {}), " was removed$")


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

    def test_within_the_budget(self) -> None:
        # The fake judge's budget cases have 1 and 1000 keys.
        verdict = self.verdict({"n": 1000, "conflicts": 2.0, "sectors": 2.0, "bytes": 4096.0, "barriers": 3.0})
        self.assertTrue(verdict.passed, verdict)
        self.assertEqual(verdict.costs[0].values["bytes"], (4096.0, 4096.0))
        self.assertIn("conflicts 2 of 2", str(verdict.costs[0]))

    def test_over_the_budget_names_where(self) -> None:
        verdict = self.verdict({"n": 1000, "conflicts": 1.9, "sectors": 0.0, "bytes": 0.0, "barriers": 0.0})
        self.assertEqual((verdict.passed, verdict.word), (False, "over budget"))
        self.assertIn("the budget is 1.9", verdict.over[0])
        self.assertTrue(verdict.over[1].startswith("a.cu:7: note: bank-conflict"))

    def test_a_finding_fails_a_case_that_came_out_right(self) -> None:
        verdict = self.verdict({"n": 256, "conflicts": 9.0}, findings=[RACE])
        self.assertEqual(verdict.lines(), ["a.cu:9: error: race: kernel k (3 times)"])
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

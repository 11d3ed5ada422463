"""How `check` goes through its tests, and what `watch` sees."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from workbook.core import checked
from workbook.verbs import check, watch
from workbook.core.course import Step
from workbook.core.terminal import Problem

UNWRITTEN = "step 02 is not written yet: labs/03-bitonic/02_shared.cu:86"

FAILED = """\
step 02 shared     any n                                 31 cases  ok

labs/03-bitonic/02_shared.cu: keys[3] is 9, not 4; before it 1 2 3, after it 5
  1023 u32, input sorted, descending, seed 42
  the runner printed:
hello
  again: ./workbook run 03-bitonic 2 --n 1023

step 02 shared     any input                             12 cases  FAILED

labs/03-bitonic/02_shared.cu: second thing
  again: ./workbook run 03-bitonic 2 --n 1

03-bitonic: not right yet (public tests only, seed 42)
"""


class CheckStep(unittest.TestCase):
    """The quick tests come first; the full ones only after them; a verdict is kept for both ends."""

    STEP = Step("03-bitonic", 2, "shared")

    def check(self, *ends):
        calls, saved = [], []

        def graded(_step, _kind, quick, _timeout):
            calls.append("quick" if quick else "full")
            return ends[len(calls) - 1]

        keeper = SimpleNamespace(save_verdict=lambda step, kind, verdict: saved.append(verdict))
        with (
            mock.patch.object(check, "_graded", graded),
            mock.patch.object(check, "ProgressFile", lambda: keeper),
            mock.patch("builtins.print") as told,
        ):
            passed = check.check_step(self.STEP, "cpu", False)
        return passed, calls, saved, "\n".join(str(call.args[0]) for call in told.call_args_list if call.args)

    def test_passed(self):
        passed, calls, saved, told = self.check((0, "step 02 x 3 cases  ok\n"), (0, "step 02 x 30 cases  ok\n"))
        self.assertEqual((passed, calls, saved), (True, ["quick", "full"], ["passed"]))
        self.assertIn("33 cases", told)

    def test_failed_at_once(self):
        passed, calls, saved, told = self.check((1, FAILED))
        self.assertEqual((passed, calls, saved), (False, ["quick"], ["failed"]))
        self.assertIn("keys[3] is 9, not 4", told)

    def test_failed_in_the_full_tests(self):
        self.assertEqual(self.check((0, ""), (1, FAILED))[:3], (False, ["quick", "full"], ["failed"]))

    def test_not_written(self):
        passed, calls, saved, told = self.check((1, UNWRITTEN + "\n"))
        self.assertEqual((passed, calls, saved), (False, ["quick"], ["not written"]))
        self.assertIn("./workbook hint 03-bitonic 2", told)

    def test_tests_that_crash_are_no_pass(self):
        self.assertFalse(self.check((-11, ""))[0])


class Watch(unittest.TestCase):
    def test_a_save_shows(self):
        with tempfile.TemporaryDirectory() as folder:
            lab = Path(folder) / "labs/03-bitonic"
            lab.mkdir(parents=True)
            (lab / "01_global.cu").write_text("a")
            (lab / ".01_global.cu.swp.cu").write_text("an editor's own")
            (lab / "README.md").write_text("no source")
            before = watch.snapshot("03-bitonic", Path(folder))
            self.assertEqual([path.name for path in before], ["01_global.cu"])
            self.assertEqual(watch.snapshot("03-bitonic", Path(folder)), before)
            (lab / "01_global.cu").write_text("ab")
            after = watch.snapshot("03-bitonic", Path(folder))
            self.assertNotEqual(after, before)
            self.assertRegex(watch.difference(before, after), r"\.cu saved$")
            self.assertRegex(watch.difference(before, {}), " is gone$")


class CheckBuild(unittest.TestCase):
    """What the check build wrote becomes a verdict: findings, costs, budgets."""

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
    NOTE = {
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

    def verdict(self, told, budget, status=0, said=""):
        facts = {"name": "shared", "types": ["u32"], "tile": 0, "largest_n": 1 << 40, "budget": budget}
        with (
            mock.patch.object(checked.judge, "table", lambda lab: {(2, "sort"): facts}),
            mock.patch.object(checked, "counts_exactly", lambda: True),
            mock.patch.object(checked, "run_case", lambda *arguments: (status, said, told)),
        ):
            return checked.check_step("03-bitonic", 2, Path("runner"))

    def told(self, **more):
        return {"findings": [], "notes": [self.NOTE], "launches": [self.LAUNCH], **more}

    def test_costs(self):
        costs = checked.counted([self.LAUNCH, self.LAUNCH], 256)
        self.assertEqual(costs, {"conflicts": 2.0, "sectors": 2.0, "bytes": 32.0, "barriers": 3.0})

    def test_within_the_budget(self):
        verdict = self.verdict(
            self.told(), {"n": 256.0, "conflicts": 2.0, "sectors": 2.0, "bytes": 16.0, "barriers": 3.0}
        )
        self.assertTrue(verdict.passed)
        self.assertEqual(verdict.costs[0][1]["bytes"], (16.0, 16.0))

    def test_over_the_budget_says_where(self):
        verdict = self.verdict(
            self.told(), {"n": 256.0, "conflicts": 1.9, "sectors": 0.0, "bytes": 0.0, "barriers": 0.0}
        )
        self.assertFalse(verdict.passed)
        self.assertIn("the budget is 1.9", verdict.over[0])
        self.assertTrue(verdict.over[1].startswith("a.cu:7: note: bank-conflict"))

    def test_a_finding_is_no_matter_of_luck(self):
        verdict = self.verdict(self.told(findings=[self.RACE]), {"n": 256.0, "conflicts": 9.0})
        self.assertEqual(verdict.findings, ["a.cu:9: error: race: kernel k (3 times)"])
        self.assertFalse(verdict.passed)

    def test_wrong_without_a_finding(self):
        verdict = self.verdict(self.told(), {}, status=1, said="wrong key")
        self.assertIn("wrong key", verdict.failed)
        self.assertIn("SIMT_SEED=0 ./workbook run 03-bitonic 2 --build check --n 1", verdict.failed)

    def test_what_a_step_does_not_serve_is_no_failure(self):
        self.assertTrue(self.verdict(self.told(), {}, status=1, said="unsupported: no such shape").passed)

    def test_arguments_that_the_judge_refuses(self):
        with self.assertRaises(Problem):
            self.verdict(None, {}, status=2, said="error: no such lab")

    def test_every_type_and_order_is_tried(self):
        facts = {"types": ["u8", "u32", "pairs"], "tile": 1024, "largest_n": 1 << 40}
        cases = checked.cases(facts, "sort")
        self.assertEqual({case["type"] for case in cases}, set(facts["types"]))
        self.assertLessEqual({1, 1023, 1024, 2049, 5000}, {case["n"] for case in cases})
        self.assertEqual({case.get("order") for case in cases} - {None}, {"ascending", "descending"})
        self.assertTrue(
            all(case["n"] <= 1500 for case in checked.cases({**facts, "tile": 0, "largest_n": 4096}, "sort"))
        )


if __name__ == "__main__":
    unittest.main()

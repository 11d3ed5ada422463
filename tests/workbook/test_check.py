"""How `check` runs its tests, the check build's verdicts, and what `watch` sees."""

from __future__ import annotations

import contextlib
import io
import json
import threading
import unittest
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import fake_judge
from in_folder import InFolder
from report_data import step
from test_judge_client import FakeJudge

from workbook.check import checking, explaining, narrowing, shrinking
from workbook.check import programs as programs_
from workbook.check.programs import Programs
from workbook.check.verdict import FailedCase, Show, write
from workbook.check.words import MOST_LINES, Words, failure_lines, launched
from workbook.core import build, check_build, console, nvcc_compile, running
from workbook.core.course import StepFile
from workbook.core.judge_client import JudgeDied, JudgeUsage
from workbook.core.judge_types import NARROW_RANGE, Case, CaseGroup, Finding, Lab, Note, Outcome, Step, from_json
from workbook.core.progress import Known
from workbook.diagnose import search
from workbook.verbs import watch

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


def line(number: int, name: str, task: str = "sort", uses: tuple[str, ...] = ()) -> Step:
    """A line of the table of lab 04."""
    part = task != "sort"
    own = {
        "number": number,
        "name": name,
        "task": task,
        "part": part,
        "uses": list(uses),
        "types": ["u8", "u32", "u64", "pairs"],
    }
    return from_json(Step, {**fake_judge.STEP, **own})


HISTOGRAM, SHARED = line(2, "histogram", "histogram"), line(2, "shared")
PARALLEL, BLELLOCH = line(3, "parallel", uses=("histogram",)), line(3, "blelloch", "scan")
COUNTING = Lab("04-counting", "u8", None, (SHARED, HISTOGRAM, PARALLEL, BLELLOCH))
STEPS = {2: StepFile("04-counting", 2, "shared"), 3: StepFile("04-counting", 3, "parallel")}
FINDING = Finding("labs/04-counting/02_shared.cu", 38, "race", "two threads")
NARROW = Note("labs/04-counting/02_shared.cu", 58, "narrow", text="int holds positions below 2^31 only")
REMARK = Finding("labs/04-counting/02_shared.cu", 40, "early-exit", "31 of 32", severity="remark")
Rule = Callable[[str, Case], "dict[str, Any]"]


class Script:
    """A judge: every line has a quick and a public case; `rule(build, case)` gives members of the outcomes."""

    workers = 1  # as of several judges

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.log: list[tuple[str, int, str, int, float | None]] = []  # build, step, task, n, time limit
        self.cancelled = False

    def lab(self, _name: str) -> Lab:
        """The table."""
        return COUNTING

    def runner(self, _runner: Path) -> SimpleNamespace:
        """What the program for a first look says of its steps."""
        return SimpleNamespace(steps=[SimpleNamespace(types=("u32", "pairs"))])

    def cases(self, lab: str, number: int, set_: str, _build: str, seed: int = 0) -> list[CaseGroup]:
        """One case per line, with a size of its own for each set."""
        n = {"quick": 1, "public": 2, "check": 3}.get(set_, 4)
        lines = [line for line in COUNTING.steps if line.number == number]
        return [CaseGroup("any n", tuple(Case(lab, number, n, line.task, "u8", seed=seed) for line in lines))]

    def run(
        self,
        runner: Path,
        case: Case,
        *,
        timeout: float | None = None,
        environment: object = None,
        trace: Path | None = None,
    ) -> Outcome:
        """The outcome that the rule gives. There is never a trace."""
        kind = runner.name.replace("-solution", "").rpartition("-")[2]
        if trace is None:
            self.log.append((kind, case.step, case.task, case.n, timeout))
        title = f"{kind} step {case.step} {case.task} n {case.n}"
        file = f"labs/{STEPS[case.step].file}"
        members = {"status": "verified", "passed": True, "title": title, "replay": f"run {title}", "file": file}
        return Outcome(**{**members, "case": case, **self.rule(kind, case)})

    def __enter__(self) -> Script:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def cancel(self) -> None:
        """The observation ends."""
        self.cancelled = True

    def own(self) -> Script:
        """For each thread of the check build's cases: the same."""
        return self


WRONG_KEY = {"status": "wrong", "passed": False, "message": "wrong key at index 3"}


def checker_of(
    script: Any, kinds: Sequence[str], show: Show | None = None, begun: Sequence[Any] = (), **options: Any
) -> checking.Checker:
    """A checker of lab 04 that prints. `begun`: a first look, and what has begun since."""
    programs = Programs(script, "04-counting", kinds, **options)
    return checking.Checker(programs, show or Words(kinds, programs.solution), *begun)


class Beside(unittest.TestCase):
    """Cases on several cores."""

    def test_the_first_that_fails_is_that_of_their_order(self) -> None:
        begun = threading.Barrier(3)  # all three run at the same time
        others_ended = threading.Event()

        def rule(_kind: str, case: Case) -> dict[str, Any]:
            begun.wait(timeout=60)
            if case.n == 2:
                others_ended.wait(timeout=60)
                return {**WRONG_KEY, "message": "the second"}
            if case.n == 3:
                others_ended.set()
                return {**WRONG_KEY, "message": "the third"}
            return {}

        script = Script(rule)
        script.workers = 3
        groups = [CaseGroup("any n", tuple(Case("04-counting", 2, n, "sort", "u8") for n in (1, 2, 3)))]
        with mock.patch.object(check_build, "Judges", lambda: script):
            graded = running.run_cases(script, Path("04-counting-cpu"), groups, None, side_by_side=True)  # type: ignore[arg-type]
        assert graded.failure
        self.assertEqual((graded.cases, graded.failure.message), (2, "the second"))
        self.assertTrue(script.cancelled)


class CheckStep(unittest.TestCase):
    """What is tested in which order, which case is shown, and what is remembered."""

    def check(
        self,
        rule: Rule,
        *steps: StepFile,
        verdict: str = "failed",
        failed: dict[str, Case] | None = None,
        **options: Any,
    ) -> tuple[bool, str, list[tuple[int, str, str]], Script]:
        """Whether the steps passed, what was printed, the verdicts saved, and the judge. `failed`: the cases of
        the last check, by build; those of this check take their places."""
        saved: list[tuple[int, str, str]] = []
        cases = {} if failed is None else failed

        def save_verdict(step: StepFile, kind: str, word: str, case: Case | None) -> None:
            saved.append((step.number, kind, word))
            cases.pop(kind, None)
            if case:
                cases[kind] = case

        keeper = SimpleNamespace(
            save_verdict=save_verdict, verdict=lambda _: Known(verdict), failed_case=lambda step, kind: cases.get(kind)
        )
        script = Script(rule)
        with (
            mock.patch.object(checking, "ProgressFile", lambda: keeper),
            mock.patch.object(programs_, "ProgressFile", lambda: keeper),
            mock.patch.object(check_build, "Judges", lambda: script),
            mock.patch.object(build, "object_of", lambda *_: None),
            mock.patch.object(explaining, "mutant_search", lambda *_: contextlib.nullcontext()),
            mock.patch.object(nvcc_compile, "_target", lambda *_: None),
            mock.patch.object(shrinking, "TRIES", options.pop("tries", 0)),
            mock.patch.object(
                narrowing, "Scan", lambda *_: SimpleNamespace(notes=lambda: [NARROW], cancel=lambda: None)
            ),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            kinds, show = options.pop("kinds", ["cpu"]), options.pop("show", None)
            checker = checker_of(script, kinds, show, **options)
            passed = all(checker.passes(step) for step in steps)
        return passed, printed.getvalue(), saved, script

    def test_passed(self) -> None:
        passed, printed, saved, script = self.check(lambda *_: {}, STEPS[2])
        self.assertEqual((passed, saved), (True, [(2, "cpu", "passed"), (2, "check", "passed")]))
        self.assertRegex(printed, r"^ok      step 02 shared: 4 cases on the cpu build, \d+\.\d s\n")
        self.assertRegex(printed, r"\nok      step 02 shared: 2 cases on the check build, no finding, \d+\.\d s\n")
        self.assertTrue(printed.endswith(f"s\n{NARROW}\n"), printed)
        tests = [entry[2:] for entry in script.log if entry[0] == "cpu"]
        # Parts come before the step, quick cases before the others; a quick case has less time.
        self.assertEqual(tests, [("histogram", 1, 5.0), ("sort", 1, 5.0), ("histogram", 2, None), ("sort", 2, None)])
        self.assertEqual([entry[2] for entry in script.log if entry[0] == "check"], ["histogram", "sort"])

    def test_a_time_limit_holds_for_every_case(self) -> None:
        *_, script = self.check(lambda *_: {}, STEPS[2], timeout=3)
        self.assertEqual({entry[4] for entry in script.log}, {3})

    def test_a_part_alone_is_not_the_step(self) -> None:
        part = StepFile("04-counting", 2, "shared", "histogram")
        passed, printed, saved, script = self.check(lambda *_: {}, part)
        self.assertEqual((passed, saved), (True, []))
        self.assertEqual({entry[2] for entry in script.log}, {"histogram"})
        self.assertTrue(printed.startswith("ok      step 02 shared, histogram: 2 cases"), printed)

    def test_a_fault_in_a_part_is_shown_at_the_part(self) -> None:
        # Only a public case shows it, but the sort fails before that.
        def rule(_: str, case: Case) -> dict[str, Any]:
            return WRONG_KEY if case.task == "sort" or case.n == 2 else {}

        passed, printed, saved, _ = self.check(rule, STEPS[2])
        self.assertEqual((passed, saved), (False, [(2, "cpu", "failed")]))
        self.assertIn(
            "It uses step 02 shared, histogram, which fails on the cpu build. The first thing",
            printed,
        )
        self.assertIn("again: run cpu step 2 histogram n 2\n", printed)

    def test_a_fault_in_what_another_step_provides(self) -> None:
        def rule(_: str, case: Case) -> dict[str, Any]:
            return WRONG_KEY if case.task in ("sort", "histogram") else {}

        passed, printed, saved, _ = self.check(rule, STEPS[3])
        self.assertEqual((passed, saved), (False, [(3, "cpu", "failed")]))
        self.assertIn("It uses step 02 shared, histogram, which fails on the cpu build", printed)
        self.assertIn("labs/04-counting/02_shared.cu: wrong key at index 3", printed)
        # What has passed before is not tested again.
        _, printed, _, script = self.check(rule, STEPS[3], verdict="passed")
        self.assertIn("FAILED  step 03 parallel, cpu build: wrong key at index 3 (cpu step 3 sort n 1). ", printed)
        self.assertIn("Looking for the reason ...\n\nThe first thing to fix:\n\n", printed)
        self.assertNotIn(2, {entry[1] for entry in script.log})

    def test_what_is_shown_belongs_to_one_case_of_one_build(self) -> None:
        def rule(kind: str, case: Case) -> dict[str, Any]:
            if case.task != "sort":
                return {}
            return {"findings": (FINDING,)} if kind == "check" and case.lane_seed == 77 else WRONG_KEY

        passed, printed, *_ = self.check(rule, STEPS[2])
        self.assertFalse(passed)
        self.assertEqual(
            printed,
            "FAILED  step 02 shared, cpu build: wrong key at index 3 (cpu step 2 sort n 1). "
            "Looking for the reason ...\n\nThe check build shows why. The first thing to fix:\n\n"
            "labs/04-counting/02_shared.cu:38: error: race: two threads\n"
            "  the check build's result was correct, by luck\n"
            "  check step 2 sort n 1, seed 0\n"
            "  again: run check step 2 sort n 1 --build check\n",
        )

    def test_it_is_said_at_once_that_a_case_failed_if_only_another_shows_why(self) -> None:
        def rule(kind: str, case: Case) -> dict[str, Any]:
            if case.task != "sort":
                return {}
            return {"findings": (FINDING,)} if kind == "check" and case.n == 3 else WRONG_KEY

        passed, printed, *_ = self.check(rule, STEPS[2])
        self.assertFalse(passed)
        begin = (
            "FAILED  step 02 shared, cpu build: wrong key at index 3 (cpu step 2 sort n 1). "
            "Looking for the reason ...\n\nThe check build shows why. The first thing to fix:\n\n"
            "labs/04-counting/02_shared.cu:38: error: race: two threads\n"
        )
        self.assertEqual(printed[: len(begin)], begin)

    def test_a_wrong_result_without_a_finding(self) -> None:
        _, printed, *_ = self.check(lambda _, case: WRONG_KEY if case.task == "sort" else {}, STEPS[2])
        self.assertEqual(
            printed,
            "FAILED  step 02 shared, cpu build: wrong key at index 3 (cpu step 2 sort n 1). "
            "Looking for the reason ...\n\nThe first thing to fix:\n\n"
            "labs/04-counting/02_shared.cu: wrong key at index 3\n"
            "  cpu step 2 sort n 1, seed 0\n"
            "  again: run cpu step 2 sort n 1\n",
        )
        _, printed, *_ = self.check(
            lambda _, case: WRONG_KEY if case.task == "sort" else {}, STEPS[2], kinds=["cpu", "cuda"], solution=True
        )
        self.assertIn("solutions/04-counting/02_shared.cu: wrong key at index 3\n", printed)
        self.assertIn("  again: run cpu step 2 sort n 1 --build cpu --solution\n", printed)

    def test_the_case_that_failed_can_be_played(self) -> None:
        run = {"replay": "SIMT_SEED=1 ./workbook run 04-counting 2 --n 1"}
        wrong = {**WRONG_KEY, **run}
        _, printed, *_ = self.check(lambda _, case: wrong if case.task == "sort" else {}, STEPS[2], solution=True)
        self.assertTrue(
            printed.endswith("  see it run: SIMT_SEED=1 ./workbook play 04-counting 2 --n 1 --solution\n"), printed
        )

    def test_a_loop_that_never_ends_is_not_waited_for_again(self) -> None:
        hung = {"status": "hung", "passed": False, "message": "no answer within 5 s"}
        _, printed, _, script = self.check(lambda _, case: hung if case.task == "sort" else {}, STEPS[2])
        self.assertEqual([entry[:3] for entry in script.log if entry[2] == "sort"], [("cpu", 2, "sort")])
        self.assertIn("hung: no answer within 5 s", printed)

    def test_not_written(self) -> None:
        gap = {"status": "not-written", "passed": False, "message": "step 02 is not written yet", "line": 86}
        passed, printed, saved, _ = self.check(lambda *_: gap, STEPS[2])
        self.assertEqual((passed, saved), (False, [(2, "cpu", "not written")]))
        self.assertEqual(
            printed,
            "step 02 is not written yet: labs/04-counting/02_shared.cu:86\n"
            "Write the missing code first, and then delete the line that says NOT_WRITTEN.\n"
            "For help: ./workbook hint 04-counting 2\n",
        )

    def test_what_a_step_uses_is_not_written(self) -> None:
        place = {"file": "labs/04-counting/02_shared.cu", "line": 86}
        gap = {"status": "not-written", "passed": False, "message": "step 02 is not written yet", **place}
        passed, printed, saved, _ = self.check(lambda _, case: gap if case.task == "sort" else {}, STEPS[3])
        self.assertEqual((passed, saved), (False, []))
        self.assertIn("02_shared.cu:86 (step 03 parallel uses it)\n", printed)
        self.assertIn("For help: ./workbook hint 04-counting 2", printed)

    def test_a_step_of_another_lab_is_not_written(self) -> None:
        place = {"file": "labs/03-bitonic/02_shared.cu", "line": 86}
        gap = {"status": "not-written", "passed": False, "message": "step 02 is not written yet", **place}
        passed, printed, saved, _ = self.check(lambda *_: gap, STEPS[2])
        self.assertEqual((passed, saved), (False, []))
        self.assertIn("03-bitonic, step 02 is not written yet: labs/03-bitonic/02_shared.cu:86 (step 02", printed)
        self.assertIn("For help: ./workbook hint 03-bitonic 2", printed)

    def test_what_a_kernel_prints_is_mentioned(self) -> None:
        _, printed, *_ = self.check(lambda _, case: {"printed": f"n is {case.n}\n" * 2}, STEPS[2])
        self.assertIn("\n        the step printed something in 4 of them, first: n is 1\n", printed)

    def test_remarks_do_not_make_a_step_fail_and_are_shown_once(self) -> None:
        passed, printed, saved, _ = self.check(
            lambda kind, case: {"remarks": (REMARK,)} if kind == "check" else {}, STEPS[2]
        )
        self.assertEqual((passed, saved[-1]), (True, (2, "check", "passed")))
        self.assertRegex(
            printed, r"no finding, \d+\.\d s\nlabs/04-counting/02_shared.cu:40: note: early-exit: 31 of 32\n"
        )
        _, printed, *_ = self.check(
            lambda kind, case: {"remarks": (REMARK,), "findings": (FINDING,)} if kind == "check" else {}, STEPS[2]
        )
        self.assertNotIn("early-exit", printed)

    def test_the_smallest_case_comes_last_and_is_the_one_to_repeat(self) -> None:
        def rule(_kind: str, case: Case) -> dict[str, Any]:
            keys = {"message": "wrong key at index 0", "shown_keys": f"  index  [0]\n  input    {case.n}"}
            return {**WRONG_KEY, **keys} if case.task == "sort" and case.n > 1 else {}

        _, printed, *_ = self.check(rule, STEPS[2], tries=10)
        again = printed.index("  again: run cpu step 2 sort n 2\n")
        smallest = "  the smallest case that fails: cpu step 2 sort n 2, seed 0\n  wrong key at index 0\n"
        self.assertIn(smallest + "  index  [0]\n  input    2", printed[:again])
        self.assertEqual((printed.count("again: "), printed.count("  index ")), (1, 1))  # only the smallest one's keys
        _, printed, *_ = self.check(rule, STEPS[2])  # nothing smaller is looked for
        self.assertEqual(printed.count("  index "), 1)

    def test_findings_of_the_check_build_alone(self) -> None:
        passed, printed, saved, _ = self.check(
            lambda kind, case: {"findings": (FINDING,)} if kind == "check" and case.task == "sort" else {}, STEPS[2]
        )
        self.assertEqual((passed, saved), (False, [(2, "cpu", "passed"), (2, "check", "failed")]))
        begin = (
            "FAILED  step 02 shared, check build: race at labs/04-counting/02_shared.cu:38 (check step 2 sort n 3). "
        )
        self.assertIn(begin + "Looking for the reason ...\n\nThe first thing to fix:\n\nlabs/04", printed)
        self.assertIn("  the check build's result was correct, by luck\n", printed)
        self.assertIn("  again: run check step 2 sort n 3 --build check\n", printed)

    def test_a_verdict_as_json(self) -> None:
        def rule(kind: str, case: Case) -> dict[str, Any]:
            return {"findings": (FINDING,)} if kind == "check" and case.task == "sort" else {}

        _, printed, *_ = self.check(rule, STEPS[2], show=write)
        found = json.loads(printed)
        self.assertEqual((found["version"], found["word"], found["step"]["name"]), (1, "failed", "shared"))
        self.assertEqual([(one["kind"], one["cases"]) for one in found["passed"]], [("cpu", 4)])
        shown = found["failed"]["shown"]
        self.assertEqual((shown["kind"], shown["line"]["task"]), ("check", "sort"))
        self.assertEqual(shown["outcome"]["findings"][0]["line"], FINDING.line)
        self.assertEqual(found["failed"]["diagnosis"]["kind"], "race")
        _, printed, *_ = self.check(lambda *_: {}, STEPS[2], show=write)
        found = json.loads(printed)
        self.assertEqual((found["word"], found["failed"]), ("passed", None))
        self.assertEqual(found["notes"][0]["kind"], "narrow")
        gap = {"status": "not-written", "passed": False, "message": "not written", "line": 86}
        _, printed, *_ = self.check(lambda *_: gap, STEPS[2], show=write)
        self.assertEqual(json.loads(printed)["gap"]["place"], "labs/04-counting/02_shared.cu:86")

    def test_a_long_verdict_is_cut_in_the_middle(self) -> None:
        long = replace(FINDING, text="two threads" + "".join(f"\n    {number}" for number in range(60)))

        def rule(kind: str, case: Case) -> dict[str, Any]:
            return {"findings": (long,)} if kind == "check" and case.task == "sort" else {}

        _, cut, *_ = self.check(rule, STEPS[2])
        _, whole, *_ = self.check(rule, STEPS[2], show=Words(["cpu"], False, shows_all=True))
        shown = cut.partition("fix:\n\n")[2].splitlines()
        self.assertEqual((len(shown), whole.count("\n") - cut.count("\n")), (MOST_LINES, 39))
        self.assertIn("    ... and 40 more lines: --all shows them", shown)
        self.assertEqual(shown[-2:], whole.splitlines()[-2:])  # which case it is, and how to repeat it

    # --- what comes first ---

    def test_what_failed_last_time_is_tested_first(self) -> None:
        failed: dict[str, Case] = {}

        def rule(kind: str, case: Case) -> dict[str, Any]:
            return WRONG_KEY if kind == "cpu" and (case.task, case.n) == ("sort", 2) else {}

        _, printed, _, script = self.check(rule, STEPS[2], failed=failed)
        self.assertIn("again: run cpu step 2 sort n 2\n", printed)
        self.assertEqual(failed, {"cpu": Case("04-counting", 2, 2, "sort", "u8", seed=0)})
        _, again, _, script = self.check(rule, STEPS[2], failed=failed)
        self.assertEqual(again, printed)
        # After it, only the part that the step uses.
        tests = [entry[2:] for entry in script.log if entry[0] == "cpu"]
        self.assertEqual(tests, [("sort", 2, 5.0), ("histogram", 1, 5.0), ("histogram", 2, None)])
        # A step that passes has no such case, and neither has a solution.
        passed, printed, *_ = self.check(lambda *_: {}, STEPS[2], failed=failed)
        self.assertEqual((passed, failed), (True, {}))
        self.assertIn("5 cases on the cpu build", printed)
        failed["cpu"] = Case("04-counting", 2, 9, "sort", "u8")
        _, printed, *_ = self.check(lambda *_: {}, STEPS[2], failed=failed, solution=True)
        self.assertIn("4 cases on the cpu build", printed)

    def test_what_failed_last_time_comes_first_on_the_check_build(self) -> None:
        failed: dict[str, Case] = {}

        def rule(kind: str, case: Case) -> dict[str, Any]:
            return {"findings": (FINDING,)} if kind == "check" and (case.task, case.n) == ("sort", 3) else {}

        self.check(rule, STEPS[2], failed=failed)
        self.assertEqual(failed, {"check": Case("04-counting", 2, 3, "sort", "u8", seed=None)})
        failed["check"] = Case("04-counting", 2, 9, "sort", "u8")
        *_, script = self.check(lambda *_: {}, STEPS[2], failed=failed)
        observed = [entry[2:4] for entry in script.log if entry[0] == "check"]
        self.assertEqual(observed, [("histogram", 3), ("sort", 9), ("sort", 3)])

    def test_that_nothing_has_changed_is_as_good_as_a_finding(self) -> None:
        def rule(kind: str, _: Case) -> dict[str, Any]:
            unchanged = {**WRONG_KEY, "message": "no launch", "changed_nothing": True}
            return unchanged if kind == "check" else WRONG_KEY

        _, printed, *_ = self.check(rule, STEPS[2])
        self.assertIn("\n\nThe check build shows why. The first", printed)
        self.assertIn("no launch", printed)
        _, printed, *_ = self.check(lambda *_: WRONG_KEY, STEPS[2])
        self.assertIn("cpu build: wrong key at index 3", printed)

    def test_a_case_that_no_longer_exists_is_left_out(self) -> None:
        def rule(_: str, case: Case) -> dict[str, Any]:
            if case.n == refused:
                raise JudgeUsage("unknown input")
            return {}

        refused = 9
        failed = {"cpu": Case("04-counting", 2, 9, "sort", "u8")}
        passed, *_ = self.check(rule, STEPS[2], failed=failed)
        self.assertEqual((passed, failed), (True, {}))
        refused = 2
        with self.assertRaises(JudgeUsage):
            self.check(rule, STEPS[2])

    def test_a_finding_ends_the_other_tests(self) -> None:
        found = threading.Event()

        def rule(kind: str, case: Case) -> dict[str, Any]:
            if kind == "check":
                return {"findings": (FINDING,)}
            if case.n == 2:
                self.assertTrue(found.wait(60))
            return {}

        def has_findings(observation: check_build.Observing) -> bool:
            if observation._verdict:  # it has begun: the public cases wait for it here
                observation._verdict.result()
                found.set()
            return known(observation)

        known = check_build.Observing.has_findings
        with mock.patch.object(check_build.Observing, "has_findings", has_findings):
            passed, printed, saved, script = self.check(rule, STEPS[2])
        self.assertEqual((passed, saved), (False, [(2, "check", "failed")]))
        self.assertTrue(printed.startswith("FAILED  step 02 shared, histogram, check build: race at labs/04"), printed)
        self.assertEqual([entry[3] for entry in script.log if entry[0] == "cpu"], [1, 1])

    def test_a_failure_ends_the_observation(self) -> None:
        *_, script = self.check(lambda kind, _: WRONG_KEY if kind == "cpu" else {}, STEPS[2])
        self.assertTrue(script.cancelled)


class FirstBuild(InFolder):
    def test_the_first_verdict_does_not_wait_for_the_check_build(self) -> None:
        calls: list[list[str]] = []
        notes: list[str] = []
        with (
            mock.patch.object(build, "BUILD", self.folder),
            mock.patch.object(build, "compile_targets", lambda paths, *_: calls.append([p.name for p in paths])),
            mock.patch.object(build, "note", notes.append),
        ):
            later = build.make_programs("04-counting", ["cpu"], False)
            self.assertEqual(
                (calls, [path.name for path in later]), ([["judge", "04-counting-cpu"]], ["04-counting-check"])
            )
            self.assertIn("only once", notes[0])
            self.assertLessEqual(max(map(len, notes[0].splitlines())), 80)
            (self.folder / "labs").mkdir()
            for name in [*calls[0], "04-counting-check"]:
                (self.folder / "labs" / name).touch()
            self.assertEqual(build.make_programs("04-counting", ["cpu"], False), [])
        self.assertEqual((calls[1], len(notes)), (["judge", "04-counting-cpu", "04-counting-check"], 1))

    def test_the_check_build_is_compiled_when_it_is_needed(self) -> None:
        built: list[str] = []
        with mock.patch.object(build, "compile_targets", lambda paths, *_: built.extend(p.name for p in paths)):
            for rule, expected in (
                (lambda *_: {}, True),
                (lambda *_: {"status": "not-written", "passed": False}, False),
            ):
                built.clear()
                CheckStep().check(rule, STEPS[2], unbuilt=[Path("04-counting-check")])
                self.assertEqual(built, ["04-counting-check"] * expected)


class FirstLook(InFolder):
    """A step that takes long to compile is compiled for few types first, and tested with these."""

    STEP = StepFile("02-merge", 5, "record")

    def setUp(self) -> None:
        super().setUp()
        self.replace(build, "BUILD", self.folder)
        (self.folder / "labs").mkdir()
        entries = [
            {"file": name, "output": f"labs/02-merge-{kind}.p/meson-generated_{name}.o", "command": "c++"}
            for kind in ("cpu", "check")
            for name in ("04_path.cu.cpp", "05_record.cu.cpp", "05_record.others.cpp")
        ]
        (self.folder / "compile_commands.json").write_text(json.dumps(entries))
        self.events: list[str] = []
        self.printed = io.StringIO()

    def add_programs(self) -> None:
        for name in ("judge", "02-merge-cpu", "02-merge-check"):
            (self.folder / "labs" / name).touch()

    def test_there_is_none_before_all_else_is_built_or_where_none_is_needed(self) -> None:
        self.assertEqual(build.first_look(self.STEP, False), [])
        self.add_programs()
        found = [program.name for program in build.first_look(self.STEP, False)]
        self.assertEqual(found, ["02-merge-cpu-first", "02-merge-check-first"])
        self.assertEqual(build.first_look(self.STEP, True), [])
        self.assertEqual(build.first_look(StepFile("02-merge", 4, "path"), False), [])

    def test_only_quick_cases_of_few_types(self) -> None:
        tried: list[tuple[str, int, str | None]] = []

        class Types(Script):
            def cases(self, lab: str, number: int, set_: str, build_kind: str, seed: int = 0) -> list[CaseGroup]:
                (group,) = super().cases(lab, number, set_, build_kind, seed)
                types = ("u64", "u32", "pairs")
                return [CaseGroup("any n", tuple(replace(c, type=type_) for c in group.cases for type_ in types))]

        def fails_for(wrong: str) -> Rule:
            return lambda _, case: WRONG_KEY if case.type == wrong and case.task == "sort" else {}

        def run(script: Script, runner: Path, case: Case, **options: Any) -> Outcome:
            tried.append((runner.name, case.n, case.type))
            return real_run(script, runner, case, **options)

        real_run = Script.run
        keeper = SimpleNamespace(save_verdict=lambda *_: None, failed_case=lambda *_: None, verdict=lambda _: Known(""))
        for wrong, expected in (("u64", True), ("pairs", False)):
            tried.clear()
            script = Types(fails_for(wrong))
            with (
                mock.patch.object(Types, "run", run),
                mock.patch.object(checking, "ProgressFile", lambda: keeper),
                mock.patch.object(programs_, "ProgressFile", lambda: keeper),
                mock.patch.object(check_build, "Judges", lambda script=script: script),
                mock.patch.object(shrinking, "TRIES", 0),
                contextlib.redirect_stdout(io.StringIO()) as printed,
            ):
                checker = checker_of(script, ["cpu"])
                looked = checker.look(STEPS[2])
                self.assertEqual(looked.failure is None, expected)
                if looked.failure:
                    checker.failed(STEPS[2], looked.failure)
                elif observing := checker.begin(STEPS[2], mock.Mock()).observing:
                    observing.verdict(console.Progress(""))
            self.assertEqual({type_ for *_, type_ in tried}, {"u32", "pairs"})
            self.assertEqual({name for name, *_ in tried} - {"04-counting-check-first"}, {"04-counting-cpu-first"})
            self.assertEqual({n for name, n, _ in tried if "cpu" in name}, {1})  # quick
            self.assertEqual("FAILED  step 02 shared, cpu build" in printed.getvalue(), not expected)

    def after_a_first_look(self, wrong: tuple[str, str]) -> tuple[bool, list[tuple[str, int, str | None]], list[str]]:
        """Whether a step passes that is wrong for a type, on a build, if its first look began; what was run; and what
        was compiled."""
        tried: list[tuple[str, int, str | None]] = []
        built: list[str] = []

        class Types(Script):
            def cases(self, lab: str, number: int, set_: str, build_kind: str, seed: int = 0) -> list[CaseGroup]:
                (group,) = super().cases(lab, number, set_, build_kind, seed)
                types = ("u64", "u32", "pairs")
                return [CaseGroup("any n", tuple(replace(c, type=type_) for c in group.cases for type_ in types))]

            def run(self, runner: Path, case: Case, **options: Any) -> Outcome:
                if "trace" not in options:
                    tried.append((runner.name, case.n, case.type))
                return super().run(runner, case, **options)

        def rule(kind: str, case: Case) -> dict[str, Any]:
            return WRONG_KEY if wrong == (case.type, kind) and case.task == "sort" else {}

        keeper = SimpleNamespace(
            save_verdict=lambda *_: None,
            failed_case=lambda *_: None,
            verdict=lambda _: Known(""),
            save_playing=lambda *_: None,
        )
        script = Types(rule)
        with (
            mock.patch.object(checking, "ProgressFile", lambda: keeper),
            mock.patch.object(programs_, "ProgressFile", lambda: keeper),
            mock.patch.object(check_build, "Judges", lambda: script),
            mock.patch.object(build, "compile_targets", lambda paths, *_: built.extend(path.name for path in paths)),
            mock.patch.object(build, "object_of", lambda *_: None),
            mock.patch.object(explaining, "mutant_search", lambda *_: contextlib.nullcontext()),
            mock.patch.object(nvcc_compile, "_target", lambda *_: None),
            mock.patch.object(narrowing, "Scan") as scan,
            mock.patch.object(shrinking, "TRIES", 0),
            contextlib.redirect_stdout(self.printed),
        ):
            scan.return_value.notes.return_value = []
            first = checker_of(script, ["cpu"])
            looked = first.look(STEPS[2])
            self.assertIsNone(looked.failure)
            beside = first.begin(STEPS[2], nvcc_compile.NvccCompile(STEPS[2]))
            assert beside.observing
            beside.observing.verdict(console.Progress(""))
            begun = len(tried)
            checker = checker_of(script, ["cpu"], begun=(looked, beside))
            passed = checker.passes(STEPS[2])
        self.assertEqual(scan.call_count, 1)  # the search that began with the first look is used
        self.assertEqual({type_ for name, _, type_ in tried[:begun]}, {"u32", "pairs"})
        return passed, tried[begun:], built

    def test_after_it_its_cases_are_not_repeated(self) -> None:
        passed, tried, built = self.after_a_first_look(("", ""))
        self.assertTrue(passed)
        self.assertEqual(built, [])  # the check build has no other types
        self.assertEqual({(n, type_) for _, n, type_ in tried if n == 1}, {(1, "u64")})  # of the quick cases
        self.assertEqual({type_ for _, n, type_ in tried if n == 2}, {"u64", "u32", "pairs"})  # of the public ones

    def test_the_check_build_of_all_types_is_compiled_for_one_that_fails(self) -> None:
        passed, tried, built = self.after_a_first_look(("u64", "cpu"))
        self.assertFalse(passed)
        self.assertEqual(built, ["04-counting-check"])
        announced, _, explained = self.printed.getvalue().partition("Looking for the reason ...\n")
        self.assertIn("FAILED  step 02 shared, cpu build: wrong key at index", announced)
        self.assertTrue(explained.startswith("\nThe first thing to fix:\n\n"), explained)
        self.assertIn(("04-counting-check", 1, "u64"), tried)

    def test_a_check_build_of_few_types_has_all_sizes(self) -> None:
        cases = [Case("04-counting", 2, n, "sort", type_) for n in (1, 2) for type_ in ("u64", "u32", "pairs")]
        found = check_build._with_types(cases, SHARED, ("u32", "pairs"))
        self.assertEqual({(case.n, case.type) for case in found}, {(n, t) for n in (1, 2) for t in ("u32", "pairs")})
        bytes_ = [Case("04-counting", 2, n, "sort", "u8") for n in (3, 4)]
        alone = check_build._with_types(bytes_, SHARED, ("u32", "pairs"))
        self.assertEqual([(case.n, case.type) for case in alone], [(3, "u32"), (4, "pairs")])
        self.assertEqual(bytes_, check_build._with_types(bytes_, step(2, types=("u8",)), ("u32",)))  # a part
        counting = step(2, types=("u8", "u32"), max_range=1 << 24)
        (counted,) = check_build._with_types(bytes_[:1], counting, ("u32",))
        self.assertEqual((counted.type, counted.input), ("u32", NARROW_RANGE))
        wide = replace(counted, input="range:0:4095")  # too many values for a byte
        self.assertEqual(bytes_[:1], check_build._with_types([wide], counting, ("u8",)))

    def check(self, looks_right: bool, is_early: bool = False) -> bool:
        """The verdict of a check in which the first look has this outcome; self.events: what happened. `is_early`: the
        look begins while the check build is still compiled."""
        events = self.events

        table = SimpleNamespace(own_line=lambda _: SimpleNamespace(task="sort"))
        programs = SimpleNamespace(unbuilt=(), table=table, lab="02-merge", solution=False)

        class FakeChecker:
            def __init__(self, _programs: object, _show: object, looked: object = None, beside: object = None) -> None:
                self.begun = looked and beside

            def look(self, _step: StepFile) -> SimpleNamespace:
                events.append("looks")
                return SimpleNamespace(failure=None if looks_right else "a case")

            def failed(self, _step: StepFile, failure: object) -> None:
                events.append(f"{failure} fails")

            def begin(self, _step: StepFile, _nvcc: object) -> SimpleNamespace:
                observing = SimpleNamespace(start=lambda: events.append("the check build begins"))
                return SimpleNamespace(observing=observing, cancel=lambda: events.append("what has begun ends"))

            def passes(self, _step: StepFile) -> bool:
                events.append("all" if self.begun else "all, without a first look")
                return True

        def compile_targets(paths: list[Path], _what: str, kept: list[str], begun: build.Begun | None = None) -> None:
            events.append(", ".join(path.name for path in paths))
            kept[:] = ["a warning"]
            if begun and is_early:
                begun[1]()
                events.append(f"after {begun[0].name}")

        def start(*_: object) -> SimpleNamespace:
            events.append("nvcc")
            return SimpleNamespace(cancel=lambda: events.append("nvcc ends"))

        with (
            mock.patch.multiple(build, ensure=lambda: None, runnable=lambda: ["cpu"], compile_targets=compile_targets),
            mock.patch.multiple(checking, Checker=FakeChecker, JudgeClient=lambda: contextlib.nullcontext()),
            mock.patch.object(checking, "Programs", lambda *_: programs),
            mock.patch.object(nvcc_compile, "NvccCompile", start),
            mock.patch.object(checking, "note", lambda text: events.append(text.strip())),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            return checking.check("02-merge", [self.STEP])

    def test_the_rest_is_compiled_only_if_the_step_looks_right(self) -> None:
        self.add_programs()
        compiled = "judge, 02-merge-cpu-first, 02-merge-check-first"
        first = [compiled, "nvcc", "looks"]
        last = ["nvcc ends", "the compiler warns:", "a warning"]  # warnings come once
        self.assertFalse(self.check(looks_right=False))
        self.assertEqual(self.events, [*first, "nvcc ends", "a case fails", *last])
        self.events.clear()
        self.assertTrue(self.check(looks_right=True))
        second = ["the check build begins", "judge, 02-merge-cpu", "all", "what has begun ends"]
        self.assertEqual(self.events, [*first, *second, *last])
        self.events.clear()
        self.assertTrue(self.check(looks_right=True, is_early=True))
        self.assertEqual(self.events, [*first, "after 02-merge-cpu-first", *second, *last])


class Examination(unittest.TestCase):
    """The whole check of a step with a small change."""

    def test_one_that_takes_too_long_is_given_up(self) -> None:
        cancelled = threading.Event()
        judges = SimpleNamespace(cancel=cancelled.set)

        def check_step(*_: object, **_options: object) -> None:
            assert cancelled.wait(60)
            raise JudgeDied("cancelled")

        line = next(line for line in COUNTING.steps if line.number == 2)
        shown = FailedCase(STEPS[2], line, "check", Outcome("wrong", False, Case("04-counting", 2, 1)))
        with (
            mock.patch.object(check_build, "Judges", lambda prefix: contextlib.nullcontext(judges)),
            mock.patch.object(check_build, "check_step", check_step),
            mock.patch.object(search, "EXAMINATION_SECONDS", 0.01),
        ):
            programs = Programs(Script(lambda *_: {}), "04-counting", ["cpu"])  # type: ignore[arg-type]
            self.assertFalse(explaining.is_right(programs, shown, Path("runner"), {"STEP_MUTANT": "1"}))


class Dead(FakeJudge):
    def test_a_judge_that_dies_is_no_pass(self) -> None:
        with self.assertRaises(JudgeDied):
            Programs(self.client("dies"), "03-bitonic", ["cpu"])


class Failures(unittest.TestCase):
    """A failed case, as lines."""

    def test_long_lines_are_wrapped_where_the_width_is_known(self) -> None:
        finding = Finding(
            "labs/04-counting/02_shared.cu", 7, "out-of-bounds", "reads " + "word " * 20 + "\n    " + "do " * 30
        )
        command = "SIMT_SEED=0 ./workbook run " + "again " * 20
        outcome = Outcome("verified", False, Case("04-counting", 2, 1), findings=(finding,), replay=command)
        with mock.patch.object(console, "width", lambda: 60):
            lines = console.wrapped_message("\n".join(failure_lines(outcome))).split("\n")
        self.assertTrue(lines[0].startswith("labs/04-counting/02_shared.cu:7: error: out-of-bounds: reads"))
        self.assertEqual([line[:8] for line in lines[1:5]], ["      wo", "      wo", "    do d", "      do"])
        self.assertLessEqual(max(map(len, lines[1:])), 60)
        again = next(i for i in range(len(lines)) if lines[i].startswith("  again: "))
        copied = "\n".join(lines[again:]).replace(" \\\n", " ")  # as a shell reads it
        self.assertEqual(copied.split()[1:], command.split())
        table = "wrong key at index 3\n  index    0  [1]  2" + "  3" * 30
        with mock.patch.object(console, "width", lambda: 30):
            self.assertEqual(console.wrapped_message(table), table)
            self.assertEqual(
                console.wrapped_message("error: " + "word " * 6), "error: word word word word\n      word word"
            )
            self.assertEqual(console.wrapped_message(" " + "a b" * 20, indented=False), " " + "a b" * 20)

    def test_a_wrong_key(self) -> None:
        self.assertEqual(
            failure_lines(WRONG, " --build cpu"),
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
        printed = f"{finding}\nhello\n"
        outcome = Outcome("crashed", False, CASE, "signal 11", findings=(finding,), file="labs/a.cu", printed=printed)
        self.assertEqual(
            failure_lines(outcome)[:2], ["labs/a.cu:7: error: out-of-bounds: read", "  crashed: signal 11"]
        )
        self.assertEqual(failure_lines(outcome)[3:5], ["  the runner printed:", "hello"])

    def test_the_last_words_of_a_crash_come_first(self) -> None:
        words = "labs/a.cu:9: error: __syncthreads() was called outside a kernel"
        outcome = Outcome("crashed", False, CASE, "Aborted", file="labs/a.cu", printed=f"hello\n{words}\n")
        lines = failure_lines(outcome)
        self.assertEqual(lines[:2], [words, "  crashed: Aborted"])
        self.assertEqual(lines[3:5], ["  the runner printed:", "hello"])

    def test_what_a_case_launched(self) -> None:
        one, other = {"kernel": "sort", "global_st_requests": 3}, {"kernel": "merge", "global_st_requests": 0}
        outcome = Outcome("wrong", False, CASE, launches=(one, one, other))
        self.assertEqual(
            launched(outcome),
            "  it launched sort 2 times; merge once, which stores nothing in global memory",
        )
        self.assertEqual(launched(WRONG), "")

    def test_a_shape_that_must_be_refused(self) -> None:
        case = Case("03-bitonic", 2, 10, blocks=-1, expect="refused")
        lines = failure_lines(Outcome("verified", False, case, file="labs/a.cu"))
        self.assertEqual(
            lines[0],
            "labs/a.cu: blocks -1, threads per block 0: the step must throw lab::Unsupported and touch nothing; "
            'instead, the outcome was "verified"',
        )


class Watch(InFolder):
    def test_a_save_shows(self) -> None:
        lab = self.folder / "labs/03-bitonic"
        lab.mkdir(parents=True)
        (lab / "01_global.cu").write_text("a")
        (lab / ".01_global.cu.swp.cu").write_text("an editor's own")
        (lab / "README.md").write_text("not a source")
        before = watch.snapshot("03-bitonic", self.folder)
        self.assertEqual([path.name for path in before], ["01_global.cu"])
        self.assertEqual(watch.snapshot("03-bitonic", self.folder), before)
        (lab / "01_global.cu").write_text("ab")
        after = watch.snapshot("03-bitonic", self.folder)
        self.assertNotEqual(after, before)
        self.assertRegex(watch.difference(before, after), r"\.cu was saved$")
        self.assertRegex(watch.difference(before, {}), " was removed$")

    def test_only_what_was_saved_is_checked(self) -> None:
        steps = list(STEPS.values())
        for names, expected in (
            (["02_shared.cu"], [STEPS[2]]),
            (["03_parallel.cu", "02_shared.cu"], steps),
            (["scan.cuh"], steps),  # which any of them may include
            (["scan.cuh", "02_shared.cu"], steps),
        ):
            self.assertEqual(watch.steps_to_check(steps, [Path("labs/04-counting", name) for name in names]), expected)
        self.assertEqual(watch.steps_to_check([STEPS[2]], [Path("03_parallel.cu")]), [STEPS[2]])

"""The check of a lab: public tests on each build, then the check build, up to the first thing to fix.

A check is a pipeline, in which each function turns one value into the next: cases (programs.py), outcomes (running.py,
check_build.py), the case to show (here), the smallest one, its trace and the diagnosis (explaining.py), the
verdict (verdict.py), and what is shown of it (words.py).
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import build, check_build, machine, nvcc_compile
from ..core.console import Progress, note, tell
from ..core.course import StepFile, find_step
from ..core.judge_client import JudgeClient, JudgeUsage
from ..core.judge_types import Case, Outcome, Step
from ..core.progress import ProgressFile
from ..core.running import Graded, groups_of, run_cases, without_types
from ..inspection import look
from . import narrowing, suspects
from .explaining import explained
from .programs import QUICK_SECONDS, SETS, Programs
from .verdict import FailedCase, Gap, Passed, Show, Verdict
from .words import Words

LANE_SEEDS = (0, 1, 77)  # orders of lanes in which a case that failed is repeated on the check build
MORE_CASES = 3  # of the check build, if none of these orders shows a finding, nor a case that fails there


@dataclass(frozen=True)
class FirstLook:
    """What the quick cases of a few types of keys have shown of a step, before anything else was compiled."""

    step: StepFile
    types: tuple[str, ...]  # of keys: the only ones
    cases: int  # that have passed
    failure: FailedCase | None


@dataclass(frozen=True)
class Beside:
    """What runs beside the tests of a step."""

    nvcc: nvcc_compile.NvccCompile
    scan: narrowing.Scan | None  # for narrow positions, in a step that accepts any n
    observing: check_build.Observing | None

    def cancel(self) -> None:
        """Ends it."""
        for begun in (self.observing, self.nvcc, self.scan):
            if begun:
                begun.cancel()


class Checker:
    """Checks steps of a lab, whose programs have been built."""

    def __init__(
        self, programs: Programs, show: Show, looked: FirstLook | None = None, beside: Beside | None = None
    ) -> None:
        """`looked`: the first look that a step has passed; its cases are not repeated, and the check build, too, has
        only its types. `beside`: what has begun since."""
        self.programs = programs
        self.show = show
        self.looked = looked
        self.beside = beside
        self.sets: Sequence[str] = SETS
        if looked:
            programs.check_types = looked.types
        self.sound: list[Step] = []  # lines that have passed everything
        self.passed: list[Passed] = []  # of the step that is checked
        self._announced: FailedCase | None = None

    def save(self, step: StepFile, kind: str, word: str, failed: Case | None = None) -> None:
        """Remembers a verdict on a student's step, and the case that failed. A part is not the whole step."""
        if not step.part and not self.programs.solution:
            ProgressFile().save_verdict(step, kind, word, failed)

    # --- the tests of one build ---

    def public_tests(
        self,
        step: StepFile,
        lines: Sequence[Step],
        kind: str,
        observing: check_build.Observing | None = None,
    ) -> tuple[Graded, FailedCase | None]:
        """What failed last time, the quick cases of each line, then all public ones, up to the first that fails. The
        check build begins beside the public cases, which end early if it finds something."""
        programs = self.programs
        is_of_look = self.looked and self.looked.step.number == step.number and kind == "cpu"
        looked = self.looked if is_of_look else None
        graded = Graded(cases=looked.cases if looked else 0)
        stop = observing.has_findings if observing else lambda: False
        with Progress(f"{programs.lab} {step} on the {kind} build") as progress:
            for set_ in self.sets:
                seconds = programs.timeout or (None if set_ == "public" else QUICK_SECONDS)
                groups = programs.cases(step, set_, kind)
                if looked and set_ == "quick":
                    groups = without_types(groups, looked.types)
                if observing and set_ == "public":
                    observing.start()
                for line in lines:
                    try:
                        run_cases(
                            programs.judge,
                            programs.runner(kind),
                            groups_of(groups, line, programs.types),
                            seconds,
                            progress,
                            graded,
                            stop,
                            # The GPU is not shared: its memory may not be enough for two cases.
                            side_by_side=kind == "cpu" and (set_ == "public" or looked is not None),
                        )
                    except JudgeUsage:
                        if set_ != SETS[0]:  # such a case may no longer exist
                            raise
                    if graded.failure:
                        return graded, FailedCase(step, line, kind, graded.failure)
        return graded, None

    def _observation(self, step: StepFile, lines: Sequence[Step]) -> Callable[..., check_build.Observation]:
        """A function that runs lines of a step on the check build, with the programs as they are now."""
        programs = self.programs
        arguments = programs.lab, step.number, programs.runner("check"), programs.timeout
        tasks = [line.task for line in lines]
        return functools.partial(check_build.check_step, *arguments, tasks=tasks, types=programs.check_types)

    def observing(self, step: StepFile) -> check_build.Observing:
        """The observation of a step, which has yet to begin."""
        observation = self._observation(step, self.programs.lines(step))
        first = self.programs.failed_last_time(step, "check")
        return check_build.Observing(lambda judges: observation(judges=judges, first=first))

    def observe(self, step: StepFile, lines: Sequence[Step]) -> check_build.Observation:
        """What the check build says of lines of a step."""
        with Progress(f"{self.programs.lab} {step} on the check build") as progress:
            return self._observation(step, lines)(progress=progress, more=MORE_CASES)

    # --- the case to show ---

    def named(self, failure: FailedCase) -> FailedCase:
        """The same fault in a case of the check build that names its line, if there is one: the case that failed, or
        another of the same line. Otherwise the failure itself."""
        programs, outcome = self.programs, failure.outcome
        if not programs.is_observed or failure.kind == "check":
            return failure
        if programs.check_types:
            programs.build_rest(outcome.case.type)
        if outcome.status == "hung" or outcome.case.expect == "refused":
            return failure
        programs.build_rest()
        slow: Outcome | None = None  # one that does not end has findings, but a case with fewer keys shows more
        if outcome.case.n <= failure.line.affordable.check:
            for seed in LANE_SEEDS:
                case = replace(outcome.case, lane_seed=seed)
                again = programs.run("check", case, QUICK_SECONDS)
                if again.status == "hung":
                    slow = again if again.findings else None
                    break
                if again.findings or (again.changed_nothing and not self._changes_ascending(failure.line, case)):
                    return replace(failure, kind="check", outcome=again)
        seen = self.observe(failure.step, [failure.line])
        found = seen.failed if seen.failed and seen.failed.findings else slow
        return replace(failure, kind="check", outcome=found) if found else failure

    def _changes_ascending(self, line: Step, case: Case) -> bool:
        """Whether a step that leaves keys as they are in descending order changes some in ascending order."""
        if case.order == "ascending" or line.max_range is not None or case.task not in ("sort", "exchange"):
            return False
        return not self.programs.run("check", replace(case, order="ascending", input="reversed")).changed_nothing

    def _own_failure(self, line: Step) -> FailedCase | None:
        """How a line fails by itself; None if it passes."""
        step = find_step(self.programs.lab, line.number)
        for kind in self.programs.kinds:
            _, failure = self.public_tests(step, [line], kind)
            if failure:
                return None if failure.outcome.status == "not-written" else self.named(failure)
        seen = self.observe(step, [line]) if self.programs.is_observed else None
        return FailedCase(step, line, "check", seen.failed) if seen and seen.failed else None

    def cause(self, failure: FailedCase) -> FailedCase:
        """The failure of what the line uses, if that fails by itself: it comes first."""
        for line in self.programs.table.used_by(failure.line):
            step = find_step(self.programs.lab, line.number)
            known = step.number != failure.step.number and not self.programs.solution
            if line in self.sound or (known and ProgressFile().verdict(step).word == "passed"):
                continue
            if earlier := self._own_failure(line):
                return earlier
        return self.named(failure)

    # --- verdicts ---

    def _verdict(self, step: StepFile, word: str) -> Verdict:
        return Verdict(step, word, tuple(self.passed))

    def failed(self, step: StepFile, failure: FailedCase) -> None:
        """Shows and remembers why a step failed."""
        if failure.outcome.status == "not-written":
            gap = Gap.of(step, failure.outcome)
            if gap.is_in(step):
                self.save(step, failure.kind, "not written")
            self.show(replace(self._verdict(step, "not written"), gap=gap))
            return
        self.save(step, failure.kind, "failed", failure.outcome.case)
        self._announce(failure)
        why = explained(self.programs, failure, self.cause(failure))
        self.show(replace(self._verdict(step, "failed"), failed=why))
        last = why.smallest.outcome if why.smallest else why.shown.outcome
        if last.playing and self.programs.is_observed and not step.part and not self.programs.solution:
            ProgressFile().save_playing(failure.step, failure.kind, last.playing)

    def _announce(self, failure: FailedCase) -> None:
        """Shows, once, that a case fails: the reason may take some time."""
        if self.programs.is_observed and failure is not self._announced:
            self._announced = failure
            self.show(failure)

    def tested(self, step: StepFile, kind: str, observing: check_build.Observing | None = None) -> bool:
        """Tests one step on one build, shows the verdict and remembers it. Returns whether it passed, or is known to
        fail on the check build."""
        start = time.monotonic()
        beside = None if self.programs.unbuilt else observing
        graded, failure = self.public_tests(step, self.programs.lines(step), kind, beside)
        seconds = time.monotonic() - start
        if failure is None and observing and observing.has_findings():
            return True
        if failure is None:
            self.save(step, kind, "passed")
            self._pass(Passed(step, kind, graded.cases, seconds, graded.printing, graded.printed))
            return True
        if observing and failure.outcome.status != "not-written":
            observing.cancel()
        self.failed(step, failure)
        return False

    def _pass(self, passed: Passed) -> None:
        self.passed.append(passed)
        self.show(passed)

    def look(self, step: StepFile) -> FirstLook:
        """Takes the first look at a step, for which the check build is not needed, and shows whether a case fails."""
        types, self.sets = self.programs.take_first_types(), SETS[:2]
        graded, failure = self.public_tests(step, self.programs.lines(step), "cpu")
        if failure and failure.outcome.status != "not-written":
            self._announce(failure)
        return FirstLook(step, types, graded.cases, failure)

    def begin(self, step: StepFile, nvcc: nvcc_compile.NvccCompile) -> Beside:
        """Begins what runs beside the tests, except for the check build's cases, which have to be started."""
        programs = self.programs
        accepts_any = programs.is_observed and all(line.max_n is None for line in programs.lines(step))
        scan = narrowing.Scan(step, programs.solution) if accepts_any else None
        return Beside(nvcc, scan, self.observing(step) if programs.is_observed else None)

    def observed_well(self, step: StepFile, observing: check_build.Observing) -> bool:
        """Shows and remembers what the check build says of a step that passes its tests. Returns whether it passed."""
        programs, lines = self.programs, self.programs.lines(step)
        programs.build_rest()
        with Progress(f"{programs.lab} {step} on the check build") as progress:
            seen = observing.verdict(progress)
        if not seen.failed:
            self.save(step, "check", seen.word)
        remarks, costs = tuple(seen.remarks.values()), tuple(seen.costs)
        if seen.passed:
            types = programs.check_types or ()
            self._pass(Passed(step, "check", seen.cases, observing.seconds, types=types, costs=costs, remarks=remarks))
            self.sound += lines
            return True
        if seen.failed is None:
            over = replace(self._verdict(step, "over budget"), over=tuple(seen.over), remarks=remarks, costs=costs)
            self.show(over)
            return False
        line = next(line for line in lines if line.task == seen.failed.case.task)
        self.failed(step, FailedCase(step, line, "check", seen.failed))
        return False

    def passes(self, step: StepFile) -> bool:
        """Checks a step on all builds up to the first on which it fails."""
        programs = self.programs
        self.passed = []
        # The check build that is compiled for the first time takes all processors: nvcc waits for the next check.
        is_first = "cuda" not in programs.kinds and bool(programs.unbuilt)
        needs_nvcc = "cuda" not in programs.kinds and not is_first
        with contextlib.ExitStack() as stack:
            beside = self.beside or self.begin(step, nvcc_compile.NvccCompile(step, programs.solution, needs_nvcc))
            stack.callback(beside.cancel)
            pool = ThreadPoolExecutor(1)
            stack.callback(pool.shutdown, wait=False)
            may_call = programs.table.may_call(step.number)
            refused = None if programs.solution else pool.submit(look.notes, step, programs.kinds[0], may_call)
            observing, nvcc = beside.observing, beside.nvcc
            if not all(self.tested(step, kind, observing) for kind in programs.kinds):
                return False
            if observing and not self.observed_well(step, observing):
                return False
            narrow = beside.scan.notes() if beside.scan else ()
            own = suspects.notes(step, programs.solution, passed=True)
            notes = (*narrow, *own, *(refused.result() if refused else ()))
            if is_first and nvcc_compile.is_set_up(step, programs.solution):
                note("nvcc was not run, because the check build had to be compiled first; the next check runs it")
            verdict = replace(self._verdict(step, "passed"), notes=notes)
            if nvcc.is_possible:
                with Progress(f"{programs.lab} {step}, compiled by nvcc"):
                    errors = nvcc.errors()
                word = "failed" if errors else "passed"
                self.save(step, "nvcc", word)
                verdict = replace(verdict, word=word, nvcc=errors, nvcc_seconds=nvcc.waited)
            self.show(verdict)
            return verdict.word == "passed"


def _show_warnings(warnings: Sequence[str]) -> None:
    """What the compiler warns about, after the verdict."""
    if warnings:
        note("\nthe compiler warns:")
    for line in warnings:
        note(line)


@dataclass(frozen=True)
class CheckPlan:
    """What is checked."""

    lab: str
    steps: Sequence[StepFile]
    kinds: Sequence[str]  # the builds on which the tests run
    timeout: float | None
    solution: bool

    def first_programs(self) -> list[Path]:
        """The programs for a first look; none for several steps, without a cpu build, or if a step compiles quickly."""
        is_possible = len(self.steps) == 1 and "cpu" in self.kinds
        return build.first_look(self.steps[0], self.solution) if is_possible else []


def _first_look(
    plan: CheckPlan, programs: Sequence[Path], show: Show, warnings: list[str], stack: contextlib.ExitStack
) -> tuple[FirstLook, Beside | None]:
    """Compiles the programs for a first look at a step, and takes it. If the step passes it, what runs beside the
    tests begins; `stack` ends it. Otherwise shows why."""
    step = plan.steps[0]
    taken: list[tuple[Checker, FirstLook, nvcc_compile.NvccCompile]] = []
    with contextlib.ExitStack() as looking:

        def look() -> None:
            nvcc = nvcc_compile.NvccCompile(step, plan.solution, "cuda" not in plan.kinds)
            stack.callback(nvcc.cancel)
            judge = looking.enter_context(JudgeClient())
            checker = Checker(Programs(judge, plan.lab, ["cpu"], plan.timeout), show)
            looked = checker.look(step)
            if looked.failure:
                nvcc.cancel()
            taken.append((checker, looked, nvcc))

        what = f"building {plan.lab} for a first look"
        build.compile_targets([build.judge(), *programs], what, warnings, (programs[0], look))
        if not taken:
            look()
        ((checker, looked, nvcc),) = taken
        if looked.failure:
            checker.failed(step, looked.failure)
            return looked, None
        beside = checker.begin(step, nvcc)
        stack.callback(beside.cancel)
        if beside.observing:
            beside.observing.start()
        return looked, beside


def check(
    lab: str,
    steps: Sequence[StepFile],
    timeout: float | None = None,
    solution: bool = False,
    show: Show | None = None,
    shows_all: bool = False,
) -> bool:
    """Checks the steps in order up to the first that fails; returns whether all pass. `show`: what is done with events
    and verdicts; None: they are printed, long ones in full if `shows_all`. CompileFailed, Problem."""
    build.ensure()
    plan = CheckPlan(lab, steps, build.runnable(), timeout, solution)
    is_printed = show is None
    shown = show if show is not None else Words(plan.kinds, solution, shows_all)
    warnings: list[str] = []
    looked: FirstLook | None = None
    beside: Beside | None = None
    with contextlib.ExitStack() as stack:
        stack.callback(_show_warnings, warnings)
        if first := plan.first_programs():
            looked, beside = _first_look(plan, first, shown, warnings, stack)
            if looked.failure:
                return False
        unbuilt = build.make_programs(lab, plan.kinds, solution, warnings, with_check=not looked)
        judge = stack.enter_context(JudgeClient())
        programs = Programs(judge, lab, plan.kinds, timeout, solution, unbuilt)
        checker = Checker(programs, shown, looked, beside)
        if not all(checker.passes(step) for step in steps):
            if programs.unbuilt:
                note("\ncompiling the check build for the next check; press Ctrl-C to stop")
                programs.build_rest()
            return False
    if is_printed:
        tell(_next(programs, steps))
        if "cuda" in build.kinds() and not machine.gpus():
            note("cuda: not run, because no GPU was found")
    return True


def _next(programs: Programs, steps: Sequence[StepFile]) -> str:
    """That all is well, and what a student may do next."""
    lab, options = programs.lab, " --solution" * programs.solution
    first = steps[0]
    if first.part:
        return f"Passed: {first}. Next: ./workbook check {lab} {first.number}{options}"
    which, following = "All steps passed", f"bench {lab}"
    if len(steps) == 1:
        # The time of an exchange has nothing to be compared with.
        exchanges = programs.table.own_line(first.number).task == "exchange"
        which = "Passed"
        following = f"picture {lab} {first.number}" if exchanges else f"bench {lab} --step {first.number}"
    return f"{which} all public tests (the ones that come with the workbook). Next: ./workbook {following}{options}"

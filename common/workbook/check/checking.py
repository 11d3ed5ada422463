"""The check of a lab: public tests on each build, then the check build, up to the first thing to fix.

A check is a pipeline, in which each function turns one value into the next: cases (programs.py), outcomes (running.py,
check_build.py), the case to show (here), the smallest one, its observation and the diagnosis (explaining.py), the
verdict (verdict.py), and what is shown of it (words.py).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace

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
from .verdict import Failure, Gap, Passed, Show, Verdict
from .words import Words

LANE_SEEDS = (0, 1, 77)  # orders of lanes in which a case that failed is repeated on the check build
MORE_CASES = 3  # of the check build, if none of these orders shows a finding, nor a case that fails there


class Checker:
    """Checks steps of a lab, whose programs have been built."""

    def __init__(
        self,
        programs: Programs,
        show: Show,
        nvcc: nvcc_compile.NvccCompile | None = None,
        is_first_look: bool = False,
        after: Checker | None = None,
    ) -> None:
        """`nvcc`: the compilation that began before a first look, in which there are only the quick cases of a few
        types. `after`: the first look that the step has passed; its cases are not repeated, and the check build, too,
        has only its types."""
        self.programs = programs
        self.show = show
        self.nvcc: nvcc_compile.NvccCompile | None = after.nvcc if after else nvcc
        self.sets = SETS[:2] if is_first_look else SETS
        self.first_types: tuple[str, ...] = after.first_types if after else ()  # of a first look's programs
        if is_first_look:
            runner = build.runner(programs.lab, "cpu-first")
            self.first_types = programs.types = programs.judge.runner(runner).steps[0].types
        programs.check_types = self.first_types or None
        self.looked: StepFile | None = after.looked if after else None  # the step that passed a first look
        self.seen: int = after.seen if after else 0  # cases of the first look
        # What the check build says, if that has begun.
        self.begun: check_build.Observation | None = after.begun if after else None
        self.scan: narrowing.Scan | None = after.scan if after else None  # the search for narrow positions, if begun
        self.sound: list[Step] = []  # lines that have passed everything
        self.passed: list[Passed] = []  # of the step that is checked
        self.failed: Failure | None = None  # of the first look

    def save(self, step: StepFile, kind: str, word: str, failed: Case | None = None) -> None:
        """Remembers a verdict on a student's step, and the case that failed. A part is not the whole step."""
        if not step.part and not self.programs.solution:
            ProgressFile().save_verdict(step, kind, word, failed)

    # --- the tests of one build ---

    def public_tests(
        self, step: StepFile, lines: Sequence[Step], kind: str, observation: check_build.Observation | None = None
    ) -> tuple[Graded, Failure | None]:
        """What failed last time, the quick cases of each line, then all public ones, up to the first that fails. The
        observation begins beside the public cases, which end early if it finds something."""
        programs = self.programs
        was_seen = self.looked is not None and self.looked.number == step.number and kind == "cpu"
        graded = Graded(cases=self.seen if was_seen else 0)
        stop = observation.has_findings if observation else lambda: False
        with Progress(f"{programs.lab} {step} on the {kind} build") as progress:
            for set_ in self.sets:
                seconds = programs.timeout or (None if set_ == "public" else QUICK_SECONDS)
                groups = programs.cases(step, set_, kind)
                if was_seen and set_ == "quick":
                    groups = without_types(groups, self.first_types)
                if observation and set_ == "public":
                    observation.start()
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
                            side_by_side=kind == "cpu" and (set_ == "public" or was_seen),
                        )
                    except JudgeUsage:
                        if set_ != SETS[0]:  # such a case may no longer exist
                            raise
                    if graded.failure:
                        return graded, Failure(step, line, kind, graded.failure)
        return graded, None

    def observation(self, step: StepFile) -> check_build.Observation:
        """What the check build says of a step, which has yet to begin."""
        programs = self.programs
        tasks = [line.task for line in programs.lines(step)]
        first = programs.failed_last_time(step, "check")
        runner, types = programs.runner("check"), programs.check_types
        return check_build.Observation(
            lambda judges: check_build.check_step(
                programs.lab,
                step.number,
                runner,
                programs.timeout,
                judges=judges,
                tasks=tasks,
                first=first,
                types=types,
            )
        )

    def observe(self, step: StepFile, lines: Sequence[Step]) -> check_build.Observed:
        """What the check build says of lines of a step."""
        programs = self.programs
        with Progress(f"{programs.lab} {step} on the check build") as progress:
            return check_build.check_step(
                programs.lab,
                step.number,
                programs.runner("check"),
                programs.timeout,
                progress,
                tasks=[line.task for line in lines],
                types=programs.check_types,
                more=MORE_CASES,
            )

    # --- the case to show ---

    def named(self, failure: Failure) -> Failure:
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

    def _own_failure(self, line: Step) -> Failure | None:
        """How a line fails by itself; None if it passes."""
        step = find_step(self.programs.lab, line.number)
        for kind in self.programs.kinds:
            _, failure = self.public_tests(step, [line], kind)
            if failure:
                return None if failure.outcome.status == "not-written" else self.named(failure)
        seen = self.observe(step, [line]) if self.programs.is_observed else None
        return Failure(step, line, "check", seen.failed) if seen and seen.failed else None

    def cause(self, failure: Failure) -> Failure:
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

    def _failed(self, step: StepFile, failure: Failure) -> None:
        """Shows and remembers why a step failed."""
        if failure.outcome.status == "not-written":
            gap = Gap.of(step, failure.outcome)
            if gap.is_in(step):
                self.save(step, failure.kind, "not written")
            self.show(replace(self._verdict(step, "not written"), gap=gap))
            return
        self.save(step, failure.kind, "failed", failure.outcome.case)
        # The reason may take some time. A first look has shown its failure before.
        if self.programs.is_observed and failure is not self.failed:
            self.show(failure)
        why = explained(self.programs, failure, self.cause(failure))
        self.show(replace(self._verdict(step, "failed"), failed=why))
        last = why.smallest.outcome if why.smallest else why.shown.outcome
        if last.playing and self.programs.is_observed and not step.part and not self.programs.solution:
            ProgressFile().save_playing(failure.step, failure.kind, last.playing)

    def tested(self, step: StepFile, kind: str, observation: check_build.Observation | None = None) -> bool:
        """Tests one step on one build, shows the verdict and remembers it. Returns whether it passed, or is known to
        fail on the check build."""
        start = time.monotonic()
        unobserved = None if self.programs.unbuilt else observation
        graded, failure = self.public_tests(step, self.programs.lines(step), kind, unobserved)
        seconds = time.monotonic() - start
        if failure is None and observation and observation.has_findings():
            return True
        if failure is None:
            self.save(step, kind, "passed")
            self._pass(Passed(step, kind, graded.cases, seconds, graded.printing, graded.printed))
            return True
        if observation and failure.outcome.status != "not-written":
            observation.cancel()
        self._failed(step, failure)
        return False

    def _pass(self, passed: Passed) -> None:
        self.passed.append(passed)
        self.show(passed)

    def look(self, step: StepFile) -> None:
        """Takes the first look at a step, for which the check build is not needed, and shows whether a case fails."""
        graded, self.failed = self.public_tests(step, self.programs.lines(step), "cpu")
        self.seen = graded.cases
        if self.failed:
            if self.nvcc:
                self.nvcc.cancel()
            if self.failed.outcome.status != "not-written":
                self.show(self.failed)

    def looks_right(self, step: StepFile) -> bool:
        """Whether a step has passed the first look. If so, the cases of the check build begin; otherwise shows why, and
        remembers it."""
        if self.failed:
            self._failed(step, self.failed)
            return False
        self.looked, self.scan, self.begun = step, self._scan(step), self.observation(step)
        self.begun.start()
        return True

    def cancel(self) -> None:
        """Ends what a first look has begun."""
        for begun in (self.begun, self.scan):
            if begun:
                begun.cancel()

    def _scan(self, step: StepFile) -> narrowing.Scan | None:
        """The search for positions that are too narrow for the n of a step that accepts any."""
        accepts_any = self.programs.is_observed and all(line.max_n is None for line in self.programs.lines(step))
        return narrowing.Scan(step, self.programs.solution) if accepts_any else None

    def observed_well(self, step: StepFile, observation: check_build.Observation) -> bool:
        """Shows and remembers what the check build says of a step that passes its tests. Returns whether it passed."""
        programs, lines = self.programs, self.programs.lines(step)
        programs.build_rest()
        with Progress(f"{programs.lab} {step} on the check build") as progress:
            seen = observation.verdict(progress)
        if not seen.failed:
            self.save(step, "check", seen.word)
        remarks, costs = tuple(seen.remarks.values()), tuple(seen.costs)
        if seen.passed:
            types = programs.check_types or ()
            self._pass(
                Passed(step, "check", seen.cases, observation.seconds, types=types, costs=costs, remarks=remarks)
            )
            self.sound += lines
            return True
        if seen.failed is None:
            over = replace(self._verdict(step, "over budget"), over=tuple(seen.over), remarks=remarks, costs=costs)
            self.show(over)
            return False
        line = next(line for line in lines if line.task == seen.failed.case.task)
        self._failed(step, Failure(step, line, "check", seen.failed))
        return False

    def passes(self, step: StepFile) -> bool:
        """Checks a step on all builds up to the first on which it fails."""
        programs = self.programs
        self.passed = []
        # The check build that is compiled for the first time takes all processors: nvcc waits for the next check.
        is_first = "cuda" not in programs.kinds and bool(programs.unbuilt)
        needs_nvcc = "cuda" not in programs.kinds and not is_first
        with contextlib.ExitStack() as stack:
            if scan := self.scan or self._scan(step):
                stack.callback(scan.cancel)
            nvcc = self.nvcc or nvcc_compile.NvccCompile(step, programs.solution, needs_nvcc)
            stack.callback(nvcc.cancel)
            if inspected := None if programs.solution else look.Look(step, programs.kinds[0]):
                stack.callback(inspected.cancel)
            if observation := self.begun or (self.observation(step) if programs.is_observed else None):
                stack.callback(observation.cancel)
            if not all(self.tested(step, kind, observation) for kind in programs.kinds):
                return False
            if observation and not self.observed_well(step, observation):
                return False
            own = suspects.notes(step, programs.solution, passed=True)
            notes = (*(scan.notes() if scan else ()), *own, *(inspected.notes() if inspected else ()))
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
    kinds = build.runnable()
    is_printed = show is None
    shown = show if show is not None else Words(kinds, solution, shows_all)
    first_look = build.first_look(steps[0], solution) if len(steps) == 1 and "cpu" in kinds else []
    warnings: list[str] = []
    with contextlib.ExitStack() as stack:
        stack.callback(_show_warnings, warnings)
        looked: Checker | None = None
        if first_look:
            with contextlib.ExitStack() as looking:

                def look() -> None:
                    nonlocal looked
                    nvcc = nvcc_compile.NvccCompile(steps[0], solution, "cuda" not in kinds)
                    stack.callback(nvcc.cancel)
                    judge = looking.enter_context(JudgeClient())
                    looked = Checker(Programs(judge, lab, ["cpu"], timeout), shown, nvcc, is_first_look=True)
                    stack.callback(looked.cancel)
                    looked.look(steps[0])

                needed, what = [build.judge(), *first_look], f"building {lab} for a first look"
                build.compile_targets(needed, what, warnings, (first_look[0], look))
                if not looked:
                    look()
                assert looked
                if not looked.looks_right(steps[0]):
                    return False
        unbuilt = build.make_programs(lab, kinds, solution, warnings, with_check=not looked)
        judge = stack.enter_context(JudgeClient())
        programs = Programs(judge, lab, kinds, timeout, solution, unbuilt)
        checker = Checker(programs, shown, after=looked)
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

"""The check of a lab: public tests on each build, then the check build, up to the first thing to fix."""

from __future__ import annotations

import contextlib
import functools
import math
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ..diagnose import search as changes
from ..diagnose import words
from ..diagnose.diagnosis import Diagnosis, Evidence, diagnose
from ..diagnose.expectations import rule_of
from ..diagnose.observing import observed
from ..inspection import look
from . import build, check_build, machine, narrowing, nvcc_compile, shrinking, suspects
from .console import Problem, Progress, note, tell, wrapped_message
from .course import StepFile, find_step, step_of_file
from .judge_client import JudgeClient, JudgeDied, JudgeUsage
from .judge_types import Case, CaseGroup, Finding, Outcome, Step
from .progress import ProgressFile

# First the case that failed last time. The quick cases find most mistakes; the others follow only if those pass.
SETS = ("last failure", "quick", "public")
QUICK_SECONDS = 5.0  # that an early case may take: they have few keys, and a loop that never ends is reported soon
LANE_SEEDS = (0, 1, 77)  # orders of lanes in which a case that failed is repeated on the check build
FEW_KEYS = (8, 7, 6, 5)  # numbers that are tried in place of those of a case that does not end
MORE_CASES = 3  # of the check build, if none of these orders shows a finding, nor a case that fails there


@dataclass
class Graded:
    """What the public tests of a step found."""

    cases: int = 0
    failure: Outcome | None = None
    printing: int = 0  # cases in which the step printed something
    printed: str = ""  # what it printed first


def run_cases(
    judge: JudgeClient,
    runner: Path,
    groups: Iterable[CaseGroup],
    timeout: float | None,
    progress: Progress | None = None,
    graded: Graded | None = None,
    stop: Callable[[], bool] = lambda: False,
    side_by_side: bool = False,
) -> Graded:
    """Runs cases up to the first that fails, or until `stop()`, and adds them to `graded`. `side_by_side`: as many at
    a time as there are cores, each by a separate judge."""
    graded = graded or Graded()
    named = [(group.what, case) for group in groups for case in group.cases]
    total = graded.cases + len(named)
    with contextlib.ExitStack() as stack:
        cases = [case for _, case in named]
        found: Iterator[tuple[Case, Outcome]] = ((case, judge.run(runner, case, timeout=timeout)) for case in cases)
        if side_by_side and len(cases) > 1:
            judges = stack.enter_context(check_build.Judges())
            pool = stack.enter_context(ThreadPoolExecutor(judges.workers))
            found = stack.enter_context(
                check_build.outcomes(pool, lambda case: judges.own().run(runner, case, timeout=timeout), cases)
            )
            stack.callback(judges.cancel)  # first: after a failure, the running cases are not awaited
        for what, _ in named:
            if stop():
                return graded
            if progress:
                progress.update(what, graded.cases, total)
            _, outcome = next(found)
            graded.cases += 1
            if not outcome.passed:
                graded.failure = outcome
                return graded
            if outcome.printed.strip():
                graded.printing += 1
                graded.printed = graded.printed or outcome.printed.strip()
    return graded


def without_types(groups: Iterable[CaseGroup], types: Collection[str]) -> list[CaseGroup]:
    """The cases whose keys have none of these types."""
    return [CaseGroup(group.what, tuple(case for case in group.cases if case.type not in types)) for group in groups]


def groups_of(groups: Iterable[CaseGroup], line: Step, types: Collection[str] | None = None) -> list[CaseGroup]:
    """The cases of one line of the table, or those with these types of keys."""

    def is_chosen(case: Case) -> bool:
        return case.task == line.task and (types is None or case.type in types)

    found = [CaseGroup(group.what, tuple(filter(is_chosen, group.cases))) for group in groups]
    return [group for group in found if group.cases]


@dataclass
class Failure:
    """A case to show, and where it belongs."""

    step: StepFile
    line: Step
    kind: str  # the build
    outcome: Outcome

    @property
    def title(self) -> str:
        """ "step 02 shared, histogram" """
        return str(replace(self.step, part=self.line.name) if self.line.part else self.step)


class Checker:
    """Checks steps of a lab, whose programs have been built."""

    def __init__(
        self,
        judge: JudgeClient,
        lab: str,
        kinds: Sequence[str],
        timeout: float | None = None,
        solution: bool = False,
        unbuilt: Sequence[Path] = (),
        nvcc: nvcc_compile.NvccCompile | None = None,
        is_first_look: bool = False,
        after: Checker | None = None,
    ) -> None:
        """`unbuilt`: the program of the check build, if it is to be compiled when it is needed. `nvcc`: the compilation
        that began before a first look, in which there are only the quick cases of few types. `after`: the first look
        that the step has passed; its cases are not repeated, and the check build, too, has only its types."""
        self.unbuilt = unbuilt
        self.nvcc: nvcc_compile.NvccCompile | None = after.nvcc if after else nvcc
        self.sets = SETS[:2] if is_first_look else SETS
        self.first_types: tuple[str, ...] = ()  # of a first look's programs
        if is_first_look:
            self.first_types = judge.runner(build.runner(lab, "cpu-first")).steps[0].types
        elif after:
            self.first_types = after.first_types
        self.types = self.first_types if is_first_look else None
        self.looked: StepFile | None = after.looked if after else None  # the step that passed a first look
        self.seen: int = after.seen if after else 0  # cases of the first look
        # What the check build says, if that has begun.
        self.begun: check_build.Observation | None = after.begun if after else None
        self.scan: narrowing.Scan | None = after.scan if after else None  # the search for narrow positions, if begun
        self.check_types = self.first_types or None  # of the check build's program
        self.judge = judge
        self.lab = lab
        self.table = judge.lab(lab)
        self.kinds = kinds
        self.observed = "cpu" in kinds
        self.timeout = timeout
        self.solution = solution
        self.sound: list[Step] = []  # lines that have passed everything
        self.failed: Failure | None = None  # of the first look
        self.is_announced = False  # it has been shown

    def runner(self, kind: str) -> Path:
        """The program of a build."""
        return build.runner(self.lab, self._program(kind), self.solution)

    def _program(self, kind: str) -> str:
        types = self.check_types if kind == "check" else self.types
        return f"{kind}-first" if types else kind

    def lines(self, step: StepFile) -> list[Step]:
        """What is tested of a step: its parts before the step itself, or only the part that was chosen."""
        return [line for line in self.table.lines(step.number) if step.part in ("", line.name)]

    def save(self, step: StepFile, kind: str, verdict: str, failed: Case | None = None) -> None:
        """Remembers a verdict on a student's step, and the case that failed. A part is not the whole step."""
        if not step.part and not self.solution:
            ProgressFile().save_verdict(step, kind, verdict, failed)

    def failed_last_time(self, step: StepFile, kind: str) -> Case | None:
        """The case that failed in the last check of a student's step."""
        return None if self.solution else ProgressFile().failed_case(step, kind)

    def _cases(self, step: StepFile, set_: str, kind: str) -> Iterable[CaseGroup]:
        if set_ != SETS[0]:
            return self.judge.cases(self.lab, step.number, set_, kind)
        case = self.failed_last_time(step, kind)
        return [CaseGroup("what failed last time", (case,))] if case else []

    def public_tests(
        self, step: StepFile, lines: Sequence[Step], kind: str, observation: check_build.Observation | None = None
    ) -> tuple[Graded, Failure | None]:
        """What failed last time, the quick cases of each line, then all public ones, up to the first that fails. The
        observation begins beside the public cases, which end early if it finds something."""
        was_seen = self.looked is not None and self.looked.number == step.number and kind == "cpu"
        graded = Graded(cases=self.seen if was_seen else 0)
        stop = observation.has_findings if observation else lambda: False
        with Progress(f"{self.lab} {step} on the {kind} build") as progress:
            for set_ in self.sets:
                seconds = self.timeout or (None if set_ == "public" else QUICK_SECONDS)
                groups = self._cases(step, set_, kind)
                if was_seen and set_ == "quick":
                    groups = without_types(groups, self.first_types)
                if observation and set_ == "public":
                    observation.start()
                for line in lines:
                    try:
                        run_cases(
                            self.judge,
                            self.runner(kind),
                            groups_of(groups, line, self.types),
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

    def build_rest(self, type_: str | None = None) -> None:
        """Compiles what is missing of the check build, so that it has keys of this type."""
        if self.check_types and not self.types and type_ not in (None, *self.check_types):
            self.unbuilt = [build.runner(self.lab, "check", self.solution)]
            self.check_types = None
        if self.unbuilt:
            build.compile_targets(self.unbuilt, f"building the check build of {self.lab}")
            self.unbuilt = ()

    def observation(self, step: StepFile) -> check_build.Observation:
        """The check build's verdict on a step, which has yet to begin."""
        tasks = [line.task for line in self.lines(step)]
        first = self.failed_last_time(step, "check")
        runner, types = self.runner("check"), self.check_types
        return check_build.Observation(
            lambda judges: check_build.check_step(
                self.lab, step.number, runner, self.timeout, judges=judges, tasks=tasks, first=first, types=types
            )
        )

    def observe(self, step: StepFile, lines: Sequence[Step]) -> check_build.Verdict:
        """The check build's verdict on lines of a step."""
        tasks = [line.task for line in lines]
        with Progress(f"{self.lab} {step} on the check build") as progress:
            runner = self.runner("check")
            return check_build.check_step(
                self.lab,
                step.number,
                runner,
                self.timeout,
                progress,
                tasks=tasks,
                types=self.check_types,
                more=MORE_CASES,
            )

    # --- the case to show ---

    def named(self, failure: Failure) -> Failure:
        """The same fault in a case of the check build that names its line, if there is one: the case that failed, or
        another of the same line. Otherwise the failure itself."""
        outcome = failure.outcome
        if not self.observed or failure.kind == "check":
            return failure
        if self.check_types:
            self.build_rest(outcome.case.type)
        if outcome.status == "hung" or outcome.case.expect == "refused":
            return failure
        self.build_rest()
        slow: Outcome | None = None  # one that does not end has findings, but a case with fewer keys shows more
        if outcome.case.n <= failure.line.affordable.check:
            for seed in LANE_SEEDS:
                case = replace(outcome.case, lane_seed=seed)
                environment, seconds = check_build.environment(), self.timeout or QUICK_SECONDS
                again = self.judge.run(self.runner("check"), case, timeout=seconds, environment=environment)
                if again.status == "hung":
                    slow = again if again.findings else None
                    break
                if again.findings or (again.changed_nothing and not self._changes_ascending(failure.line, case)):
                    return replace(failure, kind="check", outcome=again)
        verdict = self.observe(failure.step, [failure.line])
        found = verdict.failed if verdict.failed and verdict.failed.findings else slow
        return replace(failure, kind="check", outcome=found) if found else failure

    def _changes_ascending(self, line: Step, case: Case) -> bool:
        """Whether a step that leaves keys as they are in descending order changes some in ascending order."""
        if case.order == "ascending" or line.max_range is not None or case.task not in ("sort", "exchange"):
            return False
        case = replace(case, order="ascending", input="reversed")
        seen = self.judge.run(self.runner("check"), case, timeout=self.timeout, environment=check_build.environment())
        return not seen.changed_nothing

    def _own_failure(self, line: Step) -> Failure | None:
        """How a line fails by itself; None if it passes."""
        step = find_step(self.lab, line.number)
        for kind in self.kinds:
            _, failure = self.public_tests(step, [line], kind)
            if failure:
                return None if failure.outcome.status == "not-written" else self.named(failure)
        verdict = self.observe(step, [line]) if self.observed else None
        return Failure(step, line, "check", verdict.failed) if verdict and verdict.failed else None

    def cause(self, failure: Failure) -> Failure:
        """The failure of what the line uses, if that fails by itself: it comes first."""
        for line in self.table.used_by(failure.line):
            step = find_step(self.lab, line.number)
            known = step.number != failure.step.number and not self.solution
            if line in self.sound or (known and ProgressFile().verdict(step).startswith("passed")):
                continue
            if earlier := self._own_failure(line):
                return earlier
        return self.named(failure)

    # --- verdicts ---

    def _report_unwritten(self, step: StepFile, outcome: Outcome, kind: str) -> None:
        gap = step_of_file(outcome.file) or step
        is_own = (gap.lab, gap.number) == (step.lab, step.number)
        lab = "" if gap.lab == step.lab else f"{gap.lab}, "
        tell(lab + not_written(gap, outcome) + ("" if is_own else f" ({step} uses it)"))
        tell("Write the missing code first, and then delete the line that says NOT_WRITTEN.")
        tell(f"./workbook hint {gap.lab} {gap.number} helps.")
        if is_own:
            self.save(step, kind, "not written")

    def _announce(self, failure: Failure) -> None:
        """Prints that a case has failed, before the reason is known, once."""
        if self.is_announced:
            return
        self.is_announced = True
        outcome = failure.outcome
        what = check_build.message(outcome).partition("\n")[0].partition("; ")[0].removesuffix(".")
        keys = (outcome.title.partition(": ")[2] or outcome.title).partition(", ")[0]
        text = f"{failure.title}, {failure.kind} build: {what} ({keys}). Looking for the reason ..."
        tell(f"FAILED  {text}")

    def _report(self, failure: Failure, shown: Failure) -> None:
        """Prints the case to show, which belongs to one build, and what it means for the step that was tested."""
        uses = f"uses {shown.title}, which fails on the {shown.kind} build" if shown.line != failure.line else ""
        if self.is_announced:
            why = "" if shown.kind == failure.kind else f"The {shown.kind} build shows why. "
            tell(f"\n{f'It {uses}. ' if uses else why}The first thing to fix:\n")
        else:
            where = f"{failure.title} {uses}" if uses else f"{shown.title}, {shown.kind} build"
            tell(f"FAILED  {where}. The first thing to fix:\n")
        with self._mutant_search(shown) as search:
            shrunk = self._shrunk(shown)
            evidence = self._evidence(shown, shrunk)
            self._explain(failure, shown, shrunk, diagnose(evidence, self._searched(search, shown, shrunk, evidence)))

    def _explain(
        self, failure: Failure, shown: Failure, shrunk: shrinking.Shrinking | None, diagnosis: Diagnosis
    ) -> None:
        """Prints what is wrong in the case to show, and how to repeat it."""
        options = f" --build {shown.kind}" if shown.kind == "check" or len(self.kinds) > 1 else ""
        options += " --solution" * self.solution
        if shrunk and failure.kind != shown.kind and failure.line == shown.line:
            shrunk.add_failing(failure.kind, failure.outcome.case.n)
        explained, details = (
            [wrapped_message(line) for line in own] for own in (words.explained(diagnosis), words.details(diagnosis))
        )
        lines = check_build.failure_lines(
            self._placed(shown.outcome), options, with_keys=False, is_explained=bool(diagnosis.changes)
        )
        again = lines.pop()
        if explained:
            lines[:0] = [*explained, *details]
        else:
            lines[1:1] = details
        print(*lines, sep="\n", flush=True)
        for remark in (
            [] if diagnosis.changes else self._exits(shown.line, shrunk.smallest if shrunk else shown.outcome)
        ):
            tell(remark)
        table = check_build.table_of_keys(shown.outcome)
        if table and not (shrunk and shrunk.has_shrunk):  # the smallest case has a table of its own
            print(table)
        if shrunk:
            *lines, again = check_build.smaller_lines(shrunk, options)
            print(*lines, sep="\n", end="\n" * bool(lines))
        if launched := self._launched(shown.line, shrunk.smallest if shrunk else shown.outcome):
            tell(launched)
        if shown.outcome.status == "wrong" and not shown.outcome.findings:
            for suspect in suspects.notes(shown.step, self.solution, passed=False):
                tell(f"  perhaps the reason: {suspect}")
        tell(again)
        playing = (shrunk.smallest if shrunk else shown.outcome).playing
        if playing and self.observed:
            tell(f"  see it run: {playing}" + " --solution" * self.solution)
            if not failure.step.part and not self.solution:
                ProgressFile().save_playing(failure.step, failure.kind, playing)

    def _evidence(self, shown: Failure, shrunk: shrinking.Shrinking | None) -> Evidence:
        """What the smallest case shows when it is run once more, with a trace."""
        outcome = self._placed(shrunk.smallest if shrunk else shown.outcome)
        file = self._source_of(shown.step)
        runner = self.runner("check") if self.observed and not self.unbuilt else None
        with Progress("looking at what the kernels have written"):
            seen = observed(self.judge, runner, outcome, self.timeout or QUICK_SECONDS)
        return Evidence(suspects.source_of(file), file, seen, rule_of(self.lab, shown.step.number))

    def _shrunk(self, shown: Failure) -> shrinking.Shrinking | None:
        """The search for a smaller case, if it has found anything."""

        seconds = self.timeout or QUICK_SECONDS

        def run(case: Case) -> Outcome:
            environment = check_build.environment() if shown.kind == "check" else None
            return self.judge.run(self.runner(shown.kind), case, timeout=seconds, environment=environment)

        most_keys = shown.line.affordable.on(shown.kind)
        with Progress("looking for a smaller case that fails"):
            keys = shrinking.KEYS if shown.kind == "check" else math.inf
            most_keys = min(most_keys, shown.line.max_n or most_keys)
            search = shrinking.Shrinking(shown.outcome, shown.line, run, most_keys, keys)
            search.search()
        if shown.kind != "check" and self.observed and search.has_shrunk:
            # With few keys, a step may leave all of them where they are, and the check build knows why.
            seen = self.judge.run(
                self.runner("check"), search.smallest.case, timeout=seconds, environment=check_build.environment()
            )
            if seen.changed_nothing:
                search.smallest = replace(search.smallest, message=seen.message)
        return search if search.has_shrunk or search.facts else None

    def _mutant_search(self, shown: Failure) -> contextlib.AbstractContextManager[changes.MutantSearch | None]:
        """The search for a small change that fixes the step, if the check build can run the case."""
        case = shown.outcome.case
        if not self.observed or self.unbuilt or case.expect == "refused" or case.input.startswith("file:"):
            return contextlib.nullcontext()
        # A file in two parts has one object in the program for a first look, and two in the other.
        if not self.solution and not self.check_types and build.first_look(shown.step, self.solution):
            return contextlib.nullcontext()
        source = suspects.source_of(self._source_of(shown.step))
        name = Path(shown.step.file).name
        return changes.MutantSearch(self.lab, name, self._program("check"), self.solution, source)

    def _searched(
        self,
        search: changes.MutantSearch | None,
        shown: Failure,
        shrunk: shrinking.Shrinking | None,
        evidence: Evidence,
    ) -> changes.Searched:
        """The small changes that fix the step."""
        if not search:
            return changes.Searched()
        most_keys = min(shown.line.affordable.check, changes.MOST_KEYS)
        first = shrunk.smallest.case if shrunk else self._with_few_keys(shown)
        failing = [case for case in dict.fromkeys((first, shown.outcome.case)) if case.n <= most_keys]
        if not failing:
            return changes.Searched()
        file, at = evidence.place()
        what = f"{evidence.kind} at {file}:{at}, " if at else ""
        # A judge that cannot run one of these cases is no reason to fail.
        with contextlib.suppress(Problem), Progress(f"{what}looking for a small change that fixes the step"):
            sets = [group for name in ("quick", "check") for group in self._cases(shown.step, name, "check")]
            groups = groups_of(sets, shown.line, self.check_types)
            others = [case for group in groups for case in group.cases if case.n <= most_keys]
            return search.result(failing, others, functools.partial(self._is_right, shown), evidence.near())
        return changes.Searched()

    def _with_few_keys(self, shown: Failure) -> Case:
        """The case to show; if it does not end, one of few keys that fails, too."""
        case = shown.outcome.case
        for n in FEW_KEYS if shown.outcome.status == "hung" else ():
            few = replace(case, n=n)
            environment = {**check_build.environment(), "SIMT_SECONDS": changes.QUICK_SECONDS}
            seen = self.judge.run(self.runner("check"), few, timeout=QUICK_SECONDS, environment=environment)
            if not seen.passed:
                return few
        return case

    def _is_right(self, shown: Failure, runner: Path, environment: Mapping[str, str]) -> bool:
        """Whether the step passes on the check build with the change that an environment chooses, within the limit of
        time. Of its budgets, only those of barriers and of the longest thread count."""
        with check_build.Judges(prefix=["env", *(f"{name}={value}" for name, value in environment.items())]) as judges:
            # A change may make every case take long.
            end = threading.Timer(changes.EXAMINATION_SECONDS * changes.patience(), judges.cancel)
            end.start()
            try:
                verdict = check_build.check_step(
                    self.lab,
                    shown.step.number,
                    runner,
                    self.timeout or QUICK_SECONDS,
                    judges=judges,
                    tasks=[shown.line.task],
                    types=self.check_types,
                    more=0,
                )
            except JudgeDied:
                return False
            finally:
                end.cancel()
        # The changes that are not made keep the compiler from merging accesses, which costs memory traffic. But one
        # that leaves all work to few threads only hides what they do wrong together.
        allowed = {"barriers": check_build.TOLERANCE, "span": 2 * check_build.TOLERANCE}
        counted = [
            (costs.values[name], most)
            for costs in verdict.costs
            for name, most in allowed.items()
            if name in costs.values
        ]
        return not verdict.failed and all(cost <= most * budget for (cost, budget), most in counted)

    def _source_of(self, step: StepFile) -> str:
        return f"{'solutions' if self.solution else 'labs'}/{step.file}"

    def _exits(self, line: Step, outcome: Outcome) -> list[Finding]:
        """What the check build notes on threads that are missing at a barrier or shuffle, where nothing else explains a
        wrong result: what they should have passed on is then undefined."""
        if not self.observed or outcome.status != "wrong" or outcome.findings or outcome.case.n > line.affordable.check:
            return []
        environment = check_build.environment()
        seen = self.judge.run(self.runner("check"), outcome.case, timeout=self.timeout, environment=environment)
        return [remark for remark in seen.remarks if remark.kind in ("early-exit", "split-primitive")]

    def _launched(self, line: Step, outcome: Outcome) -> str:
        """What a wrong result without a finding has launched: a launch may be missing, or one too many."""
        if not self.observed or outcome.status != "wrong" or outcome.findings or outcome.case.expect == "refused":
            return ""
        if outcome.case.n > line.affordable.check:
            return ""
        if not outcome.launches:
            environment = check_build.environment()
            outcome = self.judge.run(self.runner("check"), outcome.case, timeout=self.timeout, environment=environment)
        return check_build.launched(outcome)

    def _placed(self, outcome: Outcome) -> Outcome:
        """The outcome, with the solution's file where the judge could only name the step's."""
        if self.solution and outcome.line is None and outcome.file.startswith("labs/"):
            return replace(outcome, file="solutions/" + outcome.file[len("labs/") :])
        return outcome

    def tested(self, step: StepFile, kind: str, observation: check_build.Observation | None = None) -> bool:
        """Tests one step on one build, prints the verdict and remembers it. Returns whether it passed, or is known to
        fail on the check build."""
        start = time.monotonic()
        graded, failure = self.public_tests(step, self.lines(step), kind, None if self.unbuilt else observation)
        seconds = time.monotonic() - start
        if failure is None and observation and observation.has_findings():
            return True
        if failure is None:
            self.save(step, kind, "passed")
            tell(f"ok      {step}: {graded.cases} cases on the {kind} build, {seconds:.1f} s")
            if graded.printing:
                line = graded.printed.splitlines()[0][:80]
                tell(f"        it printed in {graded.printing} of them, first: {line}")
            return True
        if observation and failure.outcome.status != "not-written":
            observation.cancel()
        self._report_failed(step, kind, failure)
        return False

    def look(self, step: StepFile) -> None:
        """Takes the first look at a step, for which the check build is not needed, and prints whether a case fails."""
        graded, self.failed = self.public_tests(step, self.lines(step), "cpu")
        self.seen = graded.cases
        if self.failed:
            if self.nvcc:
                self.nvcc.cancel()
            if self.failed.outcome.status != "not-written":
                self._announce(self.failed)

    def looks_right(self, step: StepFile) -> bool:
        """Whether a step has passed the first look. If so, the cases of the check build begin; otherwise prints why,
        and remembers it."""
        if self.failed:
            self._report_failed(step, "cpu", self.failed)
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
        accepts_any = self.observed and all(line.max_n is None for line in self.lines(step))
        return narrowing.Scan(step, self.solution) if accepts_any else None

    def _report_failed(self, step: StepFile, kind: str, failure: Failure) -> None:
        """Prints what to do about a step that failed, and remembers the verdict."""
        if failure.outcome.status == "not-written":
            self._report_unwritten(step, failure.outcome, kind)
        else:
            self.save(step, kind, "failed", failure.outcome.case)
            if self.observed:  # the check build may need some time to find the reason
                self._announce(failure)
            self._report(failure, self.cause(failure))

    def observed_well(self, step: StepFile, observation: check_build.Observation) -> bool:
        """Prints and remembers the check build's verdict on a step that passes its tests. Returns whether it passed."""
        lines = self.lines(step)
        self.build_rest()
        with Progress(f"{self.lab} {step} on the check build") as progress:
            verdict = observation.verdict(progress)
        self.save(step, "check", verdict.word, verdict.failed.case if verdict.failed else None)
        if verdict.passed:
            *types, last = self.check_types or [""]
            of_types = f" of {', '.join(types)} and {last}" if types else ""
            cases = f"{verdict.cases} cases{of_types} on the check build"
            tell(f"ok      {step}: {cases}, no finding, {observation.seconds:.1f} s")
            for costs in verdict.costs:
                tell(f"        {costs}")
            for remark in verdict.remarks.values():
                tell(remark)
            self.sound += lines
            return True
        if verdict.failed is None:
            tell(f"OVER    {step}: correct, but it costs more than it should:\n")
            tell("\n".join([*verdict.lines(), *map(str, verdict.remarks.values())]))
            self._note_player(step, verdict.costs, lines)
            return False
        line = next(line for line in lines if line.task == verdict.failed.case.task)
        failure = Failure(step, line, "check", verdict.failed)
        self._report(failure, self.cause(failure))
        return False

    def _note_player(self, step: StepFile, all_costs: Sequence[check_build.Costs], lines: Sequence[Step]) -> None:
        """Prints how to see what is over budget, if that is a property of single requests."""
        for costs in all_costs:
            if not {"conflicts", "sectors"} & set(costs.over):
                continue
            line = next(line for line in lines if line.name == costs.name)
            task = f" --task {line.task}" * (line.name != step.name) + " --solution" * self.solution
            command = f"./workbook play {step.lab} {step.number}{task}"
            tell(f"  see it run (the key c leads to such requests): {command}")
            return

    def compiled_by_nvcc(self, step: StepFile, nvcc: nvcc_compile.NvccCompile) -> bool:
        """Prints whether nvcc compiles a step that passes everything else; True where it cannot be known."""
        if not nvcc.is_possible:
            return True
        with Progress(f"{self.lab} {step}, compiled by nvcc"):
            errors = nvcc.errors()
        self.save(step, "nvcc", "failed" if errors else "passed")
        if errors:
            tell(f"FAILED  {step} passes on the CPU, but nvcc does not compile it:\n")
            print(errors, flush=True)
        else:
            longer = f", {nvcc.waited:.1f} s after the last test" if nvcc.waited >= 0.1 else ""
            tell(f"ok      {step}: nvcc compiles it, too{longer}")
        return not errors

    def passes(self, step: StepFile) -> bool:
        """Checks a step on all builds up to the first on which it fails."""
        # The check build that is compiled for the first time takes all processors: nvcc waits for the next check.
        is_first = "cuda" not in self.kinds and bool(self.unbuilt)
        needs_nvcc = "cuda" not in self.kinds and not is_first
        with contextlib.ExitStack() as stack:
            if scan := self.scan or self._scan(step):
                stack.callback(scan.cancel)
            nvcc = self.nvcc or nvcc_compile.NvccCompile(step, self.solution, needs_nvcc)
            stack.callback(nvcc.cancel)
            if inspected := None if self.solution else look.Look(step, self.kinds[0]):
                stack.callback(inspected.cancel)
            if observation := self.begun or (self.observation(step) if self.observed else None):
                stack.callback(observation.cancel)
            if not all(self.tested(step, kind, observation) for kind in self.kinds):
                return False
            if observation and not self.observed_well(step, observation):
                return False
            own = suspects.notes(step, self.solution, passed=True)
            for remark in (*(scan.notes() if scan else ()), *own, *(inspected.notes() if inspected else ())):
                tell(remark)
            if is_first and nvcc_compile.is_set_up(step, self.solution):
                note("nvcc was not run, because this check had to compile the check build first; the next one runs it")
            return self.compiled_by_nvcc(step, nvcc)


def not_written(step: StepFile, outcome: Outcome) -> str:
    """ "step 02 is not written yet: labs/03-bitonic/02_shared.cu:86" """
    message = outcome.message.rpartition(": ")[2] if outcome.place in outcome.message else outcome.message
    return f"{message or f'step {step.number:02} is not written yet'}: {outcome.place}"


def _show_warnings(warnings: Sequence[str]) -> None:
    """What the compiler warns about, after the verdict."""
    if warnings:
        note("\nthe compiler warns:")
    for line in warnings:
        note(line)


def check(lab: str, steps: Sequence[StepFile], timeout: float | None = None, solution: bool = False) -> bool:
    """Checks the steps in order up to the first that fails; returns whether all pass. CompileFailed, Problem."""
    build.ensure()
    kinds = build.runnable()
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
                    looked = Checker(judge, lab, ["cpu"], timeout, nvcc=nvcc, is_first_look=True)
                    stack.callback(looked.cancel)
                    looked.look(steps[0])

                programs, what = [build.judge(), *first_look], f"building {lab} for a first look"
                build.compile_targets(programs, what, warnings, (first_look[0], look))
                if not looked:
                    look()
                assert looked
                if not looked.looks_right(steps[0]):
                    return False
        unbuilt = build.make_programs(lab, kinds, solution, warnings, with_check=not looked)
        judge = stack.enter_context(JudgeClient())
        checker = Checker(judge, lab, kinds, timeout, solution, unbuilt, after=looked)
        if not all(checker.passes(step) for step in steps):
            if checker.unbuilt:
                note("\nbuilding the check build, for the next check; Ctrl-C ends it")
                checker.build_rest()
            return False
    first = steps[0]
    if first.part:
        tell(f"Passed: {first}. Next: ./workbook check {lab} {first.number}" + " --solution" * solution)
        return True
    which, following = "All steps passed", f"bench {lab}"
    if len(steps) == 1:
        # The time of an exchange has nothing to be compared with.
        exchanges = checker.table.own_line(first.number).task == "exchange"
        which, following = (
            "Passed",
            f"picture {lab} {first.number}" if exchanges else f"bench {lab} --step {first.number}",
        )
    tell(
        f"{which}: all public tests, those that come with the workbook. Next: ./workbook {following}"
        + " --solution" * solution
    )
    if "cuda" in build.kinds() and not machine.gpus():
        note("cuda: not run, because no GPU was found")
    return True

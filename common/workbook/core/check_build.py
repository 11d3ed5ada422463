"""The check build's verdict on a step: findings over cases of every kind, and its costs compared with the budget."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import random
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional, TypeVar

from . import build, files, profiles
from .console import Problem, Progress
from .course import ROOT, find_step, source_of
from .judge_client import JudgeClient, JudgeDied, JudgeUsage
from .judge_types import Case, Finding, Note, Outcome, Step

AnyCase = TypeVar("AnyCase")

# Seconds of processor time for one launch. The cases have few keys, so a launch that takes longer will not end.
KERNEL_SECONDS = "6"
MORE = 8  # cases that are still run after one has failed without a finding
TOLERANCE = 1.0001  # of a budget, for rounding
SERIAL = 1000  # the least span per 1,000 keys of a step whose keys all pass through one thread
_COPIES = (
    "  cudaMemcpy or cudaMemcpyAsync moves {:.3g} of these bytes per key within the device;\n"
    "  exchange the two pointers instead of copying one array to the other"
)
_NOTES = {"conflicts": "bank-conflict", "sectors": "uncoalesced", "bytes": "uncoalesced"}


# Findings that make no result wrong: a launch that fails is noticed later, if not at once.
LESSER = frozenset({"unchecked-launch", "launch-shape"})
# Steps all of whose kernels have the launch shape that the user chose: the first and the last one of each lab.
_SHAPED = {"01-odd-even": range(1, 4), "03-bitonic": range(1, 4)}


def kinds_of(outcome: Outcome) -> set[str]:
    """The kinds of a case's findings."""
    return {finding.kind for finding in outcome.findings}


def environment() -> dict[str, str]:
    """The environment of runners of the check build."""
    return {"SIMT_SECONDS": os.environ.get("SIMT_SECONDS", KERNEL_SECONDS)}


@dataclass
class Costs:
    """What a line of the table costs: {cost: (counted, allowed)}."""

    name: str
    values: dict[str, tuple[float, float]]
    task: str = "sort"

    @property
    def over(self) -> list[str]:
        """The costs that exceed what is allowed, first the one that exceeds it most."""
        ratios = {cost: counted / allowed for cost, (counted, allowed) in self.values.items()}
        return sorted((cost for cost in ratios if ratios[cost] > TOLERANCE), key=lambda cost: -ratios[cost])

    def over_budget(self, cost: str) -> str:
        """ "shared, 9.00 bytes per key; the budget allows 8.2" """
        counted, allowed = self.values[cost]
        return f"{self.name}, {counted:.2f} {profiles.COSTS[cost]}; the budget allows {allowed:g}"

    def __str__(self) -> str:
        return f"{self.name}: " + ", ".join(
            f"{profiles.IN_SHORT[cost]} {value:.2f} (at most {allowed:g})"
            for cost, (value, allowed) in self.values.items()
        )


@dataclass(frozen=True)
class Effort:
    """How a line of the table has sorted the budget's keys."""

    name: str
    threads: int  # of the largest launch
    parallel: float  # work / span: requests of all warps per request on the critical path
    to_host: float  # bytes per key that kernels have passed to the host


@dataclass
class Observation:
    """What the check build found in one step."""

    cases: int = 0
    # The first case with findings, or else the first that failed. Python 3.9 evaluates this to read a grade's record.
    failed: Optional[Outcome] = None  # noqa: UP045
    remarks: dict[tuple[str, int, str], Finding] = field(default_factory=dict)  # by place and kind, of all cases
    costs: list[Costs] = field(default_factory=list)
    over: list[str] = field(default_factory=list)  # lines on budgets that were exceeded
    lesser: Optional[Outcome] = None  # noqa: UP045  the first case whose findings are all of kinds that are passed over
    efforts: list[Effort] = field(default_factory=list)
    idle: str = ""  # the line, if the kernels have done too little, so that the host must have done it

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Those of one case: what several cases report is not mixed."""
        return self.failed.findings if self.failed else ()

    @property
    def serial(self) -> Costs | None:
        """The costs of the first part whose work waits for one thread."""
        spans = ((costs, *costs.values["span"]) for costs in self.costs if "span" in costs.values)
        return next((costs for costs, counted, allowed in spans if counted > allowed * TOLERANCE), None)

    @property
    def passed(self) -> bool:
        """No finding, no failure, and nothing over its budget."""
        return not self.failed and not self.over

    @property
    def word(self) -> str:
        """ "passed", "failed" or "over budget" """
        if self.passed:
            return "passed"
        return "failed" if self.failed else "over budget"


def with_shape(outcome: Outcome) -> Outcome:
    """The outcome of a case that passes, with a finding if a kernel does not have the launch shape that was chosen."""
    case = outcome.case
    chosen = (case.blocks, case.threads)
    if outcome.findings or not outcome.passed or not all(chosen) or case.expect == "refused":
        return outcome
    if case.step not in _SHAPED.get(case.lab, ()):
        return outcome
    for launch in outcome.launches:
        shape = (math.prod(launch["grid"]), math.prod(launch["block"]))
        if shape != chosen:
            text = (
                f"kernel {launch['kernel']}: is launched with <<<{shape[0]}, {shape[1]}>>>, but the user has chosen "
                f"<<<{chosen[0]}, {chosen[1]}>>>\n    launch it with the numbers of blocks and threads that "
                "lab::blocks_or() and lab::threads_or() return"
            )
            file, line = _launch_of(outcome, launch["kernel"])
            return replace(outcome, findings=(Finding(file, line, "launch-shape", text),))
    return outcome


def _launch_of(outcome: Outcome, kernel: str) -> tuple[str, int]:
    """The file and line in which a step launches a kernel; line 1 if none does."""
    file = outcome.file or source_of(find_step(outcome.case.lab, outcome.case.step).file)
    name = re.escape(kernel.partition("<")[0])
    lines = files.text_of(ROOT / file).splitlines()
    return file, next((n for n, line in enumerate(lines, 1) if re.search(rf"\b{name}\b.*<<<", line)), 1)


class Judges(contextlib.AbstractContextManager["Judges"]):
    """A judge for each thread: a judge answers one request at a time, and a case of few keys uses one core."""

    def __init__(
        self,
        program: Path | None = None,
        prefix: Sequence[str] = (),
        sandbox: Sequence[str] = (),
        workers: int = 0,
        client: Callable[..., JudgeClient] = JudgeClient,
    ) -> None:
        """`workers`: how many cases run at a time; 0: one per core. `client`: what makes a judge of the others, which
        are those of JudgeClient."""
        self._make = functools.partial(client, program, prefix, sandbox)
        self.workers = workers or os.cpu_count() or 1
        self._own = threading.local()
        self._all: list[JudgeClient] = []
        self._cancelled = False

    def __exit__(self, *_: object) -> None:
        for judge in self._all:
            judge.close(for_good=True)

    def cancel(self) -> None:
        """Ends the judges while other threads wait for their answers, which raises JudgeDied there."""
        self._cancelled = True
        self.__exit__()

    def own(self) -> JudgeClient:
        """The judge of the calling thread."""
        if not hasattr(self._own, "judge"):
            self._own.judge = self._make()
            self._all.append(self._own.judge)
        judge: JudgeClient = self._own.judge
        if self._cancelled:
            judge.close(for_good=True)
            raise JudgeDied("cancelled")
        return judge


def counts_exactly() -> bool:
    """Whether the compiler keeps accesses as they are written: clang++ splits copies of vectors."""
    return build.compiler() == "gcc"


@contextlib.contextmanager
def outcomes(
    pool: ThreadPoolExecutor, run: Callable[[AnyCase], Outcome], cases: Sequence[AnyCase]
) -> Iterator[Iterator[Outcome]]:
    """The outcomes of cases, in their order. At the end, the cases that have not begun are cancelled."""
    futures = [pool.submit(run, case) for case in cases]
    try:
        yield (future.result() for future in futures)
    finally:
        for future in futures:
            future.cancel()


def _search(
    verdict: Observation,
    found: Iterable[Outcome],
    progress: Callable[[], None],
    passed_over: Collection[str],
    more: int = MORE,
) -> None:
    """Looks at outcomes up to the first with findings, of other kinds than those that are passed over, or up to `more`
    after one has failed."""
    for outcome in found:
        failed = verdict.failed
        if failed and outcome.case.task != failed.case.task:  # a fault in a part is not looked for in what uses it
            break
        verdict.cases += 1
        progress()
        if outcome.findings and outcome.passed and kinds_of(outcome) <= set(passed_over):
            verdict.lesser = verdict.lesser or outcome
            continue
        if outcome.findings or (not outcome.passed and not failed):
            verdict.failed = outcome
        for remark in outcome.remarks:
            verdict.remarks.setdefault((remark.file, remark.line, remark.kind), remark)
        more -= verdict.failed is not None
        # A case that failed does not show where; one of the next may. But another hang is not worth waiting for.
        if outcome.findings or more < 0 or (verdict.failed and verdict.failed.status == "hung"):
            break


def _notes(notes: Iterable[Note], cost: str) -> list[str]:
    """The notes that show where a cost comes from, the worst first."""
    return [str(note) for note in notes if note.kind == _NOTES.get(cost)][:3]


# Costs of which each kernel has a part of its own, while no note says where they come from, or not which launches.
_OF_KERNELS = ("bytes", "barriers", "span")


def _by_kernel(launches: Sequence[dict[str, Any]], n: int, cost: str) -> list[str]:
    """What each kernel's launches cost, the most expensive first."""
    kernels: dict[str, list[dict[str, Any]]] = {}
    for launch in launches:
        kernels.setdefault(launch["kernel"], []).append(launch)
    lines = []
    for kernel, own in kernels.items():
        blocks = sorted({math.prod(launch["grid"]) for launch in own})
        threads = sorted({math.prod(launch["block"]) for launch in own})
        shape = f"{_from_to(blocks, 'block')} of {_from_to(threads, 'thread')}"
        counted = profiles.costs(own, n)[cost]
        lines.append((counted, f"  {kernel}: {counted:.2f} in {_from_to([len(own)], 'launch')} with {shape}"))
    return [text for _, text in sorted(lines, key=lambda line: -line[0])[:3]]


def _from_to(numbers: Sequence[int], what: str) -> str:
    """ "1 block", "1 to 4 blocks" """
    first, last = numbers[0], numbers[-1]
    plural = "" if last == 1 else "es" if what.endswith("ch") else "s"
    return f"{first}{f' to {last}' if last != first else ''} {what}{plural}"


@dataclass(frozen=True)
class _Counting:
    """How the check build counts what a case costs."""

    judge: JudgeClient
    runner: Path
    timeout: float | None
    chance: random.Random

    def run(self, verdict: Observation, case: Case) -> Outcome | None:
        """The outcome, or None: the case has failed, which is the verdict."""
        outcome = self.judge.run(self.runner, case, timeout=self.timeout, environment=environment())
        if outcome.status == "verified":
            return outcome
        verdict.failed = verdict.failed or outcome
        return None


def _compare_costs(
    verdict: Observation, lab: str, line: Step, types: Collection[str] | None, counting: _Counting
) -> None:
    """Counts what one line of the table costs with keys of one of these types, if it has a budget."""
    budget = line.budget
    if budget is None or not budget.n:
        return
    groups = counting.judge.cases(lab, line.number, "budget", "check", seed=1)
    for case in _with_types((case for group in groups for case in group.cases), line, types):
        if not (outcome := counting.run(verdict, case)):
            return
        counted = profiles.costs(outcome.launches, case.n, outcome.copied_bytes)
        costs = Costs(line.name, profiles.against_budget(counted, budget), line.task)
        verdict.costs.append(costs)
        sizes = [math.prod(launch["grid"]) * math.prod(launch["block"]) for launch in outcome.launches]
        parallel = counted["work"] / counted["span"] if counted["span"] else 0.0
        to_host = outcome.bytes_to_host / case.n
        verdict.efforts.append(Effort(line.name, max(sizes, default=0), round(parallel, 1), round(to_host, 2)))
        _judge_work(verdict, line, costs, counted["work"], case, counting)
        for name in costs.over if counts_exactly() else ():
            verdict.over.append(f"over budget: {costs.over_budget(name)}")
            if name in _OF_KERNELS:
                verdict.over += _by_kernel(outcome.launches, case.n, name)
            # A note explains several costs, but is read once.
            verdict.over += [text for text in _notes(outcome.notes, name) if text not in verdict.over]
            if name == "bytes" and outcome.copied_bytes:
                verdict.over.append(_COPIES.format(outcome.copied_bytes / case.n))


def _judge_work(verdict: Observation, line: Step, costs: Costs, work: float, case: Case, counting: _Counting) -> None:
    """Checks that kernels do the work, and that many threads share it. A random number of keys is tried, too, because a
    step could recognize the budget's case by its size. `work`: in the budget's case."""
    assert line.budget
    other = replace(case, n=counting.chance.randint(case.n, 2 * case.n))
    if not (outcome := counting.run(verdict, other)):
        return
    drawn = profiles.costs(outcome.launches, other.n)
    least = min(work, drawn["work"])
    if least < line.budget.work:
        verdict.idle = (
            f"too little work: {line.name}, its kernels make {least:.0f} requests for 1,000 keys; at "
            f"least {line.budget.work:g} are needed: the kernels must do the work, not the host"
        )
        verdict.over.append(verdict.idle)
    allowed = max(line.budget.span, SERIAL / 2)  # a tile that is not full may take several times as long as a full one
    span = Costs(f"{line.name} with {other.n:,} keys", {"span": (drawn["span"], allowed)}, line.task)
    if line.budget.span and span.over and "span" not in costs.over:
        verdict.costs.append(span)
        verdict.over.append(f"over budget: {span.over_budget('span')}")
        verdict.over += _by_kernel(outcome.launches, other.n, "span")


def _with_types(cases: Iterable[Case], line: Step, types: Collection[str] | None) -> list[Case]:
    """The cases of a line with keys of these types, as far as it takes them; None: with their own. Those of another
    type get one of them in turn, so that no size, shape or input is left out."""
    taken = [one for one in line.types if types is None or one in types] or line.types
    in_turn = itertools.cycle(taken)

    def with_type(case: Case) -> Case:
        if types is None or case.type in taken:
            return case
        other = next(in_turn)
        # What a step with a counter per value can count depends on the type.
        return replace(case, type=other, input=case.input if line.max_range is None else line.input_for(other))

    return list(dict.fromkeys(with_type(case) for case in cases if case.task == line.task))


def check_step(
    lab: str,
    number: int,
    runner: Path,
    timeout: float | None = None,
    progress: Progress | None = None,
    judges: Judges | None = None,
    tasks: Collection[str] | None = None,
    seed: int | None = None,
    first: Case | None = None,
    passed_over: Collection[str] = (),
    types: Collection[str] | None = None,
    more: int = MORE,
) -> Observation:
    """The verdict on a step and its parts, which come first, or on some of them: those with these tasks. `types`: of
    keys, the only ones that the runner has; None: it has all. `seed`: of the cases; None: a new one. `first`: a case
    that is run before the others of its part.
    `passed_over`: kinds of findings after which the search goes on. `more`: how many cases are still run after one has
    failed without a finding. Raises Problem if the judge cannot run the cases."""
    verdict = Observation()
    with judges or Judges() as judges_:
        judge = judges_.own()
        counting = _Counting(judge, runner, timeout, random.Random(seed))
        lines = [line for line in judge.lab(lab).lines(number) if tasks is None or line.task in tasks]
        groups = judge.cases(lab, number, "check", "check", seed)
        generated = [*filter(None, [first]), *(case for group in groups for case in group.cases)]
        cases = [case for line in lines for case in _with_types(generated, line, types)]

        def show() -> None:
            if progress:
                progress.update(f"case {verdict.cases} of {len(cases)}", verdict.cases, len(cases))

        def run(case: Case) -> Outcome:
            return with_shape(judges_.own().run(runner, case, timeout=timeout, environment=environment()))

        try:
            with ThreadPoolExecutor(judges_.workers) as pool, outcomes(pool, run, cases) as found:
                _search(verdict, found, show, passed_over, more)
        except JudgeUsage as error:
            raise Problem(str(error)) from error
        if not verdict.failed:
            for line in lines:
                _compare_costs(verdict, lab, line, types, counting)
    return verdict


class Observing:
    """The check build's verdict on a step, which is made while the tests of another build run."""

    def __init__(self, check: Callable[[Judges], Observation]) -> None:
        """`check` is called with its judges, in a separate thread."""
        self._judges = Judges()
        self._pool = ThreadPoolExecutor(1)
        self._check = check
        self._verdict: Future[Observation] | None = None
        self.seconds = 0.0  # that it took

    def start(self) -> None:
        """Begins, unless it has begun."""
        self._verdict = self._verdict or self._pool.submit(self._timed)

    def _timed(self) -> Observation:
        start = time.monotonic()
        try:
            return self._check(self._judges)
        finally:
            self.seconds = time.monotonic() - start

    def has_findings(self) -> bool:
        """Whether the verdict is known, and names lines to fix."""
        verdict = self._verdict
        return bool(verdict and verdict.done() and not verdict.exception() and verdict.result().findings)

    def verdict(self, progress: Progress) -> Observation:
        """The verdict. Waits for it."""
        self.start()
        assert self._verdict
        while not wait([self._verdict], 0.2).done:
            progress.update()
        return self._verdict.result()

    def cancel(self) -> None:
        """Ends it: the step has failed, or the verdict is known."""
        self._judges.cancel()
        self._pool.shutdown()

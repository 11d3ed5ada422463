"""Tries the mutants of a step on cases that fail, and on others: those with which all pass show what is wrong."""

from __future__ import annotations

import contextlib
import os
import queue
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..core.judge_client import JudgeClient, JudgeDied
from ..core.judge_types import Case
from .program import MutantProgram, NotMade
from .schemata import Mutant

SECONDS = 6.0  # for all mutants together
ENOUGH_SECONDS = 3.0  # if one of the telling ones has been found
CASE_SECONDS = 2.0  # more than a case with few keys takes, unless a mutant makes it endless
KERNEL_SECONDS = "0.5"  # of processor time
MOST_KEYS = 3000  # of a case
OTHERS = 8  # cases that must still pass
CLOSE = 4  # lines: mutants that are no further from the place of the first finding come first
SHOWN = 3  # places


@dataclass(frozen=True)
class Found:
    """A mutant, or two together, with which all cases pass."""

    mutants: tuple[Mutant, ...]

    @property
    def line(self) -> int:
        """Where to look."""
        return self.mutants[0].line

    @property
    def rank(self) -> int:
        """How telling it is; less is more."""
        return self.mutants[0].rank

    @property
    def text(self) -> str:
        """What is wrong."""
        if len(self.mutants) == 1:
            return self.mutants[0].text
        return f"this barrier is in the wrong place: {self.mutants[1].text.replace('is missing', 'belongs')}"


@dataclass
class Result:
    """What the search has found."""

    found: list[Found]
    tried: int

    def best(self) -> list[Found]:
        """The most telling of each line, of the most telling kinds only."""
        by_line: dict[int, Found] = {}
        for one in sorted(self.found, key=lambda found: found.rank):
            by_line.setdefault(one.line, one)
        least = min((one.rank for one in by_line.values()), default=0)
        chosen = [one for one in by_line.values() if one.rank == least]
        return sorted(chosen, key=lambda found: found.line)[:SHOWN]

    def lines(self, file: str) -> list[str]:
        """What to print."""
        best = self.best()
        if not best:
            return []
        where = "this line" if len(best) == 1 else "each of these lines"
        change = f"with one of {self.tried} small changes, made in {where}, this case and others pass"
        return [f"The mistake may be here: {change}.", *(f"{file}:{one.line}: {one.text}" for one in best)]


class MutantSearch(contextlib.AbstractContextManager["MutantSearch"]):
    """The search in one step's file. The program is compiled at once, beside other work."""

    def __init__(self, target: str, name: str, source: str) -> None:
        """`target`: the check build's runner, relative to the build folder. `name`: of the step's file, which contains
        `source`."""
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        self._pool = ThreadPoolExecutor(1)
        self._program = self._pool.submit(MutantProgram, target, name, source, Path(self._folder.name))

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._folder.cleanup()

    def result(self, failing: Sequence[Case], others: Sequence[Case], near: int = 0) -> Result | None:
        """`failing`: cases that must pass then, the quickest one first. `others`: cases of which some must pass, too.
        `near`: a line at which the search begins. None: it could not be made."""
        try:
            program = self._program.result()
        except NotMade:
            return None
        workers = max(1, min(4, os.cpu_count() or 1))
        with contextlib.ExitStack() as stack:
            judges: queue.Queue[JudgeClient] = queue.Queue()
            for _ in range(workers):
                judges.put(stack.enter_context(JudgeClient()))
            trial = _Trial(program, judges, [*failing, *_chosen(others)])
            if trial.passes(()):  # such as one that fails in some orders of the lanes only
                return None
            distance = {mutant: abs(mutant.line - near) for mutant in program.mutants}
            order = sorted(distance, key=lambda one: (distance[one] > CLOSE, one.rank, distance[one]))
            found = trial.mending([(mutant,) for mutant in order], workers)
            if not any(one.rank <= 1 for one in found):
                found = trial.mending(list(_moved_barriers(program)), workers) or found
        return Result(found, trial.tried)


def _chosen(cases: Sequence[Case]) -> list[Case]:
    """A few cases of all kinds: of different numbers of keys, orders, types and shapes, those with few keys first."""
    kinds: dict[tuple[object, ...], Case] = {}
    for case in sorted(cases, key=lambda case: case.n):
        kind = (case.type, case.order, case.n.bit_length() // 3, bool(case.blocks))
        kinds.setdefault(kind, case)
    step = max(1, len(kinds) // OTHERS)
    return list(kinds.values())[::step][:OTHERS]


def _moved_barriers(program: MutantProgram) -> Iterator[tuple[Mutant, Mutant]]:
    """Barriers that stand elsewhere in their function."""
    for taken in program.mutants:
        if taken.kind == "taken":
            for put in program.mutants:
                if put.kind == "put" and put.function == taken.function and put.line != taken.line:
                    yield taken, put


class _Trial:
    """The runs of one search."""

    def __init__(self, program: MutantProgram, judges: queue.Queue[JudgeClient], cases: Sequence[Case]) -> None:
        self._program, self._judges, self._cases = program, judges, cases
        self._started = time.monotonic()
        self._has_telling = self._is_ended = False
        self.tried = 0

    def mending(self, choices: Sequence[tuple[Mutant, ...]], workers: int) -> list[Found]:
        """Those with which all cases pass."""
        with ThreadPoolExecutor(workers) as pool:
            try:
                mended = list(pool.map(self._mends, choices))
            except BaseException:  # such as Ctrl-C: the others need not be tried
                self._is_ended = True
                raise
        return [Found(choice) for choice, is_right in zip(choices, mended) if is_right]

    def _mends(self, choice: tuple[Mutant, ...]) -> bool:
        seconds = ENOUGH_SECONDS if self._has_telling else SECONDS
        if self._is_ended or time.monotonic() - self._started > seconds or not self.passes(choice):
            return False
        self._has_telling |= choice[0].rank <= 1
        return True

    def passes(self, choice: Sequence[Mutant]) -> bool:
        """Whether all cases pass, up to the first that does not."""
        self.tried += 1
        environment = {
            "SIMT_SECONDS": KERNEL_SECONDS,
            "STEP_MUTANT": ",".join(str(mutant.number) for mutant in choice),
        }
        judge = self._judges.get()
        try:
            for case in self._cases:
                outcome = judge.run(self._program.runner, case, timeout=CASE_SECONDS, environment=environment)
                if not outcome.passed or outcome.findings:
                    return False
        except JudgeDied:
            return False
        finally:
            self._judges.put(judge)
        return True

"""Tries the mutants of a step on cases that fail, and on others: those with which all pass show what is wrong."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import subprocess
import tempfile
import time
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import build
from ..core.judge_client import JudgeClient, JudgeDied
from ..core.judge_types import Case, Outcome
from ..core.recipe import Recipe
from .program import MutantProgram, NotMade
from .schemata import Change, Mutant

SECONDS = 7.0  # for all mutants together, on a machine that does nothing else
ENOUGH_SECONDS = 3.0  # from then on, one of the telling ones that has been found is enough
MOST_PATIENT = 3.0  # on a busy machine, these limits grow by up to this factor
EXAMINATION_SECONDS = 8.0  # for the whole check of a step with one change
CASE_SECONDS = 0.4, 2.0  # more than small cases and others take, unless a mutant makes them endless
UNCHANGED_SECONDS = "0.2"  # of processor time without a change, in every case but the first
KERNEL_SECONDS = 0.2, 2.0  # of processor time, in the first case, which has few keys, and in the others
SLOWER = 2.0  # times what the first case takes without a change: all that it may take with one, if this is more
MOST_KEYS = 3000  # of a case
OTHERS = 8  # cases that must still pass
SMALL = 64  # keys: a change is tried on cases with more of them only if it mends those with fewer
PART = 64  # changes that are tried on small cases before one of them is tried on the others
CLOSE = 4  # lines: mutants that are no further from the place of the first finding come first
EXAMINED = 4  # places, by the whole check
SHOWN = 2  # places that are printed


def patience() -> float:
    """The factor by which limits of time grow because other work has the processors."""
    return min(max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)), MOST_PATIENT)


@dataclass(frozen=True)
class Choice:
    """A mutant, or two together, that may make all cases pass."""

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
    def environment(self) -> dict[str, str]:
        """The environment of a runner that makes the change."""
        return {"STEP_MUTANT": ",".join(str(mutant.number) for mutant in self.mutants)}

    @property
    def change(self) -> Change:
        """What it changes."""
        first, *others = (mutant.change for mutant in self.mutants)
        return replace(first, kind="move-barrier", new=str(others[0].line)) if others else first


@dataclass(frozen=True)
class Searched:
    """What the search has found, the most telling first."""

    changes: tuple[Change, ...] = ()
    tried: int = 0


class MutantSearch(contextlib.AbstractContextManager["MutantSearch"]):
    """The search in one step's file. The program is compiled at once, beside other work."""

    def __init__(self, lab: str, name: str, kind: str, solution: bool, source: str) -> None:
        """The runner is that of a `kind` of build, and `name` that of the step's file, which contains `source`."""
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        self._pool = ThreadPoolExecutor(1)
        self._program = self._pool.submit(self._made, lab, name, kind, solution, source)

    def _made(self, lab: str, name: str, kind: str, solution: bool, source: str) -> MutantProgram:
        try:
            recipe = Recipe.of(build.folder(), lab, name, kind, solution)
        except (subprocess.CalledProcessError, StopIteration) as error:
            raise NotMade from error
        return MutantProgram(recipe, source, Path(self._folder.name))

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._folder.cleanup()

    def result(
        self,
        failing: Sequence[Case],
        others: Sequence[Case],
        is_right: Callable[[Path, Mapping[str, str]], bool],
        near: Collection[int] = (),
    ) -> Searched:
        """`failing`: cases that must pass then, the quickest one first. `others`: cases of which some must pass, too.
        `is_right`: whether a runner with an environment passes everything. `near`: lines at which the search begins.
        Nothing is found if the mutants do not compile, or if the first case passes without a change."""
        try:
            program = self._program.result()
        except NotMade:
            return Searched()
        workers = max(1, min(4, os.cpu_count() or 1))
        with contextlib.ExitStack() as stack:
            judges: queue.Queue[JudgeClient] = queue.Queue()
            for _ in range(workers):
                judges.put(stack.enter_context(JudgeClient()))
            trial = _Trial(program, judges, failing[:1])
            trial.add_quick([*failing[1:], *_chosen(others)], workers)
            reached = trial.reached(Path(self._folder.name) / "seen")
            if reached is None:
                return Searched()
            found = trial.best(reached, near, workers)
            right = (one for one in found if is_right(program.runner, one.environment))
            mended = tuple(one.change for one in itertools.islice(right, SHOWN))
            return Searched(mended, trial.tried)


def _chosen(cases: Sequence[Case]) -> list[Case]:
    """A few cases of all kinds: of different numbers of keys, orders, types and shapes, those with few keys first."""
    kinds: dict[tuple[object, ...], Case] = {}
    for case in sorted(cases, key=lambda case: case.n):
        kind = (case.type, case.order, case.n.bit_length() // 3, bool(case.blocks))
        kinds.setdefault(kind, case)
    step = max(1, len(kinds) // OTHERS)
    return list(kinds.values())[::step][:OTHERS]


def _moved_barriers(mutants: Sequence[Mutant]) -> Iterator[Choice]:
    """Pairs of mutants that move a barrier within its function."""
    for taken in mutants:
        if taken.change.kind == "take-barrier":
            for put in mutants:
                if put.change.kind == "put-barrier" and put.function == taken.function and put.line != taken.line:
                    yield Choice((taken, put))


class _Trial:
    """The runs of one search."""

    def __init__(self, program: MutantProgram, judges: queue.Queue[JudgeClient], cases: Sequence[Case]) -> None:
        self._program, self._judges, self._cases = program, judges, list(cases)
        self._started = time.monotonic()
        self._patience = patience()
        self._first_seconds = KERNEL_SECONDS[1]  # that each case may take at least
        self._has_telling = self._is_ended = False
        self.tried = 0

    def add_quick(self, cases: Sequence[Case], workers: int) -> None:
        """Adds those that take little time without a change: of others, no run with a change would be seen to end. All
        of them, if none ends: then the mistake is why."""
        with ThreadPoolExecutor(workers) as pool:
            limit = {"SIMT_SECONDS": UNCHANGED_SECONDS}
            outcomes = pool.map(lambda case: self._run(case, limit, CASE_SECONDS[1]), cases)
            quick = [case for case, outcome in zip(cases, outcomes) if outcome and outcome.status != "hung"]
        self._cases += sorted(quick or cases, key=lambda case: case.n)

    def best(self, mutants: Sequence[Mutant], near: Collection[int], workers: int) -> list[Choice]:
        """Those with which all cases pass, or pairs of them that move a barrier: the most telling one of each line, as
        far as they are to be examined."""
        distance = {one: min((abs(one.line - line) for line in near), default=0) for one in mutants}
        order = sorted(distance, key=lambda one: (distance[one] > CLOSE, one.rank, distance[one]))
        found = self._mending([Choice((mutant,)) for mutant in order], distance, workers)
        if not any(one.rank <= 1 for one in found):
            found = self._mending(list(_moved_barriers(mutants)), distance, workers) or found
        return found

    def _mending(self, choices: Sequence[Choice], distance: Mapping[Mutant, int], workers: int) -> list[Choice]:
        """Those with which all cases pass, one for each line."""

        def place(one: Choice) -> tuple[float, int]:
            # Of two that say as much about one line, the one with the longer expression is more often what is wrong.
            return one.rank + min(distance[one.mutants[0]] / CLOSE, 2), -len(one.change.old)

        small = 1 + sum(case.n <= SMALL for case in self._cases[1:])
        found: dict[int, Choice] = {}
        for first in range(0, len(choices), PART):
            part = [one for one in choices[first : first + PART] if one.line not in found]
            passing = sorted(self._kept(part, slice(0, small), workers), key=place)
            for one in self._kept(passing, slice(small, None), workers):
                found.setdefault(one.line, one)
            self._has_telling |= any(one.rank <= 1 for one in found.values())
        return sorted(found.values(), key=place)[:EXAMINED]

    def _kept(self, choices: Sequence[Choice], cases: slice, workers: int) -> list[Choice]:
        """The choices with which some of the cases pass, as far as there is time. Of each line only the first, if these
        are the last cases."""
        done: set[int] = set()

        def keep(choice: Choice) -> bool:
            seconds = ENOUGH_SECONDS if self._has_telling else SECONDS
            is_late = time.monotonic() - self._started > seconds * self._patience
            if self._is_ended or is_late or choice.line in done or not self._mends(choice, cases):
                return False
            if cases.stop is None:
                done.add(choice.line)
            return True

        with ThreadPoolExecutor(workers) as pool:
            try:
                kept = list(pool.map(keep, choices))
            except BaseException:  # such as Ctrl-C: the others need not be tried
                self._is_ended = True
                raise
        return [choice for choice, is_kept in zip(choices, kept) if is_kept]

    def _mends(self, choice: Choice, cases: slice) -> bool:
        """Whether these cases pass with a change, up to the first that does not."""
        self.tried += cases.start == 0
        return all(self._passes(case, choice.environment) for case in self._cases[cases])

    def reached(self, file: Path) -> list[Mutant] | None:
        """The mutants that the first case reaches, by way of a file; None if it passes without them, such as one that
        fails in some orders of lanes only."""
        begin = time.monotonic()
        if self._passes(self._cases[0], {"STEP_MUTANTS_SEEN": str(file)}):
            return None
        self._first_seconds = min(SLOWER * (time.monotonic() - begin), CASE_SECONDS[1])
        numbers = array("i")
        if file.is_file():
            numbers.frombytes(file.read_bytes())
        seen = set(numbers)
        return [mutant for mutant in self._program.mutants if mutant.place in seen]

    def _passes(self, case: Case, environment: Mapping[str, str]) -> bool:
        is_first = case == self._cases[0]
        kernel = max(KERNEL_SECONDS[not is_first], self._first_seconds)
        seconds = max(CASE_SECONDS[case.n > SMALL], self._first_seconds) * self._patience
        outcome = self._run(case, {**environment, "SIMT_SECONDS": str(kernel)}, seconds)
        return outcome is not None and outcome.passed and not outcome.findings

    def _run(self, case: Case, environment: Mapping[str, str], seconds: float) -> Outcome | None:
        """None: the judge ended."""
        judge = self._judges.get()
        try:
            return judge.run(self._program.runner, case, timeout=seconds, environment=environment)
        except JudgeDied:
            return None
        finally:
            self._judges.put(judge)

"""Runs cases of a step up to the first that fails."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import check_build
from .console import Progress
from .judge_client import JudgeClient
from .judge_types import Case, CaseGroup, Outcome, Step


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
        found: Iterator[Outcome] = (judge.run(runner, case, timeout=timeout) for case in cases)
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
            outcome = next(found)
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
    """The cases of one line of the table; of these, only those with these types of keys if `types` is given."""

    def is_chosen(case: Case) -> bool:
        return case.task == line.task and (types is None or case.type in types)

    found = [CaseGroup(group.what, tuple(filter(is_chosen, group.cases))) for group in groups]
    return [group for group in found if group.cases]

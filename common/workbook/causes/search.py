"""Runs a case that fails once more, traced, and looks for the first stage that departs from the network."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import check_build
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Outcome
from ..pictures import trace as traces
from ..pictures.trace import Trace
from . import networks, rows, tiles
from .comparisons import busiest, by_launch, comparisons
from .networks import Stage
from .stage_check import Cause, Run, check_stage
from .tiles import MOST_ACCESSES, Traced


class Search:
    """The search for the cause of a result that is wrong."""

    def __init__(self, judge: JudgeClient, runner: Path, timeout: float | None = None) -> None:
        """`runner`: that of the check build."""
        self._judge, self._runner, self._timeout = judge, runner, timeout

    def traced(self, case: Case, launches: tuple[int, int] | None) -> Trace:
        """Runs a case and traces it, or the launches from the first to the last."""
        environment = check_build.environment()
        if launches:
            environment["CHECK_TRACE_LAUNCHES"] = f"{launches[0]}-{launches[1]}"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace"
            self._judge.run(self._runner, case, timeout=self._timeout, trace=path, environment=environment)
            return traces.read(path.read_text(encoding="utf-8", errors="replace") if path.is_file() else "")

    def cause(self, outcome: Outcome) -> Cause | None:
        """What is wrong first in a case that fails; None if nothing is found."""
        case = outcome.case
        if outcome.findings:
            search = _BEFORE_RACES.get((case.lab, case.step))
            found = search(case, self.traced) if search else None
        else:
            found = _SEARCHES[case.lab, case.step](case, self.traced)
        if found and not found.place:
            found = replace(found, place=outcome.place)
        if not found or not found.is_undecided:
            return found
        return self._decided(outcome, found)

    def _decided(self, outcome: Outcome, found: Cause) -> Cause | None:
        """Why two keys are not exchanged: other keys may show it."""
        case = outcome.case
        if self._stores(case):
            return found
        in_order, turned = ("sorted", "reversed")[:: 1 if case.order == "ascending" else -1]
        if self._stores(replace(case, input=in_order)):
            return found.also("but keys that are in order are exchanged: the comparison is the wrong way round")
        if self._stores(replace(case, input=turned, n=max(case.n, 16))):
            return found.also("of more keys, some are exchanged: does something keep this thread from it?")
        return None if outcome.changed_nothing else found

    def _stores(self, case: Case) -> bool:
        return any(access.writes for access in self.traced(case, (0, 3)).accesses)


def can_search(outcome: Outcome) -> bool:
    """Whether it is known what each stage of a step must do, and a race, or nothing, was found first."""
    key = (outcome.case.lab, outcome.case.step)
    if outcome.case.task not in ("sort", "exchange") or outcome.case.expect == "refused":
        return False
    if outcome.findings:
        return key in _BEFORE_RACES and outcome.findings[0].kind == "race"
    return key in _SEARCHES and outcome.status == "wrong"


@dataclass(frozen=True)
class _Launches:
    """The launches of a run that compare keys in global memory, with what each of them must do."""

    plan: Sequence[Stage]
    what: str  # "phase", "stage"

    def search(self, case: Case, traced: Traced, exact: bool = True) -> Cause | None:
        """The first launch that departs from the plan. `exact`: too few launches are wrong, too."""
        done = first = 0
        while done < len(self.plan):
            size = max(1, MOST_ACCESSES // (8 * max(case.n, 1)))
            trace = traced(case, (first, first + size - 1))
            run = Run(trace, case.type or "u32", case.order)
            own = by_launch(trace)
            for number in range(first, min(first + size, len(trace.launches))):
                accesses = own.get(number, [])
                array = busiest((one for one in accesses if one.way == "load"), "global")
                if array is None and number in own:  # such as one that fills an array
                    continue
                launch = trace.launches[number]
                where = f"launch {number + 1} ({launch.kernel})"
                found = comparisons(accesses, array) if array else []
                if done == len(self.plan):
                    return None
                place = next((run.place(one.code) for one in trace.accesses if one.way == "load"), launch.place)
                if wrong := check_stage(run, self.plan[done], found, self.plan, where, place):
                    return wrong
                done += 1
            first += size
            if first >= len(trace.launches):
                break
            if first * 8 * case.n > 2 * MOST_ACCESSES:
                return None
        return self._too_few(case, trace, done) if exact and done < len(self.plan) else None

    def _too_few(self, case: Case, trace: Trace, done: int) -> Cause | None:
        if not trace.launches:
            return Cause("", f"no kernel is launched for {case.n} keys", (f"{self.plan[0].name} is missing",))
        if not done:
            return None
        times = "once" if done == 1 else f"{done} times"
        text = f"{trace.launches[-1].kernel} is launched {times}, but {case.n} keys need {len(self.plan)} {self.what}s"
        return Cause(trace.launches[-1].place, text, (f"after the last launch, {self.plan[done].name} is missing",))


def _exchange(case: Case, traced: Traced) -> Cause | None:
    plan = [Stage("the pairs that begin at even positions", networks.phase(0, case.n).pairs)]
    return _Launches(plan, "phase").search(case, traced)


def _phases(case: Case, traced: Traced) -> Cause | None:
    return _Launches(list(networks.phases(case.n)), "phase").search(case, traced)


def _stages(case: Case, traced: Traced) -> Cause | None:
    padded = 1 << (case.n - 1).bit_length()
    return _Launches(list(networks.classic(padded)), "stage").search(case, traced)


Searching = Callable[[Case, Traced], "Cause | None"]


def _if_launched(search: Callable[[Case, Traced], Cause | None], least: Callable[[int], int]) -> Searching:
    """The search where a race was found: it must not be one between stages that share a launch."""

    def searched(case: Case, traced: Traced) -> Cause | None:
        return search(case, traced) if len(traced(case, (0, 0)).launches) >= least(case.n) else None

    return searched


_SEARCHES: dict[tuple[str, int], Searching] = {
    ("01-odd-even", 0): _exchange,
    ("01-odd-even", 1): _phases,
    ("01-odd-even", 2): tiles.halo,
    ("01-odd-even", 3): rows.search,
    ("03-bitonic", 1): _stages,
    ("03-bitonic", 2): tiles.tiles,
    ("03-bitonic", 3): tiles.hybrid,
}
_BEFORE_RACES: dict[tuple[str, int], Searching] = {
    ("01-odd-even", 0): _exchange,
    ("01-odd-even", 1): _if_launched(_phases, lambda n: n - 1),
    ("01-odd-even", 3): rows.beside_races,
    ("03-bitonic", 1): _if_launched(_stages, lambda n: (n - 1).bit_length()),
    ("03-bitonic", 2): tiles.beside_races,
}

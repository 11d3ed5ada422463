"""The speed of a step as a ratio to that of the reference solution, or of the gold standard, measured in turns."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ..core import build
from ..core.console import Usage
from ..core.judge_client import Case, JudgeClient, Lab, Limits, Measurement, Step
from .grades import Criterion
from .rubric import Rubric, Speed

ROUNDS = 3  # of both; the median of the ratios counts
SECONDS = 30.0  # that one run may take
# Each run has keys of its own, which take longer to make than to sort.
_LIMITS = Limits(repeats=5, min_time=0.02, time_limit=5)


def rival_program(lab: str, speed: Speed) -> Path:
    """The runner that steps are compared with."""
    return build.runner(lab, speed.build, True) if speed.against == "reference" else build.gold(speed.build, ())


def timed_line(table: Lab, step: int) -> Step:
    """The line of a step whose speed is judged."""
    return table.own_line(step)


def case_of(table: Lab, line: Step, speed: Speed, seed: int) -> Case:
    """What is timed."""
    type_name = table.type_of(line)
    n = min(speed.keys, line.affordable.on(speed.build), *([line.max_n] if line.max_n else []))
    # The keys of a step that sorts host memory must not fit on the device: it would have nothing to merge or partition.
    memory = max(line.min_device_bytes or 0, n) if line.memory == "host" else 0
    case = Case(table.name, line.number, n, line.task, type_name, input=line.input_for(type_name), seed=seed)
    return replace(case, memory=memory)


def rival_in(gold: Iterable[Step], line: Step, type_name: str) -> Step | None:
    """The first of the gold standards that does the same work; None if there is none."""
    work = (line.task, line.tile, line.memory)
    same = (rival for rival in gold if (rival.task, rival.tile, rival.memory) == work)
    return next((rival for rival in same if rival.takes(type_name)), None)


def require_rivals(tables: Iterable[Lab], rubric: Rubric, judge: JudgeClient, path: Path) -> None:
    """Raises Usage if the rubric gives points for the speed of a step that the gold standard has no rival for."""
    if rubric.speed.against != "gold":
        return
    for table in tables:
        gold = judge.runner(rival_program(table.name, rubric.speed)).steps
        for number in sorted({line.number for line in table.steps}):
            line = timed_line(table, number)
            if rubric.points(table.name, number, "speed") and not rival_in(gold, line, table.type_of(line)):
                raise Usage(
                    f"{path}: the gold standard has nothing to compare step {number:02} of {table.name} with: set "
                    "speed = 0"
                )


class Race:
    """Measures steps of one build. `trusted`: a judge of our own runners; `judge`: that of the submission."""

    def __init__(self, trusted: JudgeClient, judge: JudgeClient, speed: Speed) -> None:
        self.trusted, self.judge, self.speed = trusted, judge, speed

    def _rival_case(self, case: Case, line: Step, program: Path) -> Case:
        """The same keys for the rival. A gold standard may use all memory."""
        if self.speed.against == "reference":
            return case
        rival = rival_in(self.trusted.runner(program).steps, line, case.type or "")
        assert rival, "require_rivals() was not called"
        return replace(case, lab="gold", step=rival.number, memory=0)

    def _rounds(self, case: Case, runner: Path, line: Step) -> Iterator[tuple[Measurement, Measurement]]:
        """The rival's measurement and the runner's, in turns."""
        rival = rival_program(case.lab, self.speed)
        rival_case = self._rival_case(case, line, rival)
        copy = self.trusted.runner(rival, bandwidth=True).copy_bytes_per_second
        for _ in range(ROUNDS):
            other = self.trusted.measure(rival, rival_case, _LIMITS, timeout=SECONDS)
            yield other, self.judge.measure(runner, case, _LIMITS, timeout=SECONDS, copy_bytes_per_second=copy)

    def criterion(self, table: Lab, step: int, runner: Path, seed: int, max_points: float) -> Criterion:
        """The points for the speed of a step."""

        def result(points: float | None, words: str) -> Criterion:
            return Criterion(table.name, step, "speed", points, max_points, words)

        line = timed_line(table, step)
        case = case_of(table, line, self.speed, seed)
        against = "the reference solution" if self.speed.against == "reference" else "the gold standard"
        ratios = []
        for other, own in self._rounds(case, runner, line):
            if other.status != "verified":
                return result(None, f"{against} could not be measured: {other.status}: {other.message}")
            if own.status != "verified":
                return result(0, f"when it was timed: {own.status}: {own.message}")
            ratios.append(other.median_ms / own.median_ms)
        ratio = statistics.median(ratios)
        words = f"{ratio:.2f} times as fast as {against} with {case.n:,} keys on the {self.speed.build} build"
        return result(round(max_points * self.speed.share(ratio), 2), words)

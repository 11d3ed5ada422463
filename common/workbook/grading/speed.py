"""The speed of a step as a ratio to that of the reference solution, or of the gold standard, measured in turns."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path

from ..core import build
from ..core.judge_client import Case, JudgeClient, Lab, Limits, Measurement, Step
from .grades import Criterion
from .rubric import Speed

ROUNDS = 3  # of both; the median of the ratios counts
SECONDS = 30.0  # that one run may take
_LIMITS = Limits(
    repeats=5, min_time=0.02, time_limit=5
)  # each run has keys of its own, which take longer to make than to sort


def rival_program(lab: str, speed: Speed) -> Path:
    """The runner that steps are compared with."""
    return build.runner(lab, speed.build, True) if speed.against == "reference" else build.gold(speed.build, ())


def _rival_case(case: Case, line: Step, judge: JudgeClient, program: Path, speed: Speed) -> Case | None:
    """The same case for the rival; None if the gold standard has no such sort."""
    if speed.against == "reference":
        return case
    for rival in judge.runner(program).steps:
        if (rival.task, rival.tile) == (line.task, line.tile) and rival.takes(case.type or ""):
            return replace(case, lab="gold", step=rival.number)
    return None


def _case(table: Lab, line: Step, speed: Speed, seed: int) -> Case:
    type_name = table.type_of(line)
    n = min(speed.keys, line.affordable.on(speed.build), *([line.max_n] if line.max_n else []))
    return Case(table.name, line.number, n, line.task, type_name, input=line.input_for(type_name), seed=seed)


class Race:
    """Measures steps of one build. `trusted`: a judge of our own runners; `judge`: that of the submission."""

    def __init__(self, trusted: JudgeClient, judge: JudgeClient, speed: Speed) -> None:
        self.trusted, self.judge, self.speed = trusted, judge, speed

    def ratio(self, case: Case, runner: Path, rival: Path, rival_case: Case) -> tuple[float, Measurement]:
        """How many times as fast as the rival the runner is, and the last or the first failed measurement of it."""
        copy = self.trusted.runner(rival, bandwidth=True).copy_bytes_per_second
        ratios = []
        for _ in range(ROUNDS):
            other = self.trusted.measure(rival, rival_case, _LIMITS, timeout=SECONDS)
            own = self.judge.measure(runner, case, _LIMITS, timeout=SECONDS, copy_bytes_per_second=copy)
            if own.status != "verified" or other.status != "verified":
                return (0.0 if other.status == "verified" else -1.0), own
            ratios.append(other.median_ms / own.median_ms)
        return statistics.median(ratios), own

    def criterion(self, table: Lab, step: int, runner: Path, seed: int, max_points: float) -> Criterion:
        """The points for the speed of a step."""
        line = next(line for line in table.lines(step) if line.task == "sort")
        case = _case(table, line, self.speed, seed)
        rival = rival_program(table.name, self.speed)
        rival_case = _rival_case(case, line, self.trusted, rival, self.speed)
        against = "the reference solution" if self.speed.against == "reference" else "the gold standard"
        if rival_case is None:
            words = f"{against} has nothing to compare this step with: set speed = 0 in the rubric"
            return Criterion(table.name, step, "speed", None, max_points, words)
        ratio, own = self.ratio(case, runner, rival, rival_case)
        if ratio < 0:
            return Criterion(table.name, step, "speed", None, max_points, f"{against} could not be measured")
        if own.status != "verified":
            return Criterion(
                table.name, step, "speed", 0, max_points, f"when it was timed: {own.status}: {own.message}"
            )
        points = round(max_points * self.speed.share(ratio), 2)
        words = f"{ratio:.2f} times as fast as {against} with {case.n:,} keys on the {self.speed.build} build"
        return Criterion(table.name, step, "speed", points, max_points, words)

"""Runs of steps on the check build whose accesses are traced, and the pictures of recorded ones in the handouts."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import build, check_build, files
from ..core.console import Problem, Usage
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Outcome, Picture
from . import access_picture, trace
from .trace import Trace


def part_of_run(launches: Sequence[int] | None, blocks: Sequence[int] | None) -> dict[str, str]:
    """The variables by which the check build traces only these launches and blocks, from the first to the last."""
    window = {"CHECK_TRACE_LAUNCHES": launches, "CHECK_TRACE_BLOCKS": blocks}
    return {name: f"{own[0]}-{own[-1]}" for name, own in window.items() if own}


def observe(
    judge: JudgeClient,
    runner: Path,
    case: Case,
    timeout: float | None = None,
    launches: Sequence[int] | None = None,
    blocks: Sequence[int] | None = None,
) -> tuple[Trace, Outcome]:
    """The trace of one run, or of some of its launches and blocks, and its outcome. Raises Usage if no kernel accessed
    memory there."""
    environment = {**check_build.environment(), **part_of_run(launches, blocks)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        outcome = judge.run(runner, case, timeout=timeout, trace=path, environment=environment)
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if outcome.status == "not-written":
        raise Usage(outcome.message)
    run = trace.read(text)
    if launches and run.launches and launches[0] >= len(run.launches):
        raise Usage(f"launch {launches[0]} does not exist: the run has {len(run.launches)} launches, numbered from 0")
    if not run.accesses and blocks and outcome.passed:
        raise Usage(f"blocks {blocks[0]} to {blocks[-1]} access no memory, or do not exist: choose other --only-blocks")
    if not run.accesses:
        raise Usage(f"{case.lab}, step {case.step}: {_why_empty(outcome)}")
    return run, outcome


def draw_run(
    judge: JudgeClient, runner: Path, case: Case, chosen: Picture, timeout: float | None = None
) -> tuple[str, Trace, Outcome]:
    """The SVG text of a run, or of the part of it that was chosen. Errors are those of observe()."""
    launches = range(chosen.launches[0], chosen.launches[1] + 1) if chosen.launches else None
    places = [place for first, last in chosen.places for place in range(first, last + 1)]
    run, outcome = observe(judge, runner, case, timeout, launches)
    key_type = outcome.case.type or ""
    svg = access_picture.draw(
        run, outcome.findings, outcome.title, case.n, key_type, chosen.arrays or None, places or None, launches
    )
    return svg, run, outcome


def pictured(case: Case, chosen: Picture) -> Case:
    """The case with what the picture chooses of it."""
    return replace(case, n=chosen.n, input=chosen.input or case.input)


def _why_empty(outcome: Outcome) -> str:
    """Why a run has no accesses, in one line."""
    if outcome.findings:
        return str(outcome.findings[0])
    if outcome.status != "verified" and outcome.message:
        return outcome.message.splitlines()[0]
    return "no kernel accessed memory, so there is nothing to draw"


@dataclass(frozen=True)
class RecordedRun:
    """A run of a step's solution."""

    lab: str
    step: int
    n: int
    key_type: str = "u32"
    task: str = "sort"
    seed: int = 1


def _without_folders(text: str) -> str:
    """The trace of a solution, whose files are named from the lab's folder on."""
    return re.sub(r'(?:[^"\s/]*/)*(?:solutions|labs)/(?=[^"\s]+:\d)', "", text)


def record(run: RecordedRun, path: Path) -> None:
    """Runs the solution and writes its trace, headed by the run's title. Raises Problem if the run has faults."""
    runner = build.runner(run.lab, "check", True)
    build.compile_targets([build.judge(), runner], f"building {run.lab}, check build")
    case = Case(run.lab, run.step, run.n, task=run.task, type=run.key_type, seed=run.seed)
    with JudgeClient() as judge:
        observed, outcome = observe(judge, runner, case)
    if outcome.findings or not outcome.passed:
        raise Problem(f"{path.name} is not recorded: {outcome.message} {' '.join(map(str, outcome.findings))}")
    files.write_whole(path, f"{json.dumps({'title': outcome.title})}\n{_without_folders(observed.text)}")


def draw(run: RecordedRun, path: Path) -> str:
    """The SVG text of the trace at `path`, whose first line is the title."""
    text = path.read_text(encoding="utf-8")
    title = json.loads(text.partition("\n")[0])["title"]
    return access_picture.draw(trace.read(text), [], title, run.n, run.key_type)

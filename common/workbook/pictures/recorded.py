"""Runs of steps on the check build whose accesses are traced, and the pictures of recorded ones in the handouts."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import build, files
from ..core.console import Problem, Usage
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Outcome, Picture
from . import access_picture, trace
from .trace import Trace


def observe(
    judge: JudgeClient, runner: Path, case: Case, timeout: float | None = None, launches: range | None = None
) -> tuple[Trace, Outcome]:
    """The trace of one run, or of some of its launches, and its outcome. Raises Usage if no kernel accessed memory."""
    environment = {"CHECK_TRACE_LAUNCHES": f"{launches[0]}-{launches[-1]}"} if launches else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        outcome = judge.run(runner, case, timeout=timeout, trace=path, environment=environment)
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if outcome.status == "not-written":
        raise Usage(outcome.message)
    run = trace.read(text)
    if launches and run.launches and launches[0] >= len(run.launches):
        raise Usage(f"launch {launches[0]} does not exist: the run has {len(run.launches)} launches, numbered from 0")
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


def renumbered(text: str) -> str:
    """The trace with small numbers in place of code addresses, which differ from build to build."""
    lines = [line.split("\t") for line in text.splitlines()]
    codes: dict[str, str] = {}
    for fields in lines:
        if fields[0] == "access":
            fields[3] = codes.setdefault(fields[3], f"c{len(codes)}")
        elif fields[0] == "array":
            fields[3] = trace.without_folders(fields[3])
    for fields in lines:
        if fields[0] == "code":
            fields[1] = codes.get(fields[1], fields[1])
            fields[2] = fields[2].rpartition("solutions/")[2].rpartition("labs/")[2]
    return "".join("\t".join(fields) + "\n" for fields in lines)


def record(run: RecordedRun, path: Path) -> None:
    """Runs the solution and writes its trace, headed by the run's title. Raises Problem if the run has faults."""
    runner = build.runner(run.lab, "check", True)
    build.compile_targets([build.judge(), runner], f"building {run.lab}, check build")
    case = Case(run.lab, run.step, run.n, task=run.task, type=run.key_type, seed=run.seed)
    with JudgeClient() as judge:
        observed, outcome = observe(judge, runner, case)
    if outcome.findings or not outcome.passed:
        raise Problem(f"{path.name} is not recorded: {outcome.message} {' '.join(map(str, outcome.findings))}")
    files.write_whole(path, f"title\t{outcome.title}\n{renumbered(observed.text)}")


def draw(run: RecordedRun, path: Path) -> str:
    """The SVG text of the trace at `path`, whose first line is the title."""
    text = path.read_text(encoding="utf-8")
    title = text.partition("\n")[0].partition("\t")[2]
    return access_picture.draw(trace.read(text), [], title, run.n, run.key_type)

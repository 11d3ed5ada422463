"""Runs a step once on the check build and reads the trace of its accesses."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..core.console import Usage
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Outcome
from . import trace
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


def _why_empty(outcome: Outcome) -> str:
    """Why a run has no accesses, in one line."""
    if outcome.findings:
        return str(outcome.findings[0])
    if outcome.status != "verified" and outcome.message:
        return outcome.message.splitlines()[0]
    return "no kernel accessed memory, so there is nothing to draw"

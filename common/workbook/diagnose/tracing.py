"""Runs the smallest failing case once more on the check build, with a trace."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path

from ..core import check_build
from ..core.console import Problem
from ..core.judge_client import JudgeClient
from ..core.judge_types import Outcome
from ..pictures import trace as traces
from .diagnosis import Traced

MOST_KEYS = 8192  # of a case that is traced: a kernel may do far more work with them than it should
LONGEST = 6_000_000  # characters of a trace, which take a second to read


def traced(judge: JudgeClient, runner: Path | None, outcome: Outcome, most_keys: int, timeout: float) -> Traced:
    """An outcome, and the same case on the check build, with its trace if it fails there in the same way and the trace
    is not too long. `runner`: that of the check build, if there is one. A case that does not end, or that has more than
    `most_keys` keys, is not run again."""
    case = outcome.case
    if runner is None or case.n > most_keys or outcome.status == "hung" or case.expect == "refused":
        return Traced(outcome)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace" if case.n <= MOST_KEYS else None
        seen = judge.run(runner, case, timeout=timeout, trace=path, environment=check_build.environment())
        is_same = (seen.status, seen.first_wrong) == (outcome.status, outcome.first_wrong)
        if path is None or not path.is_file() or not is_same or path.stat().st_size > LONGEST:
            return Traced(outcome, seen=seen)
        text = path.read_text(encoding="utf-8", errors="replace")
    with contextlib.suppress(Problem):
        trace = traces.read(text)
        if not trace.truncated:
            return Traced(replace(outcome, findings=outcome.findings or seen.findings), trace, seen)
    return Traced(outcome, seen=seen)

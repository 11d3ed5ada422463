"""Runs the smallest failing case once more on the check build, with a trace."""

from __future__ import annotations

import contextlib
import re
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
LONGEST, LONGEST_FILE = 6_000_000, 60_000_000  # characters of a trace, which take a second to read; of its file
_SHARED = re.compile(r'^{"array":{"id":(\d+),"space":"shared"', re.MULTILINE)


def _without_shared(text: str) -> str:
    """A trace without what happens in shared memory and between the lanes of a warp."""
    arrays = "|".join(_SHARED.findall(text)) or "-"
    return re.sub(rf'^{{"(?:access":\[(?:{arrays}),|exchange|syncwarp|conflict).*\n', "", text, flags=re.MULTILINE)


def traced(judge: JudgeClient, runner: Path | None, outcome: Outcome, most_keys: int, timeout: float) -> Traced:
    """An outcome, and the same case on the check build, with its trace if it fails there in the same way. Of a long
    trace of a case without findings, only what happens in global memory is read. `runner`: that of the check build, if
    there is one. A case that does not end, or that has more than `most_keys` keys, is not run again."""
    case = outcome.case
    if runner is None or case.n > most_keys or outcome.status == "hung" or case.expect == "refused":
        return Traced(outcome)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace" if case.n <= MOST_KEYS else None
        seen = judge.run(runner, case, timeout=timeout, trace=path, environment=check_build.environment())
        is_same = (seen.status, seen.first_wrong) == (outcome.status, outcome.first_wrong)
        if path is None or not path.is_file() or not is_same or path.stat().st_size > LONGEST_FILE:
            return Traced(outcome, seen=seen)
        text = path.read_text(encoding="utf-8", errors="replace")
    if len(text) > LONGEST and not outcome.findings:
        text = _without_shared(text)
    if len(text) > LONGEST:
        return Traced(outcome, seen=seen)
    with contextlib.suppress(Problem):
        return Traced(replace(outcome, findings=outcome.findings or seen.findings), traces.read(text), seen)
    return Traced(outcome, seen=seen)

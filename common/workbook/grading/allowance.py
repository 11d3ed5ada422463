"""How long a submission may keep the grader busy with the cases of a lab: twice as long as the solution does, and at
least a minute. Time for which a case waits for a busy machine does not count.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.judge_client import JudgeClient

LEAST_SECONDS = 60.0
TIMES = 2.0  # as long as the solution
WITHOUT_SOLUTION = 150.0  # seconds in place of the solution's, where there is none


class UsedUp(Exception):
    """The cases of a submission have taken too long together; the text is a sentence for the student."""


class Allowance:
    """The seconds that the cases of one submission and lab may take together, on all cores."""

    def __init__(self, solution: Callable[[], float]) -> None:
        """`solution`: the seconds that the solution takes, which are asked for only if they matter."""
        self._solution = solution
        self._adding = threading.Lock()
        self.spent = 0.0

    def add(self, seconds: float) -> None:
        """Counts a case."""
        with self._adding:
            self.spent += max(seconds, 0.0)

    def require(self) -> None:
        """Raises UsedUp if no further case may run."""
        if self.spent <= LEAST_SECONDS:
            return
        solution = self._solution()
        limit = max(TIMES * solution, LEAST_SECONDS)
        if self.spent > limit:
            raise UsedUp(
                f"ended: the cases of this lab have taken {self.spent:.0f} s so far. All cases of the solution "
                f"take {solution:.0f} s, and a submission may take {limit:.0f} s"
            )


class TimedJudge(JudgeClient):
    """A judge whose cases count."""

    def __init__(
        self, allowance: Allowance, program: Path | None, prefix: Sequence[str] = (), sandbox: Sequence[str] = ()
    ) -> None:
        super().__init__(program, prefix, sandbox)
        self._allowance = allowance

    def ask(
        self, request: Mapping[str, Any], progress: Callable[[dict[str, Any]], None] | None = None
    ) -> dict[str, Any]:
        """Raises UsedUp, besides what JudgeClient raises."""
        if request["ask"] != "run":
            return super().ask(request, progress)
        self._allowance.require()
        started = time.monotonic()
        answer: dict[str, Any] = {}
        try:
            answer = super().ask(request, progress)
        finally:
            waited = answer.get("times", {}).get("waited_ms", 0) / 1e3
            self._allowance.add(time.monotonic() - started - waited)
        return answer

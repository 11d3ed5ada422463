"""How long a step may keep the grader busy with its cases: ten times as long as the solution does, and at least 20
seconds. So a step that is slow, or prints without end, costs no other step its points. Time for which a case waits for
a busy machine does not count.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.judge_client import JudgeClient

LEAST_SECONDS = 20.0
TIMES = 10.0  # as long as the solution
WITHOUT_SOLUTION = 6.0  # seconds in place of the solution's, where there is none


class UsedUp(Exception):
    """The cases of a step have taken too long together; the text is a sentence for the student."""


class Allowance:
    """The seconds that the cases of one step of a submission may take together, on all cores."""

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
                f"ended: the cases of this step have taken {self.spent:.0f} s so far. With the solution, they "
                f"take {solution:.0f} s, and this step may take {limit:.0f} s"
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

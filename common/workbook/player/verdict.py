"""What is wrong with a run as a whole, for the top of its page and for the moment at which the page opens."""

from __future__ import annotations

from ..core.judge_types import Outcome
from ..pictures.trace import Found, Trace, without_folders

ENDLESS = ("time-limit", "hang")  # kinds of findings
# Arrays with the results of tasks, where these are not the keys: common/step/task.h.
RESULTS = {"reduce": "result", "histogram": "counts", "scan": "sums", "strings": "sorted"}
RESULTS |= {"flip": "integers", "unflip": "floats", "segments": "sorted"}


def endless(run: Trace) -> Found | None:
    """The finding about a kernel that does not end."""
    return next((found for found in run.found if found.kind in ENDLESS), None)


def _sentences(outcome: Outcome) -> str:
    """The outcome's message, without the full stop at its end."""
    lines = [line.strip() for line in outcome.message.splitlines()]
    return " ".join(line if line.endswith((".", "?")) else f"{line}." for line in lines).removesuffix(".")


def verdict(run: Trace, outcome: Outcome | None) -> str:
    """What is wrong, in one sentence; "" if nothing is. `outcome`: of a step; a program has none."""
    if found := endless(run):
        part = " Only its first accesses are recorded." if run.truncated else ""
        return f"This run does not end: {without_folders(found.place)} was still running at the time limit.{part}"
    if outcome is None or outcome.passed:
        return ""
    if outcome.status == "wrong":
        if wrong := wrong_result(outcome):  # this becomes a finding, which says more
            return f"The result is wrong, first at {wrong[1]}[{wrong[2]}]."
        return f"The result is wrong: {_sentences(outcome)}."
    return f"The run failed: {_sentences(outcome) or outcome.status}."


def wrong_result(outcome: Outcome) -> tuple[str, str, int] | None:
    """What is wrong, the array of the result, and the index of the first wrong element; None if none is known."""
    if outcome.status != "wrong" or outcome.first_wrong is None:
        return None
    task = outcome.case.task
    name = RESULTS.get("segments" if task.startswith("segments") else task, "keys")
    return _sentences(outcome), name, outcome.first_wrong

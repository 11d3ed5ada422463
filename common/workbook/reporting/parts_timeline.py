"""The part of a report about steps that sort host memory: when their copies and kernels ran."""

from __future__ import annotations

from ..core import timelines
from . import timeline
from .context import Context
from .tables import count, paragraphs


def timeline_of_steps(report: Context) -> str:
    """A figure per step, and how much of the time two or more kinds of work ran."""
    found = []
    for recorded in report.timelines:
        name = f"timeline-{recorded.step}"
        found += [
            report.plot(
                name,
                f"Step {recorded.step:02} {recorded.name}: its copies and kernels, stream by stream. Thin lines: "
                "the stream has reached a copy, which waits for another one in the same direction.",
                recorded,
                lambda stem, recorded=recorded: timeline.draw(recorded, stem),  # type: ignore[misc]
            ),
            f"Step {recorded.title(count(recorded.n))}. " + " ".join(timelines.sentences(recorded)),
        ]
    return paragraphs(found)

"""The parts of a report by name: each function returns Markdown, or "" if there is nothing to say."""

from __future__ import annotations

from collections.abc import Callable

from . import (
    parts_labs,
    parts_machines,
    parts_processors,
    parts_profile,
    parts_setup,
    parts_sweeps,
    parts_time,
    parts_timeline,
    parts_verdicts,
)
from .context import Context

PARTS: dict[str, Callable[[Context], str]] = {
    "statement": parts_setup.statement,
    "machine": parts_setup.machine,
    "predictions": parts_verdicts.predictions,
    "program": parts_setup.program,
    "run": parts_verdicts.run,
    "verdicts": parts_verdicts.verdicts,
    "results": parts_setup.results,
    "n": parts_time.n,
    "parts": parts_time.parts,
    "kernels": parts_time.kernels,
    "profile": parts_profile.profile,
    "timeline": parts_timeline.timeline_of_steps,
    "shapes": parts_sweeps.shapes,
    "inputs": parts_sweeps.inputs,
    "ranges": parts_sweeps.ranges,
    "types": parts_sweeps.types,
    "transfers": parts_time.transfers,
    "processors": parts_processors.processors,
    "machines": parts_machines.machines,
    "labs": parts_labs.labs,
}


def make(report: Context) -> dict[str, str]:
    """All parts; draws their plots."""
    return {name: part(report) for name, part in PARTS.items()}

"""Calls in a step's source that are right in some programs, and mostly wrong in the steps of this course."""

from __future__ import annotations

import re

from ..core import files
from ..core.course import ROOT, StepFile, source_of
from ..core.judge_types import Note

_QUEUES = "returns as soon as its work is queued"  # what a lab's header promises
_WAIT = re.compile(r"\b(cudaDeviceSynchronize|cudaStreamSynchronize)\s*\(")
_ACTIVE = re.compile(r"\b__activemask\s*\(")


def _promises_to_queue(lab: str) -> bool:
    headers = (path.read_text(encoding="utf-8", errors="replace") for path in (ROOT / "labs" / lab).glob("*.h"))
    return any(_QUEUES in " ".join(re.sub(r"^//+", "", line).strip() for line in text.splitlines()) for text in headers)


def masks(source: str, file: str) -> list[Note]:
    """Masks that name the lanes which happen to be there."""
    text = (
        "__activemask() returns a mask of the lanes that happen to be active here, which may be fewer than those that "
        "take part; write the mask of the lanes that take part, such as 0xffffffff for a whole warp"
    )
    return [Note(file, number, "active-mask", text=text) for number in _lines(source, _ACTIVE)]


def waits(source: str, file: str) -> list[Note]:
    """Waits of the host for the device."""
    text = (
        "the host waits here, but a step must return as soon as its work is queued; launches in one stream run in "
        "order anyway, so remove this wait"
    )
    return [Note(file, number, "host-wait", text=text) for number in _lines(source, _WAIT)]


def _lines(source: str, pattern: re.Pattern[str]) -> list[int]:
    return [n for n, line in enumerate(source.splitlines(), 1) if pattern.search(line.partition("//")[0])]


def notes(step: StepFile, solution: bool, passed: bool) -> list[Note]:
    """Those of a step's file. A wait makes no result wrong, and is left out unless the step has passed."""
    file = source_of(step.file, solution)
    source = files.text_of(ROOT / file)
    waiting = waits(source, file) if passed and _promises_to_queue(step.lab) else []
    return sorted([*masks(source, file), *waiting], key=lambda note: note.line)

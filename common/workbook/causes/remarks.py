"""What the text of a step adds to a cause that its run has shown: the lines that decide about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from .source import Source, line_of
from .stage_check import Cause

_DIRECTION = re.compile(r"&\s*\w+\s*\)?\s*\)?\s*[=!]=\s*0|\(\s*\w+\s*&\s*\w+\s*\)")
_LOOP = re.compile(r"\bfor\s*\(")
_FLAGGED = re.compile(r"^launch \d+ \((\w+)<[^()]*\b(true|false)\b[^()]*>\) compares the pairs of (.*?):")
_BARRIER_NEAR = 3  # lines after the place


def _of_number(cause: Cause, source: Source) -> Cause:
    """Stages that are missing at the end: which loop decides how many there are?"""
    loops = source.loops_around(line_of(cause.place)[1])
    if not re.search(r"needs? \d+ stages, but only", cause.text) or not loops:
        return cause
    return cause.also(f"where does the loop over the runs end? {source.quoted(loops[0])}")


def _of_repetition(cause: Cause, source: Source) -> Cause:
    """A stage that is there twice: which loop begins too early?"""
    loops = [line for line in source.loops_around(line_of(cause.place)[1]) if "threadIdx" not in source.lines[line - 1]]
    if not cause.text.startswith("this stage compares the pairs that the stage before it") or len(loops) < 2:
        return cause
    kept = tuple(detail for detail in cause.details if not detail.startswith("line "))
    return replace(cause, details=(f"does this loop begin with the right stride? {source.quoted(loops[-1])}", *kept))


def _of_direction(cause: Cause, source: Source) -> Cause:
    """Pairs of one direction that are wrong: which line decides about the direction?"""
    asks = [detail for detail in cause.details if detail.endswith("how does the direction follow from i?")]
    asks = asks or [detail for detail in cause.details if detail.startswith("the order here is the opposite of")]
    line = next((n for n, text in enumerate(source.lines, 1) if _DIRECTION.search(text) and not _LOOP.search(text)), 0)
    is_known = any(detail.startswith(("only descending order", "the kernel compares keys")) for detail in cause.details)
    if not asks or not line or is_known:
        return cause
    kept = tuple(detail for detail in cause.details if detail not in asks)
    words = asks[0].partition(": how")[0]
    return replace(cause, details=(f"{words}: look at {source.quoted(line)}", *kept))


def _of_warp_barrier(cause: Cause, source: Source) -> Cause:
    """A barrier of the warp where one of the block is needed."""
    line = line_of(cause.place)[1]
    near = range(line, min(line + _BARRIER_NEAR, len(source.lines)) + 1)
    found = next((n for n in near if "__syncwarp" in source.lines[n - 1]), 0)
    if not found or "__syncthreads()" not in str(cause):
        return cause
    text = f"__syncwarp() in line {found} synchronizes the lanes of one warp only: use __syncthreads() there"
    return replace(cause, details=(text, *cause.details[1:]))


def _of_flag(cause: Cause, source: Source) -> Cause:
    """A launch whose template argument chooses the other kind of stage."""
    match = _FLAGGED.search(cause.text)
    if not match:
        return cause
    name, flag, kind = match.groups()
    launches = [n for n, text in enumerate(source.lines, 1) if re.search(rf"\b{name}<[^;]*\b{flag}\b[^;]*<<<", text)]
    if not launches:
        return cause
    must = next((detail for detail in cause.details if detail.startswith("it must be")), "")
    lines = " or ".join(map(str, launches))
    text = f"the template argument {flag} in the launch of {name} in line {lines} selects {kind}; is that right?"
    return replace(cause, place=f"{source.file}:{launches[-1]}", details=tuple(filter(None, (text, must))))


def _of_launches(cause: Cause, source: Source) -> Cause:
    """Launches that are missing at the end: which loop ends too early?"""
    if not cause.text.startswith("a launch is missing"):
        return cause
    last = max((n for n, text in enumerate(source.lines, 1) if "<<<" in text), default=0)
    loops = source.loops_around(last) if last else []
    if not loops:
        return cause
    asked = f"does this loop end too early? {source.quoted(loops[0])}"
    return replace(cause, place=f"{source.file}:{loops[0]}", details=(*cause.details, asked))


def _of_guard(cause: Cause, source: Source) -> Cause:
    """A pair beyond the end, although the line has a guard: then the guard's limit is wrong."""
    line = line_of(cause.place)[1]
    guard = re.search(r"\bif \((\w+ < (\w+))\)", source.lines[line - 1]) if 0 < line <= len(source.lines) else None
    kept = tuple(detail for detail in cause.details if not detail.startswith("skip a comparator whose partner"))
    most = next((detail.rpartition(" ")[2] for detail in cause.details if detail not in kept), "")
    if not guard or not most:
        return cause
    text = f"the guard `{guard[1]}` does not exclude this pair: {guard[2]} must be {most} here; which value is passed?"
    return replace(cause, details=(text, *kept))


def _of_braces(cause: Cause, source: Source) -> Cause:
    """A line that looks as if an if or a loop controlled it, and is the second one below it."""
    line = line_of(cause.place)[1]
    if not 2 < line <= len(source.lines):
        return cause
    control, first, second = source.lines[line - 3 : line]
    indents = [len(text) - len(text.lstrip()) for text in (control, first, second)]
    is_control = re.match(r"\s*(?:if|for|while|else)\b", control) and not control.rstrip().endswith(("{", ";"))
    if not is_control or not indents[0] < indents[1] == indents[2] or not first.rstrip().endswith(";"):
        return cause
    return cause.also(
        f"line {line - 2} controls only line {line - 1}, not this line: enclose both lines in braces {{ }}"
    )


_REMARKS: Sequence[Callable[[Cause, Source], Cause]] = (
    _of_number,
    _of_repetition,
    _of_direction,
    _of_warp_barrier,
    _of_flag,
    _of_launches,
    _of_guard,
    _of_braces,
)


def remarked(cause: Cause | None, source: Source) -> Cause | None:
    """The cause, with the lines that decide about it."""
    for remark in _REMARKS:
        cause = cause and remark(cause, source)
    return cause

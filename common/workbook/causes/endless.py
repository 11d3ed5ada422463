"""Why a kernel does not end: the loops of the step's file, and what their conditions wait for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..core.judge_types import Outcome
from .source import Loop, Source, line_of
from .stage_check import Cause

_NAME = r"[A-Za-z_]\w*"
_EXCHANGED = re.compile(r"<<<\s*(?:\w*threads?\w*|block)\s*,\s*(?:\w*blocks\w*|grid\w*)\s*[,>]")
_TYPES = frozenset({"int", "unsigned", "long", "bool", "true", "false", "std", "auto"})
_CHANGED = r"(?:(?:\+\+|--)\s*{0}\b|(?<![\w.]){0}\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))|&\s*{0}\b)"
_COMPARED = re.compile(rf"^\s*({_NAME})\s*(<=|>=|<|>)\s*(.+?)\s*$")
_GROWS = r"(?:\+\+\s*{0}\b|\b{0}\s*(?:\+\+|\+=|\*=|<<=))"
_FALLS = r"(?:--\s*{0}\b|\b{0}\s*(?:--|-=|/=|>>=))"
_KEPT = r"\b{0}\s*(?:[-+]=\s*0|[*/]=\s*1|(?:<<|>>)=\s*0|=\s*{0})\s*$"
_DOUBLED = r"\b{0}\s*(?:\*=|<<=|=\s*{0}\s*(?:\*|<<)\s*\w+\s*$|=\s*\d+\s*\*\s*{0}\s*$)"
_HALVED = r"\b{0}\s*(?:/=|>>=|=\s*{0}\s*(?:/|>>)\s*\w+\s*$)"
_NUMBERS = ("threadIdx.x", "blockIdx.x*blockDim.x+threadIdx.x")  # of a thread, in its block or in the grid
MOST_NAMES = 3  # that stand for one another


def endless(outcome: Outcome, source: Source) -> Cause | None:
    """The loop in which a kernel was when its time ended, or another one of the file that cannot end."""
    file, line = line_of(outcome.place)
    if outcome.status != "hung":
        return None
    around = [loop for loop in source.loops if loop.line <= line <= loop.last] if file == source.file else []
    for loop in [*reversed(around), *source.loops]:
        if why := _why(loop, source):
            return Cause(f"{source.file}:{loop.line}", f"this loop does not end: {why}", is_certain=True)
    if (exchanged := _of_shape(source)) or not around:
        return exchanged
    outer = [source.quoted(loop.line) for loop in around[:-1]]
    inner = around[-1].line
    if slow := _of_all_threads(source, around):
        return slow
    comes = _in_branch(around[-1], source) or "; ".join(map(source.quoted, source.counted_by(inner)))
    details = (comes, f"or a loop around it: {'; '.join(outer)}" if outer else "")
    return Cause(
        f"{file}:{inner}", "the kernel was still in this loop when its time was up: does the loop end?", details
    )


def _in_branch(loop: Loop, source: Source) -> str:
    """The only line that changes a variable of the loop's condition, if an `if` in the loop decides about it."""
    names = [name for name in re.findall(rf"(?<![\w.>]){_NAME}\b", loop.condition) if name not in _TYPES]
    changed = re.compile("|".join(_CHANGED.format(name) for name in names) or "$^")
    lines = [n for n in range(loop.line + 1, loop.last + 1) if changed.search(source.lines[n - 1])]
    test = source.test_around(lines[0]) if len(lines) == 1 and not loop.step else 0
    if test <= loop.line:
        return ""
    return f"{source.quoted(lines[0])} runs only if this condition is true: {source.quoted(test)}"


def repeated(source: Source) -> Cause | None:
    """The first loop of a file in which the threads repeat each other's work, though each begins at its own number."""
    return _of_all_threads(source, source.loops)


def _of_all_threads(source: Source, loops: Sequence[Loop]) -> Cause | None:
    loop = next((one for one in loops if _is_by_one(one) and _is_of_all_work(source, one)), None)
    if loop is None:
        return None
    text = f"each thread begins this loop at its own number, but advances by 1 (`{loop.step}`)"
    remedy = "so the threads repeat each other's work: advance by the number of threads that share it"
    return Cause(f"{source.file}:{loop.line}", text, (remedy,), is_certain=True)


def _is_of_all_work(source: Source, loop: Loop) -> bool:
    """Whether a loop begins with the number of a thread, and ends where those of all threads end."""
    begins = loop.start.partition("=")[2].strip()
    for _ in range(MOST_NAMES):
        if begins.isidentifier() and (made := source.definition(begins, loop.line - 1)):
            begins = made.partition("=")[2].rstrip("; ").strip()
    begins = re.sub(r"\b(?:std::)?u?int(?:32|64)_t\b|\bint\b|[()\s]", "", begins)
    if begins not in _NUMBERS or re.search(r"\b(?:break|return)\b", loop.body):
        return False
    limit = re.sub(_NAME, "", loop.condition, count=1)
    comes = [source.definition(name, loop.line - 1) for name in re.findall(rf"(?<![\w.]){_NAME}", limit)]
    names = [name for text in comes for name in re.findall(_NAME, text.partition("=")[2])]
    comes += [source.definition(name, loop.line - 1) for name in names]
    return "threadIdx" not in " ".join((limit, *comes))


def _is_by_one(loop: Loop) -> bool:
    """Whether a loop counts every number."""
    return bool(re.search(r"^\s*(?:\+\+\s*\w+|\w+\s*\+\+|\w+\s*\+=\s*1)\s*$", loop.step))


def _of_shape(source: Source) -> Cause | None:
    """A launch whose two numbers seem to be exchanged, judged by their names."""
    for number, line in enumerate(source.lines, 1):
        if _EXCHANGED.search(line):
            text = "are the numbers of blocks and threads exchanged here?"
            details = ("<<<blocks, threads>>> takes the threads second", "the kernel did not end with this shape")
            return Cause(f"{source.file}:{number}", text, details)
    return None


def _why(loop: Loop, source: Source) -> str:
    """Why a loop cannot end; "" if nothing shows that."""
    stepped = _with_step(loop, source)
    if loop.condition.strip() in ("true", "1") and not re.search(r"\b(?:break|return|goto)\b", loop.body):
        return f"its condition is `{loop.condition.strip()}`, and it has neither `break` nor `return`"
    return _unchanged(loop) or _kept(stepped) or _left_out(loop) or _wrong_way(stepped)


def _kept(loop: Loop) -> str:
    """A step that leaves the variable of the condition as it is."""
    names = [name for name in re.findall(rf"(?<![\w.>]){_NAME}\b", loop.condition) if name not in _TYPES]
    others = any(re.search(_CHANGED.format(name), loop.body) for name in names)
    if others or re.search(r"\b(?:break|return|goto)\b", loop.body):
        return ""
    kept = next((name for name in names if loop.step and re.search(_KEPT.format(name), loop.step)), "")
    return f"`{loop.step}` does not change {kept}" if kept else ""


def _left_out(loop: Loop) -> str:
    """A `continue` of a `while` before the only statement that changes the variable of its condition."""
    compared = None if loop.step else _COMPARED.match(loop.condition)
    changes = list(re.finditer(_CHANGED.format(compared[1]) + "[^;{}]*", loop.body)) if compared else []
    left = re.search(r"\bcontinue\s*;", loop.body)
    is_inner = re.search(r"\b(?:for|while)\s*\(", loop.body)  # whose `continue` it may be
    if len(changes) != 1 or is_inner or not left or left.start() > changes[0].start():
        return ""
    return f"if its `continue` runs, `{changes[0][0].strip()}` is left out"


def _with_step(loop: Loop, source: Source) -> Loop:
    """A `while` as a `for`: its step is the only statement that changes the variable of its condition, and it begins
    with the value that this variable has been given above."""
    compared = None if loop.step else _COMPARED.match(loop.condition)
    if not compared:
        return loop
    changes = re.findall(rf"(?<![^;{{}}\n])\s*({_CHANGED.format(compared[1])}[^;{{}}]*);", loop.body)
    if len(changes) != 1 or len(re.findall(_CHANGED.format(compared[1]), loop.body)) != 1:
        return loop
    first = source.changed(compared[1], loop.line)
    is_plain = first and source.assigned(compared[1], loop.line) == first
    start = re.sub(r"=.*\bunsigned\b.*", "=", source.lines[first - 1]).rstrip("; ") if is_plain else ""
    return replace(loop, start=start, step=changes[0], body=loop.body.replace(changes[0], "", 1))


def _unchanged(loop: Loop) -> str:
    condition = loop.condition
    names = [name for name in re.findall(rf"(?<![\w.>]){_NAME}\b", condition) if name not in _TYPES]
    is_plain = names and not re.search(r"[\[(*]|->|\+\+|--", condition)
    if not is_plain or re.search(r"\b(?:break|return|goto)\b", loop.body):
        return ""
    all_changes = f"{loop.step};{loop.body}"
    if any(re.search(_CHANGED.format(name), all_changes) for name in names):
        return ""
    if changed := re.search(rf"({_NAME})\s*(?:\+\+|--|[-+*/]?=|<<=|>>=)|(?:\+\+|--)\s*({_NAME})", loop.step):
        return f"it changes {changed[1] or changed[2]}, but its condition is `{condition}`"
    return f"nothing in it changes {' or '.join(dict.fromkeys(names))}, and its condition is `{condition}`"


def _wrong_way(loop: Loop) -> str:
    compared = _COMPARED.match(loop.condition)
    if not compared or "&&" in loop.condition:
        return ""
    name, how, limit = compared.groups()
    if re.search(_CHANGED.format(name), loop.body):
        return ""
    if how == ">=" and limit == "0":
        if re.search(_HALVED.format(name), loop.step):
            return f"`{loop.step}` leaves {name} at 0, and `{loop.condition}` is true then"
        if re.search(r"\b(?:unsigned|size_t|uint\d+_t)\b", loop.start):
            return f"{name} is unsigned, so `{loop.condition}` is always true"
    wrong = _FALLS if how in ("<", "<=") else _GROWS
    if re.search(wrong.format(name), loop.step):
        return f"`{loop.step}` moves {name} away from the limit, and the condition is `{loop.condition}`"
    begins = re.search(rf"\b{name}\s*=\s*(.*)$", loop.start)
    if begins and re.search(_DOUBLED.format(name), loop.step):
        if begins[1].strip() == "0":
            return f"{name} begins with 0, and `{loop.step}` leaves it at 0"
        if begins[1].strip() == "threadIdx.x":
            return f"in thread 0, {name} begins with 0, and `{loop.step}` leaves it at 0"
    return ""

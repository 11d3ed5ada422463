"""Shifts in device code: a GPU shifts out all bits where the distance is too large or negative, other processors shift
by another distance. The distance of each shift is enclosed in a call (common/simt/include/simt/shifts.h)."""

from __future__ import annotations

import re

from .conversions import operand_end
from .functions import BOTH, DEVICE
from .source import MACRO_HEAD, Macro, Source
from .tokens import CLOSE, OPEN, Token, closing, is_mark, is_name, run_length

CALL = "simt::distance("
_SMALL = re.compile(r"[12]?\d[uU]?|3[01][uU]?")  # no type's width
# What template arguments may consist of, besides names and numbers.
_IN_ARGUMENTS = ("::", ",", "*", "<", ">", "...")


def clamp_shifts(source: Source, places: list[str]) -> None:
    """Encloses distances in functions for the device, and in macros those that are a macro's parameter."""
    tokens = source.code
    for i in range(1, len(tokens) - 1):
        if places[i] in (DEVICE, BOTH):
            _clamp(source, tokens, i, None)
    for macro in source.macros:
        parameters = _parameters(source, macro)
        if parameters and not any(token.kind in ("string", "raw") for token in macro.tokens):
            for i in range(1, len(macro.tokens) - 1):
                _clamp(source, macro.tokens, i, parameters)


def _clamp(source: Source, tokens: list[Token], index: int, names: set[str] | None) -> None:
    """Encloses the distance of the shift at `index`, if there is one, and it has one of the names."""
    if not _is_shift(tokens, index):
        return
    begin = index + 2
    is_assignment = begin < len(tokens) and is_mark(tokens[begin], "=")
    begin += is_assignment
    end = _assigned_end(tokens, begin) if is_assignment else _distance_end(tokens, begin)
    if end is None or end <= begin:
        return
    distance = tokens[begin:end]
    is_small = len(distance) == 1 and distance[0].kind == "number" and _SMALL.fullmatch(distance[0].text)
    is_literal = distance[0].kind in ("string", "raw", "char")
    if is_small or is_literal or (names is not None and not names & {token.text for token in distance}):
        return
    source.insert(distance[0].start, CALL)
    source.insert(distance[-1].end, ")")


def _is_shift(tokens: list[Token], index: int) -> bool:
    mark = tokens[index].text
    if mark not in ("<", ">") or tokens[index].kind != "mark" or run_length(tokens, index, mark) != 2:
        return False
    before = tokens[index - 1]
    is_operand = is_name(before) or before.kind in ("number", "char") or before.text in (")", "]")
    if not is_operand or before.text == "operator" or tokens[index - 1].text == mark:
        return False
    return mark == "<" or not _ends_arguments(tokens, index)


def _ends_arguments(tokens: list[Token], index: int) -> bool:
    """Whether the two `>` at `index` end template arguments within template arguments."""
    depth = 2
    i = index - 1
    while i > 0:
        token = tokens[i]
        if is_mark(token, ")") or is_mark(token, "]"):
            i = _opened_by(tokens, i)
        elif token.kind not in ("word", "number", "char") and token.text not in _IN_ARGUMENTS:
            return False
        elif is_mark(token, "<"):
            if not is_name(tokens[i - 1]):
                return False
            depth -= 1
            if depth == 0:
                return True
        elif is_mark(token, ">"):
            depth += 1
        i -= 1
    return False


def _opened_by(tokens: list[Token], index: int) -> int:
    depth = 0
    for i in range(index, -1, -1):
        if tokens[i].kind == "mark":
            depth += (tokens[i].text in CLOSE) - (tokens[i].text in OPEN)
        if depth == 0:
            return i
    return 0


def _distance_end(tokens: list[Token], begin: int) -> int | None:
    """Where the sum ends that begins at `begin`: the operators that bind more closely than a shift."""
    end = operand_end(tokens, begin)
    while end is not None and end + 1 < len(tokens):
        is_operator = tokens[end].kind == "mark" and tokens[end].text in ("+", "-", "*", "/", "%")
        if not is_operator or is_mark(tokens[end + 1], "="):
            break
        end = operand_end(tokens, end + 1)
    return end


def _assigned_end(tokens: list[Token], begin: int) -> int | None:
    i = begin
    while i < len(tokens) and not (tokens[i].kind == "mark" and tokens[i].text in (",", ";", ")", "]", "}", "{")):
        past = closing(tokens, i) if tokens[i].kind == "mark" and tokens[i].text in OPEN else i
        if past is None:
            return None
        i = past + 1
    return i


def _parameters(source: Source, macro: Macro) -> set[str]:
    """The names of a macro's parameters."""
    head = MACRO_HEAD.match(source.text, macro.start)
    return set(re.findall(r"\w+", head[0].partition("(")[2])) if head else set()

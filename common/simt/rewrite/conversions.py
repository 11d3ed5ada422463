"""Casts of numbers to integers in device code: a GPU gives the nearest integer that the type has, other processors do
not. The operand of each cast is enclosed in a call, which does the same (common/simt/include/simt/saturation.h)."""

from __future__ import annotations

from .functions import BOTH, DEVICE, closing_angle
from .source import Source
from .tokens import Token, closing, is_mark, is_name, opening

INTEGERS = frozenset(
    "int unsigned signed long size_t uint ptrdiff_t int32_t uint32_t int64_t uint64_t std const".split()  # noqa: SIM905
)
NUMBERS = INTEGERS | {"float", "double", "char", "short", "bool", "auto", "half", "uint8_t", "uint16_t"}
PREFIXES = ("-", "+", "~", "!", "*", "&")
NOT_OPERANDS = ("sizeof", "alignof", "new", "delete", "throw", "operator", "decltype")
BEFORE_FUNCTIONAL = ("=", "(", ",", "+", "-", "*", "/", "%", "[", "?", ":", "<", ">", "&", "|", "^", "!", "~")
CALL = "simt::saturating("


def saturate_casts(source: Source, places: list[str]) -> None:
    """Encloses the operands of (int)x, int(x), static_cast<int>(x) and the like, in functions for the device."""
    tokens = source.code
    for i, token in enumerate(tokens):
        if places[i] not in (DEVICE, BOTH):
            continue
        found = None
        if is_mark(token, "("):
            found = _after_cast(tokens, i)
        elif token.text == "static_cast" and i + 1 < len(tokens) and is_mark(tokens[i + 1], "<"):
            end = closing_angle(tokens, i + 1, len(tokens))
            if _is_type(tokens, i + 2, end, INTEGERS):
                found = _in_parentheses(tokens, end + 1)
        elif token.text in INTEGERS and i > 0 and is_functional(tokens, i):
            found = _in_parentheses(tokens, i + 1)
        if found is not None and found[0] < found[1]:
            source.insert(tokens[found[0]].start, CALL)
            source.insert(tokens[found[1] - 1].end, ")")


def is_functional(tokens: list[Token], index: int) -> bool:
    """Whether the type's name at `index` begins an expression such as int(x), and no declaration."""
    is_qualified = index > 2 and is_mark(tokens[index - 1], "::") and tokens[index - 2].text == "std"
    before = tokens[index - 3 if is_qualified else index - 1]
    return before.text == "return" or (before.kind == "mark" and before.text in BEFORE_FUNCTIONAL)


def _is_type(tokens: list[Token], begin: int, end: int, words: frozenset[str] | set[str]) -> bool:
    inside = tokens[begin:end]
    return any(token.kind == "word" for token in inside) and all(t.text in words or t.text == "::" for t in inside)


def _in_parentheses(tokens: list[Token], index: int) -> tuple[int, int] | None:
    """What is in the parentheses that begin at `index`, if that is one expression."""
    if index >= len(tokens) or not is_mark(tokens[index], "("):
        return None
    end = closing(tokens, index)
    if end is None or end == index + 1 or _is_type(tokens, index + 1, end, NUMBERS):
        return None
    i = index + 1
    if tokens[i].text in ("*", "&"):  # int (*pointer)
        return None
    while i < end:
        if is_mark(tokens[i], ",") or is_mark(tokens[i], "{"):
            return None
        i = (closing(tokens, i) or end) + 1 if tokens[i].text in ("(", "[") else i + 1
    return index + 1, end


def _after_cast(tokens: list[Token], index: int) -> tuple[int, int] | None:
    """The operand of the cast that begins at `index`."""
    end = closing(tokens, index)
    if end is None or not _is_type(tokens, index + 1, end, INTEGERS):
        return None
    before = tokens[index - 1] if index > 0 else None
    if before is not None and (is_name(before) or before.text in ("]", ">", *NOT_OPERANDS)):
        return None  # a call, sizeof(int), or a function's parameters
    if before is not None and is_mark(before, ")"):  # it may be another cast
        begin = opening(tokens, index - 1)
        if begin is None or not _is_type(tokens, begin + 1, index - 1, NUMBERS) or tokens[begin - 1].kind == "word":
            return None
    past = operand_end(tokens, end + 1)
    return None if past is None else (end + 1, past)


def operand_end(tokens: list[Token], i: int) -> int | None:
    """Where the operand of a cast ends that begins at `i`; None if it is not understood."""
    while i < len(tokens) and tokens[i].kind == "mark" and tokens[i].text in PREFIXES:
        i += 1
    if i >= len(tokens) or tokens[i].text in NOT_OPERANDS:
        return None
    if is_mark(tokens[i], "("):
        end = closing(tokens, i)
        if end is None or end + 1 >= len(tokens):
            return None
        after = tokens[end + 1]
        is_type = _is_type(tokens, i + 1, end, NUMBERS)
        if is_type or after.kind in ("word", "number"):
            return operand_end(tokens, end + 1)
        return _postfix_end(tokens, end + 1)
    if tokens[i].kind in ("number", "char"):
        return i + 1
    if is_mark(tokens[i], "::"):
        i += 1
    if not is_name(tokens[i]):
        return None
    return _postfix_end(tokens, _name_end(tokens, i))


def _name_end(tokens: list[Token], i: int) -> int:
    """Where a name that may have qualifiers and template arguments ends."""
    i += 1
    while i + 1 < len(tokens):
        if is_mark(tokens[i], "::") and is_name(tokens[i + 1]):
            i += 2
        elif is_mark(tokens[i], "<"):
            end = closing_angle(tokens, i, len(tokens))
            simple = all(t.kind in ("word", "number") or t.text in ("::", ",", "*", "<", ">") for t in tokens[i:end])
            if end == i or not simple or end + 1 >= len(tokens) or tokens[end + 1].text not in ("(", "::", "{"):
                break
            i = end + 1
        else:
            break
    return i


def _postfix_end(tokens: list[Token], i: int) -> int | None:
    """Where the calls, subscripts and members behind an operand end."""
    while i < len(tokens):
        if tokens[i].kind == "mark" and tokens[i].text in ("(", "[", "{"):
            end = closing(tokens, i)
            if end is None:
                return None
            i = end + 1
        elif tokens[i].kind == "mark" and tokens[i].text in (".", "->"):
            i = _name_end(tokens, i + 1)
        elif _is_step(tokens, i):
            return i + 2
        else:
            return i
    return None


def _is_step(tokens: list[Token], i: int) -> bool:
    """Whether ++ or -- follows, and no operand behind it."""
    if i + 2 >= len(tokens) or tokens[i].text not in ("+", "-") or tokens[i + 1].text != tokens[i].text:
        return False
    behind = tokens[i + 2]
    return tokens[i].end == tokens[i + 1].start and behind.kind == "mark" and behind.text != "("

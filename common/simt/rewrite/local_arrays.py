"""Arrays that each thread has for itself. The check build watches them: `__shared__` may have been forgotten."""

from __future__ import annotations

from .functions import BOTH, CLASS_KEYS, DEVICE, Places, closing_angle
from .source import Source
from .tokens import Token, closing, is_mark, is_name, opening

# A statement that begins with one of these declares no array without values of the thread's own.
_WORDS = (
    "static extern constexpr const constinit thread_local __shared__ __constant__ using typedef auto break continue "
    "delete new friend namespace public private protected template operator default asm"
)
_HEADS = ("for", "if", "switch", "while")
EXCLUDED = frozenset((*_WORDS.split(), *CLASS_KEYS))


def watch_arrays(source: Source, places: Places) -> None:
    """`T a[N];` becomes `T a[N]; simt::LocalArray simt_local_a(a, "a");` in functions for the device."""
    for begin, kind in places.bodies:
        if kind in (DEVICE, BOTH):
            _watch_in_function(source, begin)


def _watch_in_function(source: Source, begin: int) -> None:
    tokens = source.code
    end = closing(tokens, begin) or begin
    if "goto" in (token.text for token in tokens[begin:end]) or "constexpr" in _head(tokens, begin):
        return
    i = begin + 1
    while i < end:
        if is_mark(tokens[i], "{") and _has_no_statements(tokens, i):
            i = closing(tokens, i) or i
        elif tokens[i].text in _HEADS and is_mark(tokens[i + 1], "("):
            i = closing(tokens, i + 1) or i  # the condition `i < length[v];` looks like the declaration of an array
        elif tokens[i - 1].kind == "mark" and tokens[i - 1].text in ";{}":
            names, past = _declared(tokens, i)
            for name in names:
                guard = f' [[maybe_unused]] simt::LocalArray simt_local_{name}({name}, "{name}");'
                source.insert(tokens[past].end, guard)
        i += 1


def _head(tokens: list[Token], brace: int) -> list[str]:
    """The words of the declaration or statement whose body begins at `brace`, outside parentheses."""
    words = []
    i = brace - 1
    while i >= 0 and not (tokens[i].kind == "mark" and tokens[i].text in ";{}"):
        if is_mark(tokens[i], ")"):
            i = opening(tokens, i) or 0
        words.append(tokens[i].text)
        i -= 1
    return words


def _has_no_statements(tokens: list[Token], brace: int) -> bool:
    """Whether the brace begins a class, whose members are no variables, or a switch, whose labels a jump may reach."""
    head = _head(tokens, brace)
    return "switch" in head or ("(" not in head and any(key in head for key in CLASS_KEYS))


def _declared(tokens: list[Token], first: int) -> tuple[list[str], int]:
    """The arrays that the statement at `first` declares, if it declares nothing else, and where it ends."""
    names: list[str] = []
    i = first
    while i < len(tokens) and (is_name(tokens[i]) or tokens[i].text in ("::", "<", ",", "*")):
        if tokens[i].text in EXCLUDED:
            return [], first
        i = closing_angle(tokens, i, len(tokens)) + 1
        if not is_mark(tokens[i], "["):
            continue
        if not is_name(tokens[i - 1]) or i - 1 == first or tokens[i - 2].text in ("::", "->", "."):
            return [], first
        names.append(tokens[i - 1].text)
        while is_mark(tokens[i], "["):
            i = (closing(tokens, i) or len(tokens) - 2) + 1
        if is_mark(tokens[i], ";"):
            return names, i
        if not is_mark(tokens[i], ","):
            return [], first
    return [], first

"""Variables of __constant__ memory: the check build has to know them, because kernels may only read them."""

from __future__ import annotations

from .device_arrays import NUMBERS, WITH_ARGUMENTS
from .functions import CLASS_KEYS, NAMESPACE
from .source import Source
from .tokens import OPEN, Token, closing, is_mark

# What such a declaration declares is defined in another place, or is no variable.
ELSEWHERE = frozenset(("extern", "template", "typedef", "using", "friend", "operator"))
NOT_NAMES = NUMBERS | {"", *CLASS_KEYS, "const", "volatile", "static", "inline", "constexpr", "constinit", "__device__"}
BEFORE_ARGUMENTS = WITH_ARGUMENTS | {"decltype"}


def register_constants(source: Source, places: list[str]) -> None:
    """Puts SIMT_CONSTANT(name) behind the declaration of each such variable at namespace scope."""
    tokens = source.code
    done = -1
    for i, token in enumerate(tokens):
        if token.text != "__constant__" or i < done or places[i] != NAMESPACE or _is_elsewhere(tokens, i):
            continue
        found = _names(tokens, i + 1)
        if found is None:
            continue
        done, names = found
        source.insert(tokens[done].end, "".join(f" SIMT_CONSTANT({name})" for name in names))


def _is_elsewhere(tokens: list[Token], index: int) -> bool:
    """Whether the words before `__constant__` say so."""
    i = index - 1
    while i >= 0 and not (tokens[i].kind == "mark" and tokens[i].text in ";{}"):
        if tokens[i].text in ELSEWHERE:
            return True
        i -= 1
    return False


def _names(tokens: list[Token], first: int) -> tuple[int, list[str]] | None:
    """The index of the `;` that ends the declaration, and the names that it declares, as far as these are clear."""
    names: list[str] = []
    name = ""  # the last word of the declarator, which is part of the type if another one follows
    angles = 0
    in_value = has_angle = False
    i: int | None = first
    while i is not None and i < len(tokens):
        token = tokens[i]
        if token.text in ELSEWHERE and not in_value:
            return None
        if token.kind == "mark" and token.text in OPEN:
            if is_mark(token, "(") and not in_value and tokens[i - 1].text not in BEFORE_ARGUMENTS:
                return None  # a pointer to a function, a macro, or a value in parentheses
            i = closing(tokens, i)
            if is_mark(token, "{") and i is not None and i + 1 < len(tokens) and tokens[i + 1].kind == "word":
                name = ""  # of a class that is defined here
        elif is_mark(token, ";") or is_mark(token, "=") or (is_mark(token, ",") and angles == 0):
            names += [name] if name not in NOT_NAMES else []
            if is_mark(token, ";"):
                return i, names
            name, in_value = "", is_mark(token, "=") or has_angle
        elif in_value:
            has_angle = has_angle or is_mark(token, "<")  # a comma that follows may be between template arguments
        elif token.kind == "word" and token.text not in BEFORE_ARGUMENTS:
            name = "" if is_mark(tokens[i - 1], "::") else token.text  # members are declared in their class
        elif token.kind == "mark":
            angles += (token.text == "<") - (token.text == ">")
        i = None if i is None else i + 1
    return None

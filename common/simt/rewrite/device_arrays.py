"""Arrays of __device__ and __constant__ memory: gaps around them catch an index beyond their ends."""

from __future__ import annotations

from .functions import NAMESPACE
from .source import Source
from .tokens import Token, closing, is_mark

MEMORY = ("__device__", "__constant__")
BEFORE = frozenset((*MEMORY, "static", "volatile"))
WITH_ARGUMENTS = frozenset(("__align__", "__attribute__", "alignas"))
# A declaration with one of these keeps its place: a type's own members, another file's array, or a constant.
EXCLUDED = frozenset(
    ("extern", "inline", "template", "typedef", "using", "operator", "const", "constexpr", "constinit", "auto")
)
NUMBERS = frozenset("unsigned signed char short int long float double bool size_t".split())  # noqa: SIM905


def separate_arrays(source: Source, places: list[str]) -> None:
    """Puts gaps before and after each array at namespace scope, in a separate section."""
    tokens = source.code
    done = -1
    for i, token in enumerate(tokens):
        if token.text not in MEMORY or i < done or places[i] != NAMESPACE:
            continue
        first = i
        while first > 0 and tokens[first - 1].text in BEFORE:
            first -= 1
        if first > 0 and tokens[first - 1].text not in (";", "}", "{"):
            continue
        found = _array(tokens, first)
        if found is None:
            continue
        done, is_filled = found
        kind = "FILLED" if is_filled else "ZEROED"
        source.insert(tokens[first].start, f"SIMT_{kind}_GAP SIMT_{kind}_ARRAY ")
        source.insert(tokens[done].end, f" SIMT_{kind}_GAP")


def _array(tokens: list[Token], first: int) -> tuple[int, bool] | None:
    """The index of the `;` that ends the array's declaration at `first`; whether it may begin with other than zeros."""
    is_array, is_filled, words, names = False, False, set(), 0
    i: int | None = first
    while i is not None and i < len(tokens):
        token = tokens[i]
        if token.kind == "word":
            if token.text in EXCLUDED:
                return None
            words.add(token.text)
            names += token.text not in BEFORE and token.text not in WITH_ARGUMENTS
        if token.text in WITH_ARGUMENTS and i + 1 < len(tokens) and is_mark(tokens[i + 1], "("):
            i = closing(tokens, i + 1)
        elif is_mark(token, "["):
            if names < 2 and not is_array:
                return None  # it has no type, so it belongs to a declaration that began before
            is_array = True
            i = closing(tokens, i)
        elif is_mark(token, ";"):
            return (i, is_filled or not words & NUMBERS) if is_array else None
        elif is_mark(token, "=") or (is_mark(token, "{") and is_array):
            is_filled = True
            i = closing(tokens, i) if is_mark(token, "{") else i
        elif is_mark(token, "{") and is_filled:
            i = closing(tokens, i)
        elif token.kind == "mark" and token.text in "({})" and not is_filled:
            return None
        i = None if i is None else i + 1
    return None

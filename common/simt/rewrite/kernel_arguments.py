"""Kernels as arguments: cudaLaunchCooperativeKernel((void*)kernel, ...) gets the kernel itself, and its name."""

from __future__ import annotations

from .source import Source
from .tokens import Token, closing, is_mark, opening_angle, quoted, spelling

LAUNCHES = ("cudaLaunchCooperativeKernel",)
CASTS = ("reinterpret_cast", "static_cast")


def name_kernel_arguments(source: Source, tokens: list[Token]) -> None:
    """Rewrites the first argument of each such launch. A void* would not say which arguments the kernel has."""
    for i, token in enumerate(tokens):
        if token.text not in LAUNCHES or i + 2 >= len(tokens) or tokens[i + 1].text != "(":
            continue
        end = _argument_end(tokens, i + 2)
        first, last = _without_cast(tokens, i + 2, end)
        if first >= last:
            continue
        name = spelling(tokens[first:last]).lstrip("&")
        source.replace(tokens[i + 2].start, tokens[first].start, f"::simt::named_kernel({quoted(name)}, ")
        source.replace(tokens[last - 1].end, tokens[end - 1].end, ")")


def _argument_end(tokens: list[Token], first: int) -> int:
    """The index of the comma or bracket that ends the argument which begins at `first`."""
    i = first
    while i < len(tokens) and tokens[i].text not in (",", ")"):
        if tokens[i].text in ("(", "{", "["):
            i = closing(tokens, i) or len(tokens) - 1
        elif is_mark(tokens[i], "<"):
            i = _after_angles(tokens, i) - 1
        i += 1
    return i


def _after_angles(tokens: list[Token], index: int) -> int:
    """The index after the `>` that closes the `<` at `index`."""
    for i in range(index + 1, len(tokens)):
        if is_mark(tokens[i], ">") and opening_angle(tokens, i) == index:
            return i + 1
    return index + 1


def _without_cast(tokens: list[Token], first: int, last: int) -> tuple[int, int]:
    """The part of these tokens that is cast to a pointer to void; all of them if nothing is."""
    if tokens[first].text == "(":
        end = closing(tokens, first)
        if end is not None and end + 1 < last and _is_void_pointer(tokens[first + 1 : end]):
            return _without_cast(tokens, end + 1, last)
        if end == last - 1:
            return _without_cast(tokens, first + 1, last - 1)
    if tokens[first].text in CASTS and tokens[last - 1].text == ")":
        end = _after_angles(tokens, first + 1)
        if _is_void_pointer(tokens[first + 2 : end - 1]) and tokens[end].text == "(":
            return _without_cast(tokens, end + 1, last - 1)
    return first, last


def _is_void_pointer(tokens: list[Token]) -> bool:
    return [token.text for token in tokens if token.text != "const"] == ["void", "*"]

"""Kernels as arguments: cudaLaunchKernel((void*)kernel, ...) and its relatives get the kernel itself, and its name.

What a pointer to void points to is remembered where the name is cast, as in `params.func = (void*)kernel`.
"""

from __future__ import annotations

from .kernel_calls import declared_kernels
from .source import Source
from .tokens import Token, closing, is_mark, is_name, opening_angle, quoted, spelling

# Which of its arguments is the kernel.
LAUNCHES = {
    "cudaLaunchKernel": 0,
    "cudaLaunchCooperativeKernel": 0,
    "cudaLaunchKernelExC": 1,
    "cudaLaunchKernelEx": 1,
}
CASTS = ("reinterpret_cast", "static_cast")
ENDS = (")", ",", ";", "}")  # what follows an operand of a cast that is nothing more than a name


def kernel_names(sources: list[Source]) -> set[str]:
    """The names of all kernels."""
    return {source.code[i].text for source in sources for i in declared_kernels(source.code)}


def name_kernel_arguments(source: Source, tokens: list[Token], kernels: set[str]) -> None:
    """Rewrites the kernel in each such launch, and each cast of one of `kernels`. A void* would not say which arguments
    the kernel has."""
    named = -1  # the index before which casts are rewritten already
    for i, token in enumerate(tokens):
        if token.text in LAUNCHES and i + 2 < len(tokens) and tokens[i + 1].text == "(":
            named = _name_argument(source, tokens, i + 2, LAUNCHES[token.text])
        elif i > named:
            _remember(source, tokens, i, kernels)


def _name_argument(source: Source, tokens: list[Token], begin: int, position: int) -> int:
    """Rewrites the argument at this position (from 0) of those that begin at `begin`; returns the index of its end."""
    for _ in range(position):
        begin = _argument_end(tokens, begin) + 1
    if begin >= len(tokens):
        return -1
    end = _argument_end(tokens, begin)
    first, last = _without_cast(tokens, begin, end)
    if first >= last:
        return -1
    source.replace(tokens[begin].start, tokens[first].start, f"::simt::named_kernel({_literal(tokens[first:last])}, ")
    source.replace(tokens[last - 1].end, tokens[end - 1].end, ")")
    return end


def _remember(source: Source, tokens: list[Token], index: int, kernels: set[str]) -> None:
    """Rewrites the cast of one of `kernels` to a pointer to void that begins at `index`, if there is one."""
    first, last = _cast_at(tokens, index)
    begin = first + (first < last and is_mark(tokens[first], "&"))
    end = begin
    while end < last and (is_name(tokens[end]) or tokens[end].text in (":", "::")):
        end += 1
    if end == begin or tokens[end - 1].text not in kernels or _asks_about_kernel(tokens, index):
        return
    if end < len(tokens) and is_mark(tokens[end], "<"):
        end = _after_angles(tokens, end)
    if end == len(tokens) or tokens[end].text not in ENDS:
        return
    source.replace(tokens[index].start, tokens[first].start, f"::simt::kernel_pointer({_literal(tokens[begin:end])}, ")
    if tokens[index].text not in CASTS:
        source.insert(tokens[end - 1].end, ")")


def _literal(name: list[Token]) -> str:
    return quoted(spelling(name).lstrip("&"))


def _asks_about_kernel(tokens: list[Token], index: int) -> bool:
    """Is this an argument of a function such as cudaFuncSetAttribute? That needs the address only."""
    depth = 0
    for i in range(index - 1, 0, -1):
        depth += (tokens[i].text == ")") - (tokens[i].text == "(")
        if tokens[i].text in (";", "{", "}"):
            break
        if depth < 0:
            return tokens[i - 1].text.startswith(("cudaFunc", "cudaOccupancy"))
    return False


def _cast_at(tokens: list[Token], index: int) -> tuple[int, int]:
    """Where the operand of the cast to a pointer to void that begins at `index` begins, and before which index it ends;
    two equal numbers if there is none."""
    if is_mark(tokens[index], "("):
        end = closing(tokens, index)
        is_cast = end is not None and _is_void_pointer(tokens[index + 1 : end])
        return (end + 1, len(tokens)) if end is not None and is_cast else (0, 0)
    if tokens[index].text == "reinterpret_cast" and index + 1 < len(tokens) and tokens[index + 1].text == "<":
        end = _after_angles(tokens, index + 1)
        if end < len(tokens) and _is_void_pointer(tokens[index + 2 : end - 1]) and tokens[end].text == "(":
            return end + 1, closing(tokens, end) or end + 1
    return 0, 0


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

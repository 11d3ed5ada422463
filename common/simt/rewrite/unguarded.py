"""Indices that no test keeps within an array's bounds, though the launch rounds its number of blocks up.

Such a program is right as long as n is a multiple of the block. A single run with such an n shows nothing, and a kernel
that is launched with exactly as many threads as elements needs no test. The two differ in the host code: a host that
rounds up expects threads for which there is no element.

Of 2,895 files of public CUDA programs and of the tests, it notes 10 kernels. Nine of them lack the test; in the tenth,
the host makes the size a multiple of the block before it rounds up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .kernel_calls import declared_kernels
from .references import split_at_commas
from .source import Source
from .tokens import Token, closing, is_mark, name_start, opening_angle, repetitions

_ROUNDING_CALL = re.compile(r"(?i)^(ceil\w*|i?div_?(round_?)?up|c(eil)?_?div|div_?ceil|round_?up\w*)$")
_THREAD, _BLOCK = "threadIdx", "blockIdx"
# What may keep an index within bounds, if it stands in the same expression.
_LIMITS = frozenset("< > <= >= == != % & && || ? min max fminf fmaxf clamp assert".split())  # noqa: SIM905
_ASSIGNS = frozenset("= +=".split())  # noqa: SIM905


class Unguarded(NamedTuple):
    """A kernel whose index is not tested."""

    source: Source
    offset: int  # of the access
    kernel: str
    array: str
    launch: int  # the line of the launch, in `launched_in`
    launched_in: Source

    def __str__(self) -> str:
        place = f"{self.source.shown}:{self.source.line(self.offset)}"
        return (
            f"{place}: note: unguarded-index: nothing in kernel {self.kernel} compares the index of {self.array} with "
            f"a size, but its launch rounds the number of blocks up ({self.launched_in.shown}:{self.launch}): if the "
            "size is not a multiple of the block, the last threads leave the array; put the access into an if"
        )


def unguarded_indices(sources: list[Source]) -> list[Unguarded]:
    """The first access of each kernel whose index nothing limits, and whose launches all round up."""
    rounding: dict[str, tuple[Source, int] | None] = {}  # by kernel: a launch; None if one does not round up
    for source in sources:
        for kernel, offset, rounds in _launches(source):
            known = rounding.get(kernel, (source, offset))
            rounding[kernel] = known if rounds else None
    found = []
    overloaded = _overloaded(sources)
    for source in sources:
        for index in declared_kernels(source.code):
            name = source.code[index].text
            launch = None if name in overloaded else rounding.get(name)
            access = _access_without_limit(source.code, index) if launch else None
            if access and launch:
                in_source, offset = launch
                found.append(Unguarded(source, access.start, name, access.text, in_source.line(offset), in_source))
    return sorted(found, key=lambda item: (item.source.shown, item.offset))


def _overloaded(sources: list[Source]) -> set[str]:
    """Names of several kernels: a launch may mean any of them."""
    defined = [name for source in sources for name in _defined_kernels(source.code)]
    return {name for name in defined if defined.count(name) > 1}


def _defined_kernels(tokens: list[Token]) -> Iterator[str]:
    for index in declared_kernels(tokens):
        end = _end_of_parameters(tokens, index)
        if end is not None and end + 1 < len(tokens) and is_mark(tokens[end + 1], "{"):
            yield tokens[index].text


def _end_of_parameters(tokens: list[Token], name: int) -> int | None:
    opened = next((i for i in range(name, len(tokens)) if is_mark(tokens[i], "(")), None)
    return closing(tokens, opened) if opened is not None else None


# --- launches ---


def _launches(source: Source) -> Iterator[tuple[str, int, bool]]:
    """The kernel of each launch, where it is, and whether the number of blocks is rounded up in any dimension."""
    tokens = source.code
    for i in range(1, len(tokens)):
        if repetitions(tokens, i, "<") != 3 or tokens[i - 1].text == "<":
            continue
        first = name_start(tokens, i)
        end = next((k for k in range(i + 3, len(tokens)) if repetitions(tokens, k, ">") >= 3), None)
        if first is None or end is None:
            continue
        last = i - 1 if tokens[i - 1].text != ">" else (opening_angle(tokens, i - 1) or 1) - 1
        configuration = split_at_commas(tokens[i + 3 : end])
        grid = configuration[0] if configuration else []
        yield tokens[last].text, tokens[first].start, _rounds_up(grid) or _is_rounded(tokens, i, grid)


def _is_rounded(tokens: list[Token], before: int, grid: list[Token]) -> bool:
    """Whether the variable that is the grid got a value that rounds up, before the launch at `before`."""
    if len(grid) != 1 or grid[0].kind != "word":
        return False
    name = grid[0].text
    for i in range(before - 1, 0, -1):
        if tokens[i].text != name or tokens[i - 1].text in (".", "->", "::"):
            continue
        following = tokens[i + 1].text
        if following in ("(", "{"):
            end = closing(tokens, i + 1) or i
        elif following == "=" and tokens[i + 2].text != "=":
            end = next((k for k in range(i, len(tokens)) if is_mark(tokens[k], ";")), i)
        else:
            continue
        return _rounds_up(tokens[i + 2 : end])
    return False


def _rounds_up(tokens: list[Token]) -> bool:
    """Whether this is `(n + block - 1) / block`, in any of the ways that people write it."""
    texts = [token.text for token in tokens]
    if any(_ROUNDING_CALL.match(text) for text in texts):
        return True
    for i, text in enumerate(texts):
        if text != "/" or i == 0 or texts[i - 1] != ")":
            continue
        depth, begin = 0, i - 1
        while begin >= 0:
            depth += (texts[begin] == ")") - (texts[begin] == "(")
            if depth == 0:
                break
            begin -= 1
        dividend, divisor = texts[begin + 1 : i - 1], texts[i + 1 : i + 2]
        # `- 1` or a literal one less than the divisor.
        less_one = "+" in dividend and any(a == "-" and b == "1" for a, b in zip(dividend, dividend[1:]))
        literal = bool(divisor) and divisor[0].isdigit() and str(int(divisor[0]) - 1) in dividend and "+" in dividend
        if less_one or literal:
            return True
    return False


# --- kernels ---


def _access_without_limit(tokens: list[Token], name: int) -> Token | None:
    """The array of the first access through a pointer parameter by an index of the thread in the grid, if nothing in
    the kernel limits such an index."""
    opened = next((i for i in range(name, len(tokens)) if is_mark(tokens[i], "(")), name)
    end = _end_of_parameters(tokens, name)
    if end is None or end + 1 >= len(tokens) or not is_mark(tokens[end + 1], "{"):
        return None
    last = closing(tokens, end + 1)
    if last is None:
        return None
    parameters = split_at_commas(tokens[opened + 1 : end])
    pointers = {parameter[-1].text for parameter in parameters if any(token.text == "*" for token in parameter)}
    body = tokens[end + 2 : last]
    indices = _indices(body)
    if any(token.text in ("return", "goto", "asm") for token in body) or _has_limit(body, indices):
        return None
    for i, token in enumerate(body):
        if token.text not in pointers or i + 1 >= len(body) or not is_mark(body[i + 1], "["):
            continue
        closed = closing(body, i + 1)
        inside = {t.text for t in body[i + 2 : closed]} if closed else set()
        if inside & indices or {_THREAD, _BLOCK} <= inside:
            return token
    return None


def _indices(body: list[Token]) -> set[str]:
    """The variables that depend on the thread's place in its block and on the block's in the grid."""
    thread, block = {_THREAD}, {_BLOCK}
    for _ in range(3):  # an index of an index of an index
        for i, token in enumerate(body):
            if token.text not in _ASSIGNS or i == 0 or body[i - 1].kind != "word":
                continue
            end = next((k for k in range(i, len(body)) if body[k].text in (";", "{")), len(body))
            words = {t.text for t in body[i + 1 : end]}
            thread |= {body[i - 1].text} if words & thread else set()
            block |= {body[i - 1].text} if words & block else set()
    return thread & block


def _has_limit(body: list[Token], indices: set[str]) -> bool:
    """Whether a statement, or the head of a loop, has both a place of the thread, or an index, and a comparison or
    anything else that may limit it."""
    watched = indices | {_THREAD, _BLOCK}
    begin = 0
    for i in range(len(body) + 1):
        if i < len(body) and body[i].text not in (";", "{", "}"):
            continue
        texts = {token.text for token in body[begin:i]}
        if texts & watched and texts & _LIMITS:
            return True
        begin = i + 1
    return False

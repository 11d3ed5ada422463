"""`return` in device code: the check build names the line at which threads leave before a barrier."""

from __future__ import annotations

from collections.abc import Iterable

from .functions import BOTH, DEVICE, Places
from .kernel_calls import declared_kernels
from .source import Source
from .tokens import closing, is_mark

BARRIER = "__syncthreads"  # and what begins like this, such as __syncthreads_or


def mark_returns(source: Source, places: Places) -> None:
    """`return;` becomes `return simt::returned();` in the kernels of a source, but not in their lambdas. In other
    functions for the device, a call precedes each return before a barrier."""
    tokens = source.code
    kernels = set()
    for name in declared_kernels(tokens):
        i = name
        while i < len(tokens) and tokens[i].text not in (";", "{"):  # attributes may follow the parameters
            i = (closing(tokens, i) or i) + 1 if is_mark(tokens[i], "(") else i + 1
        if i >= len(tokens) or tokens[i].text == ";":
            continue
        kernels.add(i)
        for at in _returns(source, places, i, closing(tokens, i) or i):
            if is_mark(tokens[at + 1], ";"):
                source.insert(tokens[at + 1].start, " simt::returned()")
    for begin, kind in places.bodies:
        if kind in (DEVICE, BOTH) and begin not in kernels:
            _mark_in_function(source, places, begin)


def _mark_in_function(source: Source, places: Places, begin: int) -> None:
    tokens = source.code
    end = closing(tokens, begin) or begin
    barriers = [i for i in range(begin, end) if tokens[i].text.startswith(BARRIER)]
    if not barriers:
        return
    # A statement, like the return itself: it may follow `if (...)` and precede `else`.
    call = f"switch (simt::returned_before({source.line(tokens[barriers[-1]].start)}), 0) default: "
    for at in _returns(source, places, begin, barriers[-1]):
        rest = at
        while not is_mark(tokens[rest], ";"):
            rest += 1
        if not any(at < barrier < rest for barrier in barriers):
            source.insert(tokens[at].start, call)


def _returns(source: Source, places: Places, begin: int, end: int) -> Iterable[int]:
    """The indices of `return` in the body that begins with the brace at `begin`, without those of lambdas."""
    tokens = source.code
    i = begin + 1
    while i < end:
        if is_mark(tokens[i], "{") and places.is_lambda(i):
            i = closing(tokens, i) or i
        elif tokens[i].text == "return":
            yield i
        i += 1

"""`return` in kernels: the check build names the line at which threads leave before a barrier."""

from .functions import Places
from .kernel_calls import declared_kernels
from .source import Source
from .tokens import closing, is_mark


def mark_returns(source: Source, places: Places) -> None:
    """`return;` becomes `return simt::returned();` in the kernels of a source, but not in their lambdas."""
    tokens = source.code
    for name in declared_kernels(tokens):
        i = name
        while i < len(tokens) and tokens[i].text not in (";", "{"):  # attributes may follow the parameters
            i = (closing(tokens, i) or i) + 1 if is_mark(tokens[i], "(") else i + 1
        if i >= len(tokens) or tokens[i].text == ";":
            continue
        end = closing(tokens, i) or i
        while i < end:
            if is_mark(tokens[i], "{") and places.is_lambda(i):
                i = closing(tokens, i) or i
            elif tokens[i].text == "return" and is_mark(tokens[i + 1], ";"):
                source.insert(tokens[i + 1].start, " simt::returned()")
            i += 1

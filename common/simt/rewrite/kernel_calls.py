"""Kernels that are called like functions, without <<<>>>, or with other brackets: an error, as under nvcc."""

from collections.abc import Iterable

from .source import RewriteError, Source
from .tokens import Token, closing, is_name, name_start, opening_angle, repetitions, spelling

# A call that is a statement by itself follows one of these.
BEFORE_STATEMENT = (";", "{", "}", ")", ":", "else", "do", "return")
ATTRIBUTES = ("__launch_bounds__", "__attribute__", "alignas", "__align__")


def refuse_kernel_calls(sources: list[Source]) -> None:
    """Raises an error for the first kernel of `sources` that is called like a function."""
    declared = {source.path: declared_kernels(source.code) for source in sources}
    names = {source.code[i].text for source in sources for i in declared[source.path]}
    if not names:
        return
    for source in sources:
        names -= _ambiguous_names(source.code, names, declared[source.path])
    for source in sources:
        for i in _mistyped_launches(source.code, names):
            name = source.code[i].text
            text = f"a launch has three angle brackets on each side: {name}<<<grid, block>>>(...)"
            raise RewriteError(source, source.code[i].start, text)
        for first, after in _calls(source.code, names):
            name = spelling(source.code[first:after])
            text = f"the kernel {name} is called like a function: launch it with {name}<<<grid, block>>>(...)"
            raise RewriteError(source, source.code[first].start, text)


def declared_kernels(tokens: list[Token]) -> set[int]:
    """The index of the name of each function that is declared __global__."""
    indices = set()
    for i, token in enumerate(tokens):
        if token.text != "__global__":
            continue
        at: int | None = i + 1
        while at is not None and at < len(tokens) and tokens[at].text not in (";", "{", "}"):
            if tokens[at].text == "(":
                end = at  # of the name
                if tokens[at - 1].text == ">":
                    end = opening_angle(tokens, at - 1) or at
                if tokens[end - 1].text not in ATTRIBUTES:
                    indices.add(end - 1)
                    break
                at = closing(tokens, at)
                if at is None:
                    break
            at += 1
    return indices


def _ambiguous_names(tokens: list[Token], names: set[str], declared: set[int]) -> set[str]:
    """Those of `names` that also name something other than a kernel: `auto k = ...`, `F&& k`, `void k(int);`."""
    ambiguous = set()
    for i, token in enumerate(tokens):
        if token.kind != "word" or token.text not in names or i in declared or i == 0:
            continue
        before = tokens[i - 1]
        after = tokens[i + 1].text if i + 1 < len(tokens) else ""
        declares_named_type = is_name(before) and before.text not in ("template", "__global__")
        declares_other_type = before.text in ("&", "*", ">") and after in (",", ")", "=", ";", "(", "{")
        if declares_named_type or declares_other_type:
            ambiguous.add(token.text)
    return ambiguous


def _mistyped_launches(tokens: list[Token], names: set[str]) -> Iterable[int]:
    """Where one of `names` is followed by `<<`, or by `<` and arguments that `>>>` ends."""
    for i, token in enumerate(tokens):
        if token.kind != "word" or token.text not in names:
            continue
        opened = repetitions(tokens, i + 1, "<")
        end = i + 1
        while opened == 1 and end < len(tokens) and tokens[end].text not in (";", "{", "}"):
            if repetitions(tokens, end, "<") >= 3 or repetitions(tokens, end, ">") >= 3:
                break
            if tokens[end - 1].text == ">" and repetitions(tokens, end, "<") == 2:  # behind template arguments
                opened = 2
            end += 1
        angles = sum(other.text == "<" for other in tokens[i + 1 : end])
        if opened == 2 or (opened == 1 and angles < 3 and repetitions(tokens, end, ">") == 3):
            yield i


def _calls(tokens: list[Token], names: set[str]) -> Iterable[tuple[int, int]]:
    """Where each statement that calls one of `names` begins, and where its arguments do."""
    for i, token in enumerate(tokens):
        if token.text != "(" or i == 0:
            continue
        end = i
        if tokens[i - 1].text == ">":
            end = opening_angle(tokens, i - 1) or 0
        if end == 0 or tokens[end - 1].text not in names:
            continue
        first, last = name_start(tokens, i), closing(tokens, i)
        if first is None or last is None or last + 1 >= len(tokens) or tokens[last + 1].text != ";":
            continue
        is_member = end >= 2 and tokens[end - 2].text in (".", "->")
        is_standard = "std" in (tokens[first].text, tokens[first + 1].text)  # std::sort, next to a kernel `sort`
        is_statement = first == 0 or tokens[first - 1].text in BEFORE_STATEMENT
        if is_statement and not is_member and not is_standard:
            yield first, i

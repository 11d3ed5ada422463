"""Kernel launches: kernel<<<grid, block>>>(arguments) becomes a call of simt::launch."""

from __future__ import annotations

from typing import NamedTuple

from .constants_of_lambdas import read_constants
from .references import References, split_at_commas
from .source import RewriteError, Source
from .tokens import (
    CLOSE,
    OPEN,
    Token,
    closing,
    is_mark,
    is_name,
    name_start,
    opening_angle,
    quoted,
    repetitions,
    run_length,
    spelling,
)


class Known(NamedTuple):
    """What all sources together say about launches."""

    configurations: set[str]  # macros that stand for `<<<...>>>`
    references: References
    with_objects: set[str]  # kernels
    kernels: set[str]  # the names of all


def configuration_macros(sources: list[Source]) -> set[str]:
    """The macros that stand for what is between a kernel and its arguments: `#define ARGS(g, b) <<<g, b>>>`."""
    return {macro.name for source in sources for macro in source.macros if _is_configuration(macro.tokens)}


def rewrite_launches(source: Source, tokens: list[Token], known: Known, in_macro: bool) -> None:
    """Rewrites all launches among these tokens, which are all of the code, or a macro's body."""
    if in_macro and _is_configuration(tokens):
        source.replace(tokens[0].start, tokens[2].end, "(")
        source.replace(tokens[-3].start, tokens[-1].end, ")")
        return
    for i in range(len(tokens)):
        if tokens[i].text in known.configurations:
            _rewrite_launch_by_macro(source, tokens, i, known, in_macro)
        if tokens[i].text != "<" or (i > 0 and tokens[i - 1].text == "<"):
            continue
        length = repetitions(tokens, i, "<")  # editors write `k << <1, 32 >> > (a)`
        if length < 3 or (i > 0 and tokens[i - 1].text == "operator"):
            continue
        if length > 3:
            text = f"'{'<' * length}' is not CUDA C++ (is it left over from a merge?)"
            raise RewriteError(source, tokens[i].start, text)
        _rewrite_launch(source, tokens, i, known, in_macro)


def _is_configuration(tokens: list[Token]) -> bool:
    """Are these `<<<`, the arguments of a launch, and `>>>`, and nothing else?"""
    last = len(tokens) - 3
    return last > 3 and repetitions(tokens, 0, "<") == 3 and repetitions(tokens, last, ">") == 3


def _rewrite_launch(source: Source, tokens: list[Token], index: int, known: Known, in_macro: bool) -> None:
    """Rewrites the launch whose `<<<` begins at `index`."""
    here = tokens[index].start
    first = name_start(tokens, index)
    if first is None or index == 0:
        raise RewriteError(source, here, "kernel launch: the kernel's name is missing before '<<<'")
    name = spelling(tokens[first:index])
    end = _configuration_end(source, tokens, index + 3)
    if end == index + 3:
        raise RewriteError(source, here, f"launch of {name}: '<<<>>>' needs a grid and a block")
    if end + 3 >= len(tokens) or tokens[end + 3].text != "(":
        raise RewriteError(source, tokens[end].start, f"launch of {name}: no '(arguments)' after '>>>'")
    source.replace(here, tokens[index + 2].end, f"{_before_configuration(tokens, first, index, known.kernels)}(")
    source.replace(tokens[end].start, tokens[end + 2].end, ")")
    _rewrite_call(source, tokens, (first, index), end + 3, None if in_macro else known)


def _rewrite_launch_by_macro(source: Source, tokens: list[Token], index: int, known: Known, in_macro: bool) -> None:
    """Rewrites `kernel MACRO(grid, block)(arguments)`, if that is what follows the kernel's name."""
    first = name_start(tokens, index) if index > 0 else None
    end = closing(tokens, index + 1) if index + 1 < len(tokens) and tokens[index + 1].text == "(" else None
    if first is None or end is None or end + 1 >= len(tokens) or tokens[end + 1].text != "(":
        return
    source.insert(tokens[index].start, _before_configuration(tokens, first, index, known.kernels) + " ")
    _rewrite_call(source, tokens, (first, index), end + 1, None if in_macro else known)


def _kernel_of_variable(tokens: list[Token], index: int, kernels: set[str]) -> str:
    """The kernel that a variable holds at `index`, if everything that it is given since its declaration names one and
    the same, or if it is a parameter and the file names only one; otherwise, and for a kernel, the name at `index`."""
    name, held = tokens[index].text, set()
    if name in kernels:
        return name
    for i in range(index - 1, 0, -1):
        if tokens[i].text == name and is_mark(tokens[i + 1], "="):
            ends = next((at for at in range(i, index) if is_mark(tokens[at], ";")), index)
            held |= {token.text for token in tokens[i + 2 : ends] if token.text in kernels}
            if is_name(tokens[i - 1]) or tokens[i - 1].text in ("auto", "*", "&", ">"):
                break
    else:
        held = held or {token.text for token in tokens if token.text in kernels}
    return held.pop() if len(held) == 1 else name


def _before_configuration(tokens: list[Token], first: int, index: int, kernels: set[str]) -> str:
    """What precedes the configuration of a launch whose kernel is tokens [first, index)."""
    is_word = index == first + 1
    name = _kernel_of_variable(tokens, first, kernels) if is_word else spelling(tokens[first:index])
    return f", {quoted(name)}, __FILE__, __LINE__, ::simt::LaunchConfig"


def _rewrite_call(
    source: Source, tokens: list[Token], kernel: tuple[int, int], opened: int, known: Known | None
) -> None:
    """Rewrites the kernel's name, tokens [first, index), and its arguments, whose `(` is at `opened`. `known`: None in
    a macro, whose parameters may have a kernel's name."""
    first, index = kernel
    name = spelling(tokens[first:index])
    last = closing(tokens, opened)
    if last is None:
        raise RewriteError(source, tokens[opened].start, f"launch of {name}: this '(' is never closed")
    _refuse_braced_arguments(source, tokens, opened + 1, last, name)
    arguments = tokens[opened + 1 : last]
    space = " " if first > 0 and tokens[first - 1].text == ":" else ""  # `case 1:kernel<<<1, 1>>>()`
    end = index - 1 if tokens[index - 1].text != ">" else (opening_angle(tokens, index - 1) or 1) - 1
    call, after_call = "[&](auto&... simt_args) { ", "(simt_args...); }"
    if known and tokens[end].text in known.with_objects:
        chosen = f"simt_choose({name})"
        call = f"::simt::selectable({call}"
        after_call += f", [&](auto simt_choose) -> decltype({chosen}) {{ return {chosen}; }})"
    source.insert(tokens[first].start, f"{space}::simt::launch({call}")
    source.insert(tokens[index - 1].end, after_call)
    comma = ", " if arguments else ""
    if known is None and [token.text for token in arguments] == ["__VA_ARGS__"]:
        comma = " __VA_OPT__(,) "
    source.replace(tokens[opened].start, tokens[opened].end, comma)
    _replace_null_arguments(source, arguments)
    read_constants(source, tokens, split_at_commas(arguments))
    if known:
        _pass_references(source, split_at_commas(arguments), tokens[end].text, known.references)


def _pass_references(source: Source, arguments: list[list[Token]], kernel: str, references: References) -> None:
    """Marks the arguments for parameters that are references."""
    for position in references.get((kernel, len(arguments)), ()):
        first, last = arguments[position][0], arguments[position][-1]
        if first.text != "NULL":
            source.insert(first.start, "::simt::referred(")
            source.insert(last.end, ")")


def _configuration_end(source: Source, tokens: list[Token], index: int) -> int:
    """The index of the first `>` of the `>>>` that closes the `<<<` before `index`."""
    i: int | None = index
    while i is not None and i < len(tokens):
        text = tokens[i].text if tokens[i].kind == "mark" else ""
        if text in OPEN:
            i = closing(tokens, i)
            if i is None:
                break
        elif text in CLOSE or text == ";" or repetitions(tokens, i, "<") >= 3:
            break
        elif text == ">":
            length = repetitions(tokens, i, ">")
            last = i + length - 3  # more than three: the first ones end template arguments
            if length >= 3 and (run_length(tokens, last, ">") >= 3 or _ends_launch(tokens, index, i, length)):
                return last
            i += length - 1
        i += 1
    raise RewriteError(source, tokens[index - 3].start, "kernel launch: this '<<<' is never closed by '>>>'")


def _ends_launch(tokens: list[Token], begin: int, index: int, length: int) -> bool:
    """Do the `>` at `index`, with space between them, end a launch, and not template arguments (`A<B<C<int> > >()`)?"""
    is_called = index + length < len(tokens) and tokens[index + length].text == "("
    return is_called and sum(token.text == "<" for token in tokens[begin:index]) < length


def _refuse_braced_arguments(source: Source, tokens: list[Token], begin: int, end: int, name: str) -> None:
    """simt::launch is a template, which cannot deduce the type of `{a, b}`."""
    i = begin
    while i < end:
        if tokens[i].text == "{" and tokens[i - 1].text in ("(", ","):
            text = f"launch of {name}: CUDA on the CPU needs this argument's type, as in T{{...}}"
            raise RewriteError(source, tokens[i].start, text)
        closed = closing(tokens, i) if tokens[i].kind == "mark" and tokens[i].text in OPEN else i
        assert closed is not None  # the brackets around them are closed
        i = closed + 1


def _replace_null_arguments(source: Source, arguments: list[Token]) -> None:
    """NULL is an integer to a function template; an argument that is nothing else becomes nullptr."""
    for i, token in enumerate(arguments):
        alone_left = i == 0 or arguments[i - 1].text == ","
        alone_right = i + 1 == len(arguments) or arguments[i + 1].text == ","
        if token.text == "NULL" and alone_left and alone_right:
            source.replace(token.start, token.end, "nullptr")

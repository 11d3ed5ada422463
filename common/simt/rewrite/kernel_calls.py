"""Kernels that are called like functions, functions that are launched, kernels that return something: errors, as under
nvcc."""

from collections.abc import Iterable

from .source import RewriteError, Source
from .tokens import Token, closing, is_name, name_start, opening_angle, repetitions, spelling

# A call that is a statement by itself follows one of these.
BEFORE_STATEMENT = (";", "{", "}", ")", ":", "else", "do", "return")
SPECIFIERS = ("static", "inline", "constexpr", "__device__", "__host__", "__forceinline__", "__noinline__")
TYPES = ("bool", "char", "short", "int", "long", "unsigned", "float", "double")
ATTRIBUTES = ("__launch_bounds__", "__attribute__", "alignas", "__align__")


def refuse_kernel_calls(sources: list[Source]) -> None:
    """Raises an error for the first kernel of `sources` that is called like a function."""
    declared = {source.path: declared_kernels(source.code) for source in sources}
    names = {source.code[i].text for source in sources for i in declared[source.path]}
    for source in sources:
        _refuse_results(source, declared[source.path])
        _refuse_launched_functions(source, names)
    if not names:
        return
    for source in sources:
        names -= ambiguous_names(source.code, names, declared[source.path])
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


def launched_names(tokens: list[Token]) -> set[str]:
    """What is in front of each `<<<`, without template arguments."""
    launched = set()
    for i in range(1, len(tokens)):
        if repetitions(tokens, i, "<") == 3 and tokens[i - 1].kind == "word":
            launched.add(tokens[i - 1].text)
        elif repetitions(tokens, i, "<") == 3 and tokens[i - 1].text == ">":
            launched.add(tokens[(opening_angle(tokens, i - 1) or 1) - 1].text)
    return launched


def _refuse_results(source: Source, declared: set[int]) -> None:
    """Raises an error for a kernel that is declared to return a number."""
    for i in sorted(declared):
        begin = max(at for at in range(i) if source.code[at].text == "__global__")
        words = [token.text for token in source.code[max(begin - 1, 0) : i]]
        if "void" not in words and any(word in TYPES for word in words):
            name = source.code[i].text
            text = f"the kernel {name} cannot return anything: it begins with __global__ void {name}("
            raise RewriteError(source, source.code[i].start, text)


def _refuse_launched_functions(source: Source, kernels: set[str]) -> None:
    """Raises an error for a function of the source that is launched and not declared __global__."""
    tokens = source.code
    launched = launched_names(tokens)
    for i in range(1, len(tokens) - 1):  # a parameter of the same name may be what is launched
        is_declared = is_name(tokens[i - 1]) and tokens[i - 1].text != "void" or tokens[i - 1].text in ("&", "*", ">")
        if is_declared and tokens[i + 1].text in (",", ")", "="):
            launched.discard(tokens[i].text)
    for i in range(1, len(tokens) - 1):
        name = tokens[i].text
        if name not in launched - kernels or tokens[i - 1].text != "void" or tokens[i + 1].text != "(":
            continue
        first = i - 1
        while first > 0 and tokens[first - 1].text in SPECIFIERS:
            first -= 1
        last = closing(tokens, i + 1)
        is_function = last is not None and last + 1 < len(tokens) and tokens[last + 1].text in ("{", ";")
        # Any other word before it may be a macro for __global__.
        if is_function and (first == 0 or tokens[first - 1].text in (";", "{", "}", ">")):
            text = f"{name} is launched with <<<>>>, so it must be a kernel: __global__ void {name}("
            raise RewriteError(source, tokens[i].start, text)


def ambiguous_names(tokens: list[Token], names: set[str], declared: set[int]) -> set[str]:
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

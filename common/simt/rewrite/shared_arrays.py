"""Shared memory: `extern __shared__` arrays, and what __shared__ does not allow as a specifier in C++."""

from __future__ import annotations

from .functions import NAMESPACE
from .source import RewriteError, Source
from .tokens import CLOSE, OPEN, Token, closing, is_mark, opening, opening_angle, spelling

SPECIFIERS = frozenset(("extern", "static", "const", "volatile", "__device__", "__shared__"))
# Types whose alignment is at most 16.
NEVER_ALIGNED = frozenset(
    """bool char short int long unsigned signed float double auto half __half size_t std int8_t uint8_t int16_t uint16_t
    int32_t uint32_t int64_t uint64_t clock_t uchar ushort uint ulong float2 float3 float4 double2 int2 int3 int4
    uint2 uint3 uint4 cudaError_t struct class volatile const""".split()  # noqa: SIM905
)
ALIGNMENTS = ("alignas", "__align__", "__attribute__")


def rewrite_shared(source: Source, tokens: list[Token], places: list[str] | None) -> set[str]:
    """Rewrites declarations of shared memory; returns the names of dynamic arrays at file scope.

    `places` says of each token where it is (functions.Places); None for a macro's body.
    """
    names = set()
    done = -1
    for i, token in enumerate(tokens):
        if token.text != "__shared__" or i < done:
            continue
        first, last = _specifier_run(tokens, i)
        if places is None and not any(t.text == ";" for t in tokens[i:]):
            continue  # a macro that is only a specifier
        end = done = _declaration_end(source, tokens, last)
        start = _declaration_start(tokens, first)
        if any(t.text == "extern" for t in tokens[start:last]):
            first = start
            at_file_scope = places is not None and places[i] == NAMESPACE
            name = _rewrite_dynamic(source, tokens, first, end, at_file_scope)
            if at_file_scope:
                names.add(name)
        else:
            if start < first and _is_declarator(tokens, last):
                _move_type(source, tokens, start, i, end)
            else:
                _rewrite_static(source, tokens, i, end)
    return names


def rewrite_casts(source: Source, tokens: list[Token], names: set[str]) -> None:
    """A dynamic array at file scope is an object that converts to a pointer. A cast does not convert it, but + does."""
    for i, token in enumerate(tokens):
        if token.text not in names or i < 2:
            continue
        before, further = tokens[i - 1], tokens[i - 2]
        in_cast = before.text == "(" and further.text == ">"  # reinterpret_cast<T*>(name
        after_cast = before.text == ")" and further.text == "*"  # (T*)name
        if in_cast or after_cast:
            source.insert(token.start, "(+")
            source.insert(token.end, ")")


def _specifier_run(tokens: list[Token], index: int) -> tuple[int, int]:
    """The specifiers around `index`, itself included: first index, index after the last."""
    first, last = index, index + 1
    while first > 0 and tokens[first - 1].text in SPECIFIERS:
        first -= 1
    while last < len(tokens) and tokens[last].text in SPECIFIERS:
        last += 1
    return first, last


def _declaration_start(tokens: list[Token], index: int) -> int:
    """Where the declaration begins whose __shared__ is at `index`: its type, and `extern`, may precede it."""
    while index > 0:
        before = tokens[index - 1]
        begin: int | None = None
        if before.kind == "word" or before.text == "::":
            begin = index - 1
        elif is_mark(before, ">"):
            begin = opening_angle(tokens, index - 1)
        elif is_mark(before, ")"):
            begin = opening(tokens, index - 1)
            begin = begin - 1 if begin and tokens[begin - 1].text in ALIGNMENTS else None
        if begin is None:
            break
        index = begin
    return index


def _is_declarator(tokens: list[Token], index: int) -> bool:
    """Is this the name of a variable, or a `*` before one, so that its type must precede it?"""
    if tokens[index].text in ("*", "&"):
        return True
    return tokens[index].kind == "word" and tokens[index + 1].text in ("[", ";", ",", "=")


def _move_type(source: Source, tokens: list[Token], start: int, index: int, end: int) -> None:
    """`T __shared__ name;` becomes `__shared__ T name;`."""
    last = _specifier_run(tokens, index)[1]
    for token in tokens[start:last]:
        if token.text in ("static", "__shared__"):
            source.replace(token.start, token.end, "")
    specifiers = spelling([token for token in tokens[start:last] if token.text not in ("static", "__shared__")])
    source.insert(tokens[start].start, "__shared__ ")
    _separate_declarators(source, tokens, last, end, "__shared__ " + specifiers)


def _declaration_end(source: Source, tokens: list[Token], index: int) -> int:
    """The index of the `;` that ends the declaration at `index`."""
    i: int | None = index
    while i is not None and i < len(tokens):
        if tokens[i].kind == "mark":
            if tokens[i].text == ";":
                return i
            if tokens[i].text in OPEN:
                i = closing(tokens, i)
                if i is None:
                    break
            elif tokens[i].text in CLOSE:
                break
        i += 1
    raise RewriteError(source, tokens[index].start, "this __shared__ declaration has no ';'")


def _known(index: int | None) -> int:
    """The index of a bracket inside a declaration that is known to be whole."""
    assert index is not None
    return index


def _without_alignment(source: Source, tokens: list[Token]) -> list[Token]:
    """Removes alignment specifiers (dynamic shared memory is aligned for any type); returns the other tokens."""
    rest, i = [], 0
    while i < len(tokens):
        if tokens[i].text in ALIGNMENTS and i + 1 < len(tokens):
            end = _known(closing(tokens, i + 1))
            source.replace(tokens[i].start, tokens[end].end, "")
            i = end
        else:
            rest.append(tokens[i])
        i += 1
    return rest


def _has_comma(tokens: list[Token]) -> bool:
    """Is there a comma outside template arguments?"""
    depth = 0
    for token in tokens:
        depth += (token.text == "<") - (token.text == ">")
        if token.text == "," and depth == 0:
            return True
    return False


def _rewrite_dynamic(source: Source, tokens: list[Token], first: int, end: int, at_file_scope: bool) -> str:
    """`extern __shared__ T name[];`, tokens [first, end). Returns the name."""
    rest = _without_alignment(source, tokens[first:end])
    keywords = [token for token in rest if token.text in ("extern", "__shared__")]
    rest = [token for token in rest if token.text not in ("extern", "__shared__")]
    brackets = len(rest)  # where the [...] at the end begin
    while brackets > 0 and rest[brackets - 1].text == "]":
        brackets = _known(opening(rest, brackets - 1))
    is_array = 2 <= brackets < len(rest) and rest[brackets - 1].kind == "word"
    if not is_array or _has_comma(rest[:brackets]):
        text = "expected one array without a size, as in 'extern __shared__ int name[];'"
        raise RewriteError(source, tokens[first].start, text)
    kind, name, extents = spelling(rest[: brackets - 1]), rest[brackets - 1], rest[brackets:]
    for token in keywords:
        source.replace(token.start, token.end, "")
    if at_file_scope:
        inner = spelling(extents[_known(closing(extents, 0)) + 1 :])
        for token in rest[: brackets - 1]:
            source.replace(token.start, token.end, "")
        source.insert(name.start, f"static const ::simt::DynamicShared<{kind}{inner}> ")
        source.replace(extents[0].start, extents[-1].end, "{}")
    else:
        source.insert(name.start, "(&")
        source.insert(name.end, ")")
        array = f"*reinterpret_cast<{kind} (*){spelling(extents)}>(::simt::dynamic_shared())"
        source.insert(tokens[end].start, f" = {array}")
    return name.text


def _rewrite_static(source: Source, tokens: list[Token], index: int, end: int) -> None:
    """`__shared__ T name;`: __shared__ becomes `static __thread`, which alignas must precede.

    Each of several names gets a separate declaration, because in the check build __shared__ also declares a gap.
    """
    first, last = _specifier_run(tokens, index)
    specifiers = spelling([token for token in tokens[first:last] if token.text != "static"])
    for token in tokens[first:last]:
        if token.text == "static":
            source.replace(token.start, token.end, "")
    alignments = []
    if (word := _alignment_before(tokens, first)) is not None:
        alignments.append(spelling(tokens[word:first]))
        source.replace(tokens[word].start, tokens[first - 1].end, "")
    if last < end and tokens[last].text == "alignas":
        close = _known(closing(tokens, last + 1))
        alignments.append(spelling(tokens[last : close + 1]))
        source.replace(tokens[last].start, tokens[close].end, "")
        last = close + 1
    alignments += _alignment_of_type(tokens, last, end)
    if alignments:
        aligned = " ".join(["SIMT_SHARED_GAP", *alignments, "SIMT_SHARED"])
        shared = next(token for token in tokens[first:last] if token.text == "__shared__")
        source.replace(shared.start, shared.end, aligned)
        specifiers = specifiers.replace("__shared__", aligned)
    _separate_declarators(source, tokens, last, end, specifiers)


def _alignment_of_type(tokens: list[Token], begin: int, end: int) -> list[str]:
    """An alignment that is at least 16 and that of the type of the first variable that is declared in [begin, end), if
    the type may have a greater one. (Without it, SIMT_SHARED would reduce that to 16.)"""
    past = next(
        (i for i in range(begin, end) if tokens[i].text in ("[", ",") and not _in_angles(tokens, begin, i)), end
    )
    kind = tokens[begin : _type_end(tokens, past)]
    may_be_aligned = any(token.kind == "word" and token.text not in NEVER_ALIGNED for token in kind)
    is_variable = begin + len(kind) == past - 1 and tokens[past - 1].kind == "word"
    is_type = not any(token.text in ("{", "*", "&", "(") for token in kind)
    if not (may_be_aligned and is_variable and is_type):
        return []
    return ["alignas(16)", f"alignas({spelling(kind)})"]


def _in_angles(tokens: list[Token], begin: int, index: int) -> bool:
    texts = [token.text for token in tokens[begin:index]]
    return texts.count("<") > texts.count(">")


def _alignment_before(tokens: list[Token], index: int) -> int | None:
    """Where alignas(...) or __align__(...) begins that ends before `index`."""
    if index == 0 or not is_mark(tokens[index - 1], ")"):
        return None
    word = _known(opening(tokens, index - 1)) - 1
    return word if word >= 0 and tokens[word].text in ("alignas", "__align__") else None


def _separate_declarators(source: Source, tokens: list[Token], begin: int, end: int, specifiers: str) -> None:
    """`T a, b` becomes `T a; specifiers T b`. A variable with an initial value is an error."""
    i, angles = begin, 0
    kind: list[Token] | None = None
    is_simple = False
    while i < end:
        angles += (tokens[i].text == "<") - (tokens[i].text == ">")
        if tokens[i].text in OPEN:
            i = _known(closing(tokens, i))
        elif tokens[i].text == "," and angles == 0:
            if kind is None:
                type_end = _type_end(tokens, i)
                kind = tokens[begin:type_end]
                is_simple = tokens[type_end].kind == "word" and not any(token.text == "{" for token in kind)
            # (A type is defined only once, and a pointer to a function has its name elsewhere.)
            if is_simple:
                source.replace(tokens[i].start, tokens[i].end, f"; {specifiers} {spelling(kind)}")
        elif tokens[i].text == "=" and tokens[i - 1].text not in "=<>!" and tokens[i + 1].text != "=":
            text = "a __shared__ variable cannot have an initial value"
            raise RewriteError(source, tokens[i].start, f"{text}; let one thread assign it, then call __syncthreads()")
        i += 1


def _type_end(tokens: list[Token], comma: int) -> int:
    """The index after the type of the first declarator, which ends before `comma`."""
    name = comma - 1
    while tokens[name].text == "]":
        name = _known(opening(tokens, name)) - 1
    while tokens[name - 1].text in ("*", "&"):
        name -= 1
    return name

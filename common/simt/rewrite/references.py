"""Kernel parameters that are references, and those that may be objects. A launch does not copy what a reference refers
to, so the device must be able to read it where it is. The host destroys its copy of an object."""

from __future__ import annotations

from .kernel_calls import TYPES, ambiguous_names, declared_kernels, launched_names
from .source import Source
from .tokens import Token, closing, is_mark, is_name

References = dict[tuple[str, int], frozenset[int]]  # by a kernel's name and its number of parameters: which, from 0


def reference_parameters(sources: list[Source]) -> References:
    """The parameters that are references in every declaration of a kernel with this name and number of parameters."""
    found: References = {}
    for source in sources:
        for name in declared_kernels(source.code):
            parameters = _parameters(source.code, name)
            if parameters is None:
                continue
            key = source.code[name].text, len(parameters)
            positions = frozenset(i for i, parameter in enumerate(parameters) if _is_reference(parameter))
            found[key] = found.get(key, positions) & positions
    names = {name for (name, _), positions in found.items() if positions}
    for source in sources:
        names -= ambiguous_names(source.code, names, declared_kernels(source.code)) if names else set()
    return {key: positions for key, positions in found.items() if positions and key[0] in names}


def kernels_with_objects(sources: list[Source]) -> set[str]:
    """The names of the kernels with a parameter that may be an object, as far as the words of its type say, and of the
    variables that are launched."""
    found, kernels = set(), set()
    for source in sources:
        for name in declared_kernels(source.code):
            kernels.add(source.code[name].text)
            if any(_may_be_object(parameter) for parameter in _parameters(source.code, name) or []):
                found.add(source.code[name].text)
    for source in sources:
        found |= ambiguous_names(source.code, launched_names(source.code) - kernels, set())
    return found


def split_at_commas(tokens: list[Token]) -> list[list[Token]]:
    """The parts between the commas that are in no brackets. Angle brackets are brackets if they match."""
    parts: list[list[Token]] = [[]]
    depth = i = 0
    while i < len(tokens):
        end = i
        if tokens[i].kind == "mark" and tokens[i].text in "([{":
            end = closing(tokens, i) or i
        depth = max(0, depth + is_mark(tokens[i], "<") - is_mark(tokens[i], ">"))
        if is_mark(tokens[i], ",") and depth == 0:
            parts.append([])
        else:
            parts[-1] += tokens[i : end + 1]
        i = end + 1
    return parts if tokens else []


def _parameters(tokens: list[Token], name: int) -> list[list[Token]] | None:
    """The parameters of the kernel whose name is at this index; None if they cannot be told apart."""
    opened = name
    while opened < len(tokens) and not is_mark(tokens[opened], "("):
        opened += 1
    end = closing(tokens, opened) if opened < len(tokens) else None
    if end is None:
        return None
    inside = tokens[opened + 1 : end]
    if any(token.text in ("=", ".") for token in inside):
        return None  # a launch may leave out arguments, or have more of them
    return split_at_commas(inside)


def _may_be_object(parameter: list[Token]) -> bool:
    """`S s`, `F<T*> f` or `T t`, but not `const S* s`, `unsigned n` or `std::size_t n`."""
    depth = 0
    names = []
    for token in parameter:
        depth += is_mark(token, "<") - is_mark(token, ">")
        if depth == 0 and token.text in ("*", "&", "["):
            return False
        if depth == 0 and is_name(token):
            names.append(token.text)
    return not any(name in (*TYPES, "void") or name.endswith("_t") for name in names)


def _is_reference(parameter: list[Token]) -> bool:
    """`const T& x`, `T&& x` or `T (&x)[4]`, but not `F<T&> x`."""
    depth = 0
    for i, token in enumerate(parameter):
        depth += is_mark(token, "<") - is_mark(token, ">")
        is_in_declarator = depth == 1 and i > 0 and is_mark(parameter[i - 1], "(")
        depth += is_mark(token, "(") - is_mark(token, ")")
        if is_mark(token, "&") and (depth == 0 or is_in_declarator):
            return True
    return False

"""Constants that a lambda uses without capturing them. C++ permits that where only their value is needed, but
simt::launch takes its arguments by reference, which needs a capture."""

from __future__ import annotations

from .source import Source
from .tokens import Token, closing, is_mark, is_name, opening


def read_constants(source: Source, tokens: list[Token], arguments: list[list[Token]]) -> None:
    """Replaces each argument that is such a constant by its value. The arguments are those of one launch."""
    for argument in arguments:
        if len(argument) != 1 or argument[0].kind != "word":
            continue
        name = argument[0]
        index = tokens.index(name)
        if _is_constant(tokens, index) and _is_left_out(tokens, index):
            source.insert(name.start, f"static_cast<::std::decay_t<decltype({name.text})>>(")
            source.insert(name.end, ")")


def _is_constant(tokens: list[Token], index: int) -> bool:
    """Whether the last declaration of this name with an initial value, before `index`, is that of a constant."""
    for i in range(index - 2, 0, -1):
        is_declared = is_name(tokens[i - 1]) and tokens[i + 1].text in ("=", "{", "(")
        if tokens[i].text != tokens[index].text or not is_declared:
            continue
        begin = i
        while begin > 0 and (is_name(tokens[begin - 1]) or tokens[begin - 1].text in ("::", ":")):
            begin -= 1
        return any(token.text in ("const", "constexpr") for token in tokens[begin:i])
    return False


def _is_left_out(tokens: list[Token], index: int) -> bool:
    """Whether `index` is in the body of a lambda that does not capture this name."""
    i = index
    while (brace := _enclosing_brace(tokens, i)) is not None:
        captures = _captures(tokens, brace)
        if captures is not None:
            texts = [token.text for token in captures]
            has_default = texts[:1] in (["&"], ["="]) and texts[1:2] in ([], [","])
            return not has_default and tokens[index].text not in texts
        i = brace
    return False


def _enclosing_brace(tokens: list[Token], index: int) -> int | None:
    depth = 0
    for i in range(index - 1, -1, -1):
        depth += is_mark(tokens[i], "}") - is_mark(tokens[i], "{")
        if depth < 0:
            return i
    return None


def _captures(tokens: list[Token], brace: int) -> list[Token] | None:
    """What is between the brackets of the lambda whose body begins at `brace`; None if this is not a lambda's."""
    for i in range(brace - 1, -1, -1):
        if tokens[i].text in (";", "{", "}"):
            return None
        if not is_mark(tokens[i], "]"):
            continue
        begin = opening(tokens, i)
        if begin is None or (begin > 0 and (is_name(tokens[begin - 1]) or tokens[begin - 1].text in ("]", ")"))):
            return None
        after = i + 1
        if is_mark(tokens[after], "("):
            after = (closing(tokens, after) or brace) + 1
        return tokens[begin + 1 : i] if after <= brace else None
    return None

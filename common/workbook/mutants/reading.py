"""Reads the structure of a step's file from its tokens: functions, declarations, operators, and brackets."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core.course import ROOT

sys.path.insert(0, str(ROOT / "common/simt"))

from rewrite.source import RewriteError, Source, tokenize
from rewrite.tokens import Token, closing, is_mark, name_start

__all__ = ["RewriteError", "Token", "closing", "is_mark"]

RELATIONS = {"<": 0, "<=": 1, ">": 2, ">=": 3, "==": 4, "!=": 5}
ARITHMETIC = frozenset("+-*/%&|^")
CONTROLS = frozenset({"if", "for", "while", "do", "switch", "else", "return", "break", "continue", "case", "default"})
_OPERATORS = (
    "<<< >>> <<= >>= <= >= == != && || ++ -- += -= *= /= %= &= |= ^= << >>".split()  # noqa: SIM905  the longest first
)
_INTEGERS = frozenset(
    "int unsigned long short size_t int64_t uint64_t int32_t uint32_t int16_t uint16_t ptrdiff_t".split()  # noqa: SIM905
)
_QUALIFIERS = frozenset({"const", "constexpr", "static", "volatile", "auto", "unsigned", "__shared__", "typename"})
_BEHIND_TYPE = ("*", "&", "&&", "const", "__restrict__")
_NEAR_NUMBERS = frozenset("+-*/%[]") | {"<", "<=", ">=", "==", "+="}
_AFTER_NAME = ("=", ";", ",", "[", "(", "{")
_LONGEST_ARGUMENTS = 40  # tokens of a template's arguments


@dataclass(frozen=True)
class Name:
    """A variable, and its type as it is written, without const."""

    name: str
    type: str

    @property
    def is_integer(self) -> bool:
        """Whether it is declared as an integer."""
        words = self.type.replace("std::", "").split()
        return bool(words) and all(word in _INTEGERS for word in words)


@dataclass(frozen=True)
class Function:
    """A function's body: the indices of its braces, and of the bracket of its parameters."""

    begin: int
    end: int
    parameters: int
    name: str
    is_device: bool


def read(text: str) -> list[Token]:
    """The tokens of a file, with operators such as <= in one piece. RewriteError."""
    source = Source("", "", text)
    tokenize(source)
    tokens: list[Token] = []
    index = 0
    while index < len(source.code):
        token = source.code[index]
        joined = None
        if token.kind == "mark":
            joined = next(filter(None, (_operator(source.code, index, word) for word in _OPERATORS)), None)
        tokens.append(joined or token)
        index += len(joined.text) if joined else 1
    return tokens


def _operator(tokens: Sequence[Token], index: int, word: str) -> Token | None:
    """The operator that begins at `index`, if it is this one. `##` and `->` are one token already."""
    run = tokens[index : index + len(word)]
    is_whole = "".join(token.text for token in run) == word and run[-1].end - run[0].start == len(word)
    return Token("mark", word, run[0].start) if is_whole and len(run) == len(word) else None


# --- functions and declarations ---


def functions(tokens: list[Token]) -> Iterator[Function]:
    """All that are defined."""
    at = 0
    while at < len(tokens):
        if is_mark(tokens[at], "{"):
            close = closing(tokens, at)
            if close is None:
                return
            head = _head(tokens, at)
            if head is not None:
                yield Function(at, close, head, tokens[head - 1].text, _is_device(tokens, at))
                at = close
        at += 1


def _head(tokens: Sequence[Token], brace: int) -> int | None:
    """The bracket of the parameters of the function whose body begins at `brace`; None if none begins there."""
    at = brace - 1
    while at > 0 and tokens[at].text in ("const", "noexcept", "override"):
        at -= 1
    if at <= 0 or not is_mark(tokens[at], ")"):
        return None
    depth = 0
    while at > 0:
        depth += is_mark(tokens[at], ")") - is_mark(tokens[at], "(")
        if depth == 0:
            break
        at -= 1
    return at if at > 0 and tokens[at - 1].kind == "word" and tokens[at - 1].text not in CONTROLS else None


def _is_device(tokens: Sequence[Token], brace: int) -> bool:
    at = brace - 1
    while at >= 0 and tokens[at].text not in (";", "}", "{"):
        if tokens[at].text in ("__global__", "__device__"):
            return True
        at -= 1
    return False


def parameters(tokens: list[Token], opened: int) -> list[Name]:
    """Those in the bracket at `opened`."""
    found = []
    for first, end in split(tokens, opened + 1, closing(tokens, opened) or opened + 1):
        words = [token.text for token in tokens[first:end]]
        if len(words) > 1 and tokens[end - 1].kind == "word":
            found.append(Name(words[-1], type_of(words[:-1])))
    return found


def type_of(words: Sequence[str]) -> str:
    """A type as one line of text, without what says how a variable is kept."""
    kept = [word for word in words if word not in ("const", "constexpr", "static", "__shared__")]
    return " ".join(kept).replace(" :: ", "::")


def declarator(tokens: Sequence[Token], begin: int, end: int) -> int | None:
    """The name that a declaration gives to its first variable; None if a statement is none."""
    at = begin
    while at < end and tokens[at].text in _QUALIFIERS:
        at += 1
    has_type = any(token.text in ("auto", "unsigned") for token in tokens[begin:at])
    while has_type and at < end and tokens[at].text in _BEHIND_TYPE:
        at += 1
    if at + 1 >= end or tokens[at].kind != "word":
        return None
    if not (has_type and tokens[at + 1].text in _AFTER_NAME):
        at = _behind_type(tokens, at, end)
    if at == begin or at + 1 >= end or tokens[at].kind != "word":
        return None
    return at if tokens[at + 1].text in _AFTER_NAME else None


def _behind_type(tokens: Sequence[Token], at: int, end: int) -> int:
    """Where a type ends that begins at `at`."""
    at += 1
    while at + 1 < end and is_mark(tokens[at], "::"):
        at += 2
    if at < end and is_mark(tokens[at], "<"):
        depth = 0
        while at < end:
            depth += (tokens[at].text == "<") - (tokens[at].text == ">") - 2 * (tokens[at].text == ">>")
            at += 1
            if depth <= 0:
                break
    while at < end and tokens[at].text in (*_BEHIND_TYPE, "int", "long"):
        at += 1
    return at


# --- expressions ---


def top_level(tokens: list[Token], begin: int, end: int) -> Iterator[int]:
    """The tokens that are in no bracket and in no template's arguments."""
    at = begin
    while at < end:
        is_open = tokens[at].text in ("(", "[", "{") and tokens[at].kind == "mark"
        close = closing(tokens, at) if is_open else template_end(tokens, at, end)
        if close is None:
            yield at
            at += 1
        else:
            at = close + 1


def template_end(tokens: Sequence[Token], at: int, end: int) -> int | None:
    """Where the template arguments that begin at `at` end; None if none do."""
    if not is_mark(tokens[at], "<") or at == 0 or tokens[at - 1].kind != "word":
        return None
    if tokens[at - 1].end != tokens[at].start:
        return None
    depth = 0
    for i in range(at, min(end, at + _LONGEST_ARGUMENTS)):
        text = tokens[i].text if tokens[i].kind == "mark" else ""
        if text in (";", "{", "}", "&&", "||", ")"):
            return None
        depth += (text == "<") - (text == ">") - 2 * (text == ">>")
        if depth <= 0:
            following = tokens[i + 1].text if i + 1 < len(tokens) else ""
            return i if following in ("(", "::", "<<<", "{", ">", ",") else None
    return None


def is_operand(token: Token) -> bool:
    """Whether an operator that follows the token has two operands."""
    if token.kind == "word":
        return token.text not in ("return", "case")
    return token.kind == "number" or is_mark(token, ")") or is_mark(token, "]")


def is_lambda(tokens: list[Token], at: int) -> bool:
    """Whether a lambda begins at a token: its bracket stands behind no operand."""
    return is_mark(tokens[at], "[") and not (at > 0 and is_operand(tokens[at - 1]))


def has_lambda(tokens: list[Token], begin: int, end: int) -> bool:
    """Whether the tokens [begin, end) contain a lambda."""
    return any(is_lambda(tokens, i) for i in range(begin, end))


def operands(tokens: list[Token], begin: int, at: int, end: int) -> tuple[int, int]:
    """Where the operands of the arithmetic operator at `at` begin and end, in an expression."""
    tight, loose = frozenset("*/%"), ARITHMETIC - frozenset("*/%")
    is_tight = tokens[at].text in tight
    weaker = (*RELATIONS, *loose) if is_tight else (*RELATIONS,)
    following = (*RELATIONS, *loose, *tight) if is_tight else (*RELATIONS, *loose)
    first, last = begin, end
    for i in top_level(tokens, begin, at):
        if i > begin and tokens[i].kind == "mark" and tokens[i].text in weaker:
            first = i + 1
    for i in top_level(tokens, at + 1, end):
        if i > at + 1 and tokens[i].kind == "mark" and tokens[i].text in following:
            last = i
            break
    return first, last


def constants(tokens: list[Token], text: str) -> list[str]:
    """Names that stand for numbers in a file and are not declared there, or only as `constexpr int` where a line
    begins: they may be used everywhere in it."""
    used, others = set(), set()
    for i in range(2, len(tokens) - 1):
        before, token, after = tokens[i - 1], tokens[i], tokens[i + 1]
        if token.kind != "word" or "_" not in token.text.strip("_") or not token.text.islower():
            continue
        farther = tokens[i - 2]
        is_pointer = before.text == "*" and (farther.text in _INTEGERS or farther.text[:1].isupper())
        if [farther.text, before.text] == ["constexpr", "int"] and text[farther.start - 1] == "\n":
            used.add(token.text)
        elif (before.kind == "word" and before.text != "return") or before.text in (".", "->", "::", "&", ">"):
            others.add(token.text)  # declared, or a part of something
        elif is_pointer or before.text + farther.text == "[[" or after.text in ("(", "<", "::", "{", "=", "[", "."):
            others.add(token.text)
        elif {before.text, after.text} & _NEAR_NUMBERS:
            used.add(token.text)
    return sorted(used - others)


def called(tokens: list[Token], opened: int) -> tuple[int, int]:
    """Where the name of the function begins and ends whose arguments are in the bracket at `opened`."""
    end = opened
    if is_mark(tokens[end - 1], ">>>"):  # a launch
        end = next((i for i in range(end - 1, -1, -1) if is_mark(tokens[i], "<<<")), end)
    begin = name_start(tokens, end)
    return (end - 1 if begin is None else begin), end


def split(tokens: list[Token], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between commas."""
    at = begin
    while at <= end:
        stop = comma(tokens, at, end)
        yield at, stop
        at = stop + 1


def comma(tokens: list[Token], begin: int, end: int) -> int:
    """The next comma, or the end."""
    return next((i for i in top_level(tokens, begin, end) if is_mark(tokens[i], ",")), end)

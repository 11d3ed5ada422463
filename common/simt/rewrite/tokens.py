"""Tokens of C++, and finding one's way among them."""

from __future__ import annotations

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"""
    (?P<comment> //(?:[^\n\\]|\\(?:\r?\n|.))* | /\*.*?\*/ )
  | (?P<raw>     (?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)" )
  | (?P<string>  (?:u8|[uUL])?"(?:[^"\\\n]|\\(?:\r?\n|.))*" )
  | (?P<char>    (?:u8|[uUL])?'(?:[^'\\\n]|\\.)+' )
  | (?P<number>  \.?\d(?:[eEpP][+-]|'?[\w.])* )
  | (?P<word>    [A-Za-z_]\w* )
  | (?P<newline> \n )
  | (?P<space>   \\\r?\n | [^\S\n]+ )
  | (?P<mark>    :: | -> | \#\# | . )
    """,
    re.VERBOSE | re.DOTALL,
)
UNTERMINATED = re.compile(r'(?P<comment>/\*)|(?:u8|[uUL])?R"')
# Words that cannot be part of a kernel's name: the search for its beginning ends there.
NOT_NAMES = frozenset(
    "return else do case goto throw if while for switch and or not sizeof co_return co_yield".split()  # noqa: SIM905
)
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}


class Token(NamedTuple):
    """A word, number, literal or mark, with its place in the text."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def is_mark(token: Token, text: str) -> bool:
    """Whether the token is this mark, and not a literal with the same text."""
    return token.text == text and token.kind == "mark"


def is_name(token: Token) -> bool:
    """Whether the token can be part of a kernel's name."""
    return token.kind == "word" and token.text not in NOT_NAMES


def closing(tokens: list[Token], index: int) -> int | None:
    """The index of the bracket that closes the one at `index`; None if there is none."""
    depth: list[str] = []
    for i in range(index, len(tokens)):
        text = tokens[i].text
        if tokens[i].kind != "mark":
            continue
        if text in OPEN:
            depth.append(text)
        elif text in CLOSE:
            if not depth or depth.pop() != CLOSE[text]:
                return None
            if not depth:
                return i
    return None


def opening(tokens: list[Token], index: int) -> int | None:
    """The index of the bracket that the one at `index` closes; None if there is none."""
    depth = 0
    for i in range(index, -1, -1):
        if tokens[i].kind != "mark":
            continue
        depth += (tokens[i].text in CLOSE) - (tokens[i].text in OPEN)
        if depth == 0:
            return i
    return None


def repetitions(tokens: list[Token], index: int, text: str) -> int:
    """How many tokens `text` follow one another from `index` on, with or without space between them."""
    length = 0
    while index + length < len(tokens) and tokens[index + length].text == text:
        length += 1
    return length


def run_length(tokens: list[Token], index: int, text: str) -> int:
    """How many of them have nothing between them."""
    run = tokens[index : index + repetitions(tokens, index, text)]
    return sum(token.start == run[0].start + i for i, token in enumerate(run))


def opening_angle(tokens: list[Token], index: int) -> int | None:
    """The index of the `<` of the template arguments that the `>` at `index` ends; None if there is none."""
    depth = 0
    i: int | None = index
    while i is not None and i >= 0:
        text = tokens[i].text
        if tokens[i].kind == "mark":
            if text in CLOSE and text != "}":
                i = opening(tokens, i)
                if i is None:
                    return None
            elif text in (";", "{", "}", "(", "["):
                return None
            elif text == ">":
                depth += 1
            elif text == "<":
                if i > 0 and run_length(tokens, i - 1, "<") == 2:
                    i -= 1  # a shift
                else:
                    depth -= 1
                    if depth == 0:
                        return i
        i -= 1
    return None


def name_start(tokens: list[Token], end: int) -> int | None:
    """The index at which the kernel's name (or expression) that ends before `end` begins; None if there is none."""
    i: int | None = end - 1
    start: int | None = None
    while i is not None and i >= 0:
        token = tokens[i]
        if is_mark(token, ">"):
            i = opening_angle(tokens, i)
            if i is None or i == 0 or not is_name(tokens[i - 1]):
                return None
            i -= 1
        elif is_mark(token, "]"):
            i = opening(tokens, i)
            i = None if i is None else i - 1
        elif is_mark(token, ")"):
            i = opening(tokens, i)
            if i is None:
                return None
            called = i > 0 and (is_name(tokens[i - 1]) or tokens[i - 1].text in (">", "]"))
            if not called:
                return i
            i -= 1
        elif is_name(token):
            start, before, complete = _qualifier(tokens, i)
            if complete:
                return start
            i = before
        else:
            return None
    return start


def _qualifier(tokens: list[Token], index: int) -> tuple[int, int, bool]:
    """For the name at `index`: where it begins, where what it is a member of ends, and whether it is complete."""
    start, before = index, index - 1
    if before >= 0 and tokens[before].text == "template":
        start, before = before, before - 1
    separator = tokens[before].text if before >= 0 else ""
    if separator == "::":
        qualified = before > 0 and (is_name(tokens[before - 1]) or tokens[before - 1].text in (">", ")"))
        return (start, before - 1, False) if qualified else (before, before, True)
    return start, before - 1, separator not in (".", "->", "##")


def spelling(tokens: list[Token]) -> str:
    """The tokens as one line of text, with a space where there was something between them."""
    text, end = "", None
    for token in tokens:
        text += (" " if end is not None and end != token.start else "") + token.text
        end = token.end
    return text


def quoted(text: str) -> str:
    """The text as a C++ string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

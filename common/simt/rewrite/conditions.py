"""The values of conditions in directives, as far as they can be known without reading all headers."""

from __future__ import annotations

import re

WORD = re.compile(r"\s*(\d[\w']*|\w+|&&|\|\||[<>=!]=|<<|>>|[-+*/%<>!()?:&|^~])")
LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
          ("*", "/", "%"))  # fmt: skip


class _Unreadable(Exception):
    """Not an expression."""


def evaluate(text: str, macros: dict[str, int | None]) -> int | None:
    """The value of the condition; None if it is unknown. `macros` has the known ones; None: it is not defined."""
    words, position = [], 0
    text = text.strip()
    while position < len(text):
        match = WORD.match(text, position)
        if match is None:
            return None
        words.append(match.group(1))
        position = match.end()
    try:
        reader = _Reader(words, macros)
        value = reader.choice()
        return value if not reader.words else None
    except (_Unreadable, IndexError, ValueError):
        return None


class _Reader:
    def __init__(self, words: list[str], macros: dict[str, int | None]) -> None:
        self.words = words
        self.macros = macros

    def take(self, *expected: str) -> str | None:
        if self.words and (not expected or self.words[0] in expected):
            return self.words.pop(0)
        return None

    def choice(self) -> int | None:
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        first = self.choice()
        if not self.take(":"):
            raise _Unreadable
        second = self.choice()
        return None if condition is None else first if condition else second

    def binary(self, level: int) -> int | None:
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while operator := self.take(*LEVELS[level]):
            left = _apply(operator, left, self.binary(level + 1))
        return left

    def unary(self) -> int | None:
        word = self.take()
        if word is None:
            raise _Unreadable
        if word in ("!", "-", "+", "~"):
            value = self.unary()
            if value is None:
                return None
            return {"!": int(not value), "-": -value, "+": value, "~": ~value}[word]
        if word == "(":
            value = self.choice()
            if not self.take(")"):
                raise _Unreadable
            return value
        if word == "defined":
            in_parentheses = self.take("(") is not None
            name = self.take()
            if name is None or (in_parentheses and not self.take(")")):
                raise _Unreadable
            return None if name not in self.macros else int(self.macros[name] is not None)
        if word[0].isdigit():
            return int(word.replace("'", "").rstrip("uUlL"), 0)
        if word in self.macros:
            return self.macros[word] or 0
        if self.words and self.words[0] == "(":
            raise _Unreadable  # a macro with arguments
        return None


def _apply(operator: str, left: int | None, right: int | None) -> int | None:
    if operator == "&&":
        return 0 if 0 in (left, right) else None if None in (left, right) else 1
    if operator == "||":
        return 1 if left or right else None if None in (left, right) else 0
    if left is None or right is None or (operator in ("/", "%") and right == 0):
        return None
    operations = {
        "|": left | right,
        "^": left ^ right,
        "&": left & right,
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        ">": left > right,
        "<=": left <= right,
        ">=": left >= right,
        "+": left + right,
        "-": left - right,
        "*": left * right,
    }
    if operator in operations:
        return int(operations[operator])
    if operator in ("<<", ">>"):
        return (left << right if operator == "<<" else left >> right) if 0 <= right < 64 else None
    return left // right if operator == "/" else left % right

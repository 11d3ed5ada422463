"""Copies and fills by __builtin_memcpy() and the like become calls of memcpy().

For a few bytes, g++ makes them without a call, and it does not instrument that: the check build would not see them.
-fno-builtin-memcpy concerns only memcpy().
"""

from __future__ import annotations

from .source import Source
from .tokens import Token

PREFIX = "__builtin_"
COPIES = frozenset(PREFIX + name for name in ("memcpy", "memmove", "memset"))


def call_copies(source: Source, tokens: list[Token]) -> None:
    """Rewrites their names."""
    for i, token in enumerate(tokens):
        if token.text in COPIES and token.kind == "word":
            scope = "" if i > 0 and tokens[i - 1].text in ("::", "##", "#") else " ::"
            source.replace(token.start, token.end, scope + token.text[len(PREFIX) :])

"""The mathematics of a report, which is TeX, as HTML."""

from __future__ import annotations

import html
import re

_SYMBOLS = {
    **dict(zip(["alpha", "beta", "gamma", "delta", "epsilon", "lambda", "mu", "pi", "sigma", "omega"], "αβγδελμπσω")),
    **dict(zip(["Delta", "Sigma", "Theta", "Omega", "infty"], "ΔΣΘΩ∞")),
    **dict(zip(["cdot", "times", "pm", "sum", "oplus"], "·×±∑⊕")),
    **dict(zip(["le", "leq", "ge", "geq", "ne", "neq", "approx", "ll", "gg"], "≤≤≥≥≠≠≈≪≫")),
    **dict(zip(["to", "rightarrow", "leftarrow", "in", "land", "lor"], "→→←∈∧∨")),
    **dict(zip(["lfloor", "rfloor", "lceil", "rceil", "ldots", "dots"], "⌊⌋⌈⌉……")),
    **{name: name for name in ["log", "ln", "lg", "min", "max", "exp", "mod", "gcd"]},
    "quad": "\u2003",
    ",": "\u2009",
    ";": "\u2005",
    " ": " ",
    "!": "",
    "{": "{",
    "}": "}",
    "%": "%",
    "_": "_",
    "left": "",
    "right": "",
    "bmod": "mod",
}
_FUNCTIONS = {name for name, symbol in _SYMBOLS.items() if symbol.isalpha() and symbol.isascii()}
_TOKEN = re.compile(r"\\([A-Za-z]+|.)|([{}_^])|(\s+)|([A-Za-z]+)|(.)", re.DOTALL)


def to_html(tex: str) -> str:
    """TeX as HTML: indexes, powers, fractions, roots and the usual symbols. A text that is not understood stays TeX."""
    try:
        return _Reader(tex).sequence(until_brace=False)
    except (KeyError, IndexError):
        return html.escape(tex)


class _Reader:
    def __init__(self, tex: str) -> None:
        self.tokens = [match.groups() for match in _TOKEN.finditer(tex)]
        self.at = 0

    def sequence(self, until_brace: bool) -> str:
        """Everything up to the closing brace, or to the end."""
        parts = []
        while until_brace or self.at < len(self.tokens):
            if self.tokens[self.at][1] == "}":
                if not until_brace:
                    raise IndexError
                self.at += 1
                break
            parts.append(self.item())
        return "".join(parts)

    def item(self) -> str:
        """One symbol, group, index or power."""
        command, special, space, letters, other = self.tokens[self.at]
        self.at += 1
        if special == "{":
            return self.sequence(until_brace=True)
        if special:
            tag = "sub" if special == "_" else "sup"
            return f"<{tag}>{self.argument()}</{tag}>"
        if command == "frac":
            return f"{self.parenthesized()}/{self.parenthesized()}"
        if command == "sqrt":
            return f"√{self.parenthesized()}"
        if command in ("text", "mathrm", "mathit", "texttt", "operatorname"):
            return f'<span class="upright">{self.argument()}</span>'
        if command in _FUNCTIONS:
            return f'<span class="upright">{_SYMBOLS[command]}</span>'
        if command:
            return _SYMBOLS[command]
        return html.escape(space or letters or other)

    def argument(self) -> str:
        """The next group, or the next single symbol."""
        while self.tokens[self.at][2]:
            self.at += 1
        letters = self.tokens[self.at][3]
        if letters and len(letters) > 1:  # TeX takes one letter
            self.tokens[self.at : self.at + 1] = [("", "", "", letter, "") for letter in (letters[0], letters[1:])]
        return self.item()

    def parenthesized(self) -> str:
        """An argument, in parentheses if it is longer than a symbol."""
        text = self.argument()
        return text if len(re.sub(r"<[^>]*>", "", text)) == 1 or text.isalnum() else f"({text})"

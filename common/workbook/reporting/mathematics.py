"""The mathematics of a report, which is TeX, as HTML."""

import html
import re

_SYMBOLS = {
    **dict(zip(["alpha", "beta", "gamma", "delta", "epsilon", "lambda", "mu", "pi", "sigma", "omega"], "αβγδελμπσω")),
    **dict(zip(["eta", "theta", "kappa", "nu", "rho", "tau", "phi", "varepsilon", "ell"], "ηθκνρτφεℓ")),
    **dict(zip(["Gamma", "Delta", "Lambda", "Pi", "Sigma", "Theta", "Phi", "Omega", "infty"], "ΓΔΛΠΣΘΦΩ∞")),
    **dict(zip(["cdot", "times", "pm", "sum", "prod", "oplus", "div", "ast", "circ", "bullet"], "·×±∑∏⊕÷∗∘•")),
    **dict(zip(["le", "leq", "ge", "geq", "ne", "neq", "approx", "ll", "gg"], "≤≤≥≥≠≠≈≪≫")),
    **dict(zip(["equiv", "sim", "propto", "mid", "neg", "forall", "exists"], "≡∼∝∣¬∀∃")),
    **dict(zip(["to", "rightarrow", "leftarrow", "in", "land", "lor", "wedge", "vee"], "→→←∈∧∨∧∨")),
    **dict(zip(["Rightarrow", "Leftarrow", "iff", "implies", "notin", "cup", "cap", "subset"], "⇒⇐⇔⇒∉∪∩⊂")),
    **dict(zip(["lfloor", "rfloor", "lceil", "rceil", "langle", "rangle"], "⌊⌋⌈⌉⟨⟩")),
    **dict(zip(["ldots", "dots", "cdots"], "……⋯")),
    **dict.fromkeys(["big", "Big", "bigl", "bigr", "Bigl", "Bigr", "limits", "displaystyle", "textstyle"], ""),
    "qquad": "\u2003\u2003",
    "&": "&amp;",
    "#": "#",
    "$": "$",
    "|": "‖",
    "lt": "&lt;",
    "gt": "&gt;",
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
    """TeX as HTML: indexes, powers, fractions, roots and the usual symbols. What is not understood stays TeX."""
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
        if command in ("frac", "dfrac", "tfrac"):
            return f"{self.parenthesized()}/{self.parenthesized()}"
        if command == "sqrt":
            return f"√{self.parenthesized()}"
        if command in ("mathcal", "mathbf", "mathit", "mathbb"):
            return self.argument()
        if command in ("text", "mathrm", "mathsf", "mathtt", "texttt", "operatorname"):
            return f'<span class="upright">{self.argument()}</span>'
        if command in _FUNCTIONS:
            return f'<span class="upright">{_SYMBOLS[command]}</span>'
        if command in _SYMBOLS:
            return _SYMBOLS[command]
        if command:
            return self.unknown(command)
        return html.escape(space or letters or other)

    def unknown(self, command: str) -> str:
        """A command that is not understood, with its arguments in braces."""
        text = html.escape(f"\\{command}")
        while self.at < len(self.tokens) and self.tokens[self.at][1] == "{":
            self.at += 1
            text += f"{{{self.sequence(until_brace=True)}}}"
        return text

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

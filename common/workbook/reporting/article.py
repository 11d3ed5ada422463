"""report.tex: a LaTeX article, made from the tokens of the Markdown text."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it.token import Token

from . import markdown
from .page import TEMPLATES

MAX_ROWS = 36  # of a table that is not broken over pages
MAX_WIDTH = 84  # characters of a table that fits the page
MAX_CELL = 40  # characters of a cell that is not broken into lines
_SECTIONS = {2: "section", 3: "subsection", 4: "subsubsection"}
_CHARACTERS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the beginning of a row it would be an option of the row before
    "]": "{]}",
    '"': r"\textquotedbl{}",
    "\u00b5": r"\ensuremath{\mu}",
    "\u03bc": r"\ensuremath{\mu}",
    "\u00d7": r"\ensuremath{\times}",
    "\u2264": r"\ensuremath{\leq}",
    "\u2265": r"\ensuremath{\geq}",
    "\u2260": r"\ensuremath{\neq}",
    "\u2248": r"\ensuremath{\approx}",
    "\u2192": r"\ensuremath{\rightarrow}",
    "\u2190": r"\ensuremath{\leftarrow}",
    "\u221e": r"\ensuremath{\infty}",
    "\u00b7": r"\ensuremath{\cdot}",
    "\u00b1": r"\ensuremath{\pm}",
    "\u221a": r"\ensuremath{\surd}",
    "\u2211": r"\ensuremath{\Sigma}",
    "\u2212": r"\ensuremath{-}",
    "\u2026": r"\ldots{}",
    "\u00a0": "~",
    "\u202f": "~",
    "\u2009": r"\,",
    "\u200b": "",
    "\u2013": "--",
    "\u2014": "---",
    "\u2018": "`",
    "\u2019": "'",
    "\u201c": "``",
    "\u201d": "''",
    "\u20ac": r"\texteuro{}",
}
_CHARACTERS.update(
    {
        character: rf"\textsuperscript{{{digit}}}"
        for digit, character in enumerate("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
    }
)
_CHARACTERS.update(
    {character: rf"\textsubscript{{{digit}}}" for digit, character in enumerate(map(chr, range(0x2080, 0x208A)))}
)


def escape(text: str) -> str:
    """Plain text as LaTeX."""
    return "".join(_CHARACTERS.get(character, character) for character in text)


def missing_letters(tex: str) -> list[str]:
    """The characters of a LaTeX text that pdfLaTeX cannot print. (LuaLaTeX can.)"""
    return sorted({character for character in tex if ord(character) > 0x17F or 0x7F <= ord(character) < 0xA1})


def to_article(text: str, title: str, folder: Path) -> tuple[str, list[str]]:
    """The article of a Markdown text whose pictures lie in `folder`, and the letters that pdfLaTeX cannot print."""
    body = _Writer(folder).blocks(markdown.parse(text).tokens)
    letters = missing_letters(body)
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=False,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        block_start_string="((*",
        block_end_string="*))",
        variable_start_string="(((",
        variable_end_string=")))",
        comment_start_string="((=",
        comment_end_string="=))",
    )
    values = {
        "title": inline(markdown.parse_line(title)),
        "body": body,
        "missing_letters": [f"{ord(letter):04X}" for letter in letters],
    }
    return environment.get_template("article.tex").render(values), letters


# --- text within a line ---


def _code(token: Token) -> str:
    # Code is not hyphenated; a line may break after these characters.
    return r"\texttt{" + re.sub(r"(/|\\_|,)", r"\1\\allowbreak{}", escape(token.content)) + "}"


def _link_start(token: Token) -> str:
    target = str(token.attrs["href"])
    if not target.startswith(("http:", "https:")):
        return "{"  # LaTeX knows no path relative to the page
    target = re.sub(r"([%#&{}$^_~])", r"\\\1", target)
    return rf"\href{{{target}}}{{"


_HTML = {
    "<sup>": r"\textsuperscript{",
    "</sup>": "}",
    "<sub>": r"\textsubscript{",
    "</sub>": "}",
    "<mark>": r"\fbox{",
    "</mark>": "}",
}
_INLINE: dict[str, Callable[[Token], str]] = {
    "text": lambda token: escape(token.content),
    "code_inline": _code,
    "math": lambda token: f"\\[{token.content}\\]" if token.info else f"${token.content}$",
    "softbreak": lambda _: "\n",
    "hardbreak": lambda _: "\\newline ",
    "html_inline": lambda token: _HTML.get(token.content, "\\newline "),
    "strong_open": lambda _: r"\textbf{",
    "em_open": lambda _: r"\emph{",
    "link_open": _link_start,
    "strong_close": lambda _: "}",
    "em_close": lambda _: "}",
    "link_close": lambda _: "}",
}


def inline(tokens: Sequence[Token]) -> str:
    """Inline tokens as LaTeX."""
    return "".join(_INLINE[token.type](token) for token in tokens)


# --- blocks ---


class _Writer:
    """Writes block tokens in turn."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def blocks(self, tokens: Sequence[Token]) -> str:
        """LaTeX of all tokens."""
        parts: list[str] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                table, at = markdown.table_at(tokens, at)
                parts.append(_table(table))
            elif token.type == "heading_open":
                level = int(token.tag[1])
                text = inline(tokens[at + 1].children or [])
                at += 2
                if level > 1:  # the title is in the template
                    parts.append(rf"\{_SECTIONS.get(level, 'paragraph')}{{{text}}}")
            elif token.type == "summary_open":  # nothing can be folded on paper
                parts.append(rf"\paragraph{{{inline(tokens[at + 1].children or [])}}}")
                at += 2
            else:
                parts.append(self._block(token))
            at += 1
        return _joined([part for part in parts if part])

    def _block(self, token: Token) -> str:
        """LaTeX of one token: a whole block, or where one begins or ends."""
        if token.type == "inline":
            return inline(token.children or [])
        if token.type in ("fence", "code_block"):
            safe = token.content.rstrip("\n").replace("\\end{verbatim}", "\\end {verbatim}").replace("\t", "    ")
            return f"\\begin{{verbatim}}\n{safe}\n\\end{{verbatim}}"
        if token.type == "figure":
            return self._figure(token)
        return {
            "hr": r"\par\noindent\hrulefill\par",
            "blockquote_open": r"\begin{quote}",
            "blockquote_close": r"\end{quote}",
            "bullet_list_open": r"\begin{itemize}",
            "bullet_list_close": r"\end{itemize}",
            "ordered_list_open": r"\begin{enumerate}",
            "ordered_list_close": r"\end{enumerate}",
            "list_item_open": r"\item{}",
        }.get(token.type, "")

    def _figure(self, token: Token) -> str:
        """A picture; of our plots the PDF."""
        path = markdown.path_of(token)
        caption = inline(token.children or [])
        pdf = Path(path).with_suffix(".pdf")
        if path.endswith(".svg") and (self.folder / pdf).is_file():
            path = str(pdf)
        elif not (self.folder / path).is_file() or Path(path).suffix.lower() not in (".png", ".jpg", ".jpeg", ".pdf"):
            return rf"\emph{{(picture: {caption})}}"
        return (
            "\\begin{figure}[htbp]\n\\centering\n"
            rf"\includegraphics[width=\linewidth,height=0.8\textheight,keepaspectratio]{{{path}}}"
            "\n"
            rf"\caption{{{caption}}}"
            "\n\\end{figure}"
        )


def _joined(parts: Sequence[str]) -> str:
    """Blocks with empty lines between them, which end a paragraph, except where a list item begins or a list ends."""
    text = ""
    for before, part in zip(["", *parts], parts):
        tight = before.startswith((r"\item", r"\begin{itemize}", r"\begin{enumerate}")) or part.startswith(
            (r"\item", r"\end{itemize}", r"\end{enumerate}")
        )
        text += ("" if not text else "\n" if tight else "\n\n") + part
    return text


# --- tables ---


def _columns(table: markdown.Table) -> tuple[str, bool]:
    """The form of each column, and whether cells of one are broken into lines."""
    widths = table.widths
    whole = max(1, sum(min(width, 2 * MAX_CELL) + 2 for width in widths))
    forms, broken = [], False
    others = sum(width + 2 for left, width in zip(table.left, widths) if not left or width <= MAX_CELL)
    for left, width in zip(table.left, widths):
        if left and width > MAX_CELL and others + MAX_CELL / 2 <= MAX_WIDTH:  # else the table is made smaller
            share = 0.92 * min(width, 2 * MAX_CELL) / whole
            forms.append(rf">{{\raggedright\arraybackslash}}p{{{share:.2f}\linewidth}}")
            broken = True
        else:
            forms.append("l" if left else "r")
    return "".join(forms), broken


def _table(table: markdown.Table) -> str:
    """A table. A wide one is made smaller, long cells are broken into lines, and a long table goes over pages."""
    forms, broken = _columns(table)
    wide = sum(min(width, MAX_CELL) + 2 for width in table.widths) > MAX_WIDTH and not broken
    heading, *rows = [" & ".join(map(inline, row)) + r" \\" for row in table.rows]
    if len(rows) > MAX_ROWS and wide:  # a long table cannot be made smaller: several short ones can
        return "\n\n".join(
            _table(markdown.Table([table.rows[0], *table.rows[first : first + MAX_ROWS]], table.left))
            for first in range(1, len(table.rows), MAX_ROWS)
        )
    body = "\n".join(rows)
    if len(rows) > MAX_ROWS:
        return (
            f"{{\\small\\setlength{{\\tabcolsep}}{{4pt}}\n\\begin{{longtable}}{{@{{}}{forms}@{{}}}}\n"
            f"\\toprule\n{heading}\n\\midrule\\endhead\n{body}\n\\bottomrule\n\\end{{longtable}}}}"
        )
    text = (
        f"\\begin{{tabular}}{{@{{}}{forms}@{{}}}}\n"
        f"\\toprule\n{heading}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}"
    )
    if wide:
        text = "\\resizebox{\\linewidth}{!}{%\n" + text + "}"
    return "\\begin{center}\\small\n" + text + "\n\\end{center}"

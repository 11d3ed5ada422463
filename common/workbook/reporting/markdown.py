"""Markdown, parsed by markdown-it-py and prepared for the page and the LaTeX article.

What a report needs beyond CommonMark and tables: comments are left out, `$..$`, `$$..$$`, `\\(..\\)` and `\\[..\\]` are
mathematics, a picture on a separate line is a figure, lines between <details> and </details> can be folded, and of
other HTML only <sup>, <sub>, <mark> and <br> have a meaning. Other tags are text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

MAX_SHORT = 26  # characters of a column that is not broken into lines
_MATH = re.compile(r"\$([^$\s](?:[^$]*[^$\s])?)\$(?!\d)|\$\s+([^$]*?\\[a-z][^$]*?)\s+\$|\\\((.+?)\\\)", re.DOTALL)
_DISPLAYED = re.compile(r"\$\$\s*([^$]+?)\s*\$\$|\\\[\s*(.+?)\s*\\\]", re.DOTALL)
_TAG = re.compile(r"</?su[pb]>|</?mark>|<br\s*/?>")
_FOLD = re.compile(r"<details>\s*(?:<summary>(.*?)</summary>)?\s*")
_SUMMARY = re.compile(r"<summary>(.*?)</summary>\s*")


@dataclass
class Document:
    """A parsed text. Of its token types only `figure` and `math` are not markdown-it's own."""

    tokens: list[Token]
    stray_pictures: list[str] = field(default_factory=list)  # paths of pictures within a line of text


def parse(text: str) -> Document:
    """Parses a text."""
    environment: dict[str, list[str]] = {"stray_pictures": []}
    tokens = parser().parse(text, environment)
    return Document(tokens, environment["stray_pictures"])


def parse_line(text: str) -> list[Token]:
    """The inline tokens of one line of text."""
    (inline,) = parser().parseInline(text, {"stray_pictures": []})
    return inline.children or []


def parser() -> MarkdownIt:
    """The parser, with the rules below."""
    markdown = MarkdownIt("commonmark", {"html": True, "xhtmlOut": False}).enable("table").disable("html_block")
    markdown.block.ruler.before("paragraph", "comment", _comment, {"alt": ["paragraph", "reference", "blockquote"]})
    markdown.block.ruler.before("paragraph", "fold", _fold, {"alt": ["paragraph", "reference", "blockquote"]})
    markdown.inline.ruler.before("escape", "math", _math)
    markdown.core.ruler.push("figures", _figures)
    markdown.core.ruler.push("html", _plain_html)
    return markdown


# --- rules of the parser ---


def _comment(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Drops a comment that fills whole lines; it may contain blank ones."""
    begin = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("<!--", begin) or state.sCount[start] - state.blkIndent >= 4:
        return False
    close = state.src.find("-->", begin)
    if close < 0:
        return False
    last = start + state.src.count("\n", begin, close)
    if state.src[close + 3 : state.eMarks[last]].strip():
        return False  # text follows: the inline parser drops the comment
    if not silent:
        state.line = last + 1
    return True


def _math(state: StateInline, silent: bool) -> bool:
    """`$..$`. A price is not mathematics: a digit must not follow, nor a space the first dollar sign."""
    displayed = _DISPLAYED.match(state.src, state.pos)
    match = displayed or _MATH.match(state.src, state.pos)
    if not match:
        return False
    if not silent:
        token = state.push("math", "", 0)
        token.content = next(filter(None, match.groups()))
        token.info = "displayed" if displayed else ""
    state.pos = match.end()
    return True


def _fold(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Lines from <details>, with a <summary>, to </details>."""

    def line(number: int) -> str:
        return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].strip()

    opening = _FOLD.fullmatch(line(start))
    last = next((number for number in range(start + 1, end) if line(number) == "</details>"), None)
    if not opening or last is None:
        return False
    if silent:
        return True
    first, summary = start + 1, opening[1]
    if summary is None and (match := _SUMMARY.fullmatch(line(first))):
        first, summary = start + 2, match[1]
    state.push("details_open", "details", 1)
    state.push("summary_open", "summary", 1)
    state.push("inline", "", 0).content = summary or "Details"
    state.tokens[-1].children = []
    state.push("summary_close", "summary", -1)
    before, state.lineMax = state.lineMax, last
    state.md.block.tokenize(state, first, last)
    state.lineMax = before
    state.push("details_close", "details", -1)
    state.line = last + 1
    return True


def _figures(state: StateCore) -> None:
    """Makes paragraphs that hold nothing but pictures into figures; pictures within text stay as they were written."""
    tokens: list[Token] = []
    for token in state.tokens:
        children = token.children or []
        pictures = [child for child in children if child.type == "image"]
        if pictures and all(_is_blank(child) or child.type == "image" for child in children):
            tokens.pop()  # paragraph_open
            tokens += [
                Token("figure", "figure", 0, attrs=picture.attrs, children=picture.children, content=picture.content)
                for picture in pictures
            ]
            continue
        for picture in pictures:
            state.env["stray_pictures"].append(path_of(picture))
            picture.type, picture.content = "text", f"![{picture.content}]({path_of(picture)})"
        if token.type == "paragraph_close" and tokens and tokens[-1].type == "figure":
            continue
        tokens.append(token)
    state.tokens = tokens


def _is_blank(token: Token) -> bool:
    return token.type == "softbreak" or (token.type == "text" and not token.content.strip())


def _plain_html(state: StateCore) -> None:
    """Drops comments within text; makes tags without a meaning into text."""
    for token in state.tokens:
        kept = []
        for child in token.children or []:
            if child.type == "html_inline" and not _TAG.fullmatch(child.content):
                if child.content.startswith("<!--"):
                    continue
                child.type = "text"
            kept.append(child)
        if token.children is not None:
            token.children = kept


# --- what both renderers ask ---


def path_of(picture: Token) -> str:
    """The path of a picture or figure, as it was written."""
    return unquote(str(picture.attrs["src"]))


def plain_text(tokens: Sequence[Token]) -> str:
    """The visible characters of inline tokens."""
    parts = []
    for token in tokens:
        if token.type in ("text", "code_inline", "math"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        parts.append(plain_text(token.children or []))
    return "".join(parts)


@dataclass
class Table:
    """The cells of a table: lists of inline tokens. The first row is the heading."""

    rows: list[list[list[Token]]] = field(default_factory=list)
    left: list[bool] = field(default_factory=list)  # per column: flush left

    @property
    def widths(self) -> list[int]:
        """The largest number of characters in each column."""
        return [max(len(plain_text(cell)) for cell in column) for column in zip(*self.rows)]


def table_at(tokens: Sequence[Token], start: int) -> tuple[Table, int]:
    """The table whose table_open is at `start`, and the position of its table_close."""
    table = Table()
    for place in range(start, len(tokens)):
        token = tokens[place]
        if token.type == "table_close":
            return table, place
        if token.type == "tr_open":
            table.rows.append([])
        elif token.type == "th_open":
            table.left.append(token.attrs.get("style") != "text-align:right")
        elif token.type == "inline":
            table.rows[-1].append(token.children or [])
    raise ValueError("a table without its end")


def anchor(heading: str) -> str:
    """The name of a heading in links, as GitHub and most viewers make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def headings(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Each heading_open with a name for it that is unique in the text."""
    seen: dict[str, int] = {}
    for token, inline in zip(tokens, tokens[1:]):
        if token.type == "heading_open":
            name = anchor(plain_text(inline.children or []))
            yield token, f"{name}-{seen[name]}" if name in seen else name
            seen[name] = seen.get(name, 0) + 1

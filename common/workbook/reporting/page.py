"""report.html: one file that holds its style, its plots and its pictures."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from ..core.course import ROOT
from . import markdown, mathematics

TEMPLATES = ROOT / "reports/templates"
INLINE = 'class="inline"'  # of a drawing that becomes part of a page, with its words
WIDE = 100  # characters of a table that is set in smaller type
# A name and what belongs to it, in columns, with at least two spaces between any two; in several lines.
_COLUMNS = re.compile(r"(?:^ {2,}\w+(?: {2,}[^ \n]+)+\n){2,}", re.MULTILINE)
_PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}


def to_page(text: str, title: str, folder: Path, remarks: list[str]) -> str:
    """The page of a Markdown text whose pictures lie in `folder`. Adds to `remarks` what the reader should know."""
    return filled("page.html", title=title, body=to_body(text, Renderer(folder, remarks)))


def to_body(text: str, renderer: Renderer) -> str:
    """The text as HTML: its headings have names, its tables classes, and links to all sections come before them."""
    document = markdown.parse(text)
    for path in document.stray_pictures:
        renderer.remarks.append(f"the picture {path} is within a line of text: put it on a separate line")
    for heading, name in markdown.headings(document.tokens):
        heading.attrSet("id", name)
    _add_contents(document.tokens)
    return _rendered(document.tokens, renderer)


def to_sheet(text: str, title: str) -> str:
    """The page of a Markdown text to print, with room to write below each item of a list and in each empty cell."""
    tokens = [_html('<div class="sheet">')]
    for token in markdown.parse(text).tokens:
        if token.type == "list_item_close":
            tokens.append(_html('<div class="room"></div>'))
        tokens.append(token)
    return filled("page.html", title=title, body=_rendered([*tokens, _html("</div>")], Renderer(Path(), [])))


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )


def filled(template: str, *, body: str, **values: object) -> str:
    """A template with its values. `body`: HTML."""
    return _templates().get_template(template).render(body=Markup(body), **values)


def _html(text: str) -> Token:
    """A line of the page as it is."""
    return Token("html_block", "", 0, content=f"{text}\n")


def _rendered(tokens: list[Token], renderer: Renderer) -> str:
    _style_tables(tokens)
    return str(renderer.render(tokens, markdown.parser().options, {}))


class Renderer(RendererHTML):
    """markdown-it's renderer of HTML, with figures, mathematics and tables that scroll."""

    def __init__(self, folder: Path, remarks: list[str]) -> None:
        """`folder`: where pictures lie; `remarks`: gets what the reader should know."""
        super().__init__()
        self.folder, self.remarks = folder, remarks

    def figure(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        token = tokens[at]
        caption = self.renderInline(token.children or [], options, env)
        plain = markdown.plain_text(token.children or [])
        return embedded(markdown.path_of(token), caption, plain, self.folder, self.remarks) + "\n"

    def fence(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        """A block of code. Where its lines may be broken, a table of keys scrolls instead: its columns stay columns."""
        shown = super().fence(tokens, at, options, env)
        scrolls = r'<span class="columns" tabindex="0">\g<0></span>'
        return _COLUMNS.sub(scrolls, shown) if tokens[at].info.strip() == "text" else shown

    def math(self, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
        kind = f"math {tokens[at].info}".rstrip()
        return f'<span class="{kind}">{mathematics.to_html(tokens[at].content)}</span>'

    def table_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return '<div class="table" tabindex="0">' + self.renderToken(tokens, at, options, env)

    def table_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return self.renderToken(tokens, at, options, env).rstrip("\n") + "</div>\n"


def _add_contents(tokens: list[Token]) -> None:
    """Inserts links to all sections before the first of them."""
    first = None
    links = []
    for at, (opening, inline) in enumerate(zip(tokens, tokens[1:])):
        if opening.type == "heading_open" and opening.tag in ("h2", "h3"):
            first = at if first is None else first
            name = html.escape(markdown.plain_text(inline.children or []))
            links.append(f'<li class="{opening.tag}"><a href="#{opening.attrs["id"]}">{name}</a></li>\n')
    if first is not None:
        tokens.insert(first, _html(f"<nav>\n<p>Contents</p>\n<ul>\n{''.join(links)}</ul>\n</nav>"))


def _style_tables(tokens: Sequence[Token]) -> None:
    """Gives wide tables and the cells of each column their classes."""
    for start, opening in enumerate(tokens):
        if opening.type != "table_open":
            continue
        table, end = markdown.table_at(tokens, start)
        if sum(min(width, markdown.MAX_SHORT) + 2 for width in table.widths) > WIDE:
            opening.attrSet("class", "wide")
        classes = [
            "left short" if left and width <= markdown.MAX_SHORT else "left" if left else "right"
            for left, width in zip(table.left, table.widths)
        ]
        column = 0
        for token in tokens[start:end]:
            if token.type == "tr_open":
                column = 0
            elif token.type in ("th_open", "td_open"):
                token.attrs = {"class": classes[column]}
                column += 1


# --- pictures ---


def embedded(path: str, caption: str, plain: str, folder: Path, remarks: list[str]) -> str:
    """A figure of the page itself: one of our plots as it is, so that its words can be read, any other picture as data.

    `caption`: as HTML; `plain`: as text.
    """
    file = folder / path
    why_not = _why_missing(path, folder)
    if why_not:
        remarks.append(f"the picture {path} {why_not}")
        shown = f"<p><em>(picture missing: {html.escape(path)})</em></p>"
    elif ours := inline_svg(file) if file.suffix == ".svg" else "":
        shown = ours
    else:
        data = base64.b64encode(file.read_bytes()).decode()
        kind = _PICTURES[file.suffix.lower()]
        shown = f'<img src="data:{kind};base64,{data}" alt="{html.escape(plain)}">'
    return f"<figure>{shown}<figcaption>{caption}</figcaption></figure>"


def _why_missing(path: str, folder: Path) -> str:
    """Why a picture cannot be embedded; "" if it can."""
    if "://" in path:
        return "is on the web: save it next to report.md"
    if not (folder / path).is_file():
        return f"is not in {folder}, where report.md is"
    if Path(path).suffix.lower() not in _PICTURES:
        return f"is not of a kind that browsers show ({', '.join(_PICTURES)})"
    return ""


def inline_svg(file: Path) -> str:
    """A plot that matplotlib wrote, or a drawing of the class INLINE; "" for any other SVG."""
    svg = file.read_text(encoding="utf-8", errors="replace")
    width = re.search(r'<svg [^>]*?width="([\d.]+)(pt)?"', svg)
    is_ours = 'id="figure_1"' in svg or svg.startswith(f"<svg {INLINE}")
    if not width or not is_ours or "<script" in svg:
        return ""
    name = re.sub(r"\W+", "-", file.stem)  # identifiers must be unique on the page
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(xlink:href="#|url\(#|aria-labelledby="|(?<=-title) (?=\S+-desc"))', rf"\g<1>{name}-", svg)
    for size in ("width", "height"):
        svg = re.sub(rf'^<svg ([^>]*?){size}="[\d.]+(?:pt)?" ', r"<svg \1", svg, count=1)
    pixels = float(width[1]) * (4 / 3 if width[2] else 1)
    style = f'style="max-width: {pixels:.0f}px; min-width: {0.55 * pixels:.0f}px"'
    return svg.replace("<svg ", f"<svg {style} ", 1).strip()

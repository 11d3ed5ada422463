"""The files of the course as pages: documents, and sources with colours. `open` serves them, `site` writes them.

A *place* is the path of a file below the workbook's root, such as labs/03-bitonic/README.md. Each has one page, and the
links between pages are relative, so that a folder of pages can be put anywhere.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from markdown_it.token import Token

from ..core.course import ROOT, StepFile, labs, steps
from ..player.page import highlighted
from ..reporting import markdown
from ..reporting import page as pages

FOLDERS = ("labs", "common", "reports")  # whose files are shown
AS_THEY_ARE = (".svg", ".png", ".ipynb")  # pictures, and a notebook to download
TEXTS = (".md", ".cu", ".cuh", ".h", ".cpp", ".js", ".py", ".sh", ".build", ".toml", ".csv", ".txt", "")
MOST_BYTES = 1_000_000
_WEB = re.compile(r"[a-z][a-z0-9+.-]*:")


def page_of(place: str) -> str:
    """The path of a place's page: labs/03-bitonic/index.html."""
    folder, name = posixpath.split(place)
    if name == "README.md":
        return posixpath.join(folder, "index.html")
    if name.endswith(AS_THEY_ARE):
        return place
    return f"{place.removesuffix('.md')}.html"


def place_of(page: str, root: Path = ROOT) -> str:
    """The place of a page's path; "" if there is none."""
    stem = page.removesuffix(".html")
    candidates = [re.sub(r"(^|/)index$", r"\1README.md", stem), f"{stem}.md", stem]
    return next((place for place in candidates if is_shown(place, root) and page_of(place) == page), "")


def is_shown(place: str, root: Path = ROOT) -> bool:
    """Whether a place is a file of the course that has a page, or is its own."""
    path = Path(place)
    if path.is_absolute() or any(part.startswith(".") for part in path.parts):
        return False
    if len(path.parts) == 1 and path.suffix != ".md" and place != "LICENSE":
        return False
    if len(path.parts) > 1 and path.parts[0] not in FOLDERS:
        return False
    file = (root / path).resolve()
    is_inside = file.is_relative_to(root.resolve()) and file.is_file()
    return is_inside and path.suffix in (*AS_THEY_ARE, *TEXTS) and file.stat().st_size <= MOST_BYTES


def relative(target: str, page: str) -> str:
    """The link from a page to another one."""
    return quote(posixpath.relpath(target, posixpath.dirname(page) or "."))


# --- parts of pages ---


class CourseRenderer(pages.Renderer):
    """Renders a document whose links lead to pages of the course, and whose figures are files beside it."""

    def __init__(self, course: Course, place: str) -> None:
        super().__init__(Path(), [])
        self.course, self.place = course, place
        self._is_linked = True

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        address = self.course.address(str(tokens[at].attrs["href"]), self.place)
        self._is_linked = bool(address)
        if not address:
            return ""  # what it leads to is not part of the course
        tokens[at].attrSet("href", address)
        return self.renderToken(tokens, at, options, env)

    def link_close(self, _tokens: Sequence[Token], _at: int, _options: Any, _env: Any) -> str:
        return "</a>" * self._is_linked

    def figure(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        token = tokens[at]
        caption = self.renderInline(token.children or [], options, env)
        plain = html.escape(markdown.plain_text(token.children or []))
        address = self.course.address(markdown.path_of(token), self.place)
        if not address:
            return f"<figure><figcaption>{caption}</figcaption></figure>\n"
        picture = f'<img src="{address}" alt="{plain}">'
        return f'<figure><a href="{address}">{picture}</a><figcaption>{caption}</figcaption></figure>\n'

    def fence(self, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
        token = tokens[at]
        is_code = token.info.strip() in ("cuda", "cpp")
        text = "\n".join(highlighted(token.content)) if is_code else html.escape(token.content.rstrip("\n"))
        return f'<pre tabindex="0"><code>{text}</code></pre>\n'


def source_body(place: str, text: str) -> str:
    """A source, whose lines have names: #L12."""
    rows = (f'<span id="L{number}">{line}</span>\n' for number, line in enumerate(highlighted(text), 1))
    return f'<h1>{html.escape(place)}</h1>\n<pre class="source" tabindex="0"><code>{"".join(rows)}</code></pre>'


@dataclass(frozen=True)
class StepLinks:
    """A step in the list that the pages of its lab begin with."""

    name: str
    file: str
    player: str  # "": there is none


class Course:
    """The course below a root."""

    def __init__(self, root: Path = ROOT, players: Mapping[StepFile, str] = {}, live: bool = False) -> None:
        """`players`: the paths of steps' players. `live`: the pages show the student's work."""
        self.root, self.players, self.is_live = root, players, live
        self.linked: dict[str, None] = {}  # places that the pages made so far link to

    def address(self, link: str, place: str) -> str:
        """A link of a document as a link of its page; "" if it leads out of the course."""
        if _WEB.match(link):
            return link
        path, mark, name = link.partition("#")
        to = posixpath.normpath(posixpath.join(posixpath.dirname(place), unquote(path))) if path else place
        address = self._address_of(to, place)
        return (address if path else "") + mark + name if address else ""

    def _address_of(self, target: str, place: str) -> str:
        """The link from a place's page to another's; "" if that is not part of the course."""
        if (self.root / target).is_dir():
            target = posixpath.join(target, "README.md")
        if not is_shown(target, self.root):
            return ""
        self.linked[target] = None
        return relative(page_of(target), page_of(place))

    def fragment(self, text: str, place: str) -> str:
        """A part of a document as HTML, without names for its headings."""
        return str(CourseRenderer(self, place).render(markdown.parse(text).tokens, markdown.parser().options, {}))

    def page(self, place: str) -> str:
        """The page of a text. Raises OSError if it cannot be read."""
        text = (self.root / place).read_text(encoding="utf-8", errors="replace")
        is_document = place.endswith(".md")
        body = pages.to_body(text, CourseRenderer(self, place)) if is_document else source_body(place, text)
        title = re.search(r"^# (.+)$", text, re.MULTILINE) if is_document else None
        return pages.filled(
            "course.html",
            body=body,
            title=title[1] if title else place,
            is_handout=posixpath.basename(place) == "README.md",
            is_live=self.is_live,
            **self._navigation(place),
        )

    def _navigation(self, place: str) -> dict[str, Any]:
        """What the page shows of the course around it."""
        parts = Path(place).parts
        lab = parts[1] if len(parts) > 2 and parts[0] == "labs" and parts[1] in labs(self.root) else ""
        handouts = {name: f"labs/{name}/README.md" for name in labs(self.root)}
        top = {"Course": "README.md", "Labs": "labs/README.md", **handouts, "Results": "reports/RESULTS.md"}
        own = {"Handout": "README.md", "Reference": "REFERENCE.md", "Bug hunt": "bug_hunt.cu"} if lab else {}
        return {
            "lab": lab,
            "home": relative(".", page_of(place)),
            "top": self._links(top, place),
            "own": self._links({words: f"labs/{lab}/{name}" for words, name in own.items()}, place),
            "steps": [self._step(step, place) for step in steps(lab, self.root)] if lab else [],
        }

    def _links(self, places: dict[str, str], place: str) -> list[tuple[str, str, bool]]:
        """Words, address, and whether this is the page itself, of those places that there are."""
        found = ((words, self._address_of(target, place), target == place) for words, target in places.items())
        return [link for link in found if link[1]]

    def _step(self, step: StepFile, place: str) -> StepLinks:
        player = self.players.get(step, "")
        return StepLinks(
            f"{step.number:02} {step.name}",
            self._address_of(f"labs/{step.file}", place),
            relative(player, page_of(place)) if player else "",
        )

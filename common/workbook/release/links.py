"""Whether the links of documents lead anywhere."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from markdown_it.token import Token

from ..reporting import markdown


def _targets(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        target = token.attrs.get("href") or token.attrs.get("src")
        if target:
            yield str(target)
        yield from _targets(token.children or [])


def _anchors(text: str) -> set[str]:
    return {name for _, name in markdown.headings(markdown.parse(text).tokens)}


def dead(folder: Path, files: Iterable[str]) -> list[str]:
    """For each link of the Markdown files among `files` that leads nowhere in the folder, a sentence that says so."""
    found = []
    for file in sorted(file for file in files if file.endswith(".md")):
        text = (folder / file).read_text(encoding="utf-8")
        for target in _targets(markdown.parser().parse(text, {"stray_pictures": []})):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue  # on the web
            path, _, name = unquote(target).partition("#")
            place = ((folder / file).parent / path) if path else folder / file
            inside = place.resolve().is_relative_to(folder.resolve())
            if not inside or not place.exists():
                found.append(f"{file}: the link {target} leads nowhere")
            elif name and place.suffix == ".md" and name not in _anchors(place.read_text(encoding="utf-8")):
                found.append(f"{file}: the link {target} leads to no heading of {path or file}")
    return found


# --- pages ---


class Page(HTMLParser):
    """The links, names and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []  # that a reader may go to
        self.loaded: list[str] = []  # with the page
        self.names: set[str] = set()
        self.words: list[str] = []
        self._is_text = True
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, "str | None"]]) -> None:
        self._is_text = tag not in ("script", "style")
        for name, value in attrs:
            if name == "href" and tag == "a":
                self.targets.append(value or "")
            elif name in ("href", "src", "srcset", "data", "action", "poster"):
                self.loaded.append(value or "")
            elif name == "id":
                self.names.add(value or "")

    def handle_endtag(self, tag: str) -> None:
        self._is_text = True

    def handle_data(self, data: str) -> None:
        if self._is_text:
            self.words.append(data)

    @property
    def text(self) -> str:
        """What a reader sees."""
        return "".join(self.words)


def pages_in(folder: Path, files: Iterable[str]) -> dict[str, Page]:
    """The pages among `files`, by their paths in the folder."""
    return {file: Page((folder / file).read_text(encoding="utf-8")) for file in files if file.endswith(".html")}


def dead_in_pages(folder: Path, pages: Mapping[str, Page]) -> list[str]:
    """For each link of the pages that leads nowhere in the folder, and for whatever a page would load from elsewhere, a
    sentence that says so."""
    found = []
    for file, page in pages.items():
        found += [f"{file} loads {source[:60]}" for source in page.loaded if re.match(r"(?!data:)[a-z]+:|//", source)]
        for target in [*page.targets, *(source for source in page.loaded if not source.startswith("data:"))]:
            if re.match(r"[a-z][a-z0-9+.-]*:|//", target):
                continue  # on the web
            path, _, name = unquote(target).partition("#")
            place = ((folder / file).parent / path).resolve() if path else (folder / file).resolve()
            inside = place.is_relative_to(folder.resolve()) and place.is_file()
            if not inside:
                found.append(f"{file}: the link {target} leads nowhere")
            elif name and name not in pages[place.relative_to(folder.resolve()).as_posix()].names:
                found.append(f"{file}: the link {target} leads to a part that {path or file} does not have")
    return found

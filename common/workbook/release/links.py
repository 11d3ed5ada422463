"""Whether the links of documents lead anywhere."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from markdown_it.token import Token

from ..reporting import markdown


def _anchor(heading: str) -> str:
    """The name that GitHub and most viewers give to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _targets(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        target = token.attrs.get("href") or token.attrs.get("src")
        if target:
            yield str(target)
        yield from _targets(token.children or [])


def _anchors(text: str) -> set[str]:
    tokens = markdown.parser().parse(text, {"stray_pictures": []})
    names: dict[str, int] = {}
    found = set()
    for opening, inline in zip(tokens, tokens[1:]):
        if opening.type == "heading_open":
            name = _anchor(markdown.plain_text(inline.children or []))
            found.add(name if name not in names else f"{name}-{names[name]}")
            names[name] = names.get(name, 0) + 1
    return found


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

"""The plots of a report: each is drawn again only if what it shows, or the code that draws it, has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ..core import files
from .measure import known_in

FORMATS = ("svg", "png", "pdf")


@cache
def _drawing_code() -> str:
    """A digest of this package's sources."""
    total = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        total.update(path.read_bytes())
    return total.hexdigest()


class Plots:
    """The plots in a folder, and what each was drawn from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._list = folder / "drawn.json"
        self._marks = known_in(self._list)

    def have(self, name: str, content: object, draw: Callable[[Path], bool]) -> bool:
        """Whether there is a plot of `content`; `draw` writes it to the path that it gets, or returns False."""
        mark = hashlib.sha256(f"{_drawing_code()} {content!r}".encode()).hexdigest()[:16]
        known = self._marks.get(name)
        if known == f"{mark} nothing":
            return False
        if known == mark and all((self.folder / f"{name}.{form}").is_file() for form in FORMATS):
            return True
        drawn = draw(self.folder / name)
        self._marks[name] = mark if drawn else f"{mark} nothing"
        files.write_whole(self._list, json.dumps(self._marks, indent=1) + "\n")
        return drawn

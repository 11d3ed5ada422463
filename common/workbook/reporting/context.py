"""What the parts of a report are made from, and its plots.

Each plot is drawn again only if what it shows, or the code that draws it, has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..core import files
from ..core.judge_types import Step
from ..core.rows import Row, verified, whole
from ..core.timelines import Recorded
from . import plot
from .gather import Judged


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
        self._marks = files.known_in(self._list)

    def have(self, name: str, content: object, draw: Callable[[Path], bool]) -> bool:
        """Whether there is a plot of `content`; `draw` writes it to the path that it gets, or returns False."""
        mark = hashlib.sha256(f"{_drawing_code()} {content!r}".encode()).hexdigest()[:16]
        known = self._marks.get(name)
        if known == f"{mark} nothing":
            return False
        if known == mark and all((self.folder / f"{name}.{form}").is_file() for form in plot.FORMATS):
            return True
        drawn = draw(self.folder / name)
        self._marks[name] = mark if drawn else f"{mark} nothing"
        files.write_whole(self._list, json.dumps(self._marks, indent=1) + "\n")
        return drawn


RECORDED = "the solution, recorded"  # what the measurements that come with the workbook are of

Draw = Callable[[Sequence[Row], str, Path], bool]


@dataclass
class Context:
    """The measurements of one report, and where its plots go."""

    lab: str
    folder: Path
    rows: Sequence[Row]
    kind: str  # the build that is reported: cpu or cuda
    steps: Sequence[Step] = ()  # the lab's table
    device: Sequence[tuple[str, str]] = ()  # what the runner reports about its device
    others: Sequence[tuple[str, Sequence[Row]]] = ()  # machines to compare with
    labs: Sequence[tuple[str, Sequence[Row]]] = ()  # "" or a remark, and what a machine has measured of the other labs
    solution: bool = False
    profiled: Mapping[str, Any] | None = None  # the result of gather.profile()
    verdicts: Mapping[str, Judged] = field(default_factory=dict)  # the result of gather.verdicts()
    picture: str = ""  # the caption of plots/run.svg
    timelines: Sequence[Recorded] = ()  # of the steps that sort host memory
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)  # sweep -> sentences on what was not measured
    plots: bool = field(default_factory=plot.available)

    def own(self) -> list[Row]:
        """The verified rows of this lab's steps, in the build that is reported."""
        return [row for row in verified(self.rows) if row.lab == self.lab and row.build == self.kind]

    def figure(self, name: str, draw: Draw, caption: str, rows: Sequence[Row] | None = None) -> str:
        """The Markdown of a plot in plots/, drawn from `rows` or from all; "" if it has nothing to show."""
        shown = self.rows if rows is None else rows
        return self.plot(name, caption, shown, lambda stem: draw(shown, self.lab, stem))

    def plot(self, name: str, caption: str, content: object, draw: Callable[[Path], bool]) -> str:
        """The same for a plot of anything; `content` is all that it shows."""
        if not self.plots or not Plots(self.folder / "plots").have(name, content, draw):
            return ""
        return f"![{caption}](plots/{name}.svg)"

    def not_measured(self, *sweeps: str) -> list[str]:
        """Sentences on what these sweeps left out."""
        return list(dict.fromkeys(sentence for name in sweeps for sentence in self.left_out.get(name, [])))


def failures(rows: Sequence[Row], lab: str) -> tuple[list[Row], list[Row]]:
    """A lab's failed measurements, and the launch shapes that took too long for a step that ends with others."""
    own = [row for row in whole(rows) if row.lab == lab]
    ends = {row.name for row in verified(own)}
    bad = [row for row in own if row.status not in ("verified", "unsupported")]
    slow = [row for row in bad if row.status == "hung" and row.blocks and row.name in ends]
    return [row for row in bad if row not in slow], slow

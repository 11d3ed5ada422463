"""Access pictures of recorded runs, which the handouts show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import access_picture, trace


@dataclass(frozen=True)
class RecordedRun:
    """A run of a step's solution."""

    lab: str
    step: int
    n: int
    task: str = "sort"


def renumbered(text: str) -> str:
    """The trace with small numbers in place of code addresses, which differ from build to build."""
    lines = [line.split("\t") for line in text.splitlines()]
    codes: dict[str, str] = {}
    for fields in lines:
        if fields[0] == "access":
            fields[3] = codes.setdefault(fields[3], f"c{len(codes)}")
    for fields in lines:
        if fields[0] == "code":
            fields[1] = codes.get(fields[1], fields[1])
            fields[2] = fields[2].rpartition("solutions/")[2].rpartition("labs/")[2]
    return "".join("\t".join(fields) + "\n" for fields in lines)


def draw(run: RecordedRun, path: Path) -> str:
    """The SVG text of the trace at `path`, whose first line is the title."""
    text = path.read_text(encoding="utf-8")
    title = text.partition("\n")[0].partition("\t")[2]
    return access_picture.draw(trace.read(text), [], title, run.n)

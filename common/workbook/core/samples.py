"""What the demo sorts: uniform keys, the bytes of a real file, and the coordinates of the handouts' figures."""

from __future__ import annotations

import array
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import files, machine
from .course import BUILD, ROOT
from .judge_types import Step


@dataclass(frozen=True)
class Sample:
    """One input of the demo."""

    name: str
    input: str  # for the judge
    keys: int  # at most
    type: str | None  # None: each lab's own

    def fits(self, step: Step) -> bool:
        """Whether a step takes keys of the sample's type."""
        return self.type is None or step.takes(self.type)


def _candidates() -> Iterable[str]:
    """Files that are on every machine that has got this far, the large ones last."""
    yield os.path.realpath(sys.executable)
    yield from (str(path) for path in sorted((BUILD / "common/gold").glob("gold-*")) if path.is_file())
    cxx = machine.compiler()
    if cxx:
        compiler_proper = machine.answer(*cxx, "-print-prog-name=cc1plus")
        if compiler_proper and os.path.isfile(compiler_proper):
            yield compiler_proper


def real_file(folder: Path, size: int) -> tuple[Path, int, str]:
    """A copy of the first `size` bytes of a real file, or of the largest one: its path, bytes, and the file's name."""
    best, most = "", -1
    for path in _candidates():
        if os.path.getsize(path) > most:
            best, most = path, os.path.getsize(path)
        if most >= size:
            break
    taken = min(size, most) // 8 * 8  # whole keys of every type
    copy = folder / "real-file.bin"
    with open(best, "rb") as file:
        files.write_whole(copy, file.read(taken))
    return copy, taken, best


def coordinates(folder: Path) -> tuple[Path, int]:
    """A file of the coordinates of the handouts' figures as 32-bit floats: its path and their number."""
    found = array.array("f")
    for path in sorted(ROOT.glob("labs/*/figures/*.svg")):
        found.extend(float(text) for text in re.findall(r' (?:x|y|x1|x2|y1|y2|cx|cy)="(-?[0-9.]+)"', path.read_text()))
    path = folder / "coordinates.bin"
    files.write_whole(path, found.tobytes())
    return path, len(found)


def choose(folder: Path, keys: int) -> tuple[list[Sample], str]:
    """The samples, made in `folder`, and a sentence about them."""
    file, size, name = real_file(folder, 8 * keys)
    points, number = coordinates(folder)
    words = (
        f"file: the bytes of {name} as keys; coords: {number} coordinates\nof the handouts' figures as 32-bit floats"
    )
    return [
        Sample("uniform", "uniform", keys, None),
        Sample("file", f"file:{file}", min(keys, size // 8), None),
        Sample("coords", f"file:{points}", min(keys, number), "f32"),
    ], words

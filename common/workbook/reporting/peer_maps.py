"""How many times as fast as the fastest other library a step is: a map over inputs and numbers of keys for each type.

The rows are those of `bench --preset peers`. Larger numbers of keys were timed by reports/records/measure.cpp.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..core import course
from ..core import rows as row_files
from ..core.console import grouped
from ..core.rows import Row
from ..pictures import theme
from ..pictures.svg import Drawing
from . import plot
from .selection import gold_name
from .tables import count

# Labs whose step is compared with sorts of the same kind only: the last word of their names.
RIVALS = {"02-merge": "merge"}
WIDE, HIGH, LEFT, TOP = 62, 22, 118, 74  # a cell; what is left of the first, and above it
MUCH = 1.5  # times as fast


class Map(NamedTuple):
    """What one map shows: a line of a lab's table, and the type of its keys."""

    lab: str
    name: str
    type: str

    @property
    def stem(self) -> str:
        """Its file's name, without the ending."""
        return f"{self.lab}-{self.name}-{self.type}"

    def __str__(self) -> str:
        return f"{self.name} of {self.lab}, {self.type}"


class Cell(NamedTuple):
    """The step's speed as a multiple of that of its fastest rival, and who that is."""

    ratio: float
    rival: str


Place = tuple[str, int]  # input, n
Cells = dict[Place, Cell]


# --- from rows to cells ---


def _of_bench(rows: Sequence[Row]) -> Iterator[tuple[Map, Place, Cell]]:
    """Each step beside the fastest rival for the same keys."""
    golds: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row.is_gold:
            golds.setdefault(row_files.work(row), []).append(row)
    for row in rows:
        kind = RIVALS.get(row.lab, "")
        rivals = [gold for gold in golds.get(row_files.work(row), []) if gold.name.split()[-1].endswith(kind)]
        best = max(rivals, key=lambda gold: gold.keys_per_s or 0, default=None)
        ratio = None if row.is_gold else row_files.share_of_gold(row, best)
        if best and ratio:
            yield Map(row.lab, row.name, row.type), (row.input, row.n), Cell(ratio, gold_name(best.name, best.build))


def _of_program(path: Path) -> Iterator[tuple[Map, Place, Cell]]:
    """The same from the output of measure.cpp, in which the step follows its rivals."""
    rivals: list[Cell] = []
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            library, _, name = line["sort"].partition(" ")
            if library not in course.labs():
                rivals.append(Cell(float(line["ratio"]), line["sort"]))
                continue
            fitting = [cell for cell in rivals if cell.rival.endswith(RIVALS.get(library, ""))]
            if fitting:
                yield Map(library, name, line["type"]), (line["input"], int(line["n"])), min(fitting)
            rivals = []


def _is_of_program(path: Path) -> bool:
    return path.read_text(encoding="utf-8").startswith("machine,commit,sort,")


def bench_rows(folder: Path) -> list[Row]:
    """The verified rows of `bench` in a folder."""
    paths = [path for path in sorted(folder.glob("*.csv")) if not _is_of_program(path)]
    return [row for path in paths for row in row_files.whole(row_files.verified(row_files.read(path)))]


def maps(folder: Path) -> dict[Map, Cells]:
    """All maps of a folder's CSV files. Of several measurements of a cell, the worst one for the step counts."""
    found = list(_of_bench(bench_rows(folder)))
    for path in sorted(folder.glob("*.csv")):
        found += _of_program(path) if _is_of_program(path) else []
    every: dict[Map, Cells] = {}
    for which, place, cell in found:
        cells = every.setdefault(which, {})
        cells[place] = min(cell, cells.get(place, cell))
    return every


# --- in words ---


def worst(every: Mapping[Map, Cells]) -> tuple[Map, Place, Cell]:
    """Where a rival is fastest."""
    cells = ((which, place, cell) for which, own in every.items() for place, cell in own.items())
    return min(cells, key=lambda item: item[2].ratio)


def sentence(every: Mapping[Map, Cells]) -> str:
    """How many cells there are, in how many a rival is faster, and the worst one."""
    ratios = [cell.ratio for cells in every.values() for cell in cells.values()]
    slower = sum(ratio < 1 for ratio in ratios)
    which, (input_, n), cell = worst(every)
    faster = f"In {slower or 'none'} of them, another library is faster."
    *others, last = [
        f"{lab[:2]} (with {RIVALS[lab]} sorts)" if lab in RIVALS else lab[:2]
        for lab in sorted({own.lab for own in every})
    ]
    compared = f"labs {', '.join(others)} and {last}" if others else f"lab {last}"
    return (
        f"The records of {compared} were compared with other libraries for {len(ratios)} combinations of input, type "
        f"and number of keys. {faster} The smallest factor is {grouped(cell.ratio)}: {which}, {input_}, "
        f"n = {count(n)}, compared with {cell.rival}."
    )


# --- drawn ---


def _described(which: Map, cells: Cells) -> str:
    _, (input_, n), cell = worst({which: cells})
    slower = [(place, own) for place, own in cells.items() if own.ratio < 1]
    listed = "; ".join(f"{name}, {plot.count_text(keys)} keys: {own.ratio:.2f}" for (name, keys), own in slower)
    return (
        f"A table with a line for each input and a column for each number of keys. Smallest factor: {cell.ratio:.2f}, "
        f"{input_}, {plot.count_text(n)} keys, compared with {cell.rival}. "
        + (f"Below 1: {listed}." if slower else "No factor is below 1.")
    )


def _cell(drawing: Drawing, x: float, y: float, cell: Cell) -> None:
    slower = cell.ratio < 1
    fill = theme.ORANGE_FILL if slower else theme.BLUE_FILL if cell.ratio >= MUCH else theme.GREY_FILL
    drawing.rect(x + 1, y + 1, WIDE - 2, HIGH - 2, fill)
    if slower:
        drawing.rect(x + 2, y + 2, WIDE - 4, HIGH - 4, "none", theme.ORANGE, width=2)
    text = f"{cell.ratio:.2f}" if cell.ratio < 9.995 else f"{cell.ratio:.0f}"
    drawing.text(x + WIDE / 2, y + 15, text, 11.5, weight="bold" if slower else "normal")


def draw(which: Map, cells: Cells) -> Drawing:
    """The map of one type. Cells in which a rival is faster have a frame and bold numbers, and another colour."""
    inputs = list(dict.fromkeys(input_ for input_, _ in cells))
    sizes = sorted({n for _, n in cells})
    title = f"{which.name} of {which.lab}, {which.type}: times the speed of the fastest other library"
    width = max(LEFT + WIDE * len(sizes) + 16, 560)
    drawing = Drawing(width, TOP + HIGH * len(inputs) + 14, title, _described(which, cells))
    drawing.text(16, 24, title, 13, anchor="start")
    words = f"framed and bold: the other library is faster; blue: {MUCH} times its speed and more"
    drawing.text(16, 42, words, 11, theme.MUTED, "start")
    for column, n in enumerate(sizes):
        drawing.text(LEFT + WIDE * (column + 0.5), TOP - 8, plot.count_text(n), 11.5, theme.MUTED)
    for line, input_ in enumerate(inputs):
        y = TOP + HIGH * line
        drawing.text(LEFT - 8, y + 15, input_, 11.5, anchor="end")
        for column, n in enumerate(sizes):
            if (input_, n) in cells:
                _cell(drawing, LEFT + WIDE * column, y, cells[input_, n])
    return drawing


def drawings(every: Mapping[Map, Cells]) -> dict[str, str]:
    """The SVG of each map, by the file's name."""
    return {f"{which.stem}.svg": draw(which, cells).svg() for which, cells in every.items()}

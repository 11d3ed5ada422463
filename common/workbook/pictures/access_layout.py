"""Where the columns of an access picture lie, and the text that appears under the pointer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..core.judge_types import Finding
from .accesses import Mark, Panel, Place
from .trace import Access, Trace, key_of, without_folders

LANE, COLUMN_GAP, LAUNCH_GAP, FLOW, DIGIT = 14, 15, 20, 26, 6
LEFT = 64
MAX_DIGITS = 10


def lanes(marks: Iterable[Mark], wires: Mapping[Place, int]) -> tuple[list[tuple[Mark, int]], int]:
    """Puts overlapping comparators side by side: (mark, lane), and the number of lanes."""
    taken: list[int] = []
    placed: list[tuple[Mark, int]] = []
    for mark in sorted(marks, key=lambda m: sorted(place[1] for place in m.reads)):
        low, high = sorted(wires.get(place, len(wires)) for place in mark.reads)
        lane = next((i for i, end in enumerate(taken) if end < low), len(taken))
        if lane == len(taken):
            taken.append(high)
        taken[lane] = high
        placed.append((mark, lane))
    return placed, len(taken)


def counts(marks: Iterable[Mark], panel: Panel) -> dict[Place, str]:
    """What the last atomic on each place has made of it; without numbers that are too long to be counts."""
    last: dict[Place, Access] = {}
    for access in (a for mark in marks for a in mark.accesses if a.way == "atomic" and not a.outside):
        place = panel.places(access)[0]
        if place not in last or last[place].number < access.number:
            last[place] = access
    values = {place: key_of(a.value, a.bytes, panel.key_type) for place, a in last.items()}
    texts = {place: f"{value:g}" if isinstance(value, float) else f"{value}" for place, value in values.items()}
    return {place: text for place, text in texts.items() if len(text) <= MAX_DIGITS}


@dataclass
class Column:
    """One column, across all panels."""

    launch: int
    interval: int
    lanes: int = 0
    flows: bool = False
    dots: bool = False
    counts: int = 0  # the most digits of a counter's value
    x: float = 0.0

    @property
    def width(self) -> float:
        parts = [(self.lanes - 1) * LANE] if self.lanes else []
        parts += [FLOW] if self.flows else [10] if self.dots else []
        return sum(parts) + (LANE if len(parts) > 1 else 0) + (DIGIT * self.counts + 4 if self.counts else 0)

    @property
    def reads_at(self) -> float:
        """The x of reads, except those of comparators."""
        return self.x + (self.lanes * LANE if self.lanes and (self.flows or self.dots) else 0)

    @property
    def writes_at(self) -> float:
        """The x of writes."""
        return self.reads_at + (FLOW if self.flows else 10)


def lay_columns(keys: Iterable[tuple[int, int]], panels: Iterable[Panel]) -> tuple[list[Column], float]:
    """The columns from left to right, and the x where they end."""
    columns: list[Column] = []
    x: float = LEFT + 22
    before: int | None = None
    for launch, interval in keys:
        column = Column(launch, interval)
        for panel in panels:
            marks = panel.marks.get((launch, interval), [])
            pairs = [m for m in marks if m.kind in ("exchange", "compare")]
            column.lanes = max(column.lanes, lanes(pairs, panel.wires)[1])
            column.flows |= any(edge[1] == (launch, interval) for m in marks for edge in m.edges)
            column.dots |= any(m.kind in ("dots", "flow") for m in marks)
            values = counts(marks, panel).items()
            column.counts = max([column.counts, *(len(text) for place, text in values if place in panel.wires)])
        if before is not None:
            x += 2 * COLUMN_GAP + (LAUNCH_GAP if before != launch else 0)
        column.x, before = x, launch
        x += column.width
        columns.append(column)
    return columns, x


def _described(access: Access, panel: Panel, run: Trace) -> str:
    place = panel.indexes(access)
    words = {"load": "reads", "store": "writes", "atomic": "atomically changes"}[access.way]
    where = f"{place[0]}" if len(place) == 1 else f"{place[0]} to {place[-1]}"
    line = run.lines.get(access.code, "")
    value = key_of(access.value, access.bytes, panel.key_type)
    text = f"{words} {where}" + ("" if access.outside else f": {value}")
    text += f" ({without_folders(line)})" if line else ""
    if access.conflict:
        text += f"; bank conflict: its warp takes {access.conflict[0]} wavefronts, not {access.conflict[1]}"
    return text + "; a race" * access.races + "; a fault" * (access.faulty and not access.races)


def hover(mark: Mark, panel: Panel, run: Trace) -> str:
    """The text under the pointer."""
    first = mark.accesses[0]
    threads = list(dict.fromkeys(a.thread for a in mark.accesses))
    if len(threads) > 1:  # all do the same
        return f"block {first.block}, {len(threads)} threads: " + " and ".join(
            dict.fromkeys(_described(a, panel, run) for a in mark.accesses)
        )
    head = f"block {first.block}, thread {first.thread}"
    if mark.kind == "exchange":
        head += ": swapped" if mark.swapped else ": already in order"
    return "\n".join([head, *(_described(a, panel, run) for a in mark.accesses)])


def in_words(finding: Finding) -> str:
    """A finding on one line, with file names without their folders."""
    clauses = "; ".join(line.strip() for line in finding.text.split("\n"))
    return without_folders(f"{finding.file}:{finding.line}: {finding.kind}: {clauses}")

"""What an access picture shows: the arrays, their places, and what each group of accesses does to them.

The places of a panel are its wires: which of them are drawn, and in which order, is decided here, too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .trace import Access, Array, Trace, without_folders

Place = tuple[Array, int]
Cell = tuple[int, int]  # a column: (launch, barrier interval)

MAX_PLACES = 64  # in one panel
MAX_PANELS = 8
MAX_COLUMNS = 40  # unless launches are given


@dataclass(eq=False)
class Mark:
    """What a group of accesses does to one array in one column."""

    kind: str  # "exchange", "compare", "flow", "dots"
    accesses: list[Access]
    reads: list[Place] = field(default_factory=list)
    writes: list[Place] = field(default_factory=list)
    edges: list[tuple[Place, Cell, Place]] = field(
        default_factory=list
    )  # a value's way: (read at, in column, written to)
    down: bool = True  # a comparator's direction: the larger value goes to the higher place
    tied: bool = False  # equal values have no direction
    swapped: bool = False
    carry: Place | None = None  # where the sum was written that this one adds to

    @property
    def cell(self) -> Cell:
        return self.accesses[0].launch, self.accesses[0].interval

    @property
    def wrong(self) -> bool:
        return any(a.wrong or a.conflict for a in self.accesses)


@dataclass
class Panel:
    """One array; of shared memory, that of one block of one kernel. Or two arrays that take turns."""

    arrays: dict[Array, int]  # array -> bytes before its place 0
    block: int
    name: str
    accesses: list[Access]
    size: int = 1  # bytes per place
    of_several: bool = False  # other blocks have the array, too
    key_type: str = ""  # if its values are keys
    wires: dict[Place, int] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)  # of the wires
    gaps: list[int] = field(default_factory=list)  # wires before which places are left out
    remarks: list[str] = field(default_factory=list)
    members: set[Access] = field(default_factory=set)
    marks: dict[Cell, list[Mark]] = field(default_factory=dict)

    @property
    def shared(self) -> bool:
        return next(iter(self.arrays)).space == "shared"

    @property
    def title(self) -> str:
        return f"{self.name}, block {self.block}" if self.of_several else self.name

    def indexes(self, access: Access) -> range:
        """The indexes that an access touches."""
        offset = access.offset - self.arrays[access.array]
        first = offset // self.size
        return range(first, max(first + 1, (offset + access.bytes) // self.size))

    def places(self, access: Access) -> list[Place]:
        """The places that an access touches."""
        return [(access.array, index) for index in self.indexes(access)]

    def touched(self) -> list[int]:
        """All indexes that are touched, in order."""
        return sorted({index for access in self.accesses for index in self.indexes(access)})

    def ways(self, buffer_of: Callable[[Access], object]) -> dict[tuple[int, int, int, object], set[bool]]:
        """(launch, block, interval, buffer) -> {True} if it is written, {False} if it is read, or both."""
        ways: dict[tuple[int, int, int, object], set[bool]] = {}
        for access in self.accesses:
            key = (access.launch, access.block, access.interval, buffer_of(access))
            ways.setdefault(key, set()).add(access.writes)
        return ways


def short_kernel(name: str) -> str:
    """A kernel's name without its template arguments and namespaces."""
    return name.partition("<")[0].rpartition("::")[2] or name


def _name(array: Array, kernel: str) -> str:
    if array.space == "shared":
        return f"dynamic shared memory of {kernel}" if array.name == "dynamic" else f"__shared__ {array.name}"
    return without_folders(array.name) if array.allocation else f"__device__ {array.name}"


def panels_of(run: Trace, accesses: Iterable[Access], which: str | None) -> tuple[list[Panel], list[Panel]]:
    """The arrays to draw, in the order in which they are first touched, and the others."""
    by_array: dict[tuple[int, int, str], Panel] = {}
    for access in accesses:
        shared = access.array.space == "shared"
        kernel = short_kernel(run.launches[access.launch].kernel)
        key = (access.array.number, access.block if shared else 0, kernel if access.array.name == "dynamic" else "")
        if key not in by_array:
            name = _name(access.array, kernel)
            by_array[key] = Panel({access.array: 0}, key[1], name, [])
        by_array[key].accesses.append(access)
    panels = list(by_array.values())
    for panel in panels:
        panel.size = min(a.bytes for a in panel.accesses)
        alike = [p for p in panels if p.name == panel.name]
        if panel.shared and sum(p.arrays == panel.arrays for p in alike) > 1:
            panel.of_several = True
    for panel in panels:  # one line may allocate several arrays
        if not panel.shared and sum(p.name == panel.name for p in panels) > 1:
            panel.name += f" (allocation {next(iter(panel.arrays)).allocation})"
    wanted = which or ("shared" if any(p.shared for p in panels) else "global")
    # An array with a wrong access is always shown.
    chosen = [
        p
        for p in panels
        if wanted == "all" or p.shared == (wanted == "shared") or (not which and any(a.wrong for a in p.accesses))
    ]
    drawn = chosen[:MAX_PANELS]
    return _join_buffers(drawn), [p for p in panels if p not in drawn]


def _take_turns(first: Panel, other: Panel) -> bool:
    """Whether launches read one of two arrays and write the other, and no launch does anything else but read one."""
    if first.shared or other.shared or first.size != other.size or first.touched() != other.touched():
        return False
    ways: dict[int, tuple[set[bool], set[bool]]] = {}  # of each launch
    for i, panel in enumerate((first, other)):
        for access in panel.accesses:
            ways.setdefault(access.launch, (set(), set()))[i].add(access.writes)
    turns = [way for way in ways.values() if way in (({True}, {False}), ({False}, {True}))]
    reads = [way for way in ways.values() if sorted(way, key=len) == [set(), {False}]]
    return len(turns) > 1 and len(turns) + len(reads) == len(ways)


def _join_buffers(panels: list[Panel]) -> list[Panel]:
    """Makes one panel of two global arrays that take turns."""
    for i, first in enumerate(panels):
        for other in panels[i + 1 :]:
            if not _take_turns(first, other):
                continue
            both = Panel(
                {**first.arrays, **other.arrays},
                0,
                f"{first.name} and {other.name}",
                sorted(first.accesses + other.accesses, key=lambda a: a.number),
                first.size,
            )
            both.remarks.append(f"{first.name} and {other.name} take turns: one wire for both")
            return _join_buffers([both if p is first else p for p in panels if p is not other])
    return panels


def choose_launches(run: Trace, chosen: range | None) -> range:
    """The launches to draw: those that were chosen, or the first ones that fit, or those from the first fault on."""
    if chosen is not None:
        return chosen
    columns: dict[int, set[int]] = {}
    for access in run.accesses:
        columns.setdefault(access.launch, set()).add(access.interval)
    begin = _that_fit(columns, 0, len(run.launches))
    wrong = next((access.launch for access in run.accesses if access.wrong), 0)
    return begin if wrong in begin else _that_fit(columns, wrong, len(run.launches))


def _that_fit(columns: Mapping[int, set[int]], first: int, end: int) -> range:
    """As many launches from the first on as fit into a picture."""
    used = 0
    for launch in range(first, end):
        used += len(columns.get(launch, ()))
        if used > MAX_COLUMNS and launch > first:
            return range(first, launch)
    return range(first, end)


MANY_KEYS_PLACES = 32  # drawn of an array that is too large, in a run with too many keys to draw
MAX_COUNTERS = 32  # places that are drawn where the counters that change lie far apart
MAX_WRONG = 24  # wrong accesses whose places are drawn in addition

Part = tuple[int, int]  # the first and the last place


def _parts(places: Iterable[int]) -> list[Part]:
    """The contiguous parts of a sorted list of places."""
    parts: list[Part] = []
    for place in places:
        if parts and place == parts[-1][1] + 1:
            parts[-1] = (parts[-1][0], place)
        else:
            parts.append((place, place))
    return parts


def _halves(panel: Panel, touched: Sequence[int]) -> list[tuple[Part, Part]]:
    """Pairs of parts of equal length that may be two buffers: what is touched, in two parts; or the array's halves."""
    parts = _parts(touched)
    found = [(parts[0], parts[1])] if len(parts) == 2 else []
    for first, count in ((touched[0], len(touched)), (0, min(array.bytes for array in panel.arrays) // panel.size)):
        middle = first + count // 2
        found.append(((first, middle - 1), (middle, first + count - 1)))
    inside = [pair for pair in found if pair[0][0] <= touched[0] and touched[-1] <= pair[1][1]]
    return [(a, b) for a, b in inside if 3 <= a[1] - a[0] == b[1] - b[0]]


def _is_from(panel: Panel, place: int, access: Access) -> bool:
    return panel.indexes(access)[0] >= place


def _buffers(panel: Panel, touched: Sequence[int]) -> tuple[Part, Part] | None:
    """The two halves of an array that take turns: while one is read, the other is written. None if they do not."""
    for pair in _halves(panel, touched):
        second = pair[1][0]
        ways = panel.ways(functools.partial(_is_from, panel, second))
        if any(len(way) > 1 for way in ways.values()):
            continue
        written = {key[3] for key, way in ways.items() if way == {True} and ways.get((*key[:3], not key[3])) == {False}}
        if len(written) == 2:
            return pair
    return None


def _wrong(accesses: Iterable[Access]) -> list[Access]:
    """Some of the wrong accesses; above all those that the findings name, which are the first of each instruction."""
    wrong = [access for access in accesses if access.wrong]
    named = {access.code: access for access in reversed(wrong)}
    return [*named.values(), *wrong][:MAX_WRONG]


def _chosen(panel: Panel, row_of: Mapping[int, int], rows: Sequence[int], n: int) -> list[int]:
    """The rows to draw of an array that has too many: where it counts, or the first; and where something is wrong."""

    def rows_of(accesses: Iterable[Access]) -> list[int]:
        return sorted({row_of[place] for access in accesses for place in panel.indexes(access)})

    counters = rows_of(a for a in panel.accesses if a.way == "atomic")
    count = max(n, 16) if n <= MAX_PLACES else MANY_KEYS_PLACES
    chosen = [row for row in rows if row < count] or list(rows[:count])
    if counters:
        span = [row for row in rows if counters[0] <= row <= counters[-1]]
        chosen = span if len(span) <= MAX_PLACES else counters[:MAX_COUNTERS]
    return sorted({*chosen, *rows_of(_wrong(panel.accesses))})


def lay_wires(panel: Panel, n: int, window: Collection[int] | None) -> None:
    """Gives places their wires, from top to bottom. `window`: the places that were asked for."""
    touched = panel.touched()
    row_of = {place: place for place in touched}
    buffers = _buffers(panel, touched)
    if buffers:
        (first, last), (second, end) = buffers
        row_of = {place: place - (second if place >= second else first) for place in touched}
        panel.remarks.append(f"places {first} to {last} and {second} to {end} take turns: one wire for both")
    rows = sorted(set(row_of.values()))
    shown = rows
    if window is not None:
        shown = [row for row in rows if row in window]
    elif len(rows) > MAX_PLACES:
        shown = _chosen(panel, row_of, rows, n)
    if len(shown) < len(rows):
        panel.remarks.append(f"{len(shown)} of {len(rows)} touched places; --places shows others")
    for before, row in zip([None, *shown], shown):
        if before is not None and row - 1 != before:
            panel.gaps.append(len(panel.labels))
        panel.labels.append(str(row))
    wires = {row: wire for wire, row in enumerate(shown)}
    for place, row in row_of.items():
        if row in wires:
            panel.wires.update({(array, place): wires[row] for array in panel.arrays})

"""What an access picture shows: the arrays, their places, and what each group of accesses does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from . import trace
from .trace import Access, Array, Trace

Place = tuple[Array, int]
Cell = tuple[int, int]  # a column: (launch, barrier interval)

MAX_PLACES = 64  # in one panel
MAX_PANELS = 8
MAX_COLUMNS = 40  # unless launches are given


@dataclass
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

    @property
    def wrong(self) -> bool:
        return any(a.races or a.conflict for a in self.accesses)


@dataclass
class Panel:
    """One array; of shared memory, that of one block of one kernel. Or two arrays that take turns."""

    arrays: dict[Array, int]  # array -> bytes before its place 0
    block: int
    name: str
    accesses: list[Access]
    size: int = 1  # bytes per place
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


def short_kernel(name: str) -> str:
    """A kernel's name without its template arguments and namespaces."""
    return name.partition("<")[0].rpartition("::")[2] or name


def _name(array: Array, kernel: str) -> str:
    if array.space == "shared":
        return f"dynamic shared memory of {kernel}" if array.name == "dynamic" else f"__shared__ {array.name}"
    if array.allocation and array.name == "allocation":
        return f"allocation {array.allocation}"
    return array.name if array.allocation else f"__device__ {array.name}"


def panels_of(run: Trace, accesses: Iterable[Access], which: str | None) -> tuple[list[Panel], list[str]]:
    """The arrays to draw, in the order in which they are first touched, and the names of the others."""
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
        if panel.shared and sum(p.arrays == panel.arrays and p.name.startswith(panel.name) for p in panels) > 1:
            panel.name += f", block {panel.block}"
    wanted = which or ("shared" if any(p.shared for p in panels) else "global")
    # An array with a race is always shown.
    chosen = [
        p
        for p in panels
        if wanted == "all" or p.shared == (wanted == "shared") or (not which and any(a.races for a in p.accesses))
    ]
    drawn = chosen[:MAX_PANELS]
    return _join_buffers(drawn), [p.name for p in panels if p not in drawn]


def _ways(panel: Panel, buffer_of: Callable[[Access], object]) -> dict[tuple[int, int, int, object], set[bool]]:
    """(launch, block, interval, buffer) -> {True} if it is written, {False} if it is read, or both."""
    ways: dict[tuple[int, int, int, object], set[bool]] = {}
    for access in panel.accesses:
        key = (access.launch, access.block, access.interval, buffer_of(access))
        ways.setdefault(key, set()).add(access.writes)
    return ways


def _join_buffers(panels: list[Panel]) -> list[Panel]:
    """Makes one panel of two global arrays of which each launch reads one and writes the other."""
    for i, first in enumerate(panels):
        for other in panels[i + 1 :]:
            if first.shared or other.shared or first.size != other.size or first.touched() != other.touched():
                continue
            both = Panel(
                {**first.arrays, **other.arrays},
                0,
                f"{first.name} and {other.name}",
                sorted(first.accesses + other.accesses, key=lambda a: a.number),
                first.size,
            )
            ways = _ways(both, lambda a: a.array)
            launches = {key[0] for key in ways}
            if len(launches) < 2 or len(first.touched()) > MAX_PLACES or any(len(way) > 1 for way in ways.values()):
                continue
            if any(
                sorted(map(list, (ways[k] for k in ways if k[0] == launch))) != [[False], [True]] for launch in launches
            ):
                continue
            both.remarks.append(f"{first.name} and {other.name} take turns: one wire for both")
            return _join_buffers([both if p is first else p for p in panels if p is not other])
    return panels


def _runs(places: Iterable[int]) -> list[list[int]]:
    """The contiguous parts of a sorted list of places: (first, last)."""
    parts: list[list[int]] = []
    for place in places:
        if parts and place == parts[-1][1] + 1:
            parts[-1][1] = place
        else:
            parts.append([place, place])
    return parts


def _takes_turns(panel: Panel, parts: list[list[int]]) -> bool:
    """Whether two parts of the same length are a double buffer: neither is read and written in one interval."""
    if len(parts) != 2 or parts[0][1] - parts[0][0] != parts[1][1] - parts[1][0] or parts[0][1] - parts[0][0] < 3:
        return False
    return all(len(way) == 1 for way in _ways(panel, lambda a: panel.indexes(a)[0] >= parts[1][0]).values())


def lay_wires(panel: Panel, n: int, window: range | None) -> None:
    """Gives places their wires, from top to bottom."""
    touched = panel.touched()
    parts = _runs(touched)
    if window is None and _takes_turns(panel, parts) and parts[0][1] - parts[0][0] < MAX_PLACES:
        (first, last), (second, end) = parts
        for array in panel.arrays:
            panel.wires.update({(array, place): place - first for place in range(first, last + 1)})
            panel.wires.update({(array, place): place - second for place in range(second, end + 1)})
        panel.labels = [str(i) for i in range(last - first + 1)]
        panel.remarks.append(f"places {first} to {last} and {second} to {end} take turns: one wire for both")
        return
    if window is not None:
        shown = [place for place in touched if place in window]
    elif len(touched) > MAX_PLACES:
        shown = [place for place in touched if place < max(n, 16)] or touched[: max(n, 16)]
    else:
        shown = touched
    if len(shown) < len(touched):
        panel.remarks.append(f"{len(shown)} of {len(touched)} touched places; --places shows others")
    for before, place in zip([None, *shown], shown):
        if before is not None and place - 1 != before:
            panel.gaps.append(len(panel.labels))
        panel.wires.update({(array, place): len(panel.labels) for array in panel.arrays})
        panel.labels.append(str(place))


def _mark(group: Sequence[Access], panel: Panel, key_type: str) -> Mark:
    """What a group does to a panel's array."""
    own = [a for a in group if a in panel.members]
    reads = list(dict.fromkeys(place for a in own if a.way != "store" for place in panel.places(a)))
    writes = list(dict.fromkeys(place for a in own if a.writes for place in panel.places(a)))
    mark = Mark("dots", own, reads, writes)
    if any(a.way == "atomic" for a in own) or any(len(panel.places(a)) > 1 for a in own):
        return mark
    stores_elsewhere = any(a.writes and a not in panel.members for a in group)
    if len(reads) == 2 and not any(place not in reads for place in writes) and not stores_elsewhere:
        low, high = sorted(reads, key=lambda place: place[1])
        before = {panel.places(a)[0]: a.value for a in own if not a.writes}
        after = {**before, **{panel.places(a)[0]: a.value for a in own if a.writes}}
        if sorted(before.values()) == sorted(after.values()) and len(writes) != 1:
            at_low, at_high = (trace.key_of(after[place], panel.size, key_type) for place in (low, high))
            mark.kind = "exchange" if writes else "compare"
            mark.down, mark.tied, mark.swapped = at_low <= at_high, at_low == at_high, before != after
            return mark
    if writes:
        mark.kind = "flow"
    return mark


def _column(access: Access) -> Cell:
    return access.launch, access.interval


Source = tuple[Place, Cell]


def _follow_values(marks: list[Mark], panel: Panel) -> None:
    """Finds the edges of flows.

    A stored value comes from where its thread read it, in this interval or the one before, or its warp in this one
    (lanes exchange values by shuffles). Equal values in several places are ambiguous. Any other value was computed from
    what the thread has read since its last store. So were all values of an instruction that follows two or more reads
    and has computed at least one value.
    """
    mark_of = {access: mark for mark in marks for access in mark.accesses}
    by_thread: dict[tuple[int, int, int, int], dict[int | None, Source]] = {}
    by_warp: dict[tuple[int, int, int, int], dict[int | None, Source]] = {}
    sources_of: dict[Access, Source | None] = {}
    computing: set[str] = set()  # instructions that have stored a value that was not read
    for access in panel.accesses:
        mark, warp = mark_of[access], access.thread // trace.LANES_PER_WARP
        at = (access.launch, access.block, access.interval)
        own = by_thread.setdefault((*at, access.thread), {})
        of_warp = by_warp.setdefault((*at, warp), {})
        if not access.writes:
            source = (panel.places(access)[0], _column(access))
            for seen in (own, of_warp):
                if seen.setdefault(access.value, source)[0] != source[0]:
                    seen[None] = source  # equal values
        elif mark.kind == "flow":
            before = by_thread.get((*at[:2], access.interval - 1, access.thread), {})
            since = {a.value: (panel.places(a)[0], _column(a)) for a in mark.accesses if not a.writes}
            sources_of[access] = next(
                (
                    seen[access.value]
                    for seen in (since, own, of_warp, before)
                    if access.value in seen and None not in seen
                ),
                None,
            )
            if sources_of[access] is None:
                computing.add(access.code)
    for mark in marks:
        for access in mark.accesses if mark.kind == "flow" else []:
            if access.writes:
                source_of_value = sources_of[access]
                if source_of_value is None or (len(mark.reads) > 1 and access.code in computing):
                    sources = [(place, _column(access)) for place in mark.reads]
                else:
                    sources = [source_of_value]
                mark.edges += [(place, column, panel.places(access)[0]) for place, column in sources]
        if mark.kind == "flow" and not mark.edges:
            mark.kind = "dots"


def _code(mark: Mark) -> frozenset[str]:
    """The instructions that read."""
    return frozenset(a.code for a in mark.accesses if not a.writes)


def _merged(marks: Sequence[Mark]) -> list[Mark]:
    """The marks; those that read the same two places in the same interval are merged."""
    known: dict[tuple[object, ...], Mark] = {}
    kept = []
    for mark in marks:
        key = (*_column(mark.accesses[0]), *mark.reads)
        if mark.kind == "compare" and key in known:
            known[key].accesses += mark.accesses
            continue
        if mark.kind == "compare":
            known[key] = mark
        kept.append(mark)
    return kept


def fill(accesses: Iterable[Access], panels: list[Panel], key_type: str) -> list[Cell]:
    """Adds the marks of all panels; returns the columns that show any, in order."""
    columns: set[Cell] = set()
    directions: dict[tuple[object, ...], tuple[bool, bool]] = {}
    made: list[list[Mark]] = [[] for _ in panels]
    for panel in panels:
        panel.members = set(panel.accesses)
    for group in trace.groups(accesses):
        first = group[0]
        for panel, marks in zip(panels, made):
            if not any(a in panel.members for a in group):
                continue
            mark = _mark(group, panel, key_type)
            if mark.kind == "exchange" and key_type == "pairs":  # values go where their keys go
                pair = tuple(sorted(place[1] for place in mark.reads))
                same = (first.launch, first.block, first.interval, first.thread, pair)
                mark.down, mark.tied = directions.setdefault(same, (mark.down, mark.tied))
            marks.append(mark)
    for panel, marks in zip(panels, made):
        # An instruction that adds in one place does not exchange in another, though equal values may look like it.
        flowing = {_code(m) for m in marks if m.kind == "flow"}
        # Two places that are read and not written are comparators without a swap, if the same code swaps elsewhere.
        exchanging = {_code(m) for m in marks if m.kind == "exchange"} - flowing
        for mark in marks:
            if mark.kind == "exchange" and _code(mark) in flowing:
                mark.kind = "flow"
            elif mark.kind == "compare" and _code(mark) in exchanging:
                mark.kind = "exchange"
        _follow_values(marks, panel)
        if any(mark.kind == "exchange" for mark in marks) or any(array.name == "keys" for array in panel.arrays):
            panel.key_type = key_type
        for mark in _merged(marks):
            if any(place in panel.wires for place in mark.reads + mark.writes):
                column = (mark.accesses[0].launch, mark.accesses[0].interval)
                columns.add(column)
                panel.marks.setdefault(column, []).append(mark)
    return sorted(columns)


def choose_launches(run: Trace, chosen: range | None) -> range:
    """The launches to draw: those that were chosen, or as many from the first on as fit into a picture."""
    if chosen is not None:
        return chosen
    columns = 0
    seen: dict[int, set[int]] = {}
    for access in run.accesses:
        seen.setdefault(access.launch, set()).add(access.interval)
    for launch in sorted(seen):
        columns += len(seen[launch])
        if columns > MAX_COLUMNS and launch > min(seen):
            return range(launch)
    return range(len(run.launches))

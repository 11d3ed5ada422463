"""What each group of accesses does to the arrays of a picture: its marks.

Its lines show where stored values come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Optional

from . import trace
from .accesses import Cell, Mark, Panel, Place
from .trace import Access

Source = tuple[Place, Cell]
Values = dict[Optional[int], Source]  # where a value was read; None: equal values were read in several places


def _cell(access: Access) -> Cell:
    return access.launch, access.interval


def _add_running_sums(marks: Sequence[Mark], panel: Panel) -> set[Mark]:
    """Finds the sums of serial scans, and their edges: what is read is passed on from place to place.

    A thread reads one value after another and stores a sum after each: that of the values before it, or with it.
    """
    found: set[Mark] = set()
    chains: dict[tuple[int, int, int, int], list[tuple[Access, Access, Mark]]] = {}
    for mark in marks:
        first = mark.accesses[0]
        chain = chains.setdefault((first.launch, first.block, first.interval, first.thread), [])
        if [a.way for a in mark.accesses] == ["load", "store"]:
            load, store = mark.accesses
            chain.append((load, store, mark))
    for chain in chains.values():
        stores = [store for _, store, _ in chain]
        steps = [(after.value - before.value) % 256**after.bytes for before, after in zip(stores, stores[1:])]
        exclusive = [load.value for load, _, _ in chain[:-1]]
        inclusive = [load.value for load, _, _ in chain[1:]]
        if len(steps) < 2 or steps not in (exclusive, inclusive) or not any(steps):
            continue
        if all(load.value == store.value for load, store, _ in chain):
            continue
        for i, (load, store, mark) in enumerate(chain):
            added = load if steps == inclusive and steps != exclusive else chain[i - 1][0] if i else None
            place = panel.places(store)[0]
            if added:
                mark.edges.append((panel.places(added)[0], _cell(added), place))
            if i:
                mark.carry = panel.places(chain[i - 1][1])[0]
            mark.kind = "flow" if added else "dots"
            found.add(mark)
    return found


def _sources(marks: Sequence[Mark], panel: Panel) -> tuple[dict[Access, Source | None], set[int]]:
    """Where each stored value was read, or None; and the instructions that store values which were not read.

    A stored value comes from where its thread read it, in this interval or the one before, or its warp in this one
    (lanes exchange values by shuffles). Equal values in several places are ambiguous.
    """
    mark_of = {access: mark for mark in marks for access in mark.accesses}
    by_thread: dict[tuple[int, int, int, int], Values] = {}
    by_warp: dict[tuple[int, int, int, int], Values] = {}
    sources_of: dict[Access, Source | None] = {}
    computing: set[int] = set()
    for access in panel.accesses:
        mark = mark_of.get(access)
        if mark is None:
            continue
        at = (access.launch, access.block, access.interval)
        own = by_thread.setdefault((*at, access.thread), {})
        of_warp = by_warp.setdefault((*at, access.thread // trace.LANES_PER_WARP), {})
        if not access.writes:
            source = (panel.places(access)[0], _cell(access))
            for seen in (own, of_warp):
                if seen.setdefault(access.value, source)[0] != source[0]:
                    seen[None] = source
        elif mark.kind == "flow":
            before = by_thread.get((*at[:2], access.interval - 1, access.thread), {})
            since = {a.value: (panel.places(a)[0], _cell(a)) for a in mark.accesses if not a.writes}
            candidates = [seen for seen in (since, own, of_warp, before) if access.value in seen and None not in seen]
            sources_of[access] = candidates[0][access.value] if candidates else None
            if not candidates:
                computing.add(access.code)
    return sources_of, computing


def follow_values(marks: Sequence[Mark], panel: Panel) -> None:
    """Finds the edges of flows.

    A value that was read and stored has one source. Any other value was computed from what the thread has read since
    its last store. The same holds for all values of an instruction that follows two or more reads and has computed at
    least one value, and for every value that replaces one of several that were read, as the smaller of two does in a
    reduction.
    """
    sums = _add_running_sums([mark for mark in marks if mark.kind == "flow"], panel)
    sources_of, computing = _sources([mark for mark in marks if mark not in sums], panel)
    for mark in marks:
        if mark.kind != "flow" or mark in sums:
            continue
        replaces = len(mark.reads) > 1 and len(mark.writes) == 1 and mark.writes[0] in mark.reads
        for access in mark.accesses:
            if not access.writes:
                continue
            source = sources_of[access]
            if source is None or replaces or (len(mark.reads) > 1 and access.code in computing):
                sources = [(place, _cell(access)) for place in mark.reads]
            else:
                sources = [source]
            mark.edges += [(place, column, panel.places(access)[0]) for place, column in sources]
        if not mark.edges:
            mark.kind = "dots"


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


def _code(mark: Mark) -> frozenset[int]:
    """The instructions that read."""
    return frozenset(a.code for a in mark.accesses if not a.writes)


def _merged(marks: Sequence[Mark]) -> list[Mark]:
    """The marks; those that read the same two places in the same interval are merged."""
    known: dict[tuple[object, ...], Mark] = {}
    kept = []
    for mark in marks:
        key = (*mark.cell, *mark.reads)
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
        follow_values(marks, panel)
        if any(mark.kind == "exchange" for mark in marks) or any(array.name == "keys" for array in panel.arrays):
            panel.key_type = key_type
        for mark in _merged(marks):
            seen = [place for place in mark.reads + mark.writes if place in panel.wires]
            if seen:
                if mark.kind == "compare" and len(seen) == 1:  # the other place is not in the picture
                    mark.kind = "dots"
                columns.add(mark.cell)
                panel.marks.setdefault(mark.cell, []).append(mark)
    return sorted(columns)

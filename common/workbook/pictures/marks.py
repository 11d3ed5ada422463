"""What each group of accesses does to the arrays of a picture: its marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from . import trace
from .accesses import Cell, Mark, Panel
from .flows import follow_values
from .trace import Access


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


def _code(mark: Mark) -> frozenset[str]:
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

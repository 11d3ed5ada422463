"""The wires of an array in a picture: which of its places are drawn, and on which line."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

from .accesses import MAX_PLACES, Panel
from .trace import Access

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


def lay_wires(panel: Panel, n: int, window: range | None) -> None:
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

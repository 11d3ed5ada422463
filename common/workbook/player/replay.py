"""What a page replays: the events of a run in columns, the cells of its arrays, and where each value came from.

A *cell* is an element of an array that the run touches. A *touch* is one cell of one access, or one lane of a shuffle:
what holds a value, and passes it on.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.console import Usage
from ..pictures.accesses import short_kernel
from ..pictures.trace import (
    LANES_PER_WARP,
    Access,
    Array,
    Barrier,
    Begin,
    Event,
    Found,
    Meeting,
    Trace,
    without_folders,
)
from .lockstep import requests
from .verdict import ENDLESS

MOST_CELLS = 1 << 18
GAP = 32  # untouched elements between touched ones that are shown all the same
KINDS = ("launch", "block", "barrier", "load", "store", "atomic", "exchange", "syncwarp")
RACES, FAULTY, OUTSIDE = 1, 2, 4  # flags of an access
_TYPES = {"kind": "B", "flags": "B", "bytes": "B", "touches": "B", "place": "H", "array": "H"}  # all others: "i"


@dataclass
class Cells:
    """The cells of one array."""

    source: Array
    size: int  # bytes per element
    elements: set[int] = field(default_factory=set)
    ranges: list[tuple[int, int]] = field(default_factory=list)  # the first and the last element of each part
    first: int = 0  # number of its first cell
    numbers: dict[int, int] = field(default_factory=dict)  # element -> cell
    launches: dict[int, None] = field(default_factory=dict)  # that access it, in order

    def touched(self, access: Access) -> range:
        """The elements of an access."""
        last = access.offset + access.bytes - 1
        return range(access.offset // self.size, last // self.size + 1)

    def number_cells(self, first: int) -> int:
        """Numbers the cells from `first` on; returns the next number."""
        for element in sorted(self.elements):
            if self.ranges and element - self.ranges[-1][1] <= GAP:
                self.ranges[-1] = (self.ranges[-1][0], element)
            else:
                self.ranges.append((element, element))
        self.first = first
        for start, end in self.ranges:
            for element in range(start, end + 1):
                self.numbers[element] = first
                first += 1
        return first


def _element_bytes(sizes: set[int], key_bytes: int) -> int:
    """The size of an array's elements, from those of its accesses. Those of 16 bytes are vectors, usually of keys."""
    least = min(sizes)
    return least if least <= 8 else key_bytes or 4


def _cells(run: Trace, key_bytes: int) -> tuple[dict[int, Cells], int]:
    """The cells of all arrays, by the arrays' numbers, and how many there are."""
    sizes: dict[int, set[int]] = {}
    for access in run.accesses:
        sizes.setdefault(access.array.number, set()).add(access.bytes)
    cells: dict[int, Cells] = {}
    for access in run.accesses:
        number = access.array.number
        if number not in cells:
            cells[number] = Cells(access.array, _element_bytes(sizes[number], key_bytes))
        cells[number].launches[access.launch] = None
        if not access.outside:
            cells[number].elements.update(cells[number].touched(access))
    count = 0
    for own in cells.values():
        count = own.number_cells(count)
        if count > MOST_CELLS:
            raise Usage(
                f"the run touches more than {MOST_CELLS:,} elements, too many for a page: choose a smaller --n, or "
                "record a part of the run with --launches or --only-blocks"
            )
    return cells, count


class _Values:
    """Where each value came from: from touch to touch."""

    def __init__(self) -> None:
        self.origins = array("i")  # by touch: the one before it, or -1
        self.patches: list[tuple[int, int, int]] = []  # (launch, cell, touch that shows what the host put there)
        self._set_by: dict[int, int] = {}  # cell -> touch
        self._set_in: dict[int, int] = {}  # cell -> launch
        self._value: dict[int, int] = {}  # of a cell
        self._held: dict[int, dict[int, int]] = {}  # thread -> value -> touch

    def begin(self, block: int, shared: Iterable[range]) -> None:
        """Threads hold nothing when a block begins, and shared memory has no values."""
        self._held = {}
        if block >= 0:
            for cells in shared:
                for cell in cells:
                    self._set_by.pop(cell, None)

    def _origin(self, cell: int, value: int, launch: int, touch: int, is_shared: bool) -> int:
        """The touch that put a value into the cell where it is read; -1: this is the first that shows it."""
        known = cell in self._set_by
        if known and (self._value[cell] == value or self._set_in[cell] == launch or is_shared):
            return self._set_by[cell]
        if not is_shared:
            self.patches.append((launch if known else 0, cell, touch))
        self._set(cell, touch, value, launch)
        return -1

    def _set(self, cell: int, touch: int, value: int, launch: int) -> None:
        self._set_by[cell], self._set_in[cell], self._value[cell] = touch, launch, value

    def access(self, access: Access, cells: Sequence[int], size: int) -> None:
        """Adds the touches of an access."""
        held = self._held.setdefault(access.thread, {})
        is_shared = access.array.space == "shared"
        mask = (1 << 8 * min(size, access.bytes)) - 1
        first = len(self.origins)
        for k, cell in enumerate(cells):
            touch = len(self.origins)
            value = access.value >> 8 * size * k & mask
            if access.way == "store":
                self.origins.append(held.get(value, -1))
            else:
                read = value if access.way == "load" else (access.before or 0) >> 8 * size * k & mask
                origin = self._origin(cell, read, access.launch, touch, is_shared)
                changed = access.way == "atomic" and value != read
                self.origins.append(held.get(value, -1) if changed else origin)
                held[read] = touch
            if access.writes:
                self._set(cell, touch, value, access.launch)
        if len(cells) > 1 and not access.writes:
            held[access.value] = first

    def meeting(self, meeting: Meeting) -> None:
        """Adds a touch for what each lane offers."""
        first = len(self.origins)
        threads = [meeting.warp * LANES_PER_WARP + lane for lane in meeting.lanes]
        for thread, value in zip(threads, meeting.values):
            self.origins.append(self._held.get(thread, {}).get(value, -1))
        for thread, source, result in zip(threads, meeting.sources, meeting.results):
            if source in meeting.lanes:
                self._held.setdefault(thread, {})[result] = first + meeting.lanes.index(source)


class Replay:
    """The columns of all events, and what else the page needs, in `about`."""

    def __init__(self, run: Trace, key_type: str, key_bytes: int) -> None:
        self.columns = {
            name: array(_TYPES.get(name, "i"))
            for name in (
                "kind",
                "flags",
                "bytes",
                "touches",
                "place",
                "array",
                "thread",
                "cell",
                "offset",
                "value",
                "request",
            )
        }
        self.heap = bytearray()  # values, the low byte first
        self.places: dict[tuple[str, str], int] = {}
        self.values = _Values()
        self.exchanges: list[dict[str, Any]] = []
        self.cells, self.count = _cells(run, key_bytes)
        self._run = run
        self._shared = [
            range(c.first, c.first + len(c.numbers)) for c in self.cells.values() if c.source.space == "shared"
        ]
        self._event_of: dict[Access, int] = {}
        self._indexes = {number: index for index, number in enumerate(self.cells)}
        try:
            for number, request in enumerate(requests(run.events)):
                for event in request:
                    self._add(event, number)
        except OverflowError as error:
            raise Usage(
                "the run has an array of more than 2 GiB or more than 2^31 blocks, which a page cannot show: choose "
                "other --launches or --only-blocks"
            ) from error
        self.about: dict[str, Any] = {
            "launches": [
                {"kernel": short_kernel(launch.kernel), "grid": _shape(launch.grid), "block": _shape(launch.block)}
                for launch in run.launches
            ],
            "places": [list(place) for place in self.places],
            "arrays": [
                {**_about(cells, key_type, key_bytes), "name": self._name(cells)} for cells in self.cells.values()
            ],
            "cells": self.count,
            "exchanges": self.exchanges,
            "patches": [list(patch) for patch in self.values.patches],
            "findings": [self._found(found) for found in run.found],
            "waits": {str(thread): place for thread, place in run.waits.items()},
            "kinds": KINDS,
        }

    def __len__(self) -> int:
        return len(self.columns["kind"])

    def _name(self, cells: Cells) -> str:
        """The array's name; with its kernel where kernels have arrays of one name."""
        name = "dynamic shared memory" if cells.source.name == "dynamic" else without_folders(cells.source.name)
        alike = sum(other.source.name == cells.source.name for other in self.cells.values())
        kernel = short_kernel(self._run.launches[next(iter(cells.launches))].kernel)
        return f"{name} of {kernel}" if alike > 1 and cells.source.space == "shared" else name

    def _place(self, line: str, in_source: str = "") -> int:
        return self.places.setdefault((in_source or line, line), len(self.places))

    def _row(self, kind: str, place: int, request: int, **others: int) -> None:
        row = {"kind": KINDS.index(kind), "place": place, "request": request, **others}
        for name, column in self.columns.items():
            column.append(row.get(name, 0))

    def _add(self, event: Event, request: int) -> None:
        if isinstance(event, Access):
            self._add_access(event, request)
        elif isinstance(event, Begin):
            self.values.begin(event.block, self._shared)
            kind, number = ("launch", event.launch) if event.block < 0 else ("block", event.block)
            self._row(kind, self._place(self._run.launches[event.launch].place), request, cell=number)
        elif isinstance(event, Barrier):
            self._row("barrier", self._place(event.place), request)
        else:
            self._add_meeting(event, request)

    def _add_access(self, access: Access, request: int) -> None:
        own = self.cells[access.array.number]
        cells = [] if access.outside else [own.numbers[element] for element in own.touched(access)]
        self._event_of[access] = len(self)
        line = self._run.lines.get(access.code, "")
        flags = RACES * access.races | FAULTY * access.faulty | OUTSIDE * access.outside
        self._row(
            access.way,
            self._place(line, self._run.in_source.get(access.code, "")),
            request,
            array=self._indexes[access.array.number],
            thread=access.thread,
            offset=access.offset,
            bytes=access.bytes,
            flags=flags,
            touches=len(cells),
            cell=cells[0] if cells else -1,
            value=len(self.heap),
        )
        if not access.outside:
            self.heap += access.value.to_bytes(access.bytes, "little")
            if access.way == "atomic":
                self.heap += (access.before or 0).to_bytes(access.bytes, "little")
        self.values.access(access, cells, own.size)

    def _add_meeting(self, meeting: Meeting, request: int) -> None:
        kind = "exchange" if meeting.values else "syncwarp"
        self._row(
            kind, self._place(meeting.place), request, thread=meeting.warp, touches=len(meeting.values),
            cell=len(self.exchanges),
        )  # fmt: skip
        self.exchanges.append(
            {
                "name": meeting.name,
                "lanes": list(meeting.lanes),
                "sources": list(meeting.sources),
                "values": [f"{value:x}" for value in meeting.values],
                "results": [f"{value:x}" for value in meeting.results],
            }
        )
        self.values.meeting(meeting)

    def _last_write(self, index: int, arrays: Collection[Array]) -> int:
        """The event that wrote this element of one of the arrays last; -1 if none is recorded."""
        for access in reversed(self._run.accesses):
            is_its = access.writes and not access.outside and access.array in arrays
            if is_its and index in self.cells[access.array.number].touched(access):
                return self._event_of[access]
        return -1

    def add_wrong_result(self, text: str, array: str, index: int) -> None:
        """Adds the first wrong element of the result to the findings, with the access that wrote it last."""
        arrays = [cells.source for cells in self.cells.values() if cells.source.space == "global"]
        results = [own for own in arrays if own.name == array]
        event = self._last_write(index, results)
        if event < 0:
            sizes = {own.bytes for own in results}
            event = self._last_write(index, [own for own in arrays if own.bytes in sizes])
            text += f"\nIn what is recorded, no kernel writes {array}[{index}]"
            text += ". It may be a copy of this element of another array of that size" if event >= 0 else ""
        place = self.about["places"][self.columns["place"][event]][0] if event >= 0 else ""
        found = self._found(Found("wrong result", place, text, 1, accesses=-1, code=-1, other=-1))
        errors = sum(not known["remark"] for known in self.about["findings"])
        self.about["findings"].insert(errors, {**found, "events": [event] if event >= 0 else []})

    def _found(self, found: Found) -> dict[str, Any]:
        """A finding, with the events that it is about."""
        events: list[int] = []
        race = self._run.races.get((found.code, found.other))
        if race:
            events = [self._event_of[race.now], self._event_of[race.before]]
        elif found.code >= 0:
            events = [self._event_of[a] for a in self._run.accesses if a.code == found.code and a.faulty][:1]
        if found.kind in ENDLESS and found.accesses < 0 and self._run.truncated:
            events = [max(self._event_of.values())]  # it goes on after what is recorded
        if not events and found.accesses >= 0:
            until = self._run.accesses[: found.accesses]
            events = [max((self._event_of[a] for a in until[-LANES_PER_WARP * 4 :]), default=0)]
        return {
            "kind": found.kind,
            "place": found.place,
            "text": found.text,
            "remedy": found.remedy,
            "times": found.times,
            "remark": found.is_remark,
            "events": events,
            "race": bool(race),
        }


def _shape(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def _about(cells: Cells, key_type: str, key_bytes: int) -> dict[str, Any]:
    is_key = bool(key_type) and cells.size == key_bytes
    return {
        "space": cells.source.space,
        "size": cells.size,
        "bytes": cells.source.bytes,
        "begins_at": cells.source.begins_at,
        "ranges": [list(part) for part in cells.ranges],
        "first": cells.first,
        "cells": len(cells.numbers),
        "launches": list(cells.launches),
        "format": "?" if not key_type else key_type[0] if is_key and key_type[0] in "uif" else "u",
    }

"""Reads the trace of a run: what its kernels did, in order, and every access that the check build observed.

common/simt/check/TRACE.md documents the format.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Union

from ..core.console import Problem

VERSION = 1
LANES_PER_WARP = 32
MOST_BYTES, MOST_THREADS = 16, 1024  # of an access; of a block
_FOLDERS = re.compile(r"(?:[^/\s]*/)+(?=[^/\s]+:\d)")  # before FILE:LINE
_FORMATS = {"i32": "<i", "f32": "<f", "i64": "<q", "f64": "<d"}  # every other type is unsigned


@dataclass(frozen=True)
class Array:
    """An array of shared or global memory."""

    number: int
    space: str  # "shared" or "global"
    name: str  # as in the source; "dynamic" has none there, and of some allocations it says where they were made
    allocation: int  # its number; 0 for an array that is not an allocation
    bytes: int
    begins_at: int = 0  # its address, modulo 256
    allocated: str = ""  # "FILE:LINE", of an allocation without a name


@dataclass(eq=False)
class Access:
    """One access of one thread. `value` is the value that was read or written."""

    number: int  # in the order of the run
    array: Array
    launch: int  # from 0
    block: int
    interval: int  # number of the block's barriers before it
    thread: int
    code: int
    way: str  # "load", "store", "atomic"
    offset: int  # in bytes
    bytes: int
    value: int
    before: int | None = None  # of an atomic: the value that was there
    races: bool = False
    faulty: bool = False  # wrong in itself, for example out of bounds
    conflict: tuple[int, int] | None = None  # wavefronts (actual, ideal) of its request, if it took too many

    @property
    def writes(self) -> bool:
        return self.way != "load"

    @property
    def changes(self) -> bool:
        """Whether it may have changed what was there: an atomicMax() may leave it as it was."""
        return self.writes and self.value != self.before

    @property
    def outside(self) -> bool:
        """Whether it lies outside the array. Then its value is not known."""
        return self.offset < 0 or self.offset + self.bytes > self.array.bytes

    @property
    def wrong(self) -> bool:
        """Whether a finding is about it."""
        return self.races or self.faulty


@dataclass(frozen=True)
class Transfer:
    """A copy within the device, or to it, or a fill."""

    after: int  # the number of accesses before it
    to: int  # the allocation that is written
    offset: int  # in bytes
    bytes: int
    source: int  # the allocation that is copied; 0: other memory, or none
    source_offset: int
    code: int


@dataclass
class Launch:
    """One launch of a kernel."""

    kernel: str
    grid: str
    block: str
    place: str = ""
    arguments: tuple[int | None, ...] = ()  # the first of the kernel; None: not a whole number


@dataclass(frozen=True)
class Begin:
    """A launch (then `block` is -1) or a block of it begins."""

    launch: int
    block: int = -1


@dataclass(frozen=True)
class Barrier:
    """All threads of the block have arrived."""

    place: str


@dataclass(frozen=True)
class Meeting:
    """Lanes of a warp have met at a primitive. `sources`, `values` and `results`: for each of the lanes, lowest first;
    empty for a __syncwarp(), and `sources` also where values come from all lanes."""

    name: str
    place: str
    warp: int
    lanes: tuple[int, ...]
    sources: tuple[int, ...] = ()
    values: tuple[int, ...] = ()
    results: tuple[int, ...] = ()


Event = Union[Begin, Access, Barrier, Meeting]


@dataclass(frozen=True)
class Found:
    """A finding or a remark."""

    kind: str
    place: str
    text: str
    times: int
    accesses: int  # how many had been recorded when it was found; -1: it was found in a part that is not recorded
    code: int  # -1: none
    other: int  # of a race
    is_remark: bool = False
    remedy: str = "none"  # what would put two accesses in order: common/README.md


@dataclass(frozen=True)
class Race:
    """Two accesses that race: the later one, and the earlier one."""

    now: Access
    before: Access


@dataclass
class Trace:
    """A whole run."""

    launches: list[Launch] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)  # accesses among them
    lines: dict[int, str] = field(default_factory=dict)  # code -> "file:line"
    in_source: dict[int, str] = field(default_factory=dict)  # the same, or the line in a .cu file that calls it
    transfers: list[Transfer] = field(default_factory=list)
    races: dict[tuple[int, int], Race] = field(default_factory=dict)  # by their codes: the first of each pair
    waits: dict[int, str] = field(default_factory=dict)  # thread -> where it waits, in a block that failed
    found: list[Found] = field(default_factory=list)
    truncated: bool = False  # the run made more accesses than the trace holds
    text: str = ""  # the file


Instruction = tuple[int, int, str, int]  # code, bytes, way and warp of accesses in shared memory


def _mark_conflict(of_instruction: Mapping[Instruction, Mapping[int, Sequence[Access]]], fields: Sequence[Any]) -> None:
    """Marks the accesses of the request that a record `conflict` names, from those of each thread in the interval."""
    code, size, way, warp, time, actual, ideal = fields
    for accesses in of_instruction.get((code, size, way, warp), {}).values():
        if time < len(accesses):
            accesses[time].conflict = (actual, ideal)


def _overlap(a: Access, b: Access) -> bool:
    return a.array == b.array and a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes


def _racing(ones: Sequence[Access], others: Sequence[Access]) -> Race | None:
    """The two accesses that race. Each list holds what one thread did by one instruction."""
    for other in reversed(others):
        for access in reversed(ones):
            if access.number > other.number and _overlap(access, other):
                access.races = other.races = True
                return Race(access, other)
    if ones:
        ones[-1].races = True
    return None


def read(text: str) -> Trace:
    """Parses a trace. An incomplete last line is ignored. Raises Problem if another line is damaged, or if the trace
    has another version."""
    try:
        return _Reader(text).trace
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise Problem("the trace of the run is damaged: did the program write to its file?") from error


def _whole(value: Any) -> int:
    """A number of a record. Raises TypeError if it is not a whole one."""
    if type(value) is not int:
        raise TypeError(value)
    return value


def _lanes(mask: Any) -> tuple[int, ...]:
    """The lanes of a mask. Raises ValueError if it is not one."""
    if not 0 < _whole(mask) < 1 << LANES_PER_WARP:
        raise ValueError("not a mask of lanes")
    return tuple(lane for lane in range(LANES_PER_WARP) if mask >> lane & 1)


class _Reader:
    """The state of the run while its trace is read. A method on_NAME reads the records of this name."""

    def __init__(self, text: str) -> None:
        self.trace = Trace(text=text)
        self.arrays: dict[int, Array] = {}
        self.made_by: dict[tuple[int, int, int, int], list[Access]] = {}  # (launch, block, thread, code)
        self.in_shared: dict[Instruction, dict[int, list[Access]]] = {}  # in this interval
        self.block = self.interval = self.first = 0
        records: dict[str, Callable[[Any], None]] = {
            name[3:]: getattr(self, name) for name in dir(self) if name.startswith("on_")
        }
        for line in text[: text.rfind("\n") + 1].splitlines():
            ((name, content),) = json.loads(line).items()
            if name in records:
                records[name](content)

    @property
    def launch(self) -> int:
        return len(self.trace.launches) - 1

    def begin_interval(self, number: int) -> None:
        self.interval, self.first, self.in_shared = number, len(self.trace.accesses), {}

    # --- what happens ---

    def on_trace(self, version: Any) -> None:
        if version != VERSION:
            raise Problem(
                f"this is a trace of version {version}, and this workbook reads version {VERSION}: record it again"
            )

    def on_launch(self, content: Any) -> None:
        shapes = [tuple(map(_whole, content[name])) for name in ("grid", "block")]
        if any(len(shape) != 3 or min(shape) < 1 for shape in shapes):
            raise ValueError("not the shape of a launch")
        grid, block = (",".join(map(str, shape)) for shape in shapes)
        numbers = tuple(None if number is None else _whole(number) for number in content.get("arguments", ()))
        self.trace.launches.append(Launch(str(content["kernel"]), grid, block, str(content["at"]), numbers))
        self.trace.events.append(Begin(self.launch))

    def on_block(self, number: Any) -> None:
        self.block = _whole(number)
        if self.block < 0 or self.launch < 0:
            raise ValueError("not a block of a launch")
        self.trace.events.append(Begin(self.launch, self.block))
        self.begin_interval(0)

    def on_barrier(self, place: Any) -> None:
        self.trace.events.append(Barrier(str(place)))
        self.begin_interval(self.interval + 1)

    def on_array(self, content: Any) -> None:
        number, allocation, size = (_whole(content[name]) for name in ("id", "allocation", "bytes"))
        begins_at = _whole(content.get("begins_at", 0))
        if content["space"] not in ("shared", "global"):
            raise ValueError("neither shared nor global memory")
        name, allocated = str(content["name"]), str(content.get("allocated", ""))
        self.arrays[number] = Array(number, content["space"], name, allocation, size, begins_at, allocated)

    def on_access(self, content: Any) -> None:
        array, thread, code, way, offset, size, *values = content
        value, before = [*(int(text, 16) for text in values), None, None][:2]
        is_possible = 0 < _whole(size) <= MOST_BYTES and 0 <= _whole(thread) < MOST_THREADS and self.launch >= 0
        if not is_possible or way not in ("load", "store", "atomic"):
            raise ValueError("no such access")
        if any(known is not None and known >> 8 * size for known in (value, before)):
            raise ValueError("a value with more bytes than were accessed")
        access = Access(
            len(self.trace.accesses),
            self.arrays[array],
            self.launch,
            self.block,
            self.interval,
            thread,
            _whole(code),
            way,
            _whole(offset),
            size,
            value or 0,
            before,
        )
        self.trace.accesses.append(access)
        self.trace.events.append(access)
        self.made_by.setdefault((access.launch, self.block, thread, code), []).append(access)
        if access.array.space == "shared":
            of_warp = self.in_shared.setdefault((code, size, way, thread // LANES_PER_WARP), {})
            of_warp.setdefault(thread, []).append(access)

    def on_transfer(self, content: Any) -> None:
        to, offset, size, source, source_offset, code = map(_whole, content)
        self.trace.transfers.append(Transfer(len(self.trace.accesses), to, offset, size, source, source_offset, code))

    def on_exchange(self, content: Any) -> None:
        values, results = (tuple(int(text, 16) for text in content[name]) for name in ("values", "results"))
        lanes, sources = _lanes(content["lanes"]), tuple(map(_whole, content["sources"]))
        if not len(lanes) == len(values) == len(results) or len(sources) not in (0, len(lanes)):
            raise ValueError("not one value for each lane")
        warp = _whole(content["warp"])
        if not 0 <= warp < MOST_THREADS // LANES_PER_WARP:
            raise ValueError("no such warp")
        self.trace.events.append(
            Meeting(str(content["name"]), str(content["at"]), warp, lanes, sources, values, results)
        )

    def on_syncwarp(self, content: Any) -> None:
        lanes, warp = _lanes(content["lanes"]), _whole(content["warp"])
        self.trace.events.append(Meeting("__syncwarp", str(content["at"]), warp, lanes))

    # --- what is known about it ---

    def on_race(self, content: Any) -> None:
        thread, code, other_block, other_thread, other_code = map(_whole, content)
        ones = self.made_by.get((self.launch, self.block, thread, code), [])
        others = self.made_by.get((self.launch, other_block, other_thread, other_code), [])
        since = self.first if other_block == self.block else 0
        race = _racing([a for a in ones if a.number >= self.first], [a for a in others if a.number >= since])
        if race:
            self.trace.races.setdefault((code, other_code), race)

    def on_fault(self, content: Any) -> None:
        """Marks the last access, if that is the one meant: some are not recorded, because they are in no array."""
        accesses = self.trace.accesses
        if accesses and [accesses[-1].thread, accesses[-1].code] == content:
            accesses[-1].faulty = True

    def on_conflict(self, content: Any) -> None:
        _mark_conflict(self.in_shared, content)

    def on_waits(self, content: Any) -> None:
        self.trace.waits[_whole(content[0])] = str(content[1])

    def on_finding(self, content: Any) -> None:
        times, accesses, code, other = (_whole(content[name]) for name in ("times", "accesses", "code", "other"))
        kind, place, text = (str(content[name]) for name in ("kind", "at", "text"))
        remedy = str(content.get("remedy", "none"))
        self.trace.found.append(Found(kind, place, text, times, accesses, code, other, remedy=remedy))

    def on_remark(self, content: Any) -> None:
        self.on_finding(content)
        self.trace.found.append(replace(self.trace.found.pop(), is_remark=True))

    def on_code(self, content: Any) -> None:
        code = _whole(content["id"])
        self.trace.lines[code] = str(content["at"])
        self.trace.in_source[code] = str(content["in_source"])

    def on_cut(self, _: Any) -> None:
        self.trace.truncated = True


def groups(accesses: Iterable[Access]) -> list[list[Access]]:
    """Groups the loads of one thread with the stores that follow them in the same barrier interval.

    A load after a store starts a new group, and so does an instruction that repeats: the next iteration of a loop.
    """
    done: list[list[Access]] = []
    running: dict[tuple[int, int, int, int], list[Access]] = {}
    for access in accesses:
        key = (access.launch, access.block, access.interval, access.thread)
        own = running.get(key)
        if (
            own is None
            or (access.way == "load" and any(a.writes for a in own))
            or any((a.code, a.way) == (access.code, access.way) for a in own)
        ):
            own = running[key] = []
            done.append(own)
        own.append(access)
    return done


def without_folders(text: str) -> str:
    """The text with FILE:LINE in place of FOLDER/FILE:LINE."""
    return _FOLDERS.sub("", text)


def key_of(value: int, size: int, key_type: str) -> float:
    """The bits `value` of `size` bytes as a number of the key type."""
    form = _FORMATS.get(key_type)
    if form and struct.calcsize(form) == size:
        number: float = struct.unpack(form, value.to_bytes(size, "little"))[0]
        return number
    return value

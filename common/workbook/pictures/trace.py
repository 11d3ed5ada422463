"""Reads the trace of a run: every access that the check build observed.

common/simt/check/trace.h documents the format.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.console import Problem

LANES_PER_WARP = 32
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


@dataclass(eq=False)
class Access:
    """One access of one thread. `value` is the value that was read or written."""

    number: int  # in the order of the run
    array: Array
    launch: int  # from 0
    block: int
    interval: int  # number of the block's barriers before it
    thread: int
    code: str
    way: str  # "load", "store", "atomic"
    offset: int  # in bytes
    bytes: int
    value: int
    races: bool = False
    faulty: bool = False  # wrong in itself, for example out of bounds
    conflict: tuple[int, int] | None = None  # wavefronts (actual, ideal) of its request, if it took too many

    @property
    def writes(self) -> bool:
        return self.way != "load"

    @property
    def outside(self) -> bool:
        """Whether it lies outside the array. Then its value is not known."""
        return self.offset < 0 or self.offset + self.bytes > self.array.bytes

    @property
    def wrong(self) -> bool:
        """Whether a finding is about it."""
        return self.races or self.faulty


@dataclass
class Launch:
    """One launch of a kernel."""

    kernel: str
    grid: str
    block: str


@dataclass
class Trace:
    """A whole run."""

    launches: list[Launch] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    lines: dict[str, str] = field(default_factory=dict)  # code -> "file:line"
    truncated: bool = False  # the run made more accesses than the trace holds
    text: str = ""  # the file


Instruction = tuple[str, int, str, int]  # code, bytes, way and warp of accesses in shared memory


def _mark_conflict(of_instruction: Mapping[Instruction, Mapping[int, Sequence[Access]]], fields: Sequence[str]) -> None:
    """Marks the accesses of the request that a line `conflict` names, from those of each thread in the interval."""
    code, size, way, warp, time = fields[0], int(fields[1]), fields[2], int(fields[3]), int(fields[4])
    for accesses in of_instruction.get((code, size, way, warp), {}).values():
        if time < len(accesses):
            accesses[time].conflict = (int(fields[5]), int(fields[6]))


def _overlap(a: Access, b: Access) -> bool:
    return a.array == b.array and a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes


def _mark_race(ones: Sequence[Access], others: Sequence[Access]) -> None:
    """Marks two accesses that race. Each list holds what one thread did by one instruction."""
    for other in reversed(others):
        for access in reversed(ones):
            if access.number > other.number and _overlap(access, other):
                access.races = other.races = True
                return
    if ones:
        ones[-1].races = True


def _mark_fault(accesses: Sequence[Access], fields: Sequence[str]) -> None:
    """Marks the last access, if that is the one meant: some are not recorded, because they are in no array."""
    if accesses and (accesses[-1].thread, accesses[-1].code) == (int(fields[0]), fields[1]):
        accesses[-1].faulty = True


def read(text: str) -> Trace:
    """Parses a trace. An incomplete last line is ignored. Raises Problem if another line is damaged."""
    try:
        return _parsed(text)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise Problem("the trace of the run is damaged: did the program write to its file?") from error


def _parsed(text: str) -> Trace:
    trace = Trace(text=text)
    arrays: dict[str, Array] = {}
    made_by: dict[tuple[int, int, int, str], list[Access]] = {}  # (launch, block, thread, code)
    in_shared: dict[Instruction, dict[int, list[Access]]] = {}  # in this interval
    block = interval = first = 0
    for line in text[: text.rfind("\n") + 1].splitlines():
        kind, *fields = line.split("\t")
        if kind == "access" and len(fields) == 7:
            array, thread, code, way, offset, size, value = fields
            access = Access(
                len(trace.accesses),
                arrays[array],
                len(trace.launches) - 1,
                block,
                interval,
                int(thread),
                code,
                way,
                int(offset),
                int(size),
                int(value or "0", 16),
            )
            trace.accesses.append(access)
            made_by.setdefault((access.launch, block, access.thread, code), []).append(access)
            if access.array.space == "shared":
                of_warp = in_shared.setdefault((code, access.bytes, way, access.thread // LANES_PER_WARP), {})
                of_warp.setdefault(access.thread, []).append(access)
        elif kind == "barrier":
            interval, first, in_shared = interval + 1, len(trace.accesses), {}
        elif kind == "block":
            block, interval, first, in_shared = int(fields[0]), 0, len(trace.accesses), {}
        elif kind == "launch":
            trace.launches.append(Launch(*fields))
        elif kind == "array":
            arrays[fields[0]] = Array(int(fields[0]), fields[1], fields[2], int(fields[3]), int(fields[4]))
        elif kind == "race" and len(fields) == 5:
            (thread, code), (other_block, other_thread, other_code) = fields[:2], fields[2:]
            launch = len(trace.launches) - 1
            ones = made_by.get((launch, block, int(thread), code), [])
            others = made_by.get((launch, int(other_block), int(other_thread), other_code), [])
            since = first if int(other_block) == block else 0
            _mark_race([a for a in ones if a.number >= first], [a for a in others if a.number >= since])
        elif kind == "fault" and len(fields) == 2:
            _mark_fault(trace.accesses, fields)
        elif kind == "conflict":
            _mark_conflict(in_shared, fields)
        elif kind == "code":
            trace.lines[fields[0]] = fields[1]
        elif kind == "cut":
            trace.truncated = True
    return trace


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

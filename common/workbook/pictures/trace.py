"""Reads the trace of a run: every access that the check build observed.

common/simt/check/trace.h documents the format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

LANES_PER_WARP = 32
_FORMATS = {"i32": "<i", "f32": "<f", "i64": "<q", "f64": "<d"}  # every other type is unsigned


@dataclass(frozen=True)
class Array:
    """An array of shared or global memory."""

    number: int
    space: str  # "shared" or "global"
    name: str  # as in the source; "dynamic" and "allocation" have no name there
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
    conflict: tuple[int, int] | None = None  # wavefronts (actual, ideal) of its request, if it took too many

    @property
    def writes(self) -> bool:
        return self.way != "load"


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


def _mark_conflict(accesses: Iterable[Access], fields: Sequence[str]) -> None:
    """Marks the accesses of the request that a line `conflict` names; `accesses`: those of the barrier interval."""
    code, size, way, warp, time = fields[0], int(fields[1]), fields[2], int(fields[3]), int(fields[4])
    seen: dict[int, int] = {}
    for access in accesses:
        if (access.code, access.bytes, access.way, access.array.space) != (code, size, way, "shared"):
            continue
        if access.thread // LANES_PER_WARP != warp:
            continue
        if seen.get(access.thread, 0) == time:
            access.conflict = (int(fields[5]), int(fields[6]))
        seen[access.thread] = seen.get(access.thread, 0) + 1


def _mark_race(accesses: Sequence[Access], fields: Sequence[str]) -> None:
    """Marks the last access and the earlier one that it races with."""
    last = accesses[-1]
    last.races = True
    block, thread, code = int(fields[0]), int(fields[1]), fields[2]
    for other in reversed(accesses[:-1]):
        if other.launch != last.launch or (block == last.block and other.interval != last.interval):
            break
        overlap = other.offset < last.offset + last.bytes and last.offset < other.offset + other.bytes
        if (other.block, other.thread, other.code, other.array) == (block, thread, code, last.array) and overlap:
            other.races = True


def read(text: str) -> Trace:
    """Parses a trace. An incomplete last line is ignored."""
    trace = Trace(text=text)
    arrays: dict[str, Array] = {}
    block = interval = first = 0
    for line in text.splitlines():
        kind, *fields = line.split("\t")
        if kind == "access" and len(fields) == 7:
            array, thread, code, way, offset, size, value = fields
            trace.accesses.append(
                Access(
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
            )
        elif kind == "barrier":
            interval, first = interval + 1, len(trace.accesses)
        elif kind == "block":
            block, interval, first = int(fields[0]), 0, len(trace.accesses)
        elif kind == "launch":
            trace.launches.append(Launch(*fields))
        elif kind == "array":
            arrays[fields[0]] = Array(int(fields[0]), fields[1], fields[2], int(fields[3]), int(fields[4]))
        elif kind == "race":
            _mark_race(trace.accesses, fields)
        elif kind == "conflict":
            _mark_conflict(trace.accesses[first:], fields)
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


def key_of(value: int, size: int, key_type: str) -> float:
    """The bits `value` of `size` bytes as a number of the key type."""
    form = _FORMATS.get(key_type)
    if form and struct.calcsize(form) == size:
        number: float = struct.unpack(form, value.to_bytes(size, "little"))[0]
        return number
    return value

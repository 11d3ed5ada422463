"""Reads what the check build writes to CHECK_TRACE: every access of a run, and what belongs together in it.

common/simt/check/trace.cpp says what the lines are.
"""

import struct
from dataclasses import dataclass, field

LANES_PER_WARP = 32
_FORMATS = {"i32": "<i", "f32": "<f", "i64": "<q", "f64": "<d"}  # all others are unsigned


@dataclass(frozen=True)
class Array:
    """Memory that has a name."""

    number: int
    space: str  # "shared" or "global"
    name: str  # as in the source; "dynamic" and "allocation" have none there
    allocation: int  # 0: not an allocation
    bytes: int


@dataclass(eq=False)
class Access:
    """One access of one thread. `value` is what was read, or what was written."""

    number: int  # in the order of the run
    array: Array
    launch: int  # from 0
    block: int
    interval: int  # barriers of the block before it
    thread: int
    code: str
    way: str  # "load", "store", "atomic"
    offset: int  # bytes from the array's first
    bytes: int
    value: int
    races: bool = False
    conflict: tuple = ()  # wavefronts (actual, ideal) of its request, where it took too many

    @property
    def writes(self):
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

    launches: list = field(default_factory=list)
    accesses: list = field(default_factory=list)
    lines: dict = field(default_factory=dict)  # code -> "file:line"
    cut: bool = False  # more accesses came than were kept
    text: str = ""  # what it was read from


def _mark_conflict(own, fields):
    code, size, way, warp, time = fields[0], int(fields[1]), fields[2], int(fields[3]), int(fields[4])
    seen = {}
    for access in own:
        if (access.code, access.bytes, access.way, access.array.space) != (code, size, way, "shared"):
            continue
        if access.thread // LANES_PER_WARP != warp:
            continue
        if seen.get(access.thread, 0) == time:
            access.conflict = (int(fields[5]), int(fields[6]))
        seen[access.thread] = seen.get(access.thread, 0) + 1


def _mark_race(accesses, fields):
    now = accesses[-1]
    now.races = True
    block, thread, code = int(fields[0]), int(fields[1]), fields[2]
    for other in reversed(accesses[:-1]):
        if other.launch != now.launch or (block == now.block and other.interval != now.interval):
            break
        overlap = other.offset < now.offset + now.bytes and now.offset < other.offset + other.bytes
        if (other.block, other.thread, other.code, other.array) == (block, thread, code, now.array) and overlap:
            other.races = True


def read(text):
    """The trace that `text` holds; a last line that was cut short is left out."""
    trace, arrays = Trace(text=text), {}
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
            trace.cut = True
    return trace


def groups(accesses):
    """What belongs together: loads of one thread and the stores that follow them, in one barrier interval.

    A load after a store begins anew, and so does an instruction that comes again: the next turn of a loop.
    """
    done, running = [], {}
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


def key_of(value, size, key_type):
    """The bits `value` of `size` bytes as a number that compares as the keys do."""
    form = _FORMATS.get(key_type)
    if form and struct.calcsize(form) == size:
        return struct.unpack(form, value.to_bytes(size, "little"))[0]
    return value

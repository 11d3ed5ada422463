"""Runs a checked program in many orders of its threads, and compares what the host gets from its kernels.

common/simt/check/schedule.h makes the orders, each from a number in SIMT_SCHEDULE. Its last five bits say how many
points the order is drawn from, which runs in the usual order show. common/simt/check/results.h writes what is compared.
"""

from __future__ import annotations

import math
import os
import re
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

SCALE_BITS = 5
LEAST_SECONDS = 20.0  # that a run may take, and at least so many times what it takes in the usual order:
SLOWDOWN = 20
_HEAD = re.compile(rb"(launch|copy|read|place) ([^\n]*)\n")
_ERROR = re.compile(r": error: ")


@dataclass(frozen=True)
class Record:
    """What the host got by one copy, or by one instruction."""

    kind: str
    code: str
    size: int
    data: bytes  # empty if it was too much to keep
    hash: str


@dataclass
class Run:
    """One run of the program."""

    status: int = 0
    printed: str = ""
    errors: str = ""  # what the check build reported
    points: list[int] = field(default_factory=list)  # by launch
    records: list[Record] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)  # by code

    def first_error(self) -> str:
        """The first finding, or how the program ended."""
        lines = [line for line in self.errors.splitlines() if _ERROR.search(line)]
        return lines[0] if lines else f"the program ended with status {self.status}"


def read_results(content: bytes, run: Run) -> None:
    """Adds what is in a file of results."""
    at = 0
    while head := _HEAD.match(content, at):
        at = head.end()
        kind, words = head[1].decode(), head[2].decode().split(" ")
        if kind == "launch":
            run.points.append(int(words[0]))
        elif kind == "place":
            run.places[words[0]] = " ".join(words[1:])
        else:
            kept = int(words[2])
            run.records.append(Record(kind, words[0], int(words[1]), content[at : at + kept], words[3]))
            at += kept


def run_once(command: Sequence[str], schedule: int | None, seconds: float | None = None) -> Run:
    """Runs the program, in the order with that number or in the usual one."""
    environment = {name: value for name, value in os.environ.items() if name != "SIMT_SCHEDULE"}
    if schedule is not None:
        environment["SIMT_SCHEDULE"] = str(schedule)
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        environment["SIMT_RESULTS"] = str(results)
        run = Run()
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                env=environment,
                timeout=seconds,
            )
            run.status, run.printed, run.errors = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            run.status = 124
            run.errors = f"{command[0]}: error: hang: it does not end within {seconds:.0f} s"
        if results.exists():
            read_results(results.read_bytes(), run)
    return run


def scales(points: Sequence[int]) -> list[int]:
    """From how many points the changes are to be drawn, as powers of 2: one for launches of each size."""
    return sorted({max(1, math.ceil(math.log2(max(n, 2)))) for n in points if n > 0}) or [1]


def numbers(points: Sequence[int]) -> Iterator[int]:
    """The numbers of schedules for a program whose launches have so many points."""
    sizes = scales(points)
    for k in count(1):
        yield k << SCALE_BITS | sizes[k % len(sizes)]


# --- what differs ---


@dataclass(frozen=True)
class Difference:
    """What the host got otherwise than in the usual order."""

    place: str
    text: str
    is_rounding: bool = False


def _elements(record: Record) -> int:
    return 4 if record.size % 4 == 0 else 1


def _as_float(data: bytes) -> float:
    value = float(struct.unpack("<f" if len(data) == 4 else "<d", data)[0])
    return value if math.isfinite(value) and 1e-18 < abs(value) < 1e18 else math.nan


def _differ_by_rounding(before: bytes, after: bytes, size: int, tolerance: float) -> bool:
    """Whether all elements that differ are floating-point numbers, as far as their bits say, and nearly equal."""
    if len(before) % size:
        return False
    for at in range(0, len(before), size):
        old, new = before[at : at + size], after[at : at + size]
        if old != new:
            a, b = _as_float(old), _as_float(new)
            if not abs(a - b) <= tolerance * max(abs(a), abs(b)):  # also if one is NaN
                return False
    return True


def _value(data: bytes) -> str:
    number = int.from_bytes(data, "little", signed=True)
    real = _as_float(data) if len(data) == 4 else math.nan
    return f"{number}" if math.isnan(real) else f"{number} (as a float: {real:g})"


def compare_record(before: Record, after: Record, place: str) -> Difference | None:
    """What differs in what the host got at one place."""
    if before.size != after.size:
        return Difference(place, f"the host gets {after.size} bytes here, and {before.size} in the usual order")
    if before.hash == after.hash:
        return None
    if not before.data or not after.data:
        return Difference(place, f"of the {before.size} bytes that the host gets here, some differ")
    size = _elements(before)
    at = next(i for i in range(0, before.size, size) if before.data[i : i + size] != after.data[i : i + size])
    old, new = (_value(record.data[at : at + size]) for record in (before, after))
    unit = "byte" if size == 1 else "4-byte element"
    what = "copies" if before.kind == "copy" else "reads"
    text = f"{unit} {at // size} of what the host {what} here is {new}; in the usual order, it is {old}"
    rounding = _differ_by_rounding(before.data, after.data, 4, 1e-5) or _differ_by_rounding(
        before.data, after.data, 8, 1e-12
    )
    return Difference(place, text, rounding)


def compare(before: Run, after: Run, prints: bool) -> Difference | None:
    """The first difference; one by rounding only if there is no other. `prints`: what it prints counts, too."""
    if after.status != before.status:
        return Difference("", after.first_error())
    rounding = None
    for old, new in zip(before.records, after.records):
        place = after.places.get(new.code, "?:0")
        if (old.kind, before.places.get(old.code, "?:0")) != (new.kind, place):
            return Difference(place, "the host gets something here that it does not get in the usual order")
        difference = compare_record(old, new, place)
        if difference and not difference.is_rounding:
            return difference
        rounding = rounding or difference
    if len(before.records) != len(after.records):
        return Difference("", f"the host gets results {len(after.records)} times, not {len(before.records)} times")
    if rounding is None and prints and before.printed != after.printed:
        pairs = zip([*before.printed.splitlines(), ""], [*after.printed.splitlines(), ""])
        old_line, new_line = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
        return Difference("", f"the program prints {new_line!r}; in the usual order, {old_line!r}")
    return rounding


# --- the search ---


@dataclass(frozen=True)
class Usual:
    """The program in the usual order."""

    run: Run
    prints: bool  # what it prints is the same each time
    seconds: float  # that a run may take


class NotRepeatableError(Exception):
    """Two runs in the same order differ."""


def usual(command: Sequence[str], clock: Callable[[], float]) -> Usual:
    """Runs the program twice in the usual order."""
    began = clock()
    first, second = run_once(command, None), run_once(command, None)
    seconds = max(LEAST_SECONDS, SLOWDOWN * (clock() - began))
    if difference := compare(first, second, prints=False):
        raise NotRepeatableError(f"{difference.place}: {difference.text}".lstrip(": "))
    return Usual(first, first.printed == second.printed, seconds)


def differences(command: Sequence[str], of: Usual, most: int) -> Iterator[tuple[int, Difference | None]]:
    """By the numbers of so many schedules: what differs."""
    for number in islice(numbers(of.run.points), most):
        yield number, compare(of.run, run_once(command, number, of.seconds), of.prints)

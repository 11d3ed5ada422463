"""Rows of measurements: their columns, the CSV files that hold them, and speeds as shares of the gold standard's."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from . import files
from .console import Problem

TRANSFERS = ("to device", "to host")  # `kernel` of the rows of copies
PINNING = "pinning"  # that of the row of what a step needs before it sorts host memory
COPIES_ALONE = "copies alone"  # that of the row of its copies, without anything else; `launches`: its trips
COPIES = (*TRANSFERS, PINNING, COPIES_ALONE)  # those that are not kernels


@dataclass
class Row:
    """One measurement. The fields are the columns of the CSV files, in their order; None is an empty field.

    A row with a `kernel` describes that kernel's launches (or copies: COPIES) in the measurement of the row above it;
    every other row describes a whole step.
    """

    lab: str
    step: int
    name: str
    task: str = "sort"
    tile: int = 0
    build: str = ""
    type: str = "u32"
    order: str = "ascending"
    input: str = "uniform"
    seed: int | None = None
    n: int = 0
    blocks: int = 0
    threads: int = 0
    memory: str = ""  # of a step that sorts host memory: the device memory that it may use, and "pageable" if it is
    kernel: str = ""
    launches: int | None = None
    repeats: int | None = None  # timed runs; the quartiles are taken over them
    median_ms: float | None = None
    q1_ms: float | None = None
    q3_ms: float | None = None
    keys_per_s: float | None = None  # n over the median
    gb_per_s: float | None = None  # bytes the task must read and write once, over the median; of a copy: its bytes
    roof_gb_per_s: float | None = None  # bytes read and written per second by a copy in the same memory
    percent_of_roof: float | None = None
    gold: str = ""  # the fastest gold standard or peer for the same keys
    ratio: float | None = None  # speed as a multiple of that one's
    grid: int | None = None  # the last five columns describe the largest launch of a kernel
    block: int | None = None
    dynamic_shared: int | None = None
    static_shared: int | None = None
    registers: int | None = None
    status: str = ""
    message: str = ""
    machine_id: str = ""
    machine: str = ""
    commit: str = ""
    date: str = ""

    @property
    def is_gold(self) -> bool:
        """Whether the row measures a gold standard, or a peer, and not a step."""
        return self.lab == "gold"

    @property
    def label(self) -> str:
        """The step's number and name. Steps that sort tiles only are marked."""
        return f"{self.step:02} {self.name}" + ", tiles" * bool(self.tile)

    @property
    def verified(self) -> bool:
        """Whether every timed output was verified and there is a speed."""
        return self.status == "verified" and bool(self.keys_per_s)

    @property
    def spread(self) -> float:
        """The middle half of the runs, in percent of the median; 0 where there are no times."""
        if not self.median_ms or self.q1_ms is None or self.q3_ms is None:
            return 0.0
        return 100 * (self.q3_ms - self.q1_ms) / self.median_ms


COLUMNS = [field.name for field in fields(Row)]
# Files recorded before steps sorted host memory lack this column, and are read all the same: it is empty in their rows.
EARLIER_COLUMNS = [name for name in COLUMNS if name != "memory"]
_INTEGERS = {field.name for field in fields(Row) if str(field.type).startswith("int")}
_FLOATS = {field.name for field in fields(Row) if str(field.type).startswith("float")}
_REQUIRED = {"step", "tile", "n", "blocks", "threads"}
# Rows that agree in these measure the same thing: all columns before the results but the seed.
SAME_MEASUREMENT = tuple(name for name in COLUMNS[: COLUMNS.index("launches")] if name != "seed")
# A gold standard is comparable with a step where these agree, and both sort host memory or both do not. (How much
# device memory they use for it may differ.)
SAME_KEYS = ("build", "task", "tile", "type", "order", "input", "n")
SAME_WORK = SAME_KEYS[:-1]  # for any n


def key(row: Row, names: Sequence[str] = SAME_MEASUREMENT) -> tuple[Any, ...]:
    """The values of these columns."""
    return tuple(getattr(row, name) for name in names)


# --- CSV ---


def _value(column: str, text: str) -> Any:
    """A field's value. Raises ValueError if the column holds numbers and it is not one."""
    if column in _INTEGERS:
        if text:
            return int(text)
        if column in _REQUIRED:
            raise ValueError(text)
        return None
    if column in _FLOATS:
        return float(text) if text else None
    return text


def _parse(line: Sequence[str], columns: Sequence[str]) -> Row | str:
    """The row of a line of fields, or what is wrong with one of them."""
    values = {}
    for column, text in zip(columns, line):
        try:
            values[column] = _value(column, text)
        except ValueError:
            return f"'{text}' in column {column} is not a number"
    return Row(**values)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value).replace("\n", " ")


def formatted(rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> str:
    """The rows as lines of a CSV file, without its header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([_text(getattr(row, name)) for name in columns])
    return text.getvalue()


def _header_fault(header: Sequence[str]) -> str:
    """What distinguishes a header from ours; "" if nothing does."""
    if list(header) in (COLUMNS, EARLIER_COLUMNS):
        return ""
    missing = [name for name in COLUMNS if name not in header]
    unknown = [name for name in header if name not in COLUMNS]
    faults = [f"it lacks {', '.join(missing)}"] * bool(missing) + [f"it has {', '.join(unknown[:5])}"] * bool(unknown)
    return "; ".join(faults) or "its columns are in another order"


def read(path: str | os.PathLike[str]) -> list[Row]:
    """The rows of a CSV file. Raises Problem if it cannot be read, is of another version, or is damaged."""
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}", 2) from error
    except UnicodeDecodeError as error:
        raise Problem(f"cannot read {path}: it is not a text file", 2) from error
    lines = list(csv.reader(io.StringIO(text)))
    if not lines:
        raise Problem(f"{path} is empty: measure again (./workbook bench)", 2)
    if not set(lines[0]) & set(COLUMNS):
        raise Problem(f"{path} holds no measurements: ./workbook bench and report write them", 2)
    fault = _header_fault(lines[0])
    if fault:
        raise Problem(f"{path} was written by another version ({fault}): measure again", 2)
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(lines[0]):
            raise Problem(
                f"{path} was cut short: row {number} has {len(line)} of {len(lines[0])} fields. "
                "Remove that row, or measure again",
                2,
            )
        row = _parse(line, lines[0])
        if isinstance(row, str):
            raise Problem(f"{path} is damaged: row {number}: {row}. Remove that row, or measure again", 2)
        rows.append(row)
    if not text.endswith("\n"):
        raise Problem(
            f"{path} was cut short: its last row, {len(lines)}, is incomplete. Remove that row, or measure again", 2
        )
    return rows


def mend(path: str | os.PathLike[str]) -> int | None:
    """Removes damaged and incomplete rows from a file that will be appended to; returns how many there were.

    A file of another version is deleted as a whole; then the result is None.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return 0
    if not text:
        return 0
    lines = list(csv.reader(io.StringIO(text)))
    if _header_fault(lines[0]):
        os.unlink(path)
        return None
    if not text.endswith("\n"):
        lines[-1] = []
    parsed = [_parse(line, lines[0]) for line in lines[1:] if len(line) == len(lines[0])]
    good = [row for row in parsed if isinstance(row, Row)]
    damaged = len(lines) - 1 - len(good)
    if damaged:
        write(path, good)
    return damaged


def write(path: str | os.PathLike[str], rows: Iterable[Row], label: str = "", labels: Sequence[str] = ()) -> None:
    """Writes a CSV file, whole or not at all. `label` names a column in front of the others, which holds `labels`."""
    lines = formatted(rows).splitlines(keepends=True)
    if label:
        lines = [f"{text},{line}" for text, line in zip(labels, lines)]
    files.write_whole(path, ",".join([label] * bool(label) + COLUMNS) + "\n" + "".join(lines))


class RowFile:
    """A CSV file that rows are appended to. Rows of one call are written at once: an interruption leaves whole rows."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises Problem if the file holds anything but measurements of this version, or cannot be written."""
        self.path = Path(path)
        self.existing: list[Row] = []
        if self.path.exists() and self.path.stat().st_size:
            self._drop_incomplete_row()
            self.existing = read(self.path)
            if not self.path.read_bytes().startswith(",".join(COLUMNS).encode() + b"\n"):
                write(self.path, self.existing)  # rows with all columns will follow
        else:
            write(self.path, [])

    def _drop_incomplete_row(self) -> None:
        """An interruption may have cut the last row short."""
        data = self.path.read_bytes()
        end = data.rfind(b"\n") + 1
        if 0 < end < len(data):
            os.truncate(self.path, end)

    def append(self, rows: Iterable[Row]) -> None:
        """Adds rows at the end of the file."""
        data = formatted(rows).encode()
        try:
            with open(self.path, "ab", buffering=0) as file:
                if file.write(data) != len(data):
                    raise Problem(f"cannot write {self.path}: is the disk full?")
        except OSError as error:
            raise Problem(f"cannot write {self.path}: {error.strerror}") from error


# --- selections ---


def distinct(rows: Iterable[Row]) -> list[Row]:
    """Each measurement once: the first of those that were taken several times on one machine."""
    first: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        first.setdefault((*key(row), row.machine_id), row)
    return list(first.values())


def whole(rows: Iterable[Row]) -> list[Row]:
    """The rows of whole steps, without those of kernels and copies."""
    return [row for row in rows if not row.kernel]


def verified(rows: Iterable[Row]) -> list[Row]:
    """The rows whose outputs were verified and that have a speed."""
    return [row for row in rows if row.verified]


def hardware(machine: str) -> str:
    """A machine's description without what changes from day to day: system, driver, the last bit of memory."""
    parts = [re.sub(r", ?\d+ GiB.*", "", part.strip()) for part in machine.split(";")]
    return "; ".join(parts)


def check_machines(rows: Iterable[Row]) -> None:
    """Raises Problem if two different machines have the same name."""
    seen: dict[tuple[str, str], str] = {}
    for row in rows:
        if not row.machine:
            continue
        known = seen.setdefault((row.machine_id, row.build), row.machine)
        if hardware(known) != hardware(row.machine):
            raise Problem(
                f"two machines are called {row.machine_id}: {hardware(known)}, and {hardware(row.machine)}. "
                "Measure one of them again with --machine NAME",
                2,
            )


# --- the gold standard ---


def work(row: Row, names: Sequence[str] = SAME_KEYS) -> tuple[Any, ...]:
    """What a row's program had to do. Rows of steps and of gold standards are comparable if this is the same."""
    return (*key(row, names), bool(row.memory))


def best_gold(rows: Iterable[Row], row: Row) -> Row | None:
    """The fastest verified row of a gold standard or a peer for the task and keys of `row`.

    None if there is none, or if the one that is fastest at another n was not measured at this n: a percentage of a
    slower one would flatter."""
    keys = work(row, SAME_WORK)
    golds = [gold for gold in rows if gold.is_gold and gold.verified and work(gold, SAME_WORK) == keys]
    here = [gold for gold in golds if gold.n == row.n]
    if not here:
        return None
    fastest, best = (max(some, key=lambda gold: gold.keys_per_s or 0.0) for some in (golds, here))
    return best if fastest.name in {gold.name for gold in here} else None


def share_of_gold(row: Row, gold: Row | None) -> float | None:
    """The speed of `row` as a multiple of the gold standard's; None where one of them has no verified speed."""
    if gold is None or not row.verified or not gold.keys_per_s or not row.keys_per_s:
        return None
    return row.keys_per_s / gold.keys_per_s


# --- the copies of steps that sort host memory ---


def whole_key(row: Row) -> tuple[Any, ...]:
    """The key of the whole step's row, for that row and for those of its kernels and copies."""
    return key(replace(row, kernel=""))


def by_measurement(rows: Iterable[Row]) -> dict[tuple[Any, ...], Row]:
    """The rows of whole steps by what they measure."""
    return {key(row): row for row in whole(rows)}


def share_of_copies(row: Row, steps: Mapping[tuple[Any, ...], Row]) -> float | None:
    """What part of its step's time the copies alone of `row` take; None for a row of anything else."""
    step = steps.get(whole_key(row))
    if row.kernel != COPIES_ALONE or step is None or not step.median_ms:
        return None
    return (row.median_ms or 0.0) / step.median_ms

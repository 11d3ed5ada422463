"""Rows of measurements: the CSV files that the judge writes, and what is worked out of several of them."""

import csv
import io
import os
import re

from . import files
from .console import Problem

# The columns of common/judge/rows.h, which says what they mean.
COLUMNS = [
    "lab",
    "step",
    "name",
    "task",
    "tile",
    "build",
    "type",
    "order",
    "input",
    "seed",
    "n",
    "blocks",
    "threads",
    "kernel",
    "launches",
    "repeats",
    "median_ms",
    "q1_ms",
    "q3_ms",
    "keys_per_s",
    "gb_per_s",
    "roof_gb_per_s",
    "percent_of_roof",
    "gold",
    "ratio",
    "grid",
    "block",
    "dynamic_shared",
    "static_shared",
    "registers",
    "status",
    "message",
    "machine_id",
    "machine",
    "commit",
    "date",
]
TRANSFERS = ("to device", "to host")
_COUNTS = ("step", "tile", "n", "blocks", "threads")  # whole numbers, in every row
_NUMBERS = (
    "launches",
    "repeats",
    "median_ms",
    "q1_ms",
    "q3_ms",
    "keys_per_s",
    "gb_per_s",
    "roof_gb_per_s",
    "percent_of_roof",
    "ratio",
    "grid",
    "block",
)


def fault(row):
    """Which field of a row is no number though it should be one, in words; None: all is well."""
    for name in _COUNTS + _NUMBERS:
        try:
            if name in _COUNTS:
                int(row[name])
            elif row[name]:
                float(row[name])
        except ValueError:
            return f"'{row[name]}' as {name} is no number"
    return None


def read(path):
    """The rows of a CSV file. Problem: it cannot be read, is of another version, or was cut short."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no text'}", 2) from error
    lines = list(csv.reader(io.StringIO(text)))
    if not lines:
        raise Problem(f"{path} is empty: measure again (./workbook bench)", 2)
    if lines[0] != COLUMNS:
        lacks = [name for name in COLUMNS if name not in lines[0]]
        if lacks == COLUMNS:
            raise Problem(f"{path} holds no measurements: rows are written by ./workbook bench and report", 2)
        knows_not = [name for name in lines[0] if name not in COLUMNS]
        told = [f"it lacks {', '.join(lacks)}"] * bool(lacks) + [f"it has {', '.join(knows_not[:5])}"] * bool(knows_not)
        raise Problem(
            f"{path} is of another version ({'; '.join(told) or 'its columns stand in another order'}): measure again",
            2,
        )
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(COLUMNS):
            raise Problem(
                f"{path} was cut short: row {number} has {len(line)} of {len(COLUMNS)} fields. Take that row "
                "out, or measure again",
                2,
            )
    if not text.endswith("\n"):
        raise Problem(
            f"{path} was cut short: its last row, {len(lines)}, has no end. Take that row out, or measure again", 2
        )
    rows = [dict(zip(COLUMNS, line)) for line in lines[1:]]
    for number, row in enumerate(rows, 2):
        if fault(row):
            raise Problem(f"{path} is damaged: in row {number}, {fault(row)}. Take that row out, or measure again", 2)
    return rows


def mend(path):
    """Takes damaged rows, and rows that were cut short, out of a file to which more will be added; how many they were.

    A file that is none of this version goes as a whole; of it, that is told as None.
    """
    try:
        with open(path, newline="", encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return 0
    except UnicodeDecodeError:
        text = "no text"
    if not text:
        return 0
    lines = list(csv.reader(io.StringIO(text)))
    if lines[0] != COLUMNS:
        os.unlink(path)
        return None
    if not text.endswith("\n"):
        lines[-1] = []
    rows = [dict(zip(COLUMNS, line)) for line in lines[1:] if len(line) == len(COLUMNS)]
    whole_rows = [row for row in rows if not fault(row)]
    if len(whole_rows) < len(lines) - 1:
        write(path, whole_rows)
    return len(lines) - 1 - len(whole_rows)


def write(path, rows, columns=None):
    """Rows as a CSV file, written whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or COLUMNS, lineterminator="\n", restval="", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    files.write_whole(path, text.getvalue())


def distinct(rows):
    """Each measurement once, the first of those that were taken several times."""
    same = (
        "lab",
        "step",
        "name",
        "task",
        "tile",
        "build",
        "type",
        "order",
        "input",
        "n",
        "blocks",
        "threads",
        "kernel",
        "machine_id",
    )
    found = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in same), row)
    return list(found.values())


def whole(rows):
    """The rows of whole steps, without those of their kernels and copies."""
    return [row for row in rows if not row["kernel"]]


def verified(rows):
    """Those that count."""
    return [row for row in rows if row["status"] == "verified" and row["keys_per_s"]]


def best_gold(rows, row):
    """The fastest verified row of the gold standard for the same task and keys as `row`; None if there is none."""
    same = ("build", "task", "tile", "type", "order", "input", "n")
    candidates = [
        gold for gold in verified(rows) if gold["lab"] == "gold" and all(gold[key] == row[key] for key in same)
    ]
    return max(candidates, key=lambda gold: float(gold["keys_per_s"]), default=None)


def hardware(machine):
    """A machine's description without what changes from day to day: system, driver, the last bit of memory."""
    parts = [re.sub(r", ?\d+ GiB.*", "", part.strip()) for part in machine.split(";")]
    return "; ".join(parts)


def check_machines(rows):
    """Problem: two machines under one name."""
    seen = {}
    for row in rows:
        if not row["machine"]:
            continue
        key = row["machine_id"], row["build"]
        known = seen.setdefault(key, row["machine"])
        if hardware(known) != hardware(row["machine"]):
            raise Problem(
                f"two machines are called {row['machine_id']}: {hardware(known)}, and "
                f"{hardware(row['machine'])}. Measure one of them again with --machine NAME",
                2,
            )

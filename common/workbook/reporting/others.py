"""Measurements of other machines and of other labs, which a report compares with its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..core import rows as row_files
from ..core.console import Problem, note
from ..core.course import ROOT, labs
from ..core.rows import Row
from .context import RECORDED
from .place import sources

RESULTS = ROOT / "reports/results"


def other_machines(lab: str, paths: Sequence[str], own: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """(name, rows) of each machine: those in `paths`, and those recorded with the workbook.

    Raises Problem if a file cannot be read, or if two machines have the same name.
    """
    found = [_given(lab, path) for path in paths]
    for csv in sorted(RESULTS.glob(f"*/{lab}.csv")):
        try:
            rows = row_files.read(csv)
        except Problem as problem:
            note(f"left out: {problem}")
            continue
        ids = {row.machine_id for some in (own, *(rows for _, rows in found)) for row in some}
        if not ids & {row.machine_id for row in rows}:
            found.append((f"{csv.parent.name}, {RECORDED}", rows))
    row_files.check_machines([row for some in (own, *(rows for _, rows in found)) for row in some])
    return found


def _given(lab: str, text: str) -> tuple[str, list[Row]]:
    """The measurements of a lab in a CSV file, or in a folder of them."""
    path = Path(text)
    if path.is_dir():
        csvs = sorted(path.glob("*.csv")) or sorted(path.glob("csv/*.csv"))
        if not csvs:
            raise Problem(f"{text} has no CSV files", 2)
    elif path.is_file():
        csvs = [path]
    else:
        raise Problem(f"no such file or folder: {text}", 2)
    rows = [row for csv in csvs for row in row_files.read(csv) if row.lab in (lab, "gold")]
    if not any(row.lab == lab for row in rows):
        raise Problem(f"{text} has no measurements of {lab}", 2)
    return (path.stem if path.is_file() else path.name), rows


def other_labs(lab: str, solution: bool, own: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """What the reports on the other labs have measured on this machine, and what is recorded of all labs: ("" or a
    remark, rows)."""
    ids = {row.machine_id for row in own}
    folders = [sources(other, solution) / "report/csv" for other in labs() if other != lab]
    here = [row for folder in folders for path in sorted(folder.glob("*.csv")) for row in _readable(path)]
    found = [("", [row for row in here if row.machine_id in ids])]
    for folder in sorted(path for path in RESULTS.glob("*") if path.is_dir()):
        rows = [row for path in sorted(folder.glob("*.csv")) for row in _readable(path)]
        found += [] if ids & {row.machine_id for row in rows} else [(RECORDED, rows)]
    return found


def _readable(path: Path) -> list[Row]:
    """The rows of whole steps in a file; none if it is damaged, which the report on that lab says."""
    try:
        return row_files.whole(row_files.read(path))
    except Problem:
        return []

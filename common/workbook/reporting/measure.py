"""The measurements of a report, and those of other machines and labs, which it compares with its own.

What the report's folder already has from the same programs is not measured again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from ..core import build, files, measuring, resuming, sweeps
from ..core import rows as row_files
from ..core.console import Problem, note
from ..core.course import ROOT, has_solutions, labs
from ..core.judge_client import JudgeClient
from ..core.judge_types import BUSY, Lab, Limits
from ..core.measuring import Programs
from ..core.rows import Row
from ..core.sweeps import Sweep
from .context import RECORDED
from .place import sources

CPU_SIZES = (*sweeps.REPORT_SIZES, *(1 << e for e in range(10, 27, 2)))


def _refused(row: Row) -> bool:
    """Whether the clocks of judge and runner disagree, as on a busy machine."""
    return row.status in ("refused", BUSY)


def _doubtful(row: Row) -> bool:
    """Whether a measurement failed in a way that may not happen again."""
    return row.status in ("refused", BUSY, "crashed", "wrong") or (row.status == "hung" and row.blocks == 0)


def _again(what: str, programs: Programs, sweep: Sweep, path: Path, rows: Sequence[Row]) -> list[Row]:
    """The rows, which are good, and those that are missing of the sweep."""
    kept = path.with_name(f"{path.stem}.part")
    try:
        row_files.write(kept, rows)
        return measuring.run(f"{what}, once more", programs, sweep, kept, brief=True).rows
    finally:
        kept.unlink(missing_ok=True)


def _recorded(path: Path) -> list[Row] | None:
    """The rows of a file; None, and a note, if it is damaged."""
    try:
        return row_files.read(path)
    except Problem as problem:
        note(f"{problem}. It is measured again")
        return None


def measure(programs: Programs, plan: Sequence[Sweep], folder: Path, fresh: bool) -> list[Row]:
    """The rows of all sweeps; what may have failed by chance is tried once more."""
    known_path = folder / "csv/sweeps.json"
    known = files.known_in(known_path)
    rows: list[Row] = []
    for place, sweep in enumerate(plan, 1):
        path = folder / "csv" / f"{sweep.name}.csv"
        used = [program for program in (programs.runner, programs.gold, build.judge()) if program]
        mark = resuming.digest(used, asdict(sweep))
        what = f"{sweep.lab}, {place} of {len(plan)}: {sweep.words}"
        found = _recorded(path) if not fresh and known.get(sweep.name) == mark and path.is_file() else None
        failed: Callable[[Row], bool] = _doubtful
        if found is None:
            result = resuming.resume(what, programs, sweep, fresh, brief=True)
            found = result.rows
            row_files.write(path, found)
            result.path.unlink(missing_ok=True)
            failed = _refused  # the others are tried again by the next report
        # A step that fails for every n will fail again: only steps that succeed elsewhere deserve another try.
        sound = {row.name for row in row_files.verified(found)}
        good = [row for row in found if not (failed(row) and row.name in sound)]
        if len(good) < len(found):
            found = _again(what, programs, sweep, path, good)
            row_files.write(path, found)
        rows += found
        if known.get(sweep.name) != mark:
            known[sweep.name] = mark
            files.write_whole(known_path, json.dumps(known, indent=1) + "\n")
    return rows


def forget(folder: Path, names: Iterable[str]) -> None:
    """Removes the files of sweeps that the report no longer has, so that --with FOLDER does not find them."""
    path = folder / "csv/sweeps.json"
    known = files.known_in(path)
    gone = [name for name in known if name not in set(names) and re.fullmatch(r"[\w-]+", name)]
    for name in gone:
        (folder / "csv" / f"{name}.csv").unlink(missing_ok=True)
        del known[name]
    if gone:
        files.write_whole(path, json.dumps(known, indent=1) + "\n")


def processor(judge: JudgeClient, lab: str, kind: str, folder: Path, fresh: bool) -> list[Row]:
    """On a machine with a GPU: the processor's best programs as well, without the emulation."""
    if kind != "cuda" or "cpu" not in build.runnable():
        return []
    runner = build.runner(lab, "cpu", has_solutions())
    build.compile_targets([build.gold("cpu"), runner], f"building {lab}")
    sweep = Sweep(
        lab,
        "processor",
        "the processor's best",
        n=CPU_SIZES,
        limits=Limits(repeats=5, time_limit=2),
        budget=60,
        only_gold=True,
    )
    return measure(Programs(judge, "cpu", runner, build.gold("cpu")), [sweep], folder, fresh)


def _threads(shape: tuple[int, int]) -> int:
    return shape[0] * shape[1]


def _too_many_threads(sweep: Sweep, kind: str) -> str:
    """A sentence on launch shapes that are too slow to emulate; "" if the sweep has all of them."""
    most = max(map(_threads, sweep.shapes))
    if kind == "cuda" or not most or most >= max(map(_threads, sweeps.GRID)):
        return ""
    steps = sweeps.numbered(sweep.steps) if sweep.steps else "all steps"
    return f"Left out: launches of more than {most:,} threads in {steps}: emulated on a processor, they take too long."


def left_out(lab: Lab, kind: str, plan: Iterable[Sweep], rows: Sequence[Row]) -> dict[str, list[str]]:
    """Name of a sweep -> sentences on what of it was not measured."""
    found: dict[str, list[str]] = {}
    for sweep in plan:
        name = "ranges" if sweep.name.startswith("range") else sweep.name.partition("-")[0]
        sentences = [sweep.missing(lab, rows), _too_many_threads(sweep, kind)]
        found.setdefault(name, []).extend(filter(None, sentences))
    return {name: list(dict.fromkeys(sentences)) for name, sentences in found.items()}


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

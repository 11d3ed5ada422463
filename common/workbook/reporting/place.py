"""Where a report is: next to the files it is about, so that removing a build leaves the student's words."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..core.console import Usage, note
from ..core.course import BUILD, ROOT, has_solutions, shown


def sources(lab: str, solution: bool, root: Path = ROOT) -> Path:
    """The folder of the steps that are reported: the student's, or the solution's."""
    return root / ("solutions" if solution and has_solutions(root) else "labs") / lab


def report_folder(lab: str, solution: bool, root: Path = ROOT, build: Path = BUILD) -> Path:
    """The folder of a lab's report. A report that an earlier version wrote to build/reports is moved there."""
    folder = sources(lab, solution, root) / "report"
    old = build / "reports" / lab
    if (old / "report.md").is_file() and not folder.exists():
        shutil.move(str(old), str(folder))
        note(
            f"your report is now in {shown(folder)}; it was in {shown(old)}, and would have been removed with the build"
        )
    return folder


def prepare(folder: Path) -> None:
    """Makes the report's folder. Raises Usage if that is not possible."""
    try:
        for name in ("csv", "plots"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        if not all(os.access(place, os.W_OK) for place in (folder, folder / "csv", folder / "plots")):
            raise PermissionError
    except OSError as error:
        raise Usage(f"{folder} cannot be written: choose another folder with --out") from error

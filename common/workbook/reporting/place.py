"""Where a report is: next to the files it is about, so that removing a build leaves the student's words.

Files made from report.md end with a signature, so that changes by hand are noticed and not overwritten.
"""

import hashlib
import os
import shutil
from pathlib import Path

from ..core import files
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


def _signature(text: str, comment: str) -> str:
    """The last line: a comment with a checksum of the text above it."""
    return comment.format(hashlib.sha256(text.encode()).hexdigest()[:16]) + "\n"


def _is_ours(path: Path, comment: str) -> bool:
    """Whether a file is as we wrote it."""
    body, _, last = path.read_text(encoding="utf-8", errors="replace").rstrip("\n").rpartition("\n")
    return last + "\n" == _signature(body + "\n", comment)


def write_signed(path: Path, content: str, comment: str, remarks: list[str]) -> Path:
    """Writes the content and returns the path; under another name if somebody has changed the file by hand.

    `comment`: a comment in the file's language, with {} for the checksum.
    """
    names = [path.name, f"{path.stem}-new{path.suffix}"]
    changed: list[str] = []
    while path.with_name(names[0]).exists() and not _is_ours(path.with_name(names[0]), comment):
        changed.append(names.pop(0))
        names = names or [f"{path.stem}-new-{len(changed)}{path.suffix}"]
    if changed:
        remarks.append(
            f"{names[0]}: a new name, because you have changed {' and '.join(changed)} by hand; your changes are kept"
        )
    path = path.with_name(names[0])
    files.write_whole(path, content + _signature(content, comment))
    return path

"""Submissions of earlier years, with which a class is compared: grades that were kept, or a folder of submissions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..core.console import Usage
from . import handed_in, submissions
from .grades import read_grades, run_file
from .unpack import Member, Refused


def read(folders: Iterable[Path], labs: Sequence[str]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The sources of all students of these folders, by "FOLDER/STUDENT", and remarks on what is not compared."""
    sources: dict[str, dict[str, str]] = {}
    remarks = []
    for folder in folders:
        if run_file(folder).is_file():
            found = {grade.student: grade.sources for grade in read_grades(folder)}
        else:
            found, unread = _submissions(folder, labs)
            remarks += unread
        if not any(found.values()):
            raise Usage(f"{folder} has no submissions of {', '.join(labs)} to compare with")
        sources.update({f"{folder.name}/{student}": files for student, files in found.items() if files})
    return sources, remarks


def _submissions(folder: Path, labs: Sequence[str]) -> tuple[dict[str, dict[str, str]], list[str]]:
    handed, _ = handed_in.find(folder)
    found, packed = {}, []
    for one in handed:
        taken = submissions.read(one, labs, _no_archive)
        found[one.student] = {name: text for name, text in taken.files.items() if name.endswith(".cu")}
        packed += [one.path.name] if taken.refused else []
    more = f"not compared, because archives of {folder} are not unpacked: {', '.join(packed)}"
    return found, [more] if packed else []


def _no_archive(path: Path, suffixes: Sequence[str]) -> Iterable[Member]:
    """An archive may be made to exhaust its reader. It is read only in the sandbox, which does not run here."""
    raise Refused(f"{path.name} is an archive")

"""pseudonyms.csv: what students are called on pages and in tables, for an instructor who grades without their names.

A folder of grades has pseudonyms as long as it holds the file, which is the only link between them and the students.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ..core import files
from ..core.console import Usage
from . import gradebooks, roster, texts
from .grades import MISSING, Grade, file_name

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without those that look alike
LENGTH = 4
FILES = (".cu", ".md")  # what Canvas puts the student's name in front of; archives and folders have the name alone
OF_PLATFORMS = {"assignsubmission", "file", "onlinetext", "late", "submission"}  # words in names of folders
_WORD = re.compile(r"[^\W_]+")


def file_of(out: Path) -> Path:
    """Where the file is."""
    return out / "pseudonyms.csv"


def key_of(student: str) -> str:
    """How the file names a student: as the files about the student are named."""
    return file_name(student).strip()


def read(out: Path) -> dict[str, str]:
    """The pseudonyms of a folder of grades, by the keys of its students; empty if it has none. Raises Usage."""
    path = file_of(out)
    if not path.is_file():
        return {}
    (_, header), *lines = roster.table_of(path) or [(1, [])]
    if header != ["student", "pseudonym"] or any(len(line) != 2 or not all(line) for _, line in lines):
        raise Usage(f"{path} must have the columns student and pseudonym, and both in every line")
    found = {student.removeprefix("'"): pseudonym for _, (student, pseudonym) in lines}
    if len(set(found.values())) < len(lines):
        raise Usage(f"{path}: a student or a pseudonym occurs twice")
    return found


def extended(known: Mapping[str, str], students: Iterable[str]) -> dict[str, str]:
    """The pseudonyms, with new ones for students who have none. They say nothing about the order of the names."""
    found = dict(known)
    for key in map(key_of, students):
        while key not in found:
            pseudonym = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
            if pseudonym not in found.values():
                found[key] = pseudonym
    return found


def joined(parts: Iterable[Mapping[str, str]], students: Iterable[str]) -> dict[str, str]:
    """Those of the parts of a class, with new ones for students who lack one or have that of another part's student."""
    found: dict[str, str] = {}
    for key, pseudonym in (item for part in parts for item in part.items()):
        if pseudonym not in found.values():
            found.setdefault(key, pseudonym)
    return extended(found, students)


def write(out: Path, names: Mapping[str, str]) -> None:
    """Writes the file."""
    rows = [[texts.cell(key), pseudonym] for key, pseudonym in sorted(names.items())]
    files.write_whole(file_of(out), gradebooks.to_csv([["student", "pseudonym"], *rows]))


def shown(grade: Grade, names: Mapping[str, str]) -> Grade:
    """A grade as pages and tables show it: under the pseudonym, if there are any, and without the name in its notes."""
    if not names:
        return grade
    path = Path(grade.submission)
    own = [grade.student, grade.name, *([path.name] if path.suffix not in FILES else [])]
    words = {word.casefold() for text in own for word in _WORD.findall(text)}
    words = {word for word in words - OF_PLATFORMS if len(word) > (3 if word.isdigit() else 1)}

    def hidden(text: str) -> str:
        if text == MISSING:
            return text
        return _WORD.sub(lambda match: "..." if match[0].casefold() in words else match[0], text)

    return replace(
        grade, student=names[key_of(grade.student)], name="", group="", notes=tuple(map(hidden, grade.notes)),
        refused=tuple(map(hidden, grade.refused)), remarks=tuple(map(hidden, grade.remarks)),
    )  # fmt: skip

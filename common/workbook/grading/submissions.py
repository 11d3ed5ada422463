"""What students handed in: one folder or archive per student, of which only the files that they may edit are taken."""

from __future__ import annotations

import base64
import json
import os
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..core import course
from ..core.console import Problem, Usage
from .unpack import ENDINGS, MOST_MEMBERS, MOST_TEXT, Member, Refused

MOST_LISTED = 10  # files that a remark names
REPORT = "report/report.md"

# Reads an archive: its path and the suffixes of what is wanted, to its members. Raises Refused.
Reader = Callable[[Path, Sequence[str]], Iterable[Member]]


@dataclass(frozen=True)
class Submission:
    """What was taken of one student's files."""

    student: str
    path: Path
    files: dict[str, str] = field(default_factory=dict)  # "03-bitonic/02_shared.cu" -> its text; also of reports
    refused: tuple[str, ...] = ()  # why none of it is graded
    remarks: tuple[str, ...] = ()  # for the instructor

    def report(self, lab: str) -> str | None:
        """The text of the report on a lab; None: it was not handed in."""
        return self.files.get(f"{lab}/{REPORT}")


# --- the folder of submissions ---


def student_of(path: Path) -> str:
    """The student's name: that of the folder, or of the archive without its ending."""
    if path.is_dir():
        return path.name
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if path.name.lower().endswith(ending):
            return path.name[: -len(ending)]
    return path.name


def _is_submission(path: Path) -> bool:
    return not path.is_symlink() and (path.is_dir() or (path.is_file() and path.name.lower().endswith(ENDINGS)))


def find(folder: Path) -> tuple[list[Path], list[str]]:
    """The submissions in a folder, by the students' names, and remarks on what else is in it. Raises Usage or Problem.

    Names that differ only in how a letter with an accent is written are the same.
    """
    if not folder.is_dir():
        raise Usage(f"{folder} is not a folder: name the folder that holds one folder or archive per student")
    there = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    found = [path for path in there if _is_submission(path)]
    if not found:
        raise Problem(
            f"{folder} has no submissions: it must hold one folder or archive ({', '.join(ENDINGS)}) per student"
        )
    by_name: dict[str, Path] = {}
    for path in found:
        other = by_name.setdefault(unicodedata.normalize("NFC", student_of(path)), path)
        if other is not path:
            raise Problem(
                f"{folder} has two submissions of {student_of(path)}: {other.name} and {path.name}\n"
                "Remove the one that does not count, then run the same command again"
            )
    remarks = [f"ignored: {path.name} is not a folder or an archive" for path in there if path not in found]
    return sorted(found, key=student_of), remarks


# --- the members of a submission ---


def wanted(labs: Sequence[str]) -> list[str]:
    """The files that are taken of a submission, as "03-bitonic/02_shared.cu"."""
    return [name for lab in labs for name in (*(step.file for step in course.steps(lab)), f"{lab}/{REPORT}")]


def _suffixes(labs: Sequence[str]) -> list[str]:
    names = wanted(labs)
    return names if len(labs) > 1 else [*names, *(name.partition("/")[2] for name in names)]


def _entries(folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The entries below a folder that are not folders, with their paths; links are not followed."""
    left = [(folder, "")]
    seen = 0
    while left:
        at, prefix = left.pop(0)
        with os.scandir(at) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                seen += 1
                if seen > MOST_MEMBERS:
                    raise Refused(f"the folder has more than {MOST_MEMBERS:,} files")
                if entry.is_dir(follow_symlinks=False):
                    left.append((Path(entry.path), f"{prefix}{entry.name}/"))
                else:
                    yield prefix + entry.name, entry


def _read(path: str) -> bytes | None:
    """The content of a file; None if it has become something else since it was listed."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        return file.read(MOST_TEXT + 1) if stat.S_ISREG(os.fstat(handle).st_mode) else None


def members_of_folder(folder: Path, suffixes: Sequence[str]) -> Iterator[Member]:
    """The members of a folder, as of an archive. Raises Refused."""
    try:
        for name, entry in _entries(folder):
            kind = "link" if entry.is_symlink() else "file" if entry.is_file(follow_symlinks=False) else "other"
            content = _read(entry.path) if kind == "file" and name.endswith(tuple(suffixes)) else None
            if content is not None and len(content) > MOST_TEXT:
                raise Refused(f"{name[:200]!r} is larger than {MOST_TEXT >> 20} MiB")
            yield name, kind, content
    except OSError as error:
        raise Refused(f"{error.filename} cannot be read: {error.strerror}") from error


def parse_members(lines: str) -> Iterator[Member]:
    """What unpack.py has printed. Raises Refused."""
    for line in lines.splitlines():
        try:
            said = json.loads(line)
            if "error" in said:
                raise Refused(str(said["error"]))
            text = said.get("text")
            yield str(said["name"]), str(said["kind"]), None if text is None else base64.b64decode(text, validate=True)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refused("the archive cannot be read: its list of members is malformed") from error


# --- what is taken ---


def _place(path: str, names: Sequence[str], only_lab: str) -> tuple[str, int] | None:
    """The wanted file that a path means, and how well it fits (less is better): labs/LAB/FILE, LAB/FILE, or, if there
    is one lab only, FILE; below any folders, of which archives often have one."""
    parts = path.removeprefix("./").split("/")
    for name in names:
        tail = name.split("/")
        if parts[-len(tail) :] == tail:
            above = parts[: -len(tail)]
            return name, 100 * (above[-1:] != ["labs"]) + len(above)
        if only_lab and parts[-len(tail) + 1 :] == tail[1:] and not _is_other_lab(parts[: -len(tail) + 1]):
            return name, 10_000 + len(parts)
    return None


def _is_other_lab(above: Sequence[str]) -> bool:
    return any(lab in above for lab in course.labs())


def _listed(what: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return [f"{what}: {', '.join(name[:200] for name in names[:MOST_LISTED])}{more}"]


def take(student: str, path: Path, members: Iterable[Member], labs: Sequence[str]) -> Submission:
    """What is graded of a submission's members. Raises Refused."""
    names = wanted(labs)
    only_lab = labs[0] if len(labs) == 1 else ""
    best: dict[str, tuple[int, str, bytes]] = {}
    ignored, links, twice = [], [], []
    for member, kind, content in members:
        place = _place(member, names, only_lab) if kind != "other" else None
        if kind == "link":
            links.append(member)
        elif place is None or content is None:
            ignored.append(member)
        else:
            name, fit = place
            other = best.get(name)
            if other and other[2] != content:
                twice.append(max(other[:2], (fit, member))[1])
            if not other or (fit, member) < other[:2]:
                best[name] = (fit, member, content)
    remarks = [
        *_listed("links are not followed", links),
        *_listed("ignored, because another file has the same name in a better place", twice),
        *_listed("ignored, because they are not among the files that are graded", ignored),
    ]
    if not any(name.endswith(".cu") for name in best):
        remarks.insert(0, f"none of the files to fill in was found, such as labs/{names[0]}")
    files = {name: best[name][2].decode("utf-8", "replace") for name in names if name in best}
    return Submission(student, path, files, remarks=tuple(remarks))


def read(path: Path, labs: Sequence[str], read_archive: Reader) -> Submission:
    """What is graded of the submission in a folder or an archive."""
    student = student_of(path)
    try:
        members = (members_of_folder if path.is_dir() else read_archive)(path, _suffixes(labs))
        return take(student, path, members, labs)
    except Refused as refused:
        return Submission(student, path, refused=(str(refused),))

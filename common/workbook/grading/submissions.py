"""What students handed in: one folder or archive per student, of which only the files that they may edit are taken."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..core import course
from .handed_in import Handed, is_of_system
from .programs import HEADERS
from .unpack import ENDINGS, MOST_MEMBERS, MOST_TEXT, Member, Refused, canonical, is_wanted
from .unpack import member as member_of

MOST_LISTED = 10  # files that a note names
MOST_ARCHIVES = 5  # that are read in the folder of a submission
REPORT = "report/report.md"
TOP_REPORT = "report.md"  # without its folder, where there is one lab only
_FAULTS = {
    "link": "is a link, and links are not followed: hand in the file itself",
    "large": f"is larger than {MOST_TEXT >> 20} MiB, the most that is read",
    "encrypted": "is encrypted: hand it in without a password",
    "other": "is not a regular file",
}

# Reads an archive: its path and the suffixes of what is wanted, to its members. Raises Refused.
Reader = Callable[[Path, Sequence[str]], Iterable[Member]]


@dataclass(frozen=True)
class Submission:
    """What was taken of what a student handed in."""

    student: str
    path: Path
    files: dict[str, str] = field(default_factory=dict)  # "03-bitonic/02_shared.cu" -> its text; also of reports
    refused: tuple[str, ...] = ()  # why none of it is graded
    notes: tuple[str, ...] = ()  # on what was not taken, for the student and the instructor
    faults: dict[str, str] = field(default_factory=dict)  # why a file is not in `files`, if it was handed in

    def report(self, lab: str) -> str | None:
        """The text of the report on a lab; None: it was not handed in."""
        return self.files.get(f"{lab}/{REPORT}")


# --- the members of a submission ---


def wanted(labs: Sequence[str]) -> list[str]:
    """The files that are taken of a submission, as "03-bitonic/02_shared.cu"."""
    return [name for lab in labs for name in (*(step.file for step in course.steps(lab)), f"{lab}/{REPORT}")]


def headers(labs: Sequence[str]) -> dict[str, Path]:
    """What steps include of the course, as "03-bitonic/tile.cuh" or "step/error.h"."""
    folders = [*(course.ROOT / "labs" / lab for lab in labs), course.ROOT / "common/step"]
    return {
        f"{path.parent.name}/{path.name}": path for at in folders for end in HEADERS for path in sorted(at.glob(end))
    }


def _suffixes(labs: Sequence[str]) -> list[str]:
    names = [*wanted(labs), *headers(labs)]
    return names if len(labs) > 1 else [*names, *(name.partition("/")[2] for name in names), TOP_REPORT]


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
                if entry.name == ".git":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    left.append((Path(entry.path), f"{prefix}{entry.name}/"))
                else:
                    yield prefix + entry.name, entry


def _read(name: str, path: str) -> Member:
    """A file as a member; "other" if it has become something else since it was listed."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        return member_of(name, file) if stat.S_ISREG(os.fstat(handle).st_mode) else (name, "other", None)


def members_of_folder(folder: Path, suffixes: Sequence[str]) -> Iterator[Member]:
    """The members of a folder, as of an archive. Raises Refused."""
    try:
        for name, entry in _entries(folder):
            kind = "link" if entry.is_symlink() else "file" if entry.is_file(follow_symlinks=False) else "other"
            is_read = kind == "file" and is_wanted(name, suffixes)
            yield _read(name, entry.path) if is_read else (name, kind, None)
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
    parts = canonical(path)[0].removeprefix("./").split("/")
    for name in names:
        tail = name.split("/")
        if parts[-len(tail) :] == tail:
            above = parts[: -len(tail)]
            return name, 100 * (above[-1:] != ["labs"]) + len(above)
        if only_lab and parts[-len(tail) + 1 :] == tail[1:] and not _is_other_lab(parts[: -len(tail) + 1]):
            return name, 10_000 + len(parts)
    # The course's own reports/templates/report.md is not a report.
    is_report = parts[-1] == TOP_REPORT and parts[-2:-1] != ["templates"] and not _is_other_lab(parts)
    return (f"{only_lab}/{REPORT}", 20_000 + len(parts)) if only_lab and is_report else None


def _is_other_lab(above: Sequence[str]) -> bool:
    return any(lab in above for lab in course.labs())


def _listed(what: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return [f"{what}: {', '.join(name[:200] for name in names[:MOST_LISTED])}{more}"]


def _file(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _better(fit: int, member: str, part: int) -> tuple[int, int, int, str]:
    """How well a file fits its place: the least is taken. Of files in the same place, that is the last one."""
    return fit, -canonical(member)[1], -part, member


@dataclass
class _Sorted:
    """The members of a submission, by what becomes of them."""

    best: dict[str, tuple[tuple[int, int, int, str], bytes]] = field(default_factory=dict)  # by their places
    faults: dict[str, str] = field(default_factory=dict)  # of files in such places
    changed: list[str] = field(default_factory=list)  # headers of the course
    ignored: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)

    def add(self, name: str, order: tuple[int, int, int, str], content: bytes) -> None:
        """A file that can be taken."""
        other = self.best.get(name)
        if other and other[1] != content:
            self.twice.append(max(other[0], order)[-1])
        if not other or order < other[0]:
            self.best[name] = order, content


def _fault(kind: str, content: bytes | None) -> str:
    """Why a file cannot be taken, as the rest of a sentence; "" if it can."""
    if content is None:
        return _FAULTS.get(kind, _FAULTS["other"])
    if not content.strip():
        return "is empty"
    return "is not UTF-8 text (it may be UTF-16): save it as UTF-8" if b"\0" in content else ""


def _sorted(parts: Iterable[Iterable[Member]], labs: Sequence[str]) -> _Sorted:
    names, ours = wanted(labs), headers(labs)
    only_lab = labs[0] if len(labs) == 1 else ""
    found = _Sorted()
    for number, (member, kind, content) in ((at, member) for at, part in enumerate(parts) for member in part):
        if is_of_system(member):
            continue
        place = _place(member, [*names, *ours], only_lab)
        if place is None:
            (found.links if kind == "link" else found.ignored).append(member)
        elif place[0] in ours:
            is_same = content is not None and content.replace(b"\r\n", b"\n") == ours[place[0]].read_bytes()
            (found.ignored if is_same else found.changed).append(member)
        elif fault := _fault(kind, content):
            found.faults.setdefault(place[0], f"{member[:200]} {fault}")
        else:
            found.add(place[0], _better(place[1], member, number), content or b"")
    return found


def take(student: str, path: Path, parts: Iterable[Iterable[Member]], labs: Sequence[str]) -> Submission:
    """What is graded of the members of a submission's parts, of which the last one is the newest. Raises Refused."""
    names, found = wanted(labs), _sorted(parts, labs)
    best = found.best
    taken = {name: best[name][0][-1] for name in names if name in best}
    renamed = [f"{member} as {name}" for name, member in taken.items() if _file(member) != _file(name)]
    faults = {name: why for name, why in found.faults.items() if name not in best}
    others = [member for member in found.ignored if not _is_of_course(member)]
    notes = [
        *(f"not taken: {why}" for why in faults.values()),
        *_listed("taken under its proper name", renamed),
        *_listed("links are not followed", found.links),
        *_listed("ignored in favour of a file that has a better place or the right name, or is newer", found.twice),
        *_listed("changed by you, but graded with the course's own", found.changed),
        *_listed("ignored, because they are not among the files that are graded", others),
    ]
    if given := len(found.ignored) - len(others):
        files_ = f"{given} file{'s' * (given != 1)} of the course"
        notes.append(f"not used, because grading has its own copies: {files_}")
    if not any(name.endswith(".cu") for name in best):
        notes.insert(0, f"none of the files to fill in was found, such as labs/{names[0]}")
    # What some editors put before the text, a byte-order mark, is left out.
    files = {name: best[name][1].decode("utf-8-sig", "replace") for name in names if name in best}
    return Submission(student, path, files, notes=tuple(notes), faults=faults)


def _is_of_course(member: str) -> bool:
    return os.path.isfile(os.path.join(course.ROOT, member))


def _members(name: str, path: Path, suffixes: Sequence[str], read_archive: Reader) -> Iterator[Member]:
    """The members of a folder, with those of the archives in it; of an archive; or a file that has this name."""
    if path.is_dir():
        archives = [one for one in sorted(path.iterdir()) if _is_archive(one)][:MOST_ARCHIVES]
        names = {archive.name for archive in archives}
        yield from (member for member in members_of_folder(path, suffixes) if member[0] not in names)
        for archive in archives:
            for member, kind, content in read_archive(archive, suffixes):
                yield f"{archive.name}/{member}", kind, content
    elif _is_archive(path):
        yield from read_archive(path, suffixes)
    elif is_wanted(name, suffixes):
        yield _read(name, str(path))
    else:
        yield name, "file", None


def _is_archive(path: Path) -> bool:
    return path.name.lower().endswith(ENDINGS) and path.is_file() and not path.is_symlink()


def read(handed: Handed, labs: Sequence[str], read_archive: Reader) -> Submission:
    """What is graded of what was handed in."""
    student, path = handed.student, handed.path
    try:
        suffixes = _suffixes(labs)
        parts = (_members(name, part, suffixes, read_archive) for name, part in handed.parts)
        taken = take(student, path, parts, labs)
        return replace(taken, notes=(*handed.notes, *taken.notes))
    except Refused as refused:
        return Submission(student, path, refused=(str(refused),), notes=handed.notes)

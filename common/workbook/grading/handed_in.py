"""Who handed in what: a folder of submissions as a person sorts it, or as Canvas, Moodle, Gradescope and git give it.

a folder or an archive per student, named after the student; also clones of repositories
Canvas       mueller_12345_67890_02_halo.cu, all files of all students in one folder
Moodle       Anna Muster_4711_assignsubmission_file_/, or the same with the name of a file
Gradescope   submission_123456/, with submission_metadata.yml, which says whose they are and from when
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from ..core.console import Problem, Usage, listed
from .roster import Roster, Row, time_of
from .unpack import ENDINGS

METADATA = "submission_metadata.yml"  # of Gradescope
_CANVAS = re.compile(r"(?P<name>.+?)_(?P<late>LATE_)?(?P<number>\d{3,})_(?P<file_number>\d{3,})_(?P<file>.+)")
_MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)")
_AGAIN = re.compile(r"[ _-]*(?:\((\d+)\)|attempt[ _-]?(\d+))$", re.IGNORECASE)  # "anna (2)", "anna_attempt_2"
_NUMBER = re.compile(r"(?<![^\s_-])\d{3,}(?![^\s_-])")  # "1001 Anna Muster"
_SHA = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_SECONDS = 20  # that git may take
_OF_SYSTEMS = {".git", "__macosx", ".ds_store", "thumbs.db", "desktop.ini"}


@dataclass(frozen=True)
class Handed:
    """What was handed in together: the folder, the archive or the files, and who gets points for them."""

    student: str
    parts: tuple[tuple[str, Path], ...]  # each with the name that a file has for the student; "" for the others
    ids: tuple[str, ...] = ()  # what the roster may call the student
    name: str = ""  # of the person
    at: datetime | None = None
    attempt: int = 0  # the larger, the later
    students: tuple[str, ...] = ()  # all who get these points; none: the one above
    notes: tuple[str, ...] = field(default=())
    content: str = ""  # a hash of it; "" until it is computed

    @property
    def path(self) -> Path:
        """The first of the files, or the folder."""
        return self.parts[0][1]

    @property
    def everyone(self) -> tuple[str, ...]:
        """All students who get these points."""
        return self.students or (self.student,)


def is_of_system(path: str) -> bool:
    """Whether git, macOS or Windows has made a file, and no person."""
    return any(part in _OF_SYSTEMS or part.startswith("._") for part in path.replace("\\", "/").lower().split("/"))


def of_path(path: Path) -> Handed:
    """What one folder, archive or file is by its name alone."""
    if match := _MOODLE.fullmatch(path.name):
        part = (match["file"] if path.is_file() else "", path)
        return Handed(f"{match['name']}_{match['number']}", (part,), (match["number"],), match["name"])
    if path.is_file() and (match := _CANVAS.fullmatch(path.name)):
        notes = ("Canvas marks it as late",) if match["late"] else ()
        student = f"{match['name']}_{match['number']}"
        part = (match["file"], path)
        return Handed(student, (part,), (match["number"],), match["name"], notes=notes)
    name = _without_ending(path)
    words = name.split("-")
    again = _AGAIN.search(name)
    once = _AGAIN.sub("", name)
    # A clone is named CLASS-ASSIGNMENT-LOGIN, and a login may have hyphens, too.
    ids = (name, once, *("-".join(words[at:]) for at in range(1, len(words))), *_NUMBER.findall(once))
    number = int(again[1] or again[2]) if again else 0
    person = " ".join(_NUMBER.sub(" ", once).split()) or once
    return Handed(name, (("", path),), tuple(dict.fromkeys(ids)), person, _time_in_git(path), number)


def _without_ending(path: Path) -> str:
    endings = sorted(ENDINGS, key=len, reverse=True) if not path.is_dir() else ()
    ending = next((ending for ending in endings if path.name.lower().endswith(ending)), "")
    return path.name[: len(path.name) - len(ending)]


def _is_submission(path: Path) -> bool:
    if path.is_symlink():
        return False
    of_platform = _CANVAS.fullmatch(path.name) or _MOODLE.fullmatch(path.name)
    return path.is_dir() or (path.is_file() and (bool(of_platform) or path.name.lower().endswith(ENDINGS)))


def find(folder: Path, roster: Roster | None = None) -> tuple[list[Handed], list[str]]:
    """What was handed in, by the students' names, and remarks on what else is in the folder. Raises Usage or Problem.

    Names that differ only in how a letter with an accent is written are the same.
    """
    if not folder.is_dir():
        raise Usage(f"{folder} is not a folder: name the folder that holds one folder or archive per student")
    there = sorted(path for path in folder.iterdir() if not (path.name.startswith(".") or is_of_system(path.name)))
    exported = next((path for path in there if (path / METADATA).is_file()), None)
    if exported and not (folder / METADATA).is_file():
        raise Usage(f"{folder} holds the folder that Gradescope exported: name {exported}")
    found = [path for path in there if _is_submission(path)]
    remarks = [
        f"ignored: {path.name} is not a folder or an archive"
        for path in there
        if path not in found and path.name != METADATA
    ]
    if not found and (remarks or not roster):
        raise Problem(
            f"{folder} has no submissions: it must hold one folder or archive ({', '.join(ENDINGS)}) per student, or "
            "the files that Canvas or Moodle exported"
        )
    if (folder / METADATA).is_file():
        handed = _of_gradescope(folder, found)
    else:
        handed = _joined(of_path(path) for path in found)
    handed = _on_roster(folder, handed, roster) if roster else handed
    return sorted(handed, key=lambda one: one.student), remarks


def _joined(all_: Iterable[Handed]) -> list[Handed]:
    """The files of a student together. Raises Problem if a folder or an archive has the name of another one."""
    by_student: dict[str, Handed] = {}
    for one in all_:
        name = unicodedata.normalize("NFC", one.student)
        other = by_student.setdefault(name, one)
        if other is one:
            continue
        is_platform = all(_MOODLE.fullmatch(h.path.name) or _CANVAS.fullmatch(h.path.name) for h in (one, other))
        if not is_platform:
            raise Problem(
                f"{one.path.parent} has two submissions of {one.student}: {other.path.name} and {one.path.name}\n"
                "Remove the one that does not count, then run the same command again"
            )
        notes = tuple(dict.fromkeys((*other.notes, *one.notes)))
        by_student[name] = replace(other, parts=(*other.parts, *one.parts), notes=notes)
    # Canvas numbers all files, so the larger number is the later one.
    return [replace(one, parts=tuple(sorted(one.parts, key=_number_of_file))) for one in by_student.values()]


def _number_of_file(part: tuple[str, Path]) -> tuple[int, str]:
    match = _CANVAS.fullmatch(part[1].name)
    return (int(match["file_number"]) if match else 0), part[1].name


# --- Gradescope ---


def _of_gradescope(folder: Path, found: Sequence[Path]) -> list[Handed]:
    """The submissions of an export. Of several by one student, Gradescope exports the one that counts."""
    lines = (folder / METADATA).read_text(encoding="utf-8", errors="replace").splitlines()
    handed = []
    for path in found:
        name, people, at = path.name, _submitters(lines, path.name), None
        if not people:
            raise Problem(f"{folder / METADATA} does not say who handed in {name}: remove that folder, or export again")
        if created := people[0].get("created_at"):
            at = time_of(created, f"{folder / METADATA}, {name}")
        names = [_person(person) for person in people]
        first = people[0]
        ids = tuple(first[key] for key in ("sid", "email") if first.get(key))
        handed.append(Handed(names[0], (("", path),), ids, first.get("name", ""), at, 0, tuple(names)))
    return handed


def _person(person: dict[str, str]) -> str:
    """What a student is called without a roster: the name, and what makes it differ from another one's."""
    return "_".join(person[key] for key in ("name", "sid") if person.get(key)) or person.get("email", "unnamed")


def _submitters(lines: Sequence[str], submission: str) -> list[dict[str, str]]:
    """The people who handed in a submission; the first one has "created_at", too. Reads the few lines of the YAML file
    that are needed: those of the submission itself, before its history."""
    people: list[dict[str, str]] = []
    inside = False
    for line in lines:
        if re.match(r"\S", line):
            inside = line.rstrip().rstrip(":").strip("'\"") == submission
        elif inside and line.strip() == ":history:":
            break
        elif inside and (match := re.match(r"\s*(- )?:(name|sid|email|created_at): *(.*?) *$", line)):
            if match[1] or not people:
                people.append({})
            person = people[0] if match[2] == "created_at" else people[-1]
            person[match[2]] = match[3].strip("'\"")
    return [person for person in people if set(person) - {"created_at"}]


# --- the roster ---


def _on_roster(folder: Path, handed: Sequence[Handed], roster: Roster) -> list[Handed]:
    """The same with the students of the roster, of whom a group counts as one. Raises Problem for whom it lacks."""
    of_group: dict[tuple[str, str], list[tuple[Handed, Row]]] = {}
    unknown = []
    for one in handed:
        row = roster.find(one.ids, one.name)
        if row is None:
            unknown.append(one.path.name)
        else:
            of_group.setdefault(("group", row.group) if row.group else ("id", row.id), []).append((one, row))
    if unknown:
        raise Problem(
            f"{roster.path} does not say whose these are: {listed(unknown)}\n"
            "Enter the name or the number that the platform uses in one of the roster's columns id, name, login and "
            f"email, or move what does not count out of {folder}"
        )
    return [_of_one(roster, group, found) for group, found in of_group.items()]


def _of_one(roster: Roster, group: tuple[str, str], found: Sequence[tuple[Handed, Row]]) -> Handed:
    """What counts of all that a student or a group has handed in."""
    members = [row for row in roster.rows if group in (("group", row.group), ("id", row.id))]
    ordered = sorted((one for one, _ in found), key=_when)
    asked = next((row.attempt for row in members if row.attempt), "")
    if asked:
        places = [str(number) for number in range(1, len(ordered) + 1)]
        chosen = [one for place, one in zip(places, ordered) if asked in (place, one.path.name, one.student)]
        if not chosen:
            names = ", ".join(one.path.name for one in ordered)
            raise Problem(f"{roster.path}: there is no attempt '{asked}' of {group[1]}; there are: {names}")
    else:
        chosen = ordered[-1:]
        if any(not _is_later(ordered[-1], one) for one in ordered[:-1]):
            names = ", ".join(one.path.name for one in ordered)
            raise Problem(
                f"{roster.path} has one {group[0]} '{group[1]}', of which there are several submissions: {names}\n"
                "Their names and times do not say which is the last one. Name the one that counts in the roster's "
                "column 'attempt'"
            )
    first = next(row.id for one, row in found if one is chosen[0])
    others = [one.path.name for one in ordered if one is not chosen[0]]
    notes = (f"of several attempts, {chosen[0].path.name} counts, not {', '.join(others)}",) if others else ()
    everyone = tuple(dict.fromkeys((first, *(row.id for row in members))))
    return replace(chosen[0], student=first, students=everyone, notes=(*chosen[0].notes, *notes))


def _when(one: Handed) -> tuple[float, int]:
    return (one.at.timestamp() if one.at else 0.0), one.attempt


def _is_later(one: Handed, other: Handed) -> bool:
    """Whether the first is known to be later."""
    return bool(one.at) == bool(other.at) and _when(one) > _when(other)


# --- git ---


def _time_in_git(folder: Path) -> datetime | None:
    """When the last commit of a clone was made, by the clock of the one who made it; None if it is not a clone.

    Git could run what the clone's configuration names. So it reads the clone's objects only, for another repository.
    """
    git = folder / ".git"
    if git.is_symlink() or not git.is_dir():
        return None
    try:
        with tempfile.TemporaryDirectory() as place:
            environment = {
                "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": place, "GIT_CONFIG_NOSYSTEM": "1",
            }  # fmt: skip
            command = ["git", "--git-dir", f"{place}/git"]
            options = {"env": environment, "capture_output": True, "timeout": _SECONDS, "check": True}
            subprocess.run([*command, "init", "--bare", "-q"], **options)  # type: ignore[call-overload]
            environment["GIT_OBJECT_DIRECTORY"] = str((git / "objects").resolve())
            words = [*command, "cat-file", "commit", _head(git)]
            commit: bytes = subprocess.run(words, **options).stdout  # type: ignore[call-overload]
        seconds = re.search(rb"^committer .* (\d+) [+-]\d{4}$", commit.partition(b"\n\n")[0], re.MULTILINE)
        return datetime.fromtimestamp(int(seconds[1])).astimezone() if seconds else None
    except (OSError, ValueError, OverflowError, subprocess.SubprocessError):
        return None


def _head(git: Path) -> str:
    """The commit that is checked out. Raises ValueError or OSError."""
    head = _line(git / "HEAD")
    if head.startswith("ref: refs/") and ".." not in head:
        name = head[len("ref: ") :]
        packed = git / "packed-refs"
        lines = _lines(packed) if packed.is_file() and not packed.is_symlink() else []
        of_name = [line.split(" ")[0] for line in lines if line.endswith(f" {name}")]
        head = _line(git / name) if (git / name).is_file() else "".join(of_name[:1])
    if not _SHA.fullmatch(head):
        raise ValueError(f"{git}/HEAD names no commit")
    return head


def _line(path: Path) -> str:
    return next(iter(_lines(path)), "")


def _lines(path: Path) -> list[str]:
    if not path.is_file():  # a pipe would never end
        raise ValueError(f"{path} is not a file")
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(1 << 20).splitlines()

"""What grading found out, as data. Everything that is written for students and gradebooks is made from it.

A folder of grades holds

    run.json                  the Run: grading again in the same folder uses its seeds. Only its rubric may be replaced
    instructor/STUDENT.json   a Grade, written when a student is finished. It is replaced if the student hands in again
    students/STUDENT/         what the student may see, made from the Grade, without seeds and commands
    roster.csv                the roster, if there is one, as it was named last
    by-hand.csv               points and comments that the instructor gives
    pseudonyms.csv            who is who, if students have pseudonyms
    grades.csv, class.html, next-lecture.html, distribution.svg, not-graded.csv, and canvas.csv or moodle.csv
"""

# Python 3.9 cannot evaluate `int | None`, and the annotations are evaluated here.
# ruff: noqa: UP045

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, TypeVar

from ..core import files, judge_types
from ..core.console import Problem
from ..core.judge_types import Outcome

T = TypeVar("T")

BY_HAND = "by hand"  # a criterion of no rubric: points that the instructor adds or takes off, whatever the time
MISSING = "not handed in"  # the remark on a student of the roster without a submission
LONGEST_NAME = 100  # bytes of a student's name in the name of a file, which may have 255 with what is added to it


@dataclass(frozen=True)
class Failure:
    """A case that failed, or what is wrong with a file as a whole."""

    build: str  # "cpu", "check" or "cuda"; "" for what no build decides
    lab: str
    step: int
    outcome: Optional[Outcome] = None  # of the case; None: there is none, but these three members:
    status: str = ""  # "does not compile"
    message: str = ""
    place: str = ""  # "02_shared.cu:17"
    # For the instructor only:
    case_id: str = ""
    replay: str = ""  # the command that repeats the case


@dataclass(frozen=True)
class Criterion:
    """Points for one thing, such as the correctness of a step."""

    lab: str
    step: Optional[int]  # None: the lab as a whole
    name: str  # of a criterion of the rubric, such as "correct"
    points: Optional[float]  # None: not graded
    max_points: float
    words: str = ""  # a sentence: "61 of 61 cases passed on the cpu build"
    failures: tuple[Failure, ...] = ()
    failed: int = 0  # cases, of which `failures` has some
    extra: bool = False  # these points are not part of the maximum
    comment: str = ""  # of the instructor, for the student
    at_lines: tuple[tuple[int, str], ...] = ()  # the same, each about a line of the step's file


@dataclass(frozen=True)
class Grade:
    """All that is known about one submission."""

    student: str
    submission: str  # the path of its folder or archive
    criteria: tuple[Criterion, ...] = ()
    refused: tuple[str, ...] = ()  # why the submission, or one of its labs, was not run
    remarks: tuple[str, ...] = ()  # for the instructor: unknown symbols
    not_graded: str = ""  # a fault of the grader or of the machine; "" if there was none
    seconds: float = 0
    sources: dict[str, str] = field(default_factory=dict)  # what was graded: "03-bitonic/02_shared.cu" -> its text
    notes: tuple[str, ...] = ()  # for the student, too: files that were ignored
    name: str = ""  # of the person, and the group, as the roster has them
    group: str = ""
    handed_in: str = ""  # the time; "" if it is not known
    late: str = ""  # what lateness costs, in words
    kept: float = 1.0  # the share of the points that lateness leaves
    dropped: tuple[str, ...] = ()  # labs that do not count
    comments: tuple[str, ...] = ()  # of the instructor, for the student, on the submission as a whole
    content: str = ""  # a hash of what was handed in
    possible: float = 0  # the points that others can reach, if nothing was handed in
    seeds: dict[str, int] = field(default_factory=dict)  # of the run that graded it, and its builds
    builds: tuple[str, ...] = ()
    records: tuple[dict[str, Any], ...] = ()  # each a scoring.Record, from which the criteria are made

    @property
    def counted(self) -> list[Criterion]:
        """The criteria of the labs that count."""
        return [criterion for criterion in self.criteria if criterion.lab not in self.dropped]

    @property
    def points(self) -> Optional[float]:
        """The points that count, after what lateness costs; None if any criterion was not graded."""
        if self.not_graded or any(criterion.points is None for criterion in self.criteria):
            return None
        own = sum(criterion.points or 0 for criterion in self.counted if criterion.name != BY_HAND)
        return self.kept * own + sum(criterion.points or 0 for criterion in self.counted if criterion.name == BY_HAND)

    @property
    def max_points(self) -> float:
        """The sum of the points that can be reached, without extra credit."""
        return self.possible + sum(criterion.max_points for criterion in self.counted if not criterion.extra)

    @property
    def is_missing(self) -> bool:
        """Whether the student is on the roster and has handed in nothing."""
        return not (self.submission or self.criteria or self.not_graded)


@dataclass(frozen=True)
class Run:
    """What is the same for all submissions that are graded together."""

    labs: tuple[str, ...]
    rubric: str  # the text of the file
    seeds: dict[str, int] = field(default_factory=dict)  # by the name of what they are for
    sandbox: str = ""  # its name and what it limits
    machine: str = ""
    commit: str = ""
    date: str = ""
    shard: str = ""  # "2/4"; "" if the run grades every submission
    builds: tuple[str, ...] = ()  # that submissions are judged on: without a GPU, there are fewer criteria


def to_json(value: Failure | Criterion | Grade | Run) -> str:
    """The JSON text of one of the classes above."""
    return json.dumps(dataclasses.asdict(value), indent=1, allow_nan=False) + "\n"


def from_json(kind: type[T], text: str) -> T:
    """An object of this class from its JSON text. Raises ValueError if the text is not that of one."""
    try:
        value: Any = json.loads(text)
        return judge_types.from_json(kind, value)
    except TypeError as error:
        raise ValueError(str(error)) from error


# --- the folder of grades ---


def file_name(student: str) -> str:
    """A student's name as the name of a file: unchanged if it is a plain one, else cleaned and with a checksum."""
    bytes_ = student.encode(errors="surrogateescape")
    cleaned = "".join(letter if letter.isalnum() or letter in " ._@+-" else "_" for letter in student).lstrip(".- ")
    if cleaned == student and 0 < len(bytes_) <= LONGEST_NAME:
        return student
    while len(cleaned.encode()) > LONGEST_NAME - 9:
        cleaned = cleaned[:-1]
    return f"{cleaned or '_'}-{hashlib.sha256(bytes_).hexdigest()[:8]}"


def run_file(out: Path) -> Path:
    """Where the Run of a folder of grades is."""
    return out / "run.json"


def grade_file(out: Path, student: str) -> Path:
    """Where the Grade of a student is."""
    return out / "instructor" / f"{file_name(student)}.json"


def read_run(out: Path) -> Run | None:
    """The Run of a folder of grades; None if it has none. Raises Problem if the file is damaged."""
    file = run_file(out)
    return _read(Run, file, "use another folder for the grades") if file.exists() else None


def write_run(out: Path, run: Run) -> None:
    """Writes the Run: of a folder that has none, or the same one with another rubric."""
    files.write_whole(run_file(out), to_json(run))


def read_grade(out: Path, student: str) -> Grade | None:
    """The Grade of a student; None if there is none yet. Raises Problem if the file is damaged."""
    file = grade_file(out, student)
    return _read(Grade, file, "remove it, and the submission is graded again") if file.exists() else None


def read_grades(out: Path) -> list[Grade]:
    """All Grades of a folder, in the order of the students' names. Raises Problem if a file is damaged."""
    found = (out / "instructor").glob("[!.]*.json")
    grades = [_read(Grade, file, "remove it, and the submission is graded again") for file in found]
    return sorted(grades, key=lambda grade: grade.student)


def write_grade(out: Path, grade: Grade) -> None:
    """Writes a Grade: the student is finished."""
    files.write_whole(grade_file(out, grade.student), to_json(grade))


def _read(kind: type[T], file: Path, remedy: str) -> T:
    try:
        return from_json(kind, file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise Problem(f"{file} cannot be used: {error}\n{remedy}") from error

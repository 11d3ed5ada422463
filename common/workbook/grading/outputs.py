"""Everything that is written out of grades. Each file is written whole, and from the grades alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..core import files
from . import class_page, feedback, gradebooks, platforms, roster
from .grades import Grade, Run, file_name, read_grades, write_grade
from .late import Whole, settled
from .roster import Roster


def student_folder(out: Path, student: str) -> Path:
    """The folder that may be handed to a student."""
    return out / "students" / file_name(student)


def roster_file(out: Path) -> Path:
    """Where the roster is kept."""
    return out / "roster.csv"


def write_student(out: Path, run: Run, grade: Grade) -> None:
    """Writes what is handed to a student, and then the grade: a student who has a grade is finished."""
    folder = student_folder(out, grade.student)
    text = feedback.text(run, grade)
    files.write_whole(folder / "feedback.md", text)
    files.write_whole(folder / "feedback.html", feedback.page(text, grade))
    files.write_whole(folder / "results.json", gradebooks.gradescope(run, grade))
    files.write_whole(folder / "junit.xml", gradebooks.junit(run, grade))
    files.write_whole(folder / "autolab.json", gradebooks.autolab(grade))
    write_grade(out, grade)


def settle(out: Path, run: Run, whole: Whole, people: Roster | None) -> list[Grade]:
    """All grades of the folder, with what the rubric and the roster say about submissions as a whole. What this changes
    is written again."""
    settled_grades = []
    for grade in read_grades(out):
        new = settled(grade, whole, people.row(grade.student) if people else None)
        if new != grade:
            write_student(out, run, new)
        settled_grades.append(new)
    return settled_grades


def write_class(out: Path, run: Run, grades: Sequence[Grade], earlier: Mapping[str, Mapping[str, str]] = {}) -> None:
    """Writes the gradebooks, the page about the class, and what was not graded. `earlier`: the files of other years'
    students, with which those of the class are compared."""
    ordered = sorted(grades, key=lambda grade: grade.student)
    files.write_whole(out / "class.html", class_page.page(class_page.text(run, ordered, earlier)))
    files.write_whole(out / "not-graded.csv", gradebooks.not_graded_csv(ordered))
    if roster_file(out).is_file():
        people = roster.read(roster_file(out))
        if people.kind != "own":
            files.write_whole(out / f"{people.kind}.csv", platforms.filled(people, run, ordered))
    files.write_whole(out / "grades.csv", gradebooks.grades_csv(ordered))

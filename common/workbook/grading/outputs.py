"""Everything that is written out of grades. Each file is written whole, and from the grades alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import files
from ..core.console import Problem, listed, note
from . import by_hand, class_page, feedback, gradebooks, lecture, platforms, pseudonyms, roster, scoring
from .grades import Grade, Run, file_name, read_grades, write_grade
from .late import settled
from .roster import Roster
from .rubric import Rubric

FEEDBACK = "feedback.md"


def student_folder(out: Path, student: str) -> Path:
    """The folder that may be handed to a student."""
    return out / "students" / file_name(student)


def roster_file(out: Path) -> Path:
    """Where the roster is kept."""
    return out / "roster.csv"


def write_student(out: Path, run: Run, grade: Grade) -> None:
    """Writes what is handed to a student, and then the grade: a student who has a grade is finished."""
    shown = pseudonyms.shown(grade, pseudonyms.read(out))
    folder = student_folder(out, shown.student)
    text = feedback.text(run, shown)
    files.write_whole(folder / FEEDBACK, text)
    files.write_whole(folder / "feedback.html", feedback.page(text, shown))
    files.write_whole(folder / "results.json", gradebooks.gradescope(run, shown))
    files.write_whole(folder / "junit.xml", gradebooks.junit(run, shown))
    files.write_whole(folder / "autolab.json", gradebooks.autolab(run, shown))
    write_grade(out, grade)


@dataclass(frozen=True)
class Rules:
    """What turns records into points: everything that may change after a submission was graded."""

    marks: Rubric
    folder: Path  # of the submissions
    people: Roster | None = None
    by_hand: Sequence[by_hand.Line] = ()


def settled_grades(out: Path, run: Run, rules: Rules) -> list[tuple[Grade, Grade]]:
    """All grades of the folder, as they are and as the rules make them. Raises Problem if the rules want what was not
    recorded. Nothing is written."""
    found = []
    missing: dict[str, list[str]] = {}
    for grade in read_grades(out):
        new = grade
        try:
            new = scoring.scored(grade, rules.marks, run, rules.folder, out) if grade.records else grade
        except scoring.NotRecorded as lacking:
            missing.setdefault(str(lacking), []).append(grade.student)
        new = by_hand.applied(new, rules.by_hand)
        row = rules.people.row(grade.student) if rules.people else None
        found.append((grade, settled(replace(new, possible=0), rules.marks.whole, row)))
    if missing:
        lines = "\n".join(f"  {what} (of {listed(students)})" for what, students in missing.items())
        raise Problem(
            f"these points need more than was recorded:\n{lines}\nGrade again, with --seeds-of {out} and another --out"
        )
    most = max((new.max_points for _, new in found), default=0)
    return [(old, replace(new, possible=most) if new.is_missing else new) for old, new in found]


def recorded_points(out: Path) -> dict[str, float]:
    """The points of the students of a folder of grades."""
    return {grade.student: grade.points for grade in read_grades(out) if grade.points is not None}


def settle(out: Path, run: Run, rules: Rules, before: Mapping[str, float]) -> list[Grade]:
    """All grades of the folder, as the rules make them. What this changes is written again. Raises Problem.

    Prints whose points are no longer those of `before`, which an earlier command has recorded.
    """
    grades = settled_grades(out, run, rules)
    names = pseudonyms.read(out)
    for old, new in grades:
        folder = student_folder(out, pseudonyms.shown(new, names).student)
        if new != old or not (folder / FEEDBACK).is_file():
            write_student(out, run, new)
    changed = [new.student for _, new in grades if before.get(new.student, new.points) != new.points]
    if changed:
        note(f"points have changed: {listed(changed)}")
    return [new for _, new in grades]


def write_class(out: Path, run: Run, grades: Sequence[Grade], earlier: Mapping[str, Mapping[str, str]] = {}) -> None:
    """Writes the gradebooks, the pages about the class, and what was not graded. `earlier`: the files of other years'
    students, with which those of the class are compared."""
    names = pseudonyms.read(out)
    if names and earlier:
        names = pseudonyms.extended(names, earlier)
        pseudonyms.write(out, names)
        earlier = {
            f"{student.partition('/')[0]}/{names[pseudonyms.key_of(student)]}": sources
            for student, sources in earlier.items()
        }
    ordered = sorted((pseudonyms.shown(grade, names) for grade in grades), key=lambda grade: grade.student)
    class_page.write(out, run, ordered, earlier)
    files.write_whole(out / "next-lecture.html", lecture.page(run, ordered))
    files.write_whole(out / "not-graded.csv", gradebooks.not_graded_csv(ordered))
    if roster_file(out).is_file():
        people = roster.read(roster_file(out))
        if people.kind != "own":
            files.write_whole(out / f"{people.kind}.csv", platforms.filled(people, run, grades))
            if above := platforms.above_maximum(people, grades):
                note(f"{people.kind}.csv has the maximum for students who have more points: {listed(above)}")
    files.write_whole(out / "grades.csv", gradebooks.grades_csv(ordered))

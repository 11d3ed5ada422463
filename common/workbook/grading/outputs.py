"""Everything that is written out of grades. Each file is written whole, and from the grades alone."""

from collections.abc import Sequence
from pathlib import Path

from ..core import files
from . import class_page, feedback, gradebooks
from .grades import Grade, Run, file_name, write_grade


def student_folder(out: Path, student: str) -> Path:
    """The folder that may be handed to a student."""
    return out / "students" / file_name(student)


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


def write_class(out: Path, run: Run, grades: Sequence[Grade]) -> None:
    """Writes the gradebook, the page about the class, and what was not graded."""
    ordered = sorted(grades, key=lambda grade: grade.student)
    files.write_whole(out / "class.html", class_page.page(class_page.text(run, ordered)))
    files.write_whole(out / "not-graded.csv", gradebooks.not_graded_csv(ordered))
    files.write_whole(out / "grades.csv", gradebooks.grades_csv(ordered))

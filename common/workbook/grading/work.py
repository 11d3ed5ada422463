"""What a run has to do in a folder of grades: who is to be graded, under which names, and what is given by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.console import Problem, Usage, listed, note
from . import by_hand, outputs, pseudonyms, scoring
from .grades import Grade, Run, read_grade, read_grades
from .handed_in import Handed
from .roster import Roster


@dataclass(frozen=True)
class Work:
    """The submissions of a class, and the grades that there are."""

    out: Path  # of the grades
    labs: Sequence[str]
    people: Roster | None
    handed: Sequence[Handed]  # by all students
    part: Sequence[Handed]  # what is graded in this folder

    def left(self) -> list[Handed]:
        """What has no grade, or was handed in again since."""
        return [one for one in self.part if any(self._is_left(one, student) for student in one.everyone)]

    def of(self, students: Sequence[str], names: Mapping[str, str]) -> list[Handed]:
        """What these students have handed in. Raises Usage if one of them has handed in nothing."""
        student_of = self.student_of(names)
        wanted = {student_of.get(student, student) for student in students}
        known = sorted(student for one in self.part for student in one.everyone)
        if unknown := sorted(wanted - set(known)):
            raise Usage(f"there is no submission of {', '.join(unknown)}; there are those of {', '.join(known)}")
        return [one for one in self.part if wanted & set(one.everyone)]

    def _is_left(self, one: Handed, student: str) -> bool:
        """Whether a student is still to be graded. What was not graded because of a fault of the machine is, too."""
        grade = read_grade(self.out, student)
        return grade is None or grade.points is None or grade.is_missing or _is_other(one, grade)

    def note_left(self, left: Sequence[Handed]) -> None:
        """A note on what was graded before, and on what was handed in again."""
        if len(left) < len(self.part):
            note(f"{len(self.part) - len(left)} of {len(self.part)} submissions have been graded before")
        graded = {grade.student: grade for grade in read_grades(self.out)}
        again = [one.student for one in left if one.student in graded and _is_other(one, graded[one.student])]
        if again:
            note(f"handed in again since they were graded: {listed(again)}")

    def names(self, wanted: bool) -> dict[str, str]:
        """The pseudonyms of all students: those of the folder, and new ones if it has any or they are wanted."""
        known = pseudonyms.read(self.out)
        return pseudonyms.extended(known, sorted(self._students())) if known or wanted else {}

    def use(self, names: Mapping[str, str]) -> None:
        """Writes the pseudonyms. Folders that are named after students get their names, and are then written again."""
        if names and names != pseudonyms.read(self.out):
            pseudonyms.write(self.out, names)
        for student in self._students() if names else ():
            folder = outputs.student_folder(self.out, student)
            if folder.is_dir():
                (folder / outputs.FEEDBACK).unlink(missing_ok=True)
                folder.rename(outputs.student_folder(self.out, names[pseudonyms.key_of(student)]))

    def lines_by_hand(self, names: Mapping[str, str]) -> list[by_hand.Line]:
        """What the instructor gives by hand. The file may name students by their pseudonyms."""
        student_of = self.student_of(names)
        return by_hand.read(self.out, self.labs, lambda name: student_of.get(name, ""))

    def student_of(self, names: Mapping[str, str]) -> dict[str, str]:
        """Whom an id, a pseudonym or a name that only one student has means."""
        students = self._students()
        rows = self.people.rows if self.people else ()
        times = Counter(row.name for row in rows)
        by_name = {row.name: row.id for row in rows if row.name and times[row.name] == 1}
        ids = {name: one for one in students for name in (names.get(pseudonyms.key_of(one), one), one)}
        return {**by_name, **ids}

    def _students(self) -> set[str]:
        """All who may have a grade."""
        on_roster = [row.id for row in self.people.rows] if self.people else []
        graded = [grade.student for grade in read_grades(self.out)]
        return {*graded, *on_roster, *(student for one in self.handed for student in one.everyone)}


def _is_other(one: Handed, grade: Grade) -> bool:
    """Whether something else was handed in than what was graded. Earlier versions did not record what that was."""
    return bool(grade.content) and one.content != grade.content


def require_comparable(out: Path, run: Run) -> None:
    """Raises Problem if a folder has grades that a new rubric cannot be applied to, because they are not of one run."""
    if differing := scoring.differences(read_grades(out), run):
        lines = "\n".join(f"  {line}" for line in differing)
        raise Problem(
            f"{out} has grades of different runs:\n{lines}\nGrade these students again, with --only and their names, "
            "or the class with --seeds-of and another --out"
        )

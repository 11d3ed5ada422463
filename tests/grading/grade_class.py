#!/usr/bin/env python3
"""Grades a class of generated submissions: each must get exactly the points that it has earned, for the right reason.

    grade_class.py BUILD [NAME ...]      all of the class if nobody is named
    grade_class.py BUILD --draw N        N of those who do less than they should or attack the grader, drawn by the
                                         date, and one who does nothing worse than tutorials do

Prints a line per submission that is not graded as expected, and the share that is. Exits with 77, which Meson counts
as "not run", if no sandbox works here.
"""

import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests"), str(ROOT / "tests/wrong/submissions")]

from drawn import drawn  # noqa: E402
from lazy import ANY, FULL, LAB, NONE, PART, SOME  # noqa: E402
from private import private  # noqa: E402
from students import IN_TUTORIALS, Student, everyone, write  # noqa: E402

from workbook.core import build  # noqa: E402
from workbook.core.console import Problem  # noqa: E402
from workbook.grading import class_run, rubric, texts  # noqa: E402
from workbook.grading.grades import Criterion, Grade, Run  # noqa: E402

# They use up a limit, which takes a minute and more.
SLOW = {"jumps_out_of_a_kernel", "leaks", "never_ends_compiling", "forks_by_number", "computes_for_seconds_and_crashes"}
SKIPPED = 77
PRIVATE = re.compile(r"root:[^ ]*:0:0:")  # in /etc/passwd


def share(criterion: Criterion) -> str:
    """How many of the points were given."""
    if not criterion.points:
        return NONE
    return FULL if criterion.points == criterion.max_points else SOME


def sentences(grade: Grade) -> str:
    """All that a grade says."""
    found = [*grade.refused, *grade.remarks]
    for criterion in grade.criteria:
        found.append(criterion.words)
        for failure in criterion.failures:
            found += [texts.heading(failure), texts.details(texts.public(failure, Run((), "")))]
    return "\n".join(found)


def faults(student: Student, grade: Grade) -> list[str]:
    """What is not as expected."""
    found = [f"not graded: {grade.not_graded}"] if grade.not_graded else []
    for criterion in grade.criteria:
        if criterion.name == "speed":
            continue
        wanted = student.points.get((criterion.step, criterion.name), NONE)
        given = share(criterion)
        # Some: fewer than all, so that nobody gets points that he has not earned.
        is_right = {ANY: True, SOME: given != FULL, PART: given == SOME}.get(wanted, given == wanted)
        if not is_right:
            found.append(
                f"step {criterion.step}, {criterion.name}: {given} of the points, not {wanted}: {criterion.words}"
            )
    if not any(words in sentences(grade) for words in student.words.split(" | ")):
        found.append(f"nothing says: {student.words}")
    if bool(grade.refused) != student.refused:
        found.append(f"refused: {'; '.join(grade.refused) or 'no'}")
    if PRIVATE.search(sentences(grade)):
        found.append("the grade shows a file of the system")
    return found


def report(students: Mapping[str, Student], grades: Mapping[str, Grade]) -> int:
    """Prints what is wrong, and the shares; the exit status."""
    right: dict[str, int] = {}
    for name, student in students.items():
        grade = grades.get(name)
        found = faults(student, grade) if grade else ["there is no grade"]
        right[student.kind] = right.get(student.kind, 0) + (not found)
        if found:
            print(
                f"{name}: " + "\n  ".join(found) + "\n    " + sentences(grade).replace("\n", "\n    ")[:1500]
                if grade
                else name
            )
    kinds = [student.kind for student in students.values()]
    for kind in ("correct", "partly"):
        if kind in kinds:
            print(f"{kind}: {right.get(kind, 0)} of {kinds.count(kind)} graded as expected")
    wrong = [kind for kind in kinds if kind in ("lazy", "hostile")]
    caught = right.get("lazy", 0) + right.get("hostile", 0)
    if wrong:
        print(f"caught: {caught} of {len(wrong)} lazy and hostile submissions, for the right reason")
    seconds = [grade.seconds for grade in grades.values()]
    print(
        f"{sum(right.values())} of {len(students)}; {max(seconds):.0f} s for the slowest, {sum(seconds):.0f} s for all"
    )
    return 0 if sum(right.values()) == len(students) else 1


def some(n: int) -> list[str]:
    """The names of n lazy and hostile students. The few who use up a limit are left out: that takes minutes."""
    names = [name for name, student in everyone(Path()).items() if student.kind in ("lazy", "hostile")]
    return [*drawn([name for name in names if name not in SLOW], n), IN_TUTORIALS]


def main(folder: str, *names: str) -> int:
    """Writes the class, grades it and compares; the exit status."""
    build.use_folder(Path(folder).resolve())
    if not rubric.reader_of_toml():
        print("not run: this Python cannot read TOML")
        return SKIPPED
    if names[:1] == ("--draw",):
        names = tuple(some(int(names[1])))
    with tempfile.TemporaryDirectory() as temporary, private(ROOT, build.folder()):
        where = Path(temporary) / "class"
        students = {name: student for name, student in everyone(where).items() if not names or name in names}
        write(where, students)
        try:
            # Set up by Meson, which runs this test.
            with mock.patch.object(build, "ensure"):
                grades = class_run.grade_class(class_run.Options(where, Path(temporary) / "grades", (LAB,)))
        except Problem as problem:
            lacks = "no sandbox works" in str(problem)
            print(f"{'not run: ' * lacks}{problem}")
            return SKIPPED if lacks else 1
        found = {Path(grade.submission).name: grade for grade in grades}
    return report(students, found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

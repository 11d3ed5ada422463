"""Grades as data: they survive being written and read, and every student's name makes a name for a file."""

from __future__ import annotations

import dataclasses
import unittest
from pathlib import Path

from in_folder import InFolder

from workbook.core.console import Problem
from workbook.grading import grades
from workbook.grading.grades import Criterion, Failure, Grade, Run

FAILURE = Failure(
    "check", "03-bitonic", 2, "sort", "few-values", "u32", "descending", 1025, 4, 256, "wrong", "keys differ\nat 7",
    7, "02_shared.cu:17", ("race: thread 3 wrote", "race: thread 4 read"), 2**63 + 1, "17", "./workbook run 3 2",
)  # fmt: skip
GRADE = Grade(
    "Zoë <script>",
    "class/Zoë <script>.zip",
    (
        Criterion("03-bitonic", 2, "correct", 1.5, 4, "60 of 61 cases passed on the cpu build", (FAILURE,)),
        Criterion("03-bitonic", None, "report", None, 1, "not graded"),
    ),
    ("02_shared.cu calls fork",),
    ("extra file: a.out",),
    "",
    12.25,
    {"03-bitonic/02_shared.cu": "// caf\udce9\n"},
)
RUN = Run(
    ("03-bitonic",), '# points\n[labs."03-bitonic"]\n', {"cases": 2**64 - 1}, "bubblewrap", "a laptop", "abc", "now"
)


class RoundTrip(unittest.TestCase):
    """What is written is read again, without a difference."""

    def test_every_class(self) -> None:
        values: list[Failure | Criterion | Grade | Run] = [FAILURE, Failure("cpu", "01-odd-even", 1), GRADE, RUN]
        for value in (*values, *GRADE.criteria):
            with self.subTest(kind=type(value).__name__):
                self.assertEqual(grades.from_json(type(value), grades.to_json(value)), value)

    def test_names_that_are_not_utf8(self) -> None:
        """The name of a folder may hold bytes that are not UTF-8, which Python represents as lone surrogates."""
        grade = dataclasses.replace(GRADE, student=b"caf\xe9".decode(errors="surrogateescape"))
        self.assertEqual(grades.from_json(Grade, grades.to_json(grade)), grade)

    def test_damaged(self) -> None:
        for text in ("", "[]", "{}", '{"student": 1, "submission": ""}', grades.to_json(GRADE)[:-9]):
            with self.subTest(text=text[:20]), self.assertRaises(ValueError):
                grades.from_json(Grade, text)

    def test_points_that_are_no_number(self) -> None:
        with self.assertRaises(ValueError):
            grades.to_json(dataclasses.replace(GRADE, seconds=float("nan")))


class Folder(InFolder):
    """The files of a folder of grades."""

    def test_grades_and_run(self) -> None:
        out = self.folder / "grades"
        self.assertIsNone(grades.read_run(out))
        self.assertIsNone(grades.read_grade(out, GRADE.student))
        self.assertEqual(grades.read_grades(out), [])
        grades.write_run(out, RUN)
        other = dataclasses.replace(GRADE, student="../etc/passwd")
        for grade in (GRADE, other):
            grades.write_grade(out, grade)
        self.assertEqual(grades.read_run(out), RUN)
        self.assertEqual(grades.read_grade(out, GRADE.student), GRADE)
        self.assertEqual(grades.read_grades(out), [other, GRADE])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["grades"])
        grades.grade_file(out, GRADE.student).write_text("{")
        with self.assertRaisesRegex(Problem, "remove it, and the submission is graded again"):
            grades.read_grades(out)

    def test_file_names(self) -> None:
        plain = ("anna", "Zoë Müller", "a.b-c_d", "李雷", "me@example.org", "x" * grades.LONGEST_NAME)
        awkward = (
            "",
            ".",
            "..",
            "-rf",
            "../up",
            "a/b",
            "a\\b",
            "a\nb",
            "a\0b",
            "é" * 80,
            "\udce9",
            ".hidden",
            "=cmd",
            "<b>",
            "$HOME",
        )
        for student in plain:
            self.assertEqual(grades.file_name(student), student)
        made = [grades.file_name(student) for student in awkward]
        self.assertEqual(len(set(made)), len(made))
        for name in (*plain, *made):
            self.assertNotIn(name[0], ".-")
            self.assertFalse(set(name) & set("/\\\n\0<$="), name)
            Path(self.folder, f"{name}.json").touch()
        self.assertEqual(len(list(self.folder.iterdir())), len(plain) + len(made))

    def test_points(self) -> None:
        self.assertIsNone(GRADE.points)
        graded = dataclasses.replace(GRADE, criteria=GRADE.criteria[:1])
        self.assertEqual((graded.points, graded.max_points), (1.5, 4))
        self.assertIsNone(dataclasses.replace(graded, not_graded="no compiler").points)


if __name__ == "__main__":
    unittest.main()

"""The gradebooks of Canvas and Moodle, filled in with their own ids and headers."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from unittest import mock

from in_folder import InFolder
from test_roster import CANVAS, MOODLE

from workbook.grading import outputs, platforms, roster
from workbook.grading.grades import Criterion, Grade, Run

RUN = Run(("03-bitonic",), "")


def grade(student: str, points: float | None, most: float = 27) -> Grade:
    """A grade."""
    return Grade(student, f"class/{student}", (Criterion("03-bitonic", 1, "correct", points, most),))


class Filled(InFolder):
    """What the platforms read."""

    def filled(self, text: str, *grades: Grade) -> list[list[str]]:
        """The rows for these grades."""
        path = self.folder / "roster.csv"
        path.write_text(text, encoding="utf-8")
        return list(csv.reader(io.StringIO(platforms.filled(roster.read(path), RUN, grades))))

    def test_canvas(self) -> None:
        rows = self.filled(CANVAS, grade("amueller", 13.5), Grade("99", ""))
        self.assertEqual(rows[0], ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "03-bitonic (901)"])
        self.assertEqual(rows[1], ["    Points Possible", "", "", "", "", "27"])
        self.assertEqual(rows[2], ["Müller, Anna", "12345", "S1", "amueller", "A", "13.5"])
        self.assertEqual(rows[3], ["Test, Student", "99", "", "", "A", "0"])  # nothing was handed in

    def test_canvas_with_another_maximum(self) -> None:
        """Points are scaled to what Canvas has."""
        self.assertEqual(self.filled(CANVAS, grade("amueller", 25, 50))[2][5], "13.5")

    def test_canvas_without_the_assignment(self) -> None:
        """Canvas asks whether a column with another name is a new assignment."""
        text = CANVAS.replace("03-bitonic (901)", "Project (901)")
        rows = self.filled(text, grade("amueller", 20))
        self.assertEqual((rows[0][5], rows[1][5], rows[2][5]), ("03-bitonic", "27", "20"))
        only = text.replace(",Lab 02 (900)", "").replace(",10,27", ",27").replace(",8,,80", ",,80")
        self.assertEqual(self.filled(only, grade("amueller", 20))[0][5], "Project (901)")

    def test_moodle(self) -> None:
        rows = self.filled(MOODLE, grade("M1", 13.5))
        self.assertEqual(rows[0], MOODLE.splitlines()[0].split(","))
        self.assertEqual(
            rows[1][:7], ["Participant 4711", "Anna Müller", "M1", "anna@example.org", "Submitted", "50", "100.00"]
        )
        self.assertEqual(rows[2][0], "Teilnehmer/in 4712")
        self.assertEqual(rows[2][5], "-")

    def test_more_than_the_maximum(self) -> None:
        """Canvas takes it. Moodle would skip the line, so it gets the maximum, and the command says whose."""
        extra = Criterion("03-bitonic", 5, "correct", 3, 3, extra=True)
        best = [replace(one, criteria=(*one.criteria, extra)) for one in (grade("M1", 27), grade("amueller", 27))]
        self.assertEqual(self.filled(CANVAS, *best)[2][5], "30")
        self.assertEqual(self.filled(MOODLE, *best)[1][5], "100")
        self.assertEqual(self.filled(MOODLE, grade("M1", -1))[1][5], "0")
        with mock.patch.object(outputs, "note") as note:
            outputs.write_class(self.folder, RUN, best)
        note.assert_called_once_with("moodle.csv has the maximum for students who have more points: M1")

    def test_not_graded_is_not_zero(self) -> None:
        self.assertEqual(self.filled(MOODLE, grade("M1", None))[1][5], "-")
        had = CANVAS.replace(",A,8,,80", ",A,8,11,80")
        self.assertEqual(self.filled(had, grade("amueller", None))[2][5], "11")

    def test_formulas(self) -> None:
        rows = self.filled(MOODLE.replace("Anna Müller", "=1+1"), grade("M1", 1))
        self.assertEqual(rows[1][1], "'=1+1")

    def test_where_they_are(self) -> None:
        (self.folder / "roster.csv").write_text(CANVAS, encoding="utf-8")
        outputs.write_class(self.folder, RUN, [grade("amueller", 1)])
        names = {path.name for path in self.folder.iterdir()}
        self.assertLessEqual({"roster.csv", "canvas.csv", "grades.csv"}, names)

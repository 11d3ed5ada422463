"""A class with a roster: who has handed in what and when, who has not, and copies of other years."""

from __future__ import annotations

import csv
import html
import json
import shutil
import unittest
from pathlib import Path
from unittest import mock

from grade_data import LAB
from test_grade_class import ClassTest, FakeGrader
from test_similarity import submission, written

from workbook.core.console import Problem
from workbook.core.course import ROOT, has_solutions
from workbook.grading import class_run, rubric, shards
from workbook.grading.grades import read_grades


def setUpModule() -> None:
    """Skips all tests where nothing reads TOML."""
    if not rubric.reader_of_toml():
        raise unittest.SkipTest("this Python cannot read TOML")


class WithRoster(ClassTest):
    """Runs with a fake grader."""

    def roster(self, text: str, name: str = "roster.csv") -> Path:
        """A roster with this text."""
        path = self.folder.parent / name
        path.write_text(text, encoding="utf-8")
        return path

    def rows(self) -> dict[str, dict[str, str]]:
        """The gradebook."""
        with open(self.out / "grades.csv", encoding="utf-8") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def rubric(self) -> Path:
        """A rubric with a deadline."""
        path = self.folder.parent / "rubric.toml"
        path.write_text("[step]\ncorrect = 9\n[late]\ndue = 2026-11-20T12:00:00Z\nper_day = 0.25\n")
        return path

    def test_who_has_handed_in_nothing(self) -> None:
        """They have a row and feedback, and are graded when they hand in."""
        people = self.roster("id,name\nana,Ana\nben,Ben\ncem,Cem\noede,Öde\ndora,Dora\nemil,Emil\n")
        said = self.grade("--roster", str(people))
        self.assertIn("4 of 4 submissions have grades", said)
        self.assertIn("not handed in: dora, emil", said)
        rows = self.rows()
        self.assertEqual(list(rows), ["ana", "ben", "cem", "dora", "emil", "oede"])
        self.assertEqual((rows["dora"]["points"], rows["dora"]["of"]), ("0", "1000"))
        self.assertEqual((rows["dora"]["name"], rows["dora"]["remarks"]), ("Dora", "not handed in"))
        feedback = (self.out / "students/dora/feedback.md").read_text()
        self.assertIn("- not handed in\n", feedback)
        self.assertIn("**0 of 1000 points**", feedback)
        scores = json.loads((self.out / "students/dora/autolab.json").read_text())
        self.assertEqual(scores, {"scores": {"03-bitonic": 0}})
        self.assertIn("Not handed in: ", (self.out / "class.html").read_text())
        (self.folder / "Dora").mkdir()
        self.assertIn("not handed in: emil", self.grade())  # with the roster that was kept
        self.assertEqual(FakeGrader.graded[4:], ["dora"])
        self.assertEqual(self.rows()["dora"]["points"], self.rows()["ana"]["points"])

    def test_a_name_means_a_student(self) -> None:
        """After --only and in by-hand.csv, if only one student has it. Pages show it beside the id."""
        people = self.roster("id,name\nana,Ana Groß\nben,Ben Doe\ncem,Ben Doe\nöde,\n")
        self.grade("--roster", str(people))
        FakeGrader.graded.clear()
        self.grade("--only", "Ana Groß")
        self.assertEqual(FakeGrader.graded, ["ana"])
        self.assertIn("there is no submission of Ben Doe", self.grade("--only", "Ben Doe", code=2))
        (self.out / "by-hand.csv").write_text("student,comment\nAna Groß,Well done\n", encoding="utf-8")
        self.grade()
        feedback = (self.out / "students/ana/feedback.md").read_text(encoding="utf-8")
        self.assertIn("from your instructor: Well done", feedback)
        self.assertIn("# Feedback for Ana Groß (ana)", html.unescape(feedback))
        page = (self.out / "class.html").read_text(encoding="utf-8")
        self.assertIn(">Ana Groß (ana)</a>", page)
        self.assertIn(">öde</a>", page)
        self.grade("--pseudonyms")
        self.assertNotIn("Groß", (self.out / "class.html").read_text(encoding="utf-8"))

    def test_errors_before_anything(self) -> None:
        for text, words in (
            ("id\nana\nben\n", "does not say whose these are: Cem, Öde"),
            ("id\nana\nana\n", "is also in line 2"),
            ("student\nana\n", "no column 'id'"),
        ):
            status = 2 if "column" in words else 1
            self.assertIn(words, self.grade("--roster", str(self.roster(text)), code=status))
        self.assertIn("cannot be read", self.grade("--roster", "/no/such", code=2))
        self.assertFalse(self.out.exists())
        self.assertEqual(FakeGrader.graded, [])

    def test_a_run_that_could_not_begin(self) -> None:
        """It begins when the same command is given again, such as after the sandbox was repaired."""
        people = self.roster("id\nana\nben\ncem\nöde\n")
        with mock.patch.object(class_run, "prepared", side_effect=Problem("no sandbox works")):
            self.grade("--roster", str(people), code=1)
        self.grade("--roster", str(people))
        self.assertEqual(len(FakeGrader.graded), 4)

    def test_notes_are_in_the_row_and_the_feedback(self) -> None:
        for folder in self.folder.iterdir():
            folder.rmdir()
        (self.folder / "muelleranna_LATE_12345_67890_01_Global.cu").write_text("// mine\n")
        (self.folder / "ben (1).zip").touch()
        (self.folder / "ben (2).zip").touch()
        self.grade("--roster", str(self.roster("id,name\n1001,Anna Müller\nben,\n")))
        for student, words in (("1001", "Canvas marks it as late"), ("ben", "ben (2).zip counts, not ben (1).zip")):
            self.assertIn(words, self.rows()[student]["remarks"])
            self.assertIn(
                f"- {words}" if student == "1001" else words, (self.out / f"students/{student}/feedback.md").read_text()
            )
            self.assertIn(words, (self.out / f"students/{student}/results.json").read_text())

    def test_groups(self) -> None:
        for name in ("Cem", "Öde"):
            (self.folder / name).rmdir()
        people = self.roster("id,group\nana,A\nben,\ncem,A\n")
        self.grade("--roster", str(people))
        self.assertEqual(FakeGrader.graded, ["ana", "ben"])
        rows = self.rows()
        self.assertEqual(rows["cem"]["points"], rows["ana"]["points"])
        self.assertEqual((rows["cem"]["group"], rows["ben"]["group"]), ("A", ""))
        self.grade()
        self.assertEqual(FakeGrader.graded, ["ana", "ben"])
        (self.out / "instructor/cem.json").unlink()
        self.grade()
        self.assertEqual(FakeGrader.graded, ["ana", "ben", "ana"])

    def test_extensions_after_grading(self) -> None:
        """A roster with another extension changes recorded grades without grading again."""
        head = "id,handed_in,extension\nben,2026-11-19,\ncem,,\nöde,2026-11-30,\n"
        marks = ("--rubric", str(self.rubric()))
        said = self.grade(*marks, "--roster", str(self.roster(head + "ana,2026-11-21T12:00Z,\n")))
        self.assertIn("no time is known for 1 of 4 submissions", said)
        full = float(self.rows()["ben"]["points"])
        self.assertAlmostEqual(float(self.rows()["ana"]["points"]), 0.75 * full, 2)
        self.assertEqual(self.rows()["öde"]["points"], "0")
        self.assertIn("1 day late: 25 % of the points are taken off", self.rows()["ana"]["remarks"])
        self.assertIn("is not known, so nothing was taken off", self.rows()["cem"]["remarks"])
        self.grade(*marks, "--roster", str(self.roster(head + "ana,2026-11-21T12:00Z,1\n")))
        self.assertEqual(float(self.rows()["ana"]["points"]), full)
        self.assertNotIn("late", (self.out / "students/ana/feedback.md").read_text())
        self.assertEqual(len(FakeGrader.graded), 4)

    def test_shards(self) -> None:
        """Each part has the same roster, and who is missing is in one of them."""
        people = self.roster("Student,ID,Section\nAna,1\nBen,2\nCem,3\nÖde,4\nDora,5\n")
        parts: list[Path] = []
        for number in (1, 2):
            self.out = self.out.with_name(f"part {number}")
            seeds = ["--seeds-of", str(parts[0])] if parts else []
            self.grade("--roster", str(people), "--shard", f"{number}/2", *seeds)
            parts.append(self.out)
        merged = shards.merge(self.out.with_name("all"), parts)
        self.assertEqual([(one.student, one.is_missing) for one in merged if one.name == "Dora"], [("5", True)])
        self.assertEqual(len(merged), 5)
        self.assertIn("Dora,5,,0\n", (self.out.with_name("all") / "canvas.csv").read_text())

    def test_replay_knows_the_roster(self) -> None:
        self.grade("--roster", str(self.roster("id,name\n1,Ana\n2,Ben\n3,Cem\n4,Öde\n")))
        said = self.grade("--replay", "7", f"{LAB}/01/cpu/public/0", code=2)
        self.assertIn("there is no submission of 7; there are those of 1, 2, 3, 4", said)


class Copies(WithRoster):
    """Same files within a class and of earlier years."""

    def page(self) -> str:
        """The page about the class."""
        return (self.out / "class.html").read_text(encoding="utf-8")

    def test_same_files(self) -> None:
        FakeGrader.sources = {name: submission(written(5)) for name in ("Ana", "Ben", "Cem")}
        self.grade()
        self.assertRegex(self.page(), r"(?s)>3</td>.*Ana.*Ben.*Cem.*layout")

    def test_a_group_is_no_copy(self) -> None:
        (self.folder / "Ben").rmdir()
        FakeGrader.sources = {"ana": submission(written(5))}
        self.grade("--roster", str(self.roster("id,group\nana,A\nben,A\ncem,\nöde,\n")))
        self.assertEqual(read_grades(self.out)[1].sources, submission(written(5)))
        self.assertIn("No two submissions have the same file", self.page())

    @unittest.skipUnless(has_solutions(), "this copy of the workbook has no solutions/")
    def test_earlier_years(self) -> None:
        """A folder of submissions, and grades that were kept."""
        name = f"{LAB}/02_shared.cu"
        text = (ROOT / "solutions" / name).read_text()
        old = self.folder.parent / "2025"
        (old / "Xenia").mkdir(parents=True)
        (old / "Xenia/02_shared.cu").write_text(text)
        (old / "Yves.zip").write_bytes(b"")
        FakeGrader.sources = {"Ana": {name: text.replace("tile", "brick")}}
        said = self.grade("--earlier", str(old))
        self.assertIn("because archives of", said)
        self.assertIn("Yves.zip", said)
        self.assertRegex(self.page(), r"(?s)2025/Xenia.*layout and names")
        shutil.copytree(self.out, self.folder.parent / "grades 2024")
        self.grade("--earlier", str(old), str(self.folder.parent / "grades 2024"))
        self.assertIn("grades 2024/Ana", self.page())
        self.assertIn("submissions of 03-bitonic to compare with", self.grade("--earlier", str(self.folder), code=2))


if __name__ == "__main__":
    unittest.main()

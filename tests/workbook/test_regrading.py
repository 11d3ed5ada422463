"""Grades that change without running anything: another rubric, points and comments by hand, pseudonyms; and students
who hand in again."""

from __future__ import annotations

import csv
import json
import os
import shutil
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from grade_data import LAB, failed, named, tally, verified
from test_grade_class import ClassTest

from workbook.core.check_build import Costs, Observation
from workbook.core.console import Problem, Usage
from workbook.core.judge_types import Finding
from workbook.grading import (
    by_hand,
    class_run,
    grader,
    grades,
    handed_in,
    judging,
    replay,
    resubmitted,
    rubric,
    scoring,
)
from workbook.grading.grades import Criterion, Grade, from_json, read_grade, read_run, to_json
from workbook.grading.handed_in import Handed
from workbook.grading.judging import Raced
from workbook.grading.scoring import Record

MARKS = "[step]\ncorrect = 4\ncheck = 2\n[lab]\nreport = 1\n[labs.03-bitonic.steps.01]\ncorrect = 0\ncheck = 0\n"
REQUIRE_CASES = class_run.require_cases


def setUpModule() -> None:
    """Skips all tests where nothing reads TOML."""
    if not rubric.reader_of_toml():
        raise unittest.SkipTest("this Python cannot read TOML")


class Recording:
    """Finds half of the cases right, or all of those of a student whose folder has a file named `right`."""

    graded: list[str] = []

    def __init__(self, whole: grader.Class, box: object) -> None:
        self.whole = whole

    def grade(self, handed: Handed) -> Grade:
        """A grade made from records."""
        Recording.graded.append(handed.student)
        right = (handed.path / "right").exists()
        counted = scoring.of_tally(tally(verified(), verified() if right else failed("wrong", message="keys[3]")))
        run = self.whole.run
        record = Record(LAB, 2, cases="abc", tallies=(counted,), verdict=Observation(cases=5))
        records = (record, Record(LAB, None, words=200))
        grade = Grade(
            handed.student, str(handed.path), content=handed.content, seeds=run.seeds, builds=run.builds,
            records=tuple(map(scoring.encoded, records)), notes=(f"ignored: {handed.student}.txt",), seconds=2,
        )  # fmt: skip
        return scoring.scored(grade, self.whole.rubric, run, self.whole.folder, self.whole.out)


class Regraded(ClassTest):
    """A class that has been graded: Ana is right, and Ben, Cem and Öde have half of the cases."""

    def setUp(self) -> None:
        super().setUp()
        Recording.graded = []
        self.replace(class_run, "Grader", Recording)
        self.replace(class_run, "require_cases")
        (self.folder / "Ana/right").touch()
        self.marks = self.folder.parent / "marks.toml"
        self.marks.write_text(MARKS)
        self.graded("--rubric", str(self.marks))
        self.assertEqual(self.points(), {"Ana": "7", "Ben": "5", "Cem": "5", "Öde": "5"})

    def graded(self, *words: str, code: int = 0) -> list[str]:
        """Runs the command; who was graded."""
        Recording.graded = []
        self.said = self.grade("--rubric", str(self.marks), *words, code=code)
        return sorted(Recording.graded)

    def files(self) -> dict[str, bytes]:
        """All files of the grades."""
        return {str(path.relative_to(self.out)): path.read_bytes() for path in self.out.rglob("*") if path.is_file()}

    def feedback(self, student: str) -> str:
        """What a student reads."""
        return (self.out / "students" / student / "feedback.md").read_text(encoding="utf-8")


class Rescored(Regraded):
    """Another rubric, without running anything."""

    def test_the_same_rubric(self) -> None:
        """Nothing changes: points are made from the records at first, too."""
        before = self.files()
        self.assertEqual(self.graded("--rescore"), [])
        self.assertEqual(self.files(), before)

    def test_another_rubric(self) -> None:
        self.marks.write_text(MARKS.replace("correct = 4", "correct = 8").replace("report = 1", "report = 0"))
        self.assertEqual(self.graded(code=1), [])
        self.assertIn("holds a run with another rubric: add --rescore", self.said)
        self.assertEqual(self.graded("--rescore"), [])
        self.assertEqual(self.points(), {"Ana": "10", "Ben": "6", "Cem": "6", "Öde": "6"})
        self.assertIn("points have changed: Ana, Ben, Cem, Öde", self.said)
        self.assertIn("**6 of 10 points**", self.feedback("Ben"))
        self.assertEqual(self.graded(), [])  # it is the run's rubric now
        self.assertEqual(self.points()["Ana"], "10")
        self.assertEqual(read_run(self.out).seeds, read_grade(self.out, "Ana").seeds)  # type: ignore[union-attr]

    def test_least_share_and_words(self) -> None:
        self.marks.write_text(MARKS + "[correct]\nleast_share = 0.6\n[report]\nleast_words = 201\n")
        self.graded("--rescore")
        self.assertEqual(self.points(), {"Ana": "6", "Ben": "2", "Cem": "2", "Öde": "2"})

    def test_what_was_not_recorded(self) -> None:
        """A speed that nobody has measured cannot be given points for. Nothing is written."""
        before = self.files()
        self.marks.write_text(MARKS + "[speed]\nbuild = 'cpu'\n[labs.03-bitonic.steps.02]\nspeed = 3\n")
        self.graded("--rescore", code=1)
        self.assertIn(f"the speed of step 02 of {LAB} was not measured (of Ana)", self.said)
        self.assertEqual(self.files(), before)

    def test_grades_that_cannot_be_compared(self) -> None:
        """Other seeds, builds or cases, or no record. Nothing is written."""
        grade = read_grade(self.out, "Ben")
        assert grade
        others: dict[str, Grade] = {
            "other seeds: Ben": replace(grade, seeds={"public": 1}),
            r"other builds \(cpu; the run has cpu, check\): Ben": replace(grade, builds=("cpu",)),
            f"other cases of {LAB}, step 02: Ben": replace(
                grade, records=({**grade.records[0], "cases": "other"}, *grade.records[1:])
            ),
            "by an earlier version, without a record of outcomes: Ben": replace(grade, records=()),
            "the record of Ben is damaged": replace(grade, records=({**grade.records[0], "step": "two"},)),
        }
        for words, other in others.items():
            with self.subTest(words=words):
                grades.write_grade(self.out, other)
                before = self.files()
                self.graded("--rescore", code=1)
                self.assertRegex(self.said, words)
                self.assertEqual(self.files(), before)

    def test_bad_input(self) -> None:
        self.assertIn("--rescore runs nothing", self.grade("--rescore", "--only", "Ana", code=2))
        self.out = self.out.with_name("nothing")
        self.assertIn("has no grades to rescore", self.grade("--rescore", code=2))
        self.assertFalse(self.out.exists())

    def test_a_rubric_without_points(self) -> None:
        """Everybody would have 0 of 0. It is refused before anything is written."""
        before = self.files()
        self.marks.write_text("[step]\nspeed = 2\n")
        self.graded("--rescore", code=2)
        self.assertIn("nothing that can be judged has points", self.said)
        self.assertEqual(self.files(), before)
        shutil.rmtree(self.out)
        self.assertEqual(self.graded(code=2), [])

    def test_extra_credit_while_grading(self) -> None:
        """The progress shows the same maximum as the gradebook."""
        shutil.rmtree(self.out)
        self.marks.write_text(f"{MARKS}[labs.03-bitonic.steps.02]\nextra = true\n")
        self.graded()
        self.assertIn("Ana: 7 of 1,", self.said)
        with open(self.out / "grades.csv", encoding="utf-8") as file:
            self.assertEqual({row["of"] for row in csv.DictReader(file)}, {"1"})

    def test_new_submissions_wait(self) -> None:
        (self.folder / "Eve").mkdir()
        (self.folder / "Ben/right").touch()
        self.assertEqual(self.graded("--rescore"), [])
        self.assertIn("not graded, because --rescore runs nothing: Ben, Eve", self.said)


class HandedInAgain(Regraded):
    """Who is graded again."""

    def test_only_what_has_changed(self) -> None:
        (self.folder / "Cem/right").touch()
        self.assertEqual(self.graded(), ["Cem"])
        self.assertIn("handed in again since they were graded: Cem", self.said)
        self.assertEqual(self.points(), {"Ana": "7", "Ben": "5", "Cem": "7", "Öde": "5"})
        self.assertEqual(self.graded(), [])

    def test_only_who_is_named(self) -> None:
        (self.folder / "Cem/right").touch()
        self.assertEqual(self.graded("--only", "Öde", "Ana"), ["Ana", "Öde"])
        self.assertEqual(self.points()["Cem"], "5")
        self.graded("--only", "Eve", code=2)
        self.assertIn("there is no submission of Eve; there are those of Ana, Ben, Cem, Öde", self.said)

    def test_a_case_that_runs_again(self) -> None:
        """Its outcome is printed without the judge's command, which would run the file in labs/."""
        whole, fails = mock.MagicMock(), failed("wrong", message="keys[3]", replay="./workbook run")
        whole.__enter__.return_value.programs.kinds = ("cpu",)
        self.replace(replay, "prepared", mock.Mock(return_value=whole))
        self.replace(replay, "JudgeClient", mock.MagicMock())
        self.replace(replay, "_outcome", mock.Mock(return_value=fails))
        with mock.patch.object(judging, "find_case", return_value=named(fails)):
            self.graded("--replay", "Ben", f"{LAB}/02/cpu/public/3", code=1)
        self.assertIn("keys[3]", self.said)
        self.assertNotIn("./workbook run", self.said)

    def test_what_makes_a_difference(self) -> None:
        """Names and contents of files, and what a link names; not the time, and not the history of a clone."""

        def content() -> str:
            return resubmitted.content(handed_in.of_path(self.folder / "Ana"))

        folder, seen = self.folder / "Ana", [content()]
        os.utime(folder / "right", (1, 1))
        (folder / ".git").mkdir()
        (folder / ".git/HEAD").write_text("x")
        (folder / ".DS_Store").touch()
        self.assertEqual(content(), seen[0])
        for change in (
            lambda: (folder / "right").write_text("x"),
            lambda: (folder / "right").rename(folder / "wrong"),
            lambda: (folder / "link").symlink_to("/etc/passwd"),
            lambda: (folder / "linked").symlink_to("/etc"),
            lambda: os.mkfifo(folder / "pipe"),
        ):
            change()
            self.assertNotIn(content(), seen)
            seen.append(content())

    def test_other_cases(self) -> None:
        """A later version of the workbook may make other cases, which must not count for some of a class."""
        whole = mock.Mock(out=self.out, tables={LAB: None})
        whole.hash_of_cases.return_value = "abc"
        REQUIRE_CASES(whole)
        whole.hash_of_cases.return_value = "other"
        with self.assertRaisesRegex(Problem, f"other cases of {LAB}, step 02"):
            REQUIRE_CASES(whole)


class ByHand(Regraded):
    """Points and comments of the instructor."""

    def lines(self, *lines: str, header: str = "student,lab,step,criterion,points,comment") -> None:
        """Writes the file."""
        (self.out / "by-hand.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")

    def test_it_is_there_to_be_filled_in(self) -> None:
        self.assertEqual((self.out / "by-hand.csv").read_text(), "student,lab,step,line,criterion,points,comment\n")

    def test_points_and_comments(self) -> None:
        self.lines(
            "Ben,3,2,correct,3.5,Nearly. <b>Look</b> at n = 3.", "Ben,,,,-1,copied a comment", "Cem,,,,,Well done",
            'Öde,,,report,"0,5",', "Ana,,,,2,",
        )  # fmt: skip
        self.assertEqual(self.graded(), [])
        self.assertEqual(self.points(), {"Ana": "9", "Ben": "5.5", "Cem": "5", "Öde": "4.5"})
        ben = self.feedback("Ben")
        self.assertIn("**From your instructor:** Nearly. &#60;b&#62;Look&#60;/b&#62; at n = 3.", ben)
        self.assertIn("your instructor set the points (grading gave 2)", ben)
        self.assertIn("| by hand | -1 | 0 |", ben)
        self.assertIn("### by hand: -1 point\n", ben)
        self.assertIn("copied a comment", ben)
        self.assertIn("- from your instructor: Well done", self.feedback("Cem"))
        results = json.loads((self.out / "students/Ben/results.json").read_text())
        self.assertEqual(sum(test["score"] for test in results["tests"]), 5.5)
        self.assertIn("From your instructor: Nearly.", str(results))
        self.assertEqual(json.loads((self.out / "students/Ben/autolab.json").read_text())["scores"], {LAB: 5.5})

    def test_comments_that_have_a_name(self) -> None:
        """They are written once; a line may add to them."""
        self.lines("#halo,,,,,Look at the halo.", "Ben,,,,,#halo", "Cem,,2,,,#halo Else good. #1 in speed.")
        self.assertEqual(self.graded(), [])
        self.assertIn("- from your instructor: Look at the halo.", self.feedback("Ben"))
        self.assertIn("**From your instructor:** Look at the halo. Else good. #1 in speed.", self.feedback("Cem"))

    def test_a_comment_at_a_line(self) -> None:
        sources = {f"{LAB}/02_shared.cu": "int a;\nint b;\n"}
        grade = Grade("Ben", "Ben", (Criterion(LAB, 2, "check", 2, 2),), sources=sources)
        line = by_hand.Line("x.csv:2", "Ben", LAB, 2, "", None, "Why?", at=2)
        (criterion,) = by_hand.applied(grade, [line]).criteria
        self.assertEqual((criterion.at_lines, criterion.comment), (((2, "Why?"),), ""))
        self.assertEqual(from_json(Criterion, to_json(criterion)), criterion)
        with self.assertRaisesRegex(Usage, f"x.csv:2: {LAB}/02_shared.cu of Ben has 2 lines, and no line 3"):
            by_hand.applied(grade, [replace(line, at=3)])

    def test_a_new_run_keeps_them(self) -> None:
        self.lines("Ben,,2,correct,3.5,x")
        self.graded()
        (self.folder / "Ben/notes.txt").touch()
        self.assertEqual(self.graded(), ["Ben"])
        self.assertEqual(self.points()["Ben"], "6.5")
        self.assertNotIn("points have changed", self.said)  # what grading gave them was never shown
        self.marks.write_text(MARKS.replace("check = 2", "check = 3", 1))
        self.graded("--rescore")
        self.assertEqual(self.points()["Ben"], "7.5")
        self.lines()  # taken back
        self.graded()
        self.assertEqual(self.points()["Ben"], "6")
        self.assertNotIn("From your instructor", self.feedback("Ben"))

    def test_a_spreadsheets_file(self) -> None:
        self.lines("Ben;;2;correct;3,5;x", header="\ufeffStudent;Lab;Step;Criterion;Points;Comment")
        self.graded()
        self.assertEqual(self.points()["Ben"], "6.5")

    def test_lateness_costs_nothing_of_them(self) -> None:
        self.lines("Ben,,,,2,")
        self.graded()
        grade = read_grade(self.out, "Ben")
        assert grade
        self.assertEqual(replace(grade, kept=0.5).points, 4.5)

    def test_bad_input(self) -> None:
        """The line and what is wrong with it, before anything is written."""
        for line, words in (
            ("Eve,,,,1,", "there is no student 'Eve'"),
            ("Ben,9,,,1,", "unknown lab '9'"),
            ("Ben,1,,,1,", "these grades are not for 01-odd-even, but for 03-bitonic"),
            ("Ben,,99,check,1,", "99"),
            ("Ben,,2,chek,1,", "there is no criterion 'chek' of a step .did you mean check"),
            ("Ben,,,correct,1,", "there is no criterion 'correct' without a step"),
            ("Ben,,2,correct,many,", "points must be a number, such as 4.5 or -1, not 'many'"),
            ("Ben,,2,,1,", "name the criterion that gets these points"),
            ("Ben,,2,correct,,", "neither points nor a comment"),
            ("Ben,,,,,Right, but slow", "put quotes around a comment with commas"),
            ("#halo,,,,,x\nBen,,,,,#hallo", "no line defines the comment '#hallo'; did you mean #halo?"),
            ("Ben,,2,correct,1,\nBen,3,shared,correct,2,", "csv:3: .*csv:2 has points for the same criterion"),
            ("Ben,,2,correct,5,", f"{LAB} step 02: correct can have from 0 to 4 points"),
            ("Ben,,2,correct,-1,", "can have from 0 to 4 points"),
            ("Ben,,2,speed,1,", "the grade of Ben has no criterion 'speed of step 02'"),
        ):
            with self.subTest(line=line):
                self.lines(line)
                before = self.files()
                self.graded(code=2)
                self.assertRegex(self.said, rf"by-hand\.csv:\d: .*{words}|{words}")
                self.assertEqual(self.files(), before)
        self.lines("Ben,1", header="student,mark")
        self.assertIn("the first line must name the columns: student,lab,", " ".join([*self.graded(code=2), self.said]))

    def test_who_has_handed_in_nothing(self) -> None:
        people = self.folder.parent / "roster.csv"
        people.write_text("id\nAna\nBen\nCem\nÖde\nDora\n")
        self.graded("--roster", str(people))
        self.lines("Dora,,,,5,")
        self.graded(code=2)
        self.assertIn("Dora has handed in nothing that points could be given for", self.said)


class Pseudonyms(Regraded):
    """Pages and tables without names."""

    NAMES = ("Ana", "Ben", "Cem", "Öde")

    def pseudonyms(self) -> dict[str, str]:
        """Who is who."""
        with open(self.out / "pseudonyms.csv", encoding="utf-8") as file:
            return {row["student"]: row["pseudonym"] for row in csv.DictReader(file)}

    def test_no_page_or_table_has_a_name(self) -> None:
        (self.out / "students/Ana/marked.pdf").write_text("by the instructor")
        self.assertEqual(self.graded("--pseudonyms"), [])
        known = self.pseudonyms()
        self.assertEqual(sorted(known), sorted(self.NAMES))
        self.assertEqual(len(set(known.values())), 4)
        shown = [*(self.out / "students").rglob("*.*"), *self.out.glob("*.html"), self.out / "grades.csv"]
        shown = [path for path in shown if path.is_file()]
        self.assertGreater(len(shown), 20)
        for path in shown:
            text = f"{path.relative_to(self.out)}\n{path.read_text(encoding='utf-8')}"
            self.assertFalse([name for name in self.NAMES if name in text], path)
        self.assertEqual(self.points(), {known[name]: "7" if name == "Ana" else "5" for name in self.NAMES})
        self.assertEqual(sorted(self.points()), list(self.points()))  # not in the order of the names
        self.assertTrue((self.out / "students" / known["Ana"] / "marked.pdf").exists())
        self.assertIsNotNone(read_grade(self.out, "Ana"))

    def test_they_stay(self) -> None:
        self.graded("--pseudonyms")
        known = self.pseudonyms()
        (self.folder / "Eve").mkdir()
        self.assertEqual(self.graded(), ["Eve"])
        more = self.pseudonyms()
        self.assertEqual({name: more[name] for name in known}, known)
        self.assertEqual(len({path.name for path in (self.out / "students").iterdir()} & set(more.values())), 5)
        (self.out / "by-hand.csv").write_text(f"student,comment\n{known['Ben']},Well done\nCem,Good\n")
        self.graded()
        for name, words in (("Ben", "Well done"), ("Cem", "Good")):
            self.assertIn(words, self.feedback(known[name]))
        self.assertEqual(self.graded("--only", known["Ben"]), ["Ben"])
        self.assertIn("there is no case x:", self.grade("--replay", known["Ben"], "x", code=2))
        (self.out / "pseudonyms.csv").unlink()
        shutil.rmtree(self.out / "students")
        (self.out / "by-hand.csv").unlink()
        self.assertEqual(self.graded(), [])
        self.assertEqual(
            sorted(path.name for path in (self.out / "students").iterdir()), [*sorted(("Eve", *self.NAMES))]
        )

    def test_earlier_years(self) -> None:
        earlier = self.folder.parent / "2025"
        for folder in (self.folder / "Ana", earlier / "Xaver"):
            (folder / "labs" / LAB).mkdir(parents=True)
            (folder / "labs" / LAB / "01_global.cu").write_text("// a step\n" + "int x = f(x) + 1;\n" * 40)
        self.graded("--pseudonyms", "--earlier", str(earlier))
        self.assertNotIn("Xaver", (self.out / "class.html").read_text(encoding="utf-8"))
        self.assertIn("2025_Xaver", "".join(self.pseudonyms()))

    def test_the_platform_gets_the_real_ids(self) -> None:
        people = self.folder.parent / "canvas.csv"
        rows = [f'"X, {name}",{at},{name},A,' for at, name in enumerate(self.NAMES)]
        people.write_text("\n".join([f"Student,ID,SIS Login ID,Section,{LAB} (9)", *rows]), encoding="utf-8")
        self.assertEqual(self.graded("--pseudonyms", "--roster", str(people)), [])
        with open(self.out / "canvas.csv", encoding="utf-8") as file:
            points = {row["SIS Login ID"]: row[f"{LAB} (9)"] for row in csv.DictReader(file)}
        self.assertEqual(points, {"": "7", "Ana": "7", "Ben": "5", "Cem": "5", "Öde": "5"})

    def test_a_damaged_file(self) -> None:
        self.graded("--pseudonyms")
        path = self.out / "pseudonyms.csv"
        rows = path.read_text(encoding="utf-8").splitlines()
        for text in ("student\nAna\n", f"{rows[0]}\nAna,X\nBen,X\n", f"{rows[0]}\nAna,\n"):
            path.write_text(text, encoding="utf-8")
            self.assertIn("pseudonym", self.grade("--rubric", str(self.marks), code=2))


class Scores(unittest.TestCase):
    """Points for a record."""

    def score(self, record: Record, text: str, builds: tuple[str, ...] = ("cpu", "check")) -> dict[str, float | None]:
        """The points by criterion, of a record that was written and read."""
        again = scoring.records(Grade("x", "", records=(scoring.encoded(record),)))[0]
        self.assertEqual(scoring.encoded(again), scoring.encoded(record))
        marks = rubric.parse(text, Path("marks.toml"))
        return {one.name: one.points for one in scoring.criteria(again, marks, builds)}

    def record(self, **more: object) -> Record:
        """A step that passes all of its cases."""
        return replace(Record(LAB, 2, tallies=(tally(verified()),)), **more)  # type: ignore[arg-type]

    def test_speed(self) -> None:
        raced = Raced("cpu", "reference", 1 << 24, 1000, 0.5)
        text = "[step]\nspeed = 4\n[speed]\nbuild = 'cpu'\nnone = 0\nfull = {}\nlevels = 4\n"
        self.assertEqual(self.score(self.record(speed=raced), text.format(1)), {"speed": 2})
        self.assertEqual(self.score(self.record(speed=raced), text.format(0.5)), {"speed": 4})
        self.assertEqual(self.score(self.record(speed=raced), text.format(1).replace("cpu", "cuda")), {})
        for other in ("against = 'gold'", "keys = 1000"):
            with self.assertRaisesRegex(scoring.NotRecorded, "speeds were measured on the cpu build against reference"):
                self.score(self.record(speed=raced), f"{text.format(1)}{other}\n")
        with self.assertRaisesRegex(scoring.NotRecorded, "the speed of step 02"):
            self.score(self.record(), text.format(1))
        wrong = self.record(tallies=(scoring.of_tally(tally(verified(), failed())),))
        self.assertEqual(self.score(wrong, text.format(1)), {"speed": 0})  # not measured, and needs not be

    def test_check_and_budgets(self) -> None:
        found = replace(verified(), findings=(Finding("labs/x.cu", 3, "race", "two threads"),), printed="x" * 10**6)
        text = "[step]\ncheck = 2\nbudgets = 1\n"
        verdict = scoring.of_verdict(Observation(failed=found))
        self.assertLess(len(verdict.failed.printed if verdict.failed else ""), 5000)
        record = self.record(verdict=verdict, check_cases=(named(found),), has_budgets=True)
        self.assertEqual(self.score(record, text), {"check": 0, "budgets": 0})
        kept = self.record(verdict=Observation(costs=[Costs("shared", {"bytes": (8, 8.2)})]), has_budgets=True)
        self.assertEqual(self.score(kept, text), {"check": 2, "budgets": 1})
        self.assertEqual(self.score(replace(kept, has_budgets=False), text), {"check": 2})
        with self.assertRaisesRegex(scoring.NotRecorded, "the check build did not run step 02"):
            self.score(self.record(), text)
        none = self.record(tallies=(scoring.of_tally(tally(failed())),))
        self.assertEqual(self.score(none, text), {"check": 0})

    def test_what_is_kept_of_many_failures(self) -> None:
        """Some of each kind, and one of each status: refused cases cost all points, whatever else fails."""
        outcomes = [failed("wrong") for _ in range(500)] + [failed("refused", message="the host sorts")]
        kept = scoring.of_tally(tally(verified(), *outcomes))
        self.assertLess(len(kept.failures), 10)
        self.assertEqual((kept.passed, kept.failed), (1, 501))
        points = self.score(self.record(tallies=(kept,)), "[step]\ncorrect = 5\n")
        self.assertEqual(points, {"correct": 0})

    def test_not_run(self) -> None:
        record = Record(LAB, 2, "does not compile", "it does not compile", has_budgets=True)
        self.assertEqual(self.score(record, "[step]\ncorrect = 5\nbudgets = 1\n"), {"correct": 0, "budgets": 0})


if __name__ == "__main__":
    unittest.main()

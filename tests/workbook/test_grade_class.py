"""A class is graded: seeds are drawn once, interrupted runs go on, and a fault of the machine is not the student's."""

import contextlib
import csv
import fcntl
import json
import tempfile
import threading
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from grade_data import LAB, failed, named, tally, verified
from in_folder import InFolder, run_cli
from report_data import step

from workbook.core import check_build, judge_types
from workbook.core.console import Problem, Usage
from workbook.core.course import ROOT, has_solutions, labs
from workbook.core.judge_types import Case
from workbook.grading import class_run, difficulties, grader, grades, judging, rubric, scoring, texts
from workbook.grading.class_run import Options
from workbook.grading.grades import Criterion, Grade, Run
from workbook.grading.handed_in import Handed
from workbook.grading.lab_builds import LabBuild, MachineFault
from workbook.grading.lab_commands import step_files
from workbook.grading.shards import Shard
from workbook.grading.submissions import Submission

RUN = Run((LAB,), class_run.RUBRIC.read_text(), dict.fromkeys(class_run.SEEDS, 7))


def setUpModule() -> None:
    """Skips all tests where nothing reads TOML."""
    if not rubric.reader_of_toml():
        raise unittest.SkipTest("this Python cannot read TOML")


class FakeGrader:
    """Gives each submission its own number of points, or fails as the test wants."""

    broken: set[str] = set()
    graded: list[str] = []
    interrupt_at = ""
    sources: dict[str, dict[str, str]] = {}

    def __init__(self, whole: grader.Class, box: object) -> None:
        self.whole = whole

    def grade(self, handed: Handed) -> Grade:
        """A grade that depends on the seeds."""
        student = handed.student
        if student == FakeGrader.interrupt_at:
            raise KeyboardInterrupt
        FakeGrader.graded.append(student)
        not_graded = "no disk" if student in FakeGrader.broken else ""
        points = self.whole.run.seeds["public"] % 1000
        criteria = (Criterion(LAB, 1, "correct", points, 1000, "w"),)
        at = handed.at.isoformat() if handed.at else ""
        return Grade(
            student, str(handed.path), criteria, not_graded=not_graded, notes=handed.notes, handed_in=at,
            sources=FakeGrader.sources.get(student, {}),
        )  # fmt: skip


class ClassTest(InFolder):
    """Runs with a fake grader."""

    def setUp(self) -> None:
        super().setUp()
        self.out = self.folder / "out"
        self.folder /= "class"
        for student in ("Ana", "Ben", "Cem", "Öde"):
            (self.folder / student).mkdir(parents=True)
        FakeGrader.broken, FakeGrader.graded, FakeGrader.interrupt_at, FakeGrader.sources = set(), [], "", {}
        self.built = ["cpu", "check"]
        for name, value in (("Grader", FakeGrader), ("prepared", self.prepared), ("kinds", lambda: self.built)):
            self.replace(class_run, name, value)

    @contextlib.contextmanager
    def prepared(
        self, options: Options, run: Run, chosen: Sequence[str], marks: rubric.Rubric
    ) -> Iterator[grader.Class]:
        """What submissions share, without compilers and sandboxes."""
        sandbox = mock.Mock(boxes=[object()], description="fake")
        programs = mock.Mock(kinds=["cpu", "check"])
        yield grader.Class(run, marks, sandbox, programs, {}, options.out, options.folder, 1, threading.Lock())

    def grade(self, *words: str, code: int = 0) -> str:
        """Runs the command; what it printed."""
        status, said = run_cli("grade", str(self.folder), "--labs", "3", "--out", str(self.out), *words)
        self.assertEqual(status, code, said)
        return said

    def points(self) -> dict[str, str]:
        """The gradebook."""
        with open(self.out / "grades.csv", encoding="utf-8") as file:
            return {row["student"]: row["points"] for row in csv.DictReader(file)}


class Estimate(ClassTest):
    """How long grading may take, before anything was graded."""

    def test_it_is_printed(self) -> None:
        self.assertRegex(self.grade(), r"4 submissions: roughly \d+ min, if they take as long as the solutions")

    def test_from_what_was_measured(self) -> None:
        """Submissions share cores, but not a GPU."""
        for built, cores, words in ((("cpu", "check"), 2, "roughly 13 min"), (("cpu", "cuda"), 16, "roughly 27 min")):
            self.assertIn(words, class_run.estimate(40, [LAB], built, cores))
        self.assertIn("1 submission: roughly 1 min", class_run.estimate(1, [LAB], ["cpu"], 64))

    @unittest.skipUnless(has_solutions(), "this copy of the workbook has no solutions/")
    def test_the_table_for_instructors(self) -> None:
        self.assertEqual(list(class_run.SECONDS), labs())
        row = f"| seconds of processor time per submission | {' | '.join(map(str, class_run.SECONDS.values()))} |"
        self.assertIn(row, (ROOT / "solutions/README.md").read_text(encoding="utf-8"))


class Seeds(ClassTest):
    """The same seeds for all students of a run, and others for the next."""

    def seeds(self) -> dict[str, int]:
        """Those that were recorded."""
        return dict(json.loads((self.out / "run.json").read_text())["seeds"])

    def test_drawn_once(self) -> None:
        self.grade()
        seeds, points = self.seeds(), self.points()
        self.assertEqual(len(set(points.values())), 1)
        self.assertEqual(set(seeds), {"quick", "public", "check", "speed"})
        self.grade()
        self.assertEqual((self.seeds(), self.points()), (seeds, points))
        self.out = self.out.with_name("other")
        self.grade()
        self.assertNotEqual(self.seeds(), seeds)

    def test_those_of_another_run(self) -> None:
        self.grade()
        seeds, first = self.seeds(), self.out
        self.out = self.out.with_name("other")
        self.grade("--seeds-of", str(first), "--shard", "2/2")
        self.assertEqual(self.seeds(), seeds)
        self.assertEqual(FakeGrader.graded[4:], ["Ben", "Öde"])
        self.out = self.out.with_name("third")
        self.assertIn("has no run.json with seeds", self.grade("--seeds-of", str(self.folder), code=2))

    def test_a_shard_that_could_not_be_merged(self) -> None:
        """Two machines, one of which has a GPU, judge different criteria."""
        self.grade("--shard", "1/2")
        first, self.out = self.out, self.out.with_name("other")
        self.built = ["cpu", "check", "cuda"]
        self.assertIn("the builds differ", self.grade("--shard", "2/2", "--seeds-of", str(first), code=1))
        self.assertFalse((self.out / "run.json").exists())
        self.grade("--seeds-of", str(first))  # by itself, for other points or on another machine

    def test_students_do_not_see_them(self) -> None:
        self.grade()
        seeds = [str(seed) for seed in self.seeds().values()]
        for path in (self.out / "students").rglob("*"):
            if path.is_file():
                self.assertFalse([seed for seed in seeds if seed in path.read_text()], path)


class Resume(ClassTest):
    """Runs that go on."""

    def test_interrupted(self) -> None:
        FakeGrader.interrupt_at = "Cem"
        self.grade(code=130)
        self.assertFalse((self.out / "grades.csv").exists())
        FakeGrader.interrupt_at = ""
        before = list(FakeGrader.graded)
        seeds = json.loads((self.out / "run.json").read_text())["seeds"]
        self.grade()
        self.assertEqual(before[:2], ["Ana", "Ben"])
        self.assertEqual(FakeGrader.graded[len(before) :], ["Cem", "Öde"])
        self.assertEqual(set(self.points().values()), {str(seeds["public"] % 1000)})

    def test_finished_students_are_not_graded_again(self) -> None:
        self.grade()
        said = self.grade()
        self.assertEqual(len(FakeGrader.graded), 4)
        self.assertIn("4 of 4 submissions have been graded before", said)

    def test_faults_of_the_machine(self) -> None:
        FakeGrader.broken = {"Ben"}
        self.assertIn("not graded: Ben", self.grade(code=2))
        self.assertNotEqual(self.points().get("Ben"), "0")
        self.assertIn("no disk", (self.out / "not-graded.csv").read_text())
        FakeGrader.broken = set()
        self.grade()
        self.assertEqual(FakeGrader.graded[4:], ["Ben"])
        self.assertEqual(len(set(self.points().values())), 1)

    def test_other_options(self) -> None:
        self.grade()
        self.assertIn("a run with another shard", self.grade("--shard", "1/2", code=1))
        marks = self.folder.parent / "marks.toml"
        marks.write_text("[step]\ncorrect = 1\n")
        self.assertIn("a run with another rubric", self.grade("--rubric", str(marks), code=1))
        self.assertIn("a run with other labs", self.grade("--labs", "1", code=1))

    def test_other_builds(self) -> None:
        """Students of a run would get different criteria if a part of it were graded where a GPU answers."""
        self.grade()
        (self.folder / "Eve").mkdir()
        self.built = ["cpu", "check", "cuda"]
        self.assertIn("a run with other builds (cpu, check; here: cpu, check, cuda)", self.grade(code=1))
        self.built = ["cpu", "check"]
        self.grade()
        self.assertEqual(FakeGrader.graded[4:], ["Eve"])


class BadInput(ClassTest):
    """What is refused before anything is touched."""

    def test_folders(self) -> None:
        self.assertIn("is in the folder of submissions", self.grade("--out", str(self.folder / "out"), code=2))
        self.assertIn("is in the folder of submissions", self.grade("--out", str(self.folder), code=2))
        self.out.mkdir()
        (self.out / "thesis.tex").write_text("")
        self.assertIn("holds something other than grades", self.grade(code=1))
        self.assertEqual([path.name for path in self.out.iterdir()], ["thesis.tex"])
        self.assertEqual(FakeGrader.graded, [])

    def test_words(self) -> None:
        self.assertIn("unknown lab '9'", self.grade("--labs", "9", code=2))
        self.assertIn("--jobs must be a whole number", self.grade("--jobs", "0", code=2))
        self.assertIn("is not a shard", self.grade("--shard", "5/4", code=2))
        self.assertIn("cannot be read", self.grade("--rubric", "/no/such", code=2))
        self.folder = self.folder / "nothing"
        self.assertIn("is not a folder", self.grade(code=2))
        self.assertFalse(self.out.exists())

    def test_two_graders(self) -> None:
        self.grade()
        with open(self.out / ".lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            (self.folder / "Eve").mkdir()
            self.assertIn("another grader writes to", self.grade(code=1))

    def test_grades_are_not_readable_by_others(self) -> None:
        self.grade()
        self.assertEqual(self.out.stat().st_mode & 0o077, 0)


class OneSubmission(InFolder):
    """What becomes of one submission if something fails."""

    def setUp(self) -> None:
        super().setUp()
        sandbox = mock.Mock()
        sandbox.words.return_value = []
        programs = mock.Mock(labs=[LAB], kinds=["cpu", "check"], starters={})
        marks = rubric.read(class_run.RUBRIC)
        tables = {LAB: judge_types.Lab(LAB, "u32", None, (step(2, "shared"), step(3, "hybrid", uses=("shared",))))}
        self.whole = grader.Class(
            RUN, marks, sandbox, programs, tables, Path("out"), Path("class"), 1, threading.Lock()
        )
        self.grader = grader.Grader(self.whole, mock.Mock())
        taken = Submission("Ana", Path("class/Ana"), {f"{LAB}/02_shared.cu": "// mine\n"})
        self.patched("read", return_value=taken)
        programs.references = {}
        programs.tables = tables

    def patched(self, name: str, **how: Any) -> None:
        """Replaces a method of the grader."""
        self.replace(self.grader, name, mock.Mock(**how))

    def grade(self) -> Grade:
        """The grade."""
        return self.grader.grade(Handed("Ana", (("", Path("class/Ana")),)))

    def test_a_fault_is_not_0_points(self) -> None:
        for fault in (MachineFault("no compiler"), Problem("the judge ended"), OSError(28, "No space left on device")):
            with self.subTest(fault=fault):
                self.patched("build", side_effect=fault)
                grade = self.grade()
                self.assertIsNone(grade.points)
                self.assertIn(str(fault), grade.not_graded)

    def test_a_file_that_is_refused(self) -> None:
        """It costs its own step, which says why."""
        failure = grades.Failure("", LAB, 2, status="refused", message="02_shared.cu uses fork", place="02_shared.cu:7")
        names = {*step_files(LAB)} - {"02_shared.cu"}
        self.patched("build", return_value=LabBuild(LAB, unchanged=names, refused={"02_shared.cu": failure}))
        grade = self.grade()
        self.assertEqual((grade.points, grade.refused), (0, (f"{LAB}: 02_shared.cu uses fork",)))
        self.assertGreater(grade.max_points, 0)
        words = {criterion.step: criterion.words for criterion in grade.criteria}
        self.assertEqual(words[2], "not run: the file uses what no step may use")
        self.assertEqual(words[1], f"labs/{LAB}/01_global.cu was not handed in")
        self.assertIn((failure,), [criterion.failures for criterion in grade.criteria])
        self.assertEqual(texts.heading(failure), "refused, at 02_shared.cu:7")

    def test_a_submission_that_is_refused(self) -> None:
        self.patched("read", return_value=Submission("Ana", Path("class/Ana"), refused=("too many files",)))
        grade = self.grade()
        self.assertEqual((grade.points, grade.refused), (0, ("too many files",)))
        self.assertEqual({criterion.words for criterion in grade.criteria if criterion.step is not None}, {
            "not run: the submission was refused",
        })  # fmt: skip

    def test_a_file_that_was_not_taken(self) -> None:
        """The step and the report say why."""
        faults = {f"{LAB}/02_shared.cu": "02_shared.cu is empty", f"{LAB}/report/report.md": "report.md is a link"}
        self.patched("read", return_value=Submission("Ana", Path("class/Ana"), faults=faults))
        self.patched("build", return_value=LabBuild(LAB, unchanged={*step_files(LAB)}))
        words = {(one.step, one.name): one.words for one in self.grade().criteria}
        self.assertEqual(words[2, "correct"], "02_shared.cu is empty")
        self.assertEqual(words[None, "report"], "report.md is a link")
        self.assertEqual(words[1, "correct"], f"labs/{LAB}/01_global.cu was not handed in")

    def test_does_not_compile(self) -> None:
        failure = grades.Failure("cpu", LAB, 2, status="does not compile", message="x")
        names = {*step_files(LAB)} - {"02_shared.cu"}
        self.patched("build", return_value=LabBuild(LAB, unchanged=names, broken={"02_shared.cu": failure}))
        grade = self.grade()
        words = {criterion.step: criterion.words for criterion in grade.criteria}
        self.assertEqual(words[2], "it does not compile")
        self.assertEqual(words[1], f"labs/{LAB}/01_global.cu was not handed in")
        self.assertEqual(grade.points, 0)

    def test_a_step_that_uses_one_which_is_missing(self) -> None:
        """It runs with the solution of that step, which gets no points itself."""
        names = {*step_files(LAB)} - {"03_hybrid.cu"}
        why = grades.Failure("", LAB, 3, status="lacks a function", message="no f", place="03_hybrid.cu:7")
        self.patched("build", return_value=LabBuild(LAB, unchanged=names, lacking={"03_hybrid.cu": why}))
        self.patched("judges", return_value=mock.MagicMock())
        found = ({"cpu": Path("cpu-03"), "check": Path("check-03")}, [2])
        asked = mock.Mock(return_value=found)
        self.replace(self.grader.builder, "with_reference", asked)
        run = mock.Mock(return_value=tally(verified(), failed("not-written")))
        with (
            mock.patch.object(judging, "tally", run),
            mock.patch.object(judging, "cases_of", return_value=[]),
            mock.patch.object(check_build, "check_step", return_value=check_build.Observation()),
        ):
            grade = self.grade()
        self.assertEqual((3, {1, 2}), asked.call_args[0][1:])
        self.assertEqual(Path("cpu-03"), run.call_args[0][1])
        with_points = {criterion.step for criterion in grade.criteria if criterion.points}
        self.assertEqual({3}, with_points)
        words = "step 03 was run with the reference solution of step 02, because your step 02 is missing or has lost"
        self.assertEqual((f"{LAB}: {words} points",), grade.notes)
        (first, *_) = difficulties.of_record(scoring.records(grade)[2])
        self.assertEqual(("lacks a function", "03_hybrid.cu:7"), (first.kind, first.place))
        self.assertEqual((why,), next(one for one in grade.criteria if one.step == 3).failures)

    def test_only_criteria_with_points(self) -> None:
        self.patched("build", return_value=LabBuild(LAB, {"cpu": Path("x"), "check": Path("x")}))
        self.patched("judges", return_value=mock.MagicMock())
        verdict = check_build.Observation(cases=3)
        for criterion in ("check", "correct"):
            self.whole.rubric = rubric.parse(f"[step]\n{criterion} = 2\n", Path("x.toml"))
            with (
                mock.patch.object(judging, "tally", lambda *_: tally(verified())),
                mock.patch.object(judging, "cases_of", return_value=[]),
                mock.patch.object(check_build, "check_step", return_value=verdict),
            ):
                grade = self.grade()
            self.assertEqual(grade.not_graded, "")
            self.assertEqual({c.name for c in grade.criteria}, {criterion})
            self.assertEqual({c.points for c in grade.criteria}, {2})

    def test_a_sandbox_that_stops_working(self) -> None:
        self.patched("build", return_value=LabBuild(LAB, {"cpu": Path("x"), "check": Path("x")}))
        with (
            mock.patch.object(judging, "cases_of", return_value=[]),
            mock.patch.object(judging, "tally", lambda *_: tally(failed("exited"))),
        ):
            self.whole.sandbox.works.return_value = False  # type: ignore[attr-defined]
            self.assertIn("can no longer be started", self.grade().not_graded)
            self.whole.sandbox.works.return_value = True  # type: ignore[attr-defined]
            self.assertEqual(self.grade().points, 0)

    def test_cases_are_made_once(self) -> None:
        """They are the same for all submissions, and making them takes up to a second."""
        with mock.patch.object(judging, "cases_of", return_value=[named(verified())]) as made:
            for _ in range(3):
                self.assertEqual(self.whole.cases(LAB, 2, "cpu", "public"), [named(verified())])
            self.whole.cases(LAB, 2, "cpu", "quick")
        self.assertEqual([call[0][1:] for call in made.call_args_list], [
            (LAB, 2, "cpu", "public", 7), (LAB, 2, "cpu", "quick", 7),
        ])  # fmt: skip


class Replayed(unittest.TestCase):
    """Names of cases."""

    def test_unknown_names(self) -> None:
        for name in ("", "1", f"{LAB}/02/cpu/check/0", f"{LAB}/x/cpu/public/0", f"{LAB}/02/gpu/public/0"):
            self.assertIsNone(judging.find_case(mock.Mock(), name, RUN.seeds), name)

    def test_known_names(self) -> None:
        judge = mock.Mock(lab=lambda _: judge_types.Lab(LAB, "u32", None, (step(2, "shared"),)))
        judge.cases.return_value = (judge_types.CaseGroup("any n", (Case(LAB, 2, 1), Case(LAB, 2, 5))),)
        found = judging.find_case(judge, f"{LAB}/02/cpu/public/1", RUN.seeds)
        assert found
        self.assertEqual(found.case.n, 5)
        judge.cases.assert_called_with(LAB, 2, "public", "cpu", 7)
        self.assertIsNone(judging.find_case(judge, f"{LAB}/02/cpu/public/2", RUN.seeds))


class OptionsTest(InFolder):
    """Defaults."""

    def test_default_out(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(class_run, "grade_class") as graded:
            graded.return_value = []
            self.assertEqual(run_cli("grade", folder)[0], 0)
            options = graded.call_args[0][0]
            self.assertEqual(options.out, Path(folder).resolve().with_name(Path(folder).name + "-grades"))
            self.assertEqual(options.shard, Shard())
        options = Options(Path("a"), Path("b"), seeds_of=Path("/no/such"))
        self.assertRaises(Usage, class_run.new_run, options, [LAB], "", ["cpu", "check"])

    def test_seeds_are_hidden_from_submissions(self) -> None:
        seeds = self.folder.resolve()
        self.assertIn(seeds, class_run.hidden(Options(Path("a"), Path("b"), seeds_of=seeds)))

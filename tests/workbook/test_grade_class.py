"""A class is graded: seeds are drawn once, interrupted runs go on, and a fault of the machine is not the student's."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import fcntl
import io
import json
import tempfile
import threading
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from workbook import cli
from workbook.core import check_build, judge_types
from workbook.core.console import Problem, Usage
from workbook.core.judge_client import Case, Finding, Outcome
from workbook.grading import class_run, grader, grades, judging, rubric, submissions
from workbook.grading.class_run import Options
from workbook.grading.grades import Criterion, Grade, Run
from workbook.grading.judging import NamedCase, Tally
from workbook.grading.lab_builds import LabBuild, MachineFault
from workbook.grading.shards import Shard
from workbook.grading.submissions import Submission
from workbook.reporting import compose

LAB = "03-bitonic"
RUN = Run((LAB,), class_run.RUBRIC.read_text(), dict.fromkeys(class_run.SEEDS, 7))


def setUpModule() -> None:
    """Skips all tests where nothing reads TOML."""
    if not rubric.reader_of_toml():
        raise unittest.SkipTest("this Python cannot read TOML")


def verified(n: int = 1000, **more: Any) -> Outcome:
    """An outcome of a case."""
    return Outcome("verified", True, Case(LAB, 2, n, type="u32", seed=1), **more)


def failed(status: str = "wrong", **more: Any) -> Outcome:
    """An outcome of a case that fails."""
    return dataclasses.replace(verified(), status=status, passed=False, **more)


def named(outcome: Outcome) -> NamedCase:
    """A case with a name."""
    return NamedCase(f"{LAB}/02/cpu/public/3", outcome.case, "public")


def tally(*outcomes: Outcome) -> Tally:
    """The count of these outcomes."""
    result = Tally("cpu")
    for outcome in outcomes:
        result.add(named(outcome), outcome)
    return result


class Criteria(unittest.TestCase):
    """Points for outcomes."""

    def correct(self, *outcomes: Outcome, least: float = 0.5) -> Criterion:
        """The criterion with at most 6 points."""
        return judging.correct(LAB, 2, [tally(*outcomes)], 6, least)

    def test_share_of_the_cases(self) -> None:
        self.assertEqual(self.correct(verified(), verified()).points, 6)
        self.assertEqual(self.correct(verified(), verified(), verified(), failed()).points, 4.5)
        self.assertIn("3 of 4 cases passed on the cpu build", self.correct(*[verified()] * 3, failed()).words)

    def test_too_small_a_share(self) -> None:
        criterion = self.correct(verified(), failed(), failed())
        self.assertEqual(criterion.points, 0)
        self.assertIn("fewer than 50%", criterion.words)

    def test_doing_nothing_gives_nothing(self) -> None:
        """A copy of the input passes cases whose keys are in order, and a step may refuse some arguments."""
        lazy = [verified(1, nothing_to_do=True), failed(), dataclasses.replace(verified(), status="unsupported")]
        self.assertEqual(self.correct(*lazy, least=0).points, 0)
        only_trivial = self.correct(verified(0, nothing_to_do=True))
        self.assertEqual(only_trivial.points, 0)
        broken_on_nothing = self.correct(verified(), verified(), failed(nothing_to_do=True))
        self.assertEqual(broken_on_nothing.points, 4)

    def test_one_failure_of_many_is_seen(self) -> None:
        self.assertLess(self.correct(*[verified()] * 99_999, failed()).points or 0, 6)

    def test_not_written(self) -> None:
        criterion = self.correct(failed("not-written"), failed("not-written"))
        self.assertEqual((criterion.points, criterion.words), (0, "step 02 is not written yet"))

    def test_several_builds(self) -> None:
        on_gpu = tally(failed(), failed())
        on_gpu.kind = "cuda"
        criterion = judging.correct(LAB, 2, [tally(verified(), verified()), on_gpu], 6, 0.5)
        self.assertEqual(criterion.points, 3)
        self.assertIn("0 of 2 cases passed on the cuda build", criterion.words)
        self.assertEqual({failure.build for failure in criterion.failures}, {"cuda"})

    def test_failures_keep_what_is_needed(self) -> None:
        outcome = failed(message="wrong key at index 5", first_wrong=5, file="labs/03-bitonic/02_shared.cu", line=17)
        failure = self.correct(outcome).failures[0]
        self.assertEqual((failure.n, failure.first_wrong, failure.seed), (1000, 5, 1))
        self.assertEqual((failure.place, failure.case_id), ("02_shared.cu:17", f"{LAB}/02/cpu/public/3"))

    def test_cases_that_hang(self) -> None:
        result = tally(*[failed("hung")] * (judging.MOST_HUNG - 1))
        self.assertFalse(result.should_stop())
        result.add(named(failed("hung")), failed("hung"))
        self.assertTrue(result.should_stop())
        self.assertIn("count as failed", result.why_stopped)

    def test_programs_that_end_in_every_case(self) -> None:
        crashed = failed("crashed")
        self.assertTrue(tally(*[crashed] * judging.MOST_ENDED).should_stop())
        self.assertFalse(tally(verified(), *[crashed] * judging.MOST_ENDED).should_stop())
        self.assertFalse(tally(*[failed()] * 99).should_stop())

    def test_steps_that_are_slow(self) -> None:
        """A step has a limit for all its cases. What it waits for, on a busy machine, does not count."""
        for waited, stops in ((0, True), (99_000, False)):
            result = tally()
            for _ in range(4):
                slow = verified(times=judge_types.Times(wall_ms=100_000, waited_ms=waited))
                result.add(named(slow), slow)
            self.assertEqual(result.should_stop(), stops)

    def test_check_build(self) -> None:
        verdict = check_build.Verdict(cases=9)
        self.assertEqual(judging.check(LAB, 2, verdict, [], 2).points, 2)
        found = dataclasses.replace(verified(), findings=(Finding("labs/x.cu", 3, "race", "two threads"),))
        verdict.failed = found
        criterion = judging.check(LAB, 2, verdict, [named(found)], 2)
        self.assertEqual((criterion.points, criterion.words), (0, "the check build reports: race"))
        self.assertEqual(criterion.failures[0].case_id, f"{LAB}/02/cpu/public/3")
        self.assertEqual(judging.budgets(LAB, 2, verdict, 4).points, 0)

    def test_budgets(self) -> None:
        verdict = check_build.Verdict(costs=[check_build.Costs("shared", {"bytes": (8, 8.2), "conflicts": (3, 2)})])
        self.assertEqual(judging.budgets(LAB, 2, verdict, 4).points, 2)
        verdict.costs = [check_build.Costs("shared", {"bytes": (8, 8.2)})]
        self.assertEqual(judging.budgets(LAB, 2, verdict, 4).points, 4)

    def test_words_of_a_report(self) -> None:
        made = "<!-- made: n -->\nten thousand made words\n<!-- end of made -->\n"
        template = "\n".join(stub for _, stub in compose.template())
        self.assertEqual(grader.own_words(template + made, LAB), 0)
        self.assertEqual(grader.own_words(template + made + "\nMy step is slow.\n", LAB), 4)


class FakeGrader:
    """Gives each submission its own number of points, or fails as the test wants."""

    broken: set[str] = set()
    graded: list[str] = []
    interrupt_at = ""

    def __init__(self, whole: grader.Class, box: object) -> None:
        self.whole = whole

    def grade(self, path: Path) -> Grade:
        """A grade that depends on the seeds."""
        student = submissions.student_of(path)
        if student == FakeGrader.interrupt_at:
            raise KeyboardInterrupt
        FakeGrader.graded.append(student)
        not_graded = "no disk" if student in FakeGrader.broken else ""
        points = self.whole.run.seeds["public"] % 1000
        return Grade(student, str(path), (Criterion(LAB, 1, "correct", points, 1000, "w"),), not_graded=not_graded)


class ClassTest(unittest.TestCase):
    """Runs with a fake grader."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder, self.out = Path(temporary.name, "class"), Path(temporary.name, "out")
        for student in ("Ana", "Ben", "Cem", "Öde"):
            (self.folder / student).mkdir(parents=True)
        FakeGrader.broken, FakeGrader.graded, FakeGrader.interrupt_at = set(), [], ""
        self.built = ["cpu", "check"]
        for name, value in (("Grader", FakeGrader), ("prepared", self.prepared), ("kinds", lambda: self.built)):
            patch = mock.patch.object(class_run, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    @contextlib.contextmanager
    def prepared(
        self, options: Options, run: Run, chosen: Sequence[str], marks: rubric.Rubric
    ) -> Iterator[grader.Class]:
        """What submissions share, without compilers and sandboxes."""
        sandbox = mock.Mock(boxes=[object()], description="fake")
        programs = mock.Mock(kinds=["cpu", "check"])
        yield grader.Class(run, marks, sandbox, programs, {}, options.out, options.folder, 1, threading.Lock())

    def grade(self, *words: str, code: int = 0) -> str:
        """Runs the command; what it printed on standard error."""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
            status = cli.main(["grade", str(self.folder), "--labs", "3", "--out", str(self.out), *words])
        self.assertEqual(status, code, said.getvalue())
        return said.getvalue()

    def points(self) -> dict[str, str]:
        """The gradebook."""
        with open(self.out / "grades.csv", encoding="utf-8") as file:
            return {row["student"]: row["points"] for row in csv.DictReader(file)}


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


class OneSubmission(unittest.TestCase):
    """What becomes of one submission if something fails."""

    def setUp(self) -> None:
        sandbox = mock.Mock()
        sandbox.words.return_value = []
        programs = mock.Mock(labs=[LAB], kinds=["cpu", "check"], starters={})
        marks = rubric.read(class_run.RUBRIC)
        line = judge_types.Step(
            2,
            "shared",
            "02_shared.cu",
            "",
            "sort",
            False,
            0,
            None,
            None,
            ("u32",),
            None,
            judge_types.Affordable(1, 1, 1),
        )
        tables = {LAB: judge_types.Lab(LAB, "u32", None, (line,))}
        self.whole = grader.Class(
            RUN, marks, sandbox, programs, tables, Path("out"), Path("class"), 1, threading.Lock()
        )
        self.grader = grader.Grader(self.whole, mock.Mock())
        taken = Submission("Ana", Path("class/Ana"), {f"{LAB}/02_shared.cu": "// mine\n"})
        self.patched("read", return_value=taken)

    def patched(self, name: str, **how: Any) -> None:
        """Replaces a method of the grader."""
        patch = mock.patch.object(self.grader, name, **how)
        patch.start()
        self.addCleanup(patch.stop)

    def grade(self) -> Grade:
        """The grade."""
        return self.grader.grade(Path("class/Ana"))

    def test_a_fault_is_not_0_points(self) -> None:
        for fault in (MachineFault("no compiler"), Problem("the judge ended"), OSError(28, "No space left on device")):
            with self.subTest(fault=fault):
                self.patched("build", side_effect=fault)
                grade = self.grade()
                self.assertIsNone(grade.points)
                self.assertIn(str(fault), grade.not_graded)

    def test_refused(self) -> None:
        self.patched("build", return_value=LabBuild(LAB, refused=("02_shared.cu calls fork",)))
        grade = self.grade()
        self.assertEqual((grade.points, grade.refused), (0, (f"{LAB}: 02_shared.cu calls fork",)))
        self.assertGreater(grade.max_points, 0)

    def test_does_not_compile(self) -> None:
        failure = grades.Failure("cpu", LAB, 2, status="does not compile", message="x")
        names = {"01_global.cu", "03_hybrid.cu"}
        self.patched("build", return_value=LabBuild(LAB, unchanged=names, broken={"02_shared.cu": failure}))
        grade = self.grade()
        words = {criterion.step: criterion.words for criterion in grade.criteria}
        self.assertEqual(words[2], "it does not compile")
        self.assertEqual(words[1], f"labs/{LAB}/01_global.cu was not handed in")
        self.assertEqual(grade.points, 0)

    def test_only_criteria_with_points(self) -> None:
        self.patched("build", return_value=LabBuild(LAB, {"cpu": Path("x"), "check": Path("x")}))
        self.patched("judges", return_value=mock.MagicMock())
        verdict = check_build.Verdict(cases=3)
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
        self.whole.sandbox.works.return_value = False  # type: ignore[attr-defined]
        with mock.patch.object(judging, "tally", lambda *_: tally(failed("exited"))):
            self.assertIn("can no longer be started", self.grade().not_graded)
        self.whole.sandbox.works.return_value = True  # type: ignore[attr-defined]
        with mock.patch.object(judging, "tally", lambda *_: tally(failed("exited"))):
            self.assertEqual(self.grade().points, 0)


class Replayed(unittest.TestCase):
    """Names of cases."""

    def test_unknown_names(self) -> None:
        for name in ("", "1", f"{LAB}/02/cpu/check/0", f"{LAB}/x/cpu/public/0", f"{LAB}/02/gpu/public/0"):
            self.assertIsNone(judging.find_case(mock.Mock(), name, RUN.seeds), name)

    def test_known_names(self) -> None:
        judge = mock.Mock()
        judge.cases.return_value = (judge_types.CaseGroup("any n", (Case(LAB, 2, 1), Case(LAB, 2, 5))),)
        found = judging.find_case(judge, f"{LAB}/02/cpu/public/1", RUN.seeds)
        assert found
        self.assertEqual(found.case.n, 5)
        judge.cases.assert_called_with(LAB, 2, "public", "cpu", 7)
        self.assertIsNone(judging.find_case(judge, f"{LAB}/02/cpu/public/2", RUN.seeds))


class OptionsTest(unittest.TestCase):
    """Defaults."""

    def test_default_out(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(class_run, "grade_class") as graded:
            graded.return_value = []
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(cli.main(["grade", folder]), 0)
            options = graded.call_args[0][0]
            self.assertEqual(options.out, Path(folder).resolve().with_name(Path(folder).name + "-grades"))
            self.assertEqual(options.shard, Shard())
        options = Options(Path("a"), Path("b"), seeds_of=Path("/no/such"))
        self.assertRaises(Usage, class_run.new_run, options, [LAB], "", ["cpu", "check"])

    def test_seeds_are_hidden_from_submissions(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            seeds = Path(folder).resolve()
            self.assertIn(seeds, class_run.hidden(Options(Path("a"), Path("b"), seeds_of=seeds)))


if __name__ == "__main__":
    unittest.main()

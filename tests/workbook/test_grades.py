"""Grades: points for the outcomes of cases, how they are written and read, and the shards of a class."""

import dataclasses
import unittest
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest import mock

from grade_data import LAB, RUN, failed, failure, named, tally, the_class, verified
from in_folder import InFolder
from report_data import step

from workbook.core import check_build, judge_types
from workbook.core.console import Problem, Usage
from workbook.core.judge_types import Case, Finding, Outcome
from workbook.grading import by_hand, grader, grades, judging, outputs, pseudonyms, scoring, shards, texts
from workbook.grading.grades import Criterion, Failure, Grade, Run, read_grades, read_run, write_run
from workbook.reporting import compose

FAILURE = failure(2, 1025, "check")
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
OWN_RUN = Run(
    ("03-bitonic",), '# points\n[labs."03-bitonic"]\n', {"cases": 2**64 - 1}, "bubblewrap", "a laptop", "abc", "now"
)


class RoundTrip(unittest.TestCase):
    """What is written is read again, without a difference."""

    def test_every_class(self) -> None:
        values: list[Failure | Criterion | Grade | Run] = [
            FAILURE,
            Failure("cpu", "01-odd-even", 1),
            GRADE,
            OWN_RUN,
        ]
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
        grades.write_run(out, OWN_RUN)
        other = dataclasses.replace(GRADE, student="../etc/passwd")
        for grade in (GRADE, other):
            grades.write_grade(out, grade)
        self.assertEqual(grades.read_run(out), OWN_RUN)
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
        self.assertTrue(criterion.words.startswith("all kinds together 33%, and 50% is the least"), criterion.words)

    def test_properties_count_alike(self) -> None:
        """Many cases of one kind do not outweigh few of another."""
        counted = tally()
        for name, good, bad in (("few keys", 10, 0), ("any n", 0, 300), ("key types", 5, 15)):
            case = replace(named(verified()), property=name)
            for outcome in (*[verified()] * good, *[failed()] * bad):
                counted.add(case, outcome)
        criterion = judging.correct(LAB, 2, [counted], 6, 0.25)
        self.assertEqual((criterion.points, criterion.failed), (2.5, 315))  # 100 %, 0 % and 25 %
        self.assertIn("few keys 10 of 10, any n 0 of 300, key types 5 of 20", criterion.words)
        self.assertEqual(judging.by_property([counted, counted])["key types"], (10, 40))

    def test_the_property_that_a_case_tests(self) -> None:
        table = judge_types.Lab(LAB, "u32", None, (step(2, tile=1024), step(3)))
        for name, case in (
            ("launch shapes", Case(LAB, 2, 5, type="u64", order="descending", blocks=3)),
            ("key types", Case(LAB, 2, 5, type="u64", order="descending")),
            ("few keys", Case(LAB, 2, 33, type="u32", order="descending")),
            ("full tiles", Case(LAB, 2, 2048, type="u32", order="descending")),
            ("descending order", Case(LAB, 2, 2047, type="u32", order="descending")),
            ("any n", Case(LAB, 2, 2047, type="u32")),
            ("full warps", Case(LAB, 3, 64, type="u32")),
            ("any n", Case(LAB, 3, 65, type="u32")),
        ):
            with self.subTest(name=name, case=case):
                self.assertEqual(name, judging.property_of(case, table))

    def test_a_step_without_its_usual_key_type(self) -> None:
        """The first of the others takes its place. A line that has no other is as it was."""
        table = judge_types.Lab(
            LAB, "u8", None, (step(2, types=("u8", "u32", "i32")), step(2, types=("u8",), task="scan"))
        )
        for missing, task, type_, name in (
            ((), "sort", "u32", "key types"),
            (("u8",), "sort", "u32", "any n"),
            (("u8",), "sort", "u8", "key types"),
            (("u8",), "scan", "u8", "any n"),
        ):
            found = judging.property_of(Case(LAB, 2, 2047, task, type_), table.without(missing))
            self.assertEqual(name, found, (missing, task, type_))

    def test_what_a_step_that_uses_it_would_suffer_from(self) -> None:
        """No case, a case that fails, and what the check build reports."""
        right = scoring.Record(LAB, 2, tallies=(tally(verified()),))
        self.assertTrue(right.is_right)
        self.assertTrue(replace(right, verdict=check_build.Observation()).is_right)
        for verdict in (
            check_build.Observation(failed=failed()),
            check_build.Observation(lesser=verified()),
            check_build.Observation(over=["bytes"]),
        ):
            self.assertFalse(replace(right, verdict=verdict).is_right)
        self.assertFalse(replace(right, tallies=(tally(verified(), failed()),)).is_right)
        self.assertFalse(replace(right, tallies=()).is_right)

    def test_what_is_not_written_is_shown_once(self) -> None:
        outcomes = (one.outcome for one in self.correct(verified(), *[failed("not-written")] * 3, failed()).failures)
        shown = [outcome.status for outcome in outcomes if outcome]
        self.assertEqual(["not-written", "wrong"], shown)

    def test_what_should_have_been_refused(self) -> None:
        """A result that is correct is no success where the step must refuse, and no luck either."""
        for case, what in (
            (Case(LAB, 2, 9, threads=1025, expect="refused"), "blocks 0, threads per block 1025"),
            (Case(LAB, 2, 9, memory=4000, expect="refused"), "4,000 bytes of device memory"),
            (Case(LAB, 2, 9, input="range:0:9", expect="refused"), "the input range:0:9, which have more values"),
        ):
            accepted = Failure("cpu", LAB, 2, replace(failed("verified"), case=case))
            self.assertIn(what, texts.details(accepted))
            self.assertIn("must throw lab::Unsupported", texts.details(accepted))
            self.assertEqual("not refused, on the cpu build", texts.heading(accepted))

    def test_doing_nothing_gives_nothing(self) -> None:
        """A copy of the input passes cases whose keys are in order, and a step may refuse some arguments."""
        lazy = [verified(1, already_correct=True), failed(), dataclasses.replace(verified(), status="unsupported")]
        self.assertEqual(self.correct(*lazy, least=0).points, 0)
        only_trivial = self.correct(verified(0, already_correct=True))
        self.assertEqual(only_trivial.points, 0)
        broken_on_nothing = self.correct(verified(), verified(), failed(already_correct=True))
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
        kept = self.correct(outcome).failures[0]
        self.assertEqual((kept.outcome, kept.build, kept.case_id), (outcome, "cpu", f"{LAB}/02/cpu/public/3"))

    def test_places_are_those_of_the_student(self) -> None:
        for file, place in (
            ("labs/03-bitonic/02_shared.cu", "labs/03-bitonic/02_shared.cu:17"),
            ("02_shared.cu.cpp", ""),
            ("/usr/include/c++/12/bits/stl_algo.h", ""),
            ("/tmp/box/x.cpp", ""),
        ):
            self.assertEqual(place, scoring.slim(failed(file=file, line=17)).place, file)

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

    def test_sets_of_cases(self) -> None:
        """A set follows if a case has passed. The same judges run all sets, and so one runner each."""
        judge = mock.Mock(run=mock.Mock(side_effect=lambda _, case, timeout: verified() if case.n > 10 else failed()))
        made: list[mock.Mock] = []
        sets = [[named(verified(n)) for n in sizes] for sizes in ((5, 1000), (2000, 3000), (1, 2), (6000,))]
        with check_build.Judges(workers=1) as judges:
            judges._make = lambda: made.append(judge) or judge  # type: ignore[assignment, func-returns-value]
            result = judging.tally(judges, Path("runner"), sets, "cpu")
            self.assertEqual((result.passed, result.failed, len(made)), (4, 3, 1))
            result = judging.tally(judges, Path("runner"), [[named(verified(1))], sets[0]], "cpu")
            self.assertEqual((result.passed, result.failed), (0, 1))

    def test_check_build(self) -> None:
        verdict = check_build.Observation(cases=9)
        self.assertEqual(judging.check(LAB, 2, verdict, [], 2, 1).points, 2)
        found = dataclasses.replace(verified(), findings=(Finding("labs/x.cu", 3, "race", "two threads"),))
        verdict.failed = found
        criterion = judging.check(LAB, 2, verdict, [named(found)], 2, 1)
        self.assertEqual((criterion.points, criterion.words), (0, "the check build reports: race"))
        self.assertEqual(criterion.failures[0].case_id, f"{LAB}/02/cpu/public/3")
        self.assertEqual(judging.budgets(LAB, 2, verdict, 4).points, 0)

    def test_a_lesser_fault(self) -> None:
        """It makes no result wrong, so it costs little, and the budgets are judged."""
        unread = replace(verified(), findings=(Finding("labs/x.cu", 3, "unchecked-launch", "nothing reads it"),))
        costs = [check_build.Costs("shared", {"bytes": (8, 8.2)})]
        verdict = check_build.Observation(cases=9, lesser=unread, costs=costs)
        criterion = judging.check(LAB, 2, verdict, [named(unread)], 2, 1)
        self.assertEqual(criterion.points, 1)
        self.assertEqual("the check build reports: unchecked-launch, and nothing worse", criterion.words)
        self.assertIn("  the check build's result was correct\n", texts.details(criterion.failures[0]))
        self.assertEqual(judging.check(LAB, 2, verdict, [], 0.5, 1).points, 0)
        self.assertEqual(judging.budgets(LAB, 2, verdict, 4).points, 4)
        verdict.failed = failed()
        self.assertEqual(judging.check(LAB, 2, verdict, [], 2, 1).points, 0)

    def test_the_search_goes_on_after_a_lesser_fault(self) -> None:
        unread = replace(verified(), findings=(Finding("labs/x.cu", 3, "unchecked-launch", "nothing reads it"),))
        race = replace(verified(7), findings=(Finding("labs/x.cu", 5, "race", "two threads"), *unread.findings))
        for outcomes, cases, failed_, lesser in (
            ([unread, unread, verified()], 3, None, unread),
            ([unread, race, verified()], 2, race, unread),
            ([unread, failed(), verified()], 3, failed(), unread),
        ):
            verdict = check_build.Observation()
            check_build._search(verdict, outcomes, lambda: None, check_build.LESSER)
            self.assertEqual((verdict.cases, verdict.failed, verdict.lesser), (cases, failed_, lesser))
        verdict = check_build.Observation()  # a student's own check shows it as what is to be fixed
        check_build._search(verdict, [unread], lambda: None, ())
        self.assertEqual((verdict.failed, verdict.lesser), (unread, None))

    def test_budgets(self) -> None:
        verdict = check_build.Observation(costs=[check_build.Costs("shared", {"bytes": (8, 8.2), "conflicts": (3, 2)})])
        self.assertEqual(judging.budgets(LAB, 2, verdict, 4).points, 2)
        verdict.costs = [check_build.Costs("shared", {"bytes": (8, 8.2)})]
        self.assertEqual(judging.budgets(LAB, 2, verdict, 4).points, 4)

    def test_work_that_one_thread_does(self) -> None:
        costs = check_build.Costs("shared", {"bytes": (8, 8.2), "span": (90.0, 50.0)})
        verdict = check_build.Observation(cases=9, costs=[costs])
        criterion = judging.check(LAB, 2, verdict, [], 2)
        self.assertEqual(0, criterion.points)
        self.assertIn("not parallel: too much of the work is serial: shared", criterion.words)
        budgets = judging.budgets(LAB, 2, verdict, 4)
        self.assertEqual(0, budgets.points)
        self.assertRegex(
            budgets.words, "^1 of 2 budgets kept, but none of them counts, because one thread does too much"
        )

    def test_work_that_the_host_does(self) -> None:
        correct = Criterion(LAB, 2, "correct", 6, 6, "9 of 9 cases passed")
        self.assertEqual(correct, judging.earned(correct, check_build.Observation()))
        idle = check_build.Observation(idle="too little work")
        self.assertEqual([0, 0], [judging.check(LAB, 2, idle, [], 2).points, judging.budgets(LAB, 2, idle, 4).points])
        criterion = judging.earned(correct, idle)
        self.assertEqual((0, "refused: too little work; 9 of 9 cases passed"), (criterion.points, criterion.words))
        self.assertEqual(criterion, judging.earned(criterion, idle))  # it is said once
        for kind, points in (("host-pointer", 0), ("device-variable", 0), ("race", 6)):
            found = dataclasses.replace(verified(), findings=(Finding("labs/x.cu", 3, kind, "words"),))
            self.assertEqual(points, judging.earned(correct, check_build.Observation(failed=found)).points, kind)

    def test_words_of_a_report(self) -> None:
        made = "<!-- made: n -->\nten thousand made words\n<!-- end of made -->\n"
        report = compose.compose(LAB, compose.lab_title(LAB), {"n": "made"}, None)
        self.assertIn("*Your answer:*", report)
        self.assertEqual(grader.own_words(report + made, LAB), 0)
        self.assertEqual(grader.own_words(compose.with_all_questions(report, LAB), LAB), 0)
        self.assertEqual(grader.own_words(report + made + "\nMy step is slow.\n", LAB), 4)


class Shards(unittest.TestCase):
    """Names and parts."""

    def test_parse(self) -> None:
        self.assertEqual([str(shards.parse(text)) for text in ("", "1/1", "2/4", "4/4")], ["", "", "2/4", "4/4"])
        for text in ("0/4", "5/4", "2", "a/b", "-1/4", "1/0", "2/4/8"):
            with self.subTest(text=text), self.assertRaisesRegex(Usage, "such as 2/4"):
                shards.parse(text)

    def test_parts(self) -> None:
        for of in (1, 2, 4, 7):
            parts = [shards.Shard(number, of).part(range(23)) for number in range(1, of + 1)]
            self.assertEqual(sorted(number for part in parts for number in part), list(range(23)))
            self.assertLessEqual(max(map(len, parts)) - min(map(len, parts)), 1)


class Merge(InFolder):
    """Outputs of shards."""

    def setUp(self) -> None:
        super().setUp()
        self.out = self.folder / "merged"

    def grade(self, out: Path, shard: shards.Shard, change: Callable[[Run], Run] = lambda run: run) -> Path:
        """The output of one shard, or of the whole class, which is a part of all."""
        run = change(replace(RUN, shard=str(shard), date=f"day {shard.number}", machine=f"node {shard.number}"))
        write_run(out, run)
        everyone = sorted(the_class()[3::2], key=lambda grade: grade.student)
        grades = [replace(grade, seconds=len(grade.student) * 1.5) for grade in shard.part(everyone)]
        for grade in grades:
            outputs.write_student(out, run, grade)
        by_hand.begin(out)
        outputs.write_class(out, run, grades)
        return out

    def four(self) -> list[Path]:
        """The outputs of four shards."""
        return [self.grade(self.folder / f"part {number}", shards.Shard(number, 4)) for number in range(1, 5)]

    def test_same_files(self) -> None:
        """Byte by byte those of one run, in whichever order the shards are named."""
        whole = self.grade(self.folder / "whole", shards.Shard())
        merged = shards.merge(self.out, self.four()[::-1])
        self.assertEqual(len(merged), len(the_class()[3::2]))
        for name in ("grades.csv", "class.html", "not-graded.csv"):
            self.assertEqual((self.out / name).read_bytes(), (whole / name).read_bytes(), name)
        files = sorted(path.relative_to(whole) for path in whole.rglob("*.*"))
        self.assertEqual(files, sorted(path.relative_to(self.out) for path in self.out.rglob("*.*")))
        for file in (path for path in files if path.parts[0] == "students"):
            self.assertEqual((self.out / file).read_bytes(), (whole / file).read_bytes(), file)
        run = read_run(self.out)
        assert run
        self.assertEqual((run.shard, run.date, run.seeds), ("", "day 1", RUN.seeds))
        self.assertEqual(run.machine, "node 4; node 3; node 2; node 1")

    def test_what_instructors_gave(self) -> None:
        """What they wrote for each part, and the pseudonyms of its students, are joined."""
        parts = self.four()
        student = read_grades(parts[1])[0].student
        pseudonyms.write(parts[1], pseudonyms.extended({}, [student]))
        by_hand.file_of(parts[1]).write_text("comment;student\nWell done;x\n")
        shards.merge(self.out, parts)
        self.assertEqual(by_hand.file_of(self.out).read_text().splitlines()[1:], ["x,,,,,,Well done"])
        names = pseudonyms.read(self.out)
        self.assertEqual((names[pseudonyms.key_of(student)],), tuple(pseudonyms.read(parts[1]).values()))
        self.assertEqual(len(names), len(the_class()[3::2]))
        self.assertEqual({path.name for path in (self.out / "students").iterdir()}, set(names.values()))

    def refused(self, parts: list[Path], words: str) -> None:
        """Merging them is refused, and nothing is written."""
        with self.assertRaisesRegex(Problem, words):
            shards.merge(self.out, parts)
        self.assertFalse(self.out.exists())

    def test_not_of_one_run(self) -> None:
        changes: dict[str, Callable[[Run], Run]] = {
            "seeds": lambda run: replace(run, seeds={"cases": 1}),
            "rubric": lambda run: replace(run, rubric="other"),
            "commit": lambda run: replace(run, commit="other"),
            "labs": lambda run: replace(run, labs=("01-odd-even",)),
            "builds": lambda run: replace(run, builds=("cpu", "check", "cuda")),
        }
        first = self.grade(self.folder / "part 1", shards.Shard(1, 2))
        for what, change in changes.items():
            other = self.grade(self.folder / what, shards.Shard(2, 2), change)
            self.refused([first, other], f"not of one run: the {what}")

    def test_missing_twice_or_unfinished(self) -> None:
        parts = self.four()
        self.refused(parts[:3], "name all shards")
        self.refused([*parts[:3], parts[0]], "shard 4/4 is missing")
        self.refused([*parts[:3], self.folder / "nothing"], "holds no grades")
        (parts[2] / "grades.csv").unlink()
        self.refused(parts, "is not finished")

    def test_a_student_in_two_shards(self) -> None:
        parts = self.four()
        grades = parts[0] / "instructor"
        double = next(grades.iterdir())
        (parts[1] / "instructor" / double.name).write_bytes(double.read_bytes())
        self.refused(parts, "was graded in")

    def test_output_that_exists(self) -> None:
        parts = self.four()
        self.out.mkdir()
        (self.out / "mine").touch()
        with self.assertRaisesRegex(Problem, "not an empty folder"):
            shards.merge(self.out, parts)
        self.assertEqual([path.name for path in self.out.iterdir()], ["mine"])

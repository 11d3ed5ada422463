"""What becomes of the outcomes of cases: how many points, and in which words."""

from __future__ import annotations

import dataclasses
import unittest
from pathlib import Path
from unittest import mock

from grade_data import LAB, failed, named, tally, verified

from workbook.core import check_build, judge_types
from workbook.core.judge_client import Finding, Outcome
from workbook.grading import grader, judging
from workbook.grading.grades import Criterion
from workbook.reporting import compose


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


if __name__ == "__main__":
    unittest.main()

"""Points for a submission as a whole: deadlines and extensions, extra credit, labs that do not count."""

from __future__ import annotations

import unittest
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from workbook.core.console import Usage
from workbook.grading import class_run, feedback, gradebooks, rubric
from workbook.grading.grades import Criterion, Grade, Run
from workbook.grading.late import Whole, settled, with_extra
from workbook.grading.roster import Extension, Row

LATE = "[late]\ndue = 2026-11-20T12:00:00Z\nper_day = 0.1\nfree_days = 1\nmost_days = 3\ngrace_minutes = 10\n"
DUE = datetime.fromisoformat("2026-11-20T12:00:00+00:00")
RUN = Run(("03-bitonic",), "")


def setUpModule() -> None:
    """Skips all tests where nothing reads TOML."""
    if not rubric.reader_of_toml():
        raise unittest.SkipTest("this Python cannot read TOML")


def whole(text: str) -> Whole:
    """What a rubric says about submissions as a whole."""
    return rubric.parse(text, Path("rubric.toml")).whole


def grade(over: timedelta | None = None, lab: str = "03-bitonic", points: float = 8, step: int = 1) -> Grade:
    """A grade with some of 10 points, handed in this long after the deadline."""
    at = (DUE + over).isoformat() if over is not None else ""
    return Grade("ana", "class/ana", (Criterion(lab, step, "correct", points, 10, "w"),), handed_in=at)


def row(extension: Extension = None, handed_in: datetime | None = None) -> Row:
    """A student on the roster."""
    return Row("ana", 2, (), ("ana",), "Ana", "", extension, handed_in)


class Deadlines(unittest.TestCase):
    """What is taken off."""

    def points(self, late: Grade, student: Row | None = None, text: str = LATE) -> float | None:
        """The points of an 8."""
        points = settled(late, whole(text), student).points
        return None if points is None else round(points, 6)

    def test_days(self) -> None:
        """A day that has begun counts as one; a grace of minutes, and free days, cost nothing."""
        for over, points in (
            (timedelta(days=-1), 8),
            (timedelta(minutes=10), 8),
            (timedelta(minutes=11), 8),  # the free day
            (timedelta(days=1, seconds=1), 7.2),
            (timedelta(days=3), 6.4),
            (timedelta(days=3, seconds=1), 0),
        ):
            self.assertEqual(self.points(grade(over)), points, over)
        without_end = LATE.replace("most_days = 3\n", "")
        self.assertEqual(self.points(grade(timedelta(days=30)), text=without_end), 0)
        self.assertEqual(self.points(grade(timedelta(days=30)), text=""), 8)

    def test_extensions(self) -> None:
        two_days = timedelta(days=2)
        self.assertEqual(self.points(grade(timedelta(days=2)), row(two_days)), 8)
        self.assertEqual(self.points(grade(timedelta(days=4)), row(two_days)), 7.2)
        self.assertEqual(self.points(grade(timedelta(days=4)), row(DUE + timedelta(days=4))), 8)

    def test_the_roster_knows_when(self) -> None:
        """Its time counts, not that of the clone, which a student can choose."""
        self.assertEqual(self.points(grade(timedelta(days=-1)), row(None, DUE + timedelta(days=2))), 7.2)

    def test_unknown_time(self) -> None:
        unknown = settled(grade(), whole(LATE), None)
        self.assertEqual(unknown.points, 8)
        self.assertIn("not known, so nothing was taken off", unknown.late)

    def test_settled_again(self) -> None:
        """Another roster changes a grade that was settled before; the same one does not."""
        late = settled(grade(timedelta(days=2)), whole(LATE), row())
        self.assertEqual(late.points, 7.2)
        self.assertEqual(settled(late, whole(LATE), row()), late)
        self.assertEqual(settled(late, whole(LATE), row(timedelta(days=2))).points, 8)

    def test_everybody_reads_it(self) -> None:
        late = settled(grade(timedelta(days=2)), whole(LATE), row())
        words = "2 days late: 10 % of the points are taken off"
        self.assertIn(words, feedback.text(RUN, late))
        self.assertIn("**7.2 of 10 points**", feedback.text(RUN, late))
        self.assertIn("The tables show the points before the deduction of 0.8 points", feedback.text(RUN, late))
        self.assertNotIn("The tables have", feedback.text(RUN, grade()))
        self.assertIn(words, gradebooks.grades_csv([late]))
        self.assertIn('"score": 7.2,', gradebooks.gradescope(RUN, late))
        self.assertIn(words, gradebooks.gradescope(RUN, late))
        self.assertIn('"03-bitonic": 7.2', gradebooks.autolab(RUN, late))
        self.assertIn('failures="1" skipped="0"', gradebooks.junit(RUN, late))

    def test_wrong_rubrics(self) -> None:
        for text, words in (
            ("[late]\nper_day = 0.1\n", "r.toml:1: late needs due"),
            ('[late]\ndue = "friday"\n', "r.toml:2: due must be a time without quotes"),
            ("[late]\ndue = 2026-11-20\nper_day = 10\n", "r.toml:3: per_day must be a number from 0 to 1"),
            ("[late]\ndue = 2026-11-20\nper_hour = 1\n", "r.toml:3: there is no setting 'per_hour'"),
            ("[drop]\nlowest = -1\n", "r.toml:2: lowest must be a number"),
            ("[labs.03-bitonic.steps.05]\nextra = 1\n", "r.toml:2: extra must be true or false"),
        ):
            with self.subTest(text=text), self.assertRaisesRegex(Usage, words):
                rubric.parse(text, Path("r.toml"))

    def test_a_day_is_its_end(self) -> None:
        due = whole("[late]\ndue = 2026-11-20\n").late.due
        assert due
        self.assertEqual((due.day, due.hour, due.minute), (20, 23, 59))


class OtherRules(unittest.TestCase):
    """Extra credit and labs that do not count."""

    def test_extra_credit(self) -> None:
        text = "[labs.03-bitonic.steps.05]\nextra = true\n[labs.03-bitonic.steps.04]\nextra = false\n"
        both = replace(grade(), criteria=(*grade(points=10).criteria, *grade(points=3, step=5).criteria))
        done = settled(both, whole(text), None)
        self.assertEqual((done.points, done.max_points), (13, 10))
        self.assertEqual([one.extra for one in done.criteria], [False, True])
        self.assertEqual(class_run.summary(with_extra(both, whole(text))), "13 of 10")

    def test_dropped_labs(self) -> None:
        three = [grade(lab=lab, points=points).criteria for lab, points in (("01-odd-even", 9), ("02-merge", 4))]
        done = settled(replace(grade(), criteria=(*three[0], *three[1])), whole("[drop]\nlowest = 1\n"), None)
        self.assertEqual((done.dropped, done.points, done.max_points), (("02-merge",), 9, 10))
        self.assertIn(
            "dropped, as one of the labs with the smallest shares of their points: 02-merge", feedback.text(RUN, done)
        )
        self.assertIn('"score": 9.0', gradebooks.gradescope(RUN, done))
        self.assertEqual(settled(grade(), whole("[drop]\nlowest = 1\n"), None).dropped, ())

    def test_not_graded_stays_so(self) -> None:
        lost = replace(grade(timedelta(days=2)), criteria=(Criterion("03-bitonic", 1, "correct", None, 10),))
        self.assertIsNone(settled(lost, whole(LATE + "[drop]\nlowest = 1\n"), None).points)


if __name__ == "__main__":
    unittest.main()

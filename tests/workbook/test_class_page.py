"""What students had difficulties with, on the class page and the page for the lecturer, and the plot of the points."""

from __future__ import annotations

import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any

from grade_data import LAB, RUN, criteria, failed, failure, tally, the_class, verified
from svg_faults import faults_of

from workbook.core import starters
from workbook.core.check_build import Costs, Effort, Observation
from workbook.core.course import ROOT, has_solutions
from workbook.core.judge_types import Finding
from workbook.grading import class_page, difficulties, lecture, scoring, texts
from workbook.grading.difficulties import Difficulty
from workbook.grading.grades import Criterion, Failure, Grade
from workbook.grading.scoring import Record
from workbook.reporting import page as pages

FILE = f"{LAB}/02_shared.cu"
SOURCE = """// by Ana
#include "x.h"
int a = 1;
int b = 2; /* Ana's */
int c = 3;
int d = 4;
char e[] = "// no";
int f;
"""
RACE = Finding(f"labs/{FILE}", 4, "race", "kernel sort: thread 3 writes tile[4]\nput __syncthreads() between", 7)


def grade(student: str, *records: Record) -> Grade:
    """The grade of a student who has handed in a file."""
    return Grade(
        student, f"class/{student}", criteria(), sources={FILE: SOURCE}, records=tuple(map(scoring.encoded, records))
    )


def step(*statuses: str, verdict: Observation | None = None, number: int = 2, **more: Any) -> Record:
    """What was found out about a step, with a failed case for each status."""
    failures = [failed(status, file=f"labs/{FILE}", message=f"{status} key at index 0", **more) for status in statuses]
    return Record(LAB, number, tallies=(tally(verified(), *failures),), verdict=verdict)


def racing() -> Record:
    """A step that fails some cases, because of a race."""
    return step("wrong", verdict=Observation(failed=replace(verified(), findings=(RACE,))))


class OfTheClass(unittest.TestCase):
    """How many had which difficulty."""

    def kinds(self, record: Record) -> list[tuple[str, str]]:
        """The criteria and kinds of the difficulties in a record."""
        return [(one.criterion, one.kind) for one in difficulties.of_record(record)]

    def test_how_the_keys_were_sorted(self) -> None:
        efforts = {"ana": (4096, 30.0, 0.5), "ben": (32, 1.0, 0.5), "cem": (4096, 31.0, 4.0)}
        grades = [
            grade(student, step(verdict=Observation(efforts=[Effort("shared", *effort)])))
            for student, effort in efforts.items()
        ]
        row = class_page.efforts(grades)[0]
        self.assertEqual("03-bitonic 02 shared", row.step)
        self.assertEqual("4,096; [ben](students/ben/feedback.html) 32", row.threads)
        self.assertEqual("30; [ben](students/ben/feedback.html) 1", row.parallel)
        self.assertEqual("0.5; [cem](students/cem/feedback.html) 4", row.to_host)
        self.assertIn(
            "| 03-bitonic 02 shared | 4,096; [ben](students/ben/feedback.html) 32 |", class_page.text(RUN, grades)
        )

    def test_of_a_record(self) -> None:
        self.assertEqual(self.kinds(step()), [])
        self.assertEqual(self.kinds(racing()), [("correct", "wrong"), ("check", "race")])
        self.assertEqual(self.kinds(step("hung", "verified")), [("correct", "hung"), ("correct", "not refused")])
        self.assertEqual(self.kinds(step("wrong", findings=(RACE,))), [("correct", "race")])
        over = Observation(costs=[Costs("shared", {"bytes": (9, 8.2), "conflicts": (1, 2)})])
        self.assertEqual(self.kinds(step(verdict=over)), [("budgets", "bytes")])
        self.assertEqual(self.kinds(step(verdict=Observation(failed=failed("crashed")))), [("check", "crashed")])
        broken = Record(
            LAB, 2, "does not compile", "x", (Failure("cpu", LAB, 2, message="no", place="02_shared.cu:3"),)
        )
        (one,) = difficulties.of_record(broken)
        self.assertEqual((one.kind, one.text, one.place), ("does not compile", "no", "02_shared.cu:3"))
        self.assertEqual(self.kinds(Record(LAB, None, "not handed in", "no report")), [])

    def test_by_criterion(self) -> None:
        """A student counts once for each difficulty with a criterion."""
        grades = [grade("a", step("wrong", "wrong", "hung")), grade("b", step("wrong")), grade("c", racing())]
        found = difficulties.of_criterion(grades)
        self.assertEqual(list(found[LAB, 2, "correct"].items()), [("wrong", 3), ("hung", 1)])
        self.assertEqual(found[LAB, 2, "check"], {"race": 1})
        rows = {row.name: row.difficulties for row in class_page.by_criterion(grades)}
        self.assertEqual(rows[f"{LAB} step 02: correct"], "wrong result 3, hung 1")

    def test_a_case_that_is_sorted_with_a_finding(self) -> None:
        """It failed, so it is not called verified."""
        by_luck = failure(2, 9, "check", status="verified")
        (row,) = class_page.failed_cases([replace(grade("a"), criteria=criteria(0, (by_luck,)))])
        self.assertEqual(row.how, "sorted, but with a finding")
        self.assertEqual(texts.heading(by_luck), "sorted, but with a finding, on the check build")
        self.assertIn("the check build's result was correct, by luck", texts.details(by_luck))

    def test_most_frequent(self) -> None:
        """A finding is the reason for what else fails in a step; what nobody wrote is none to talk about."""
        unwritten = Record(LAB, 3, "not written", "step 03 is not written yet")
        grades = [
            grade("a", racing(), unwritten),
            grade("b", racing()),
            grade("c", step("wrong"), step("wrong", number=1)),
        ]
        race, wrong = difficulties.frequent(grades)
        self.assertEqual((race.kind, race.students, race.steps), ("race", {"a", "b"}, {(LAB, 2): {"a", "b"}}))
        self.assertIn("two threads access the same location", race.meaning)
        self.assertEqual((wrong.kind, wrong.students, len(wrong.steps)), ("wrong", {"c"}, 2))
        first = class_page.frequent_findings(grades)[0]
        self.assertEqual((first.students, first.kind, first.place), (2, "race", "02_shared.cu:4"))
        self.assertEqual(first.words, "kernel sort: thread 3 writes tile[4]")

    def test_the_example_has_few_keys(self) -> None:
        """A small case is easier to talk about; a line in the code matters more."""

        def of(n: int, message: str, **more: Any) -> Record:
            outcome = replace(failed("wrong", message=message, **more), case=replace(verified().case, n=n))
            return Record(LAB, 2, tallies=(tally(verified(), outcome),))

        grades = [grade("a", of(2000, "short")), grade("b", of(3, "with all of its keys")), grade("c", of(30, "x"))]
        self.assertEqual(difficulties.frequent(grades)[0].example[0].n, 3)
        grades.append(grade("d", of(5000, "y", file=f"labs/{FILE}", line=4)))
        self.assertEqual(difficulties.frequent(grades)[0].example[0].n, 5000)

    def test_every_finding_has_a_meaning(self) -> None:
        """The words are those of labs/README.md, and its notes are not among them."""
        meanings = difficulties.meanings()
        self.assertLessEqual({"race", "out-of-bounds", "deadlock", "time-limit", "stack-overflow"}, set(meanings))
        self.assertNotIn("narrow", meanings)
        self.assertFalse([kind for kind, words in meanings.items() if len(words) < 20])

    def test_the_page(self) -> None:
        text = class_page.text(RUN, [replace(grade("a", racing()), seconds=30), replace(grade("b"), seconds=10)])
        self.assertIn("The median time to grade a submission was 20 s, and the longest 30 s.", text)
        self.assertIn("| 1 | 03-bitonic 02 | race | 02&#95;shared.cu:4 |".replace("&#95;", "_"), text)

    @unittest.skipUnless(has_solutions(), "this copy of the workbook has no solutions/")
    def test_the_published_solution(self) -> None:
        """Whoever has its code is named with it, and whoever has the starter is not."""
        text = (ROOT / "solutions" / FILE).read_text(encoding="utf-8")
        given = next(text for path, text in starters.all_starters().items() if path.as_posix() == FILE)
        more = text + "\n".join(f"int f{i}(int a) {{ return a * {i} - (a << {i}) % 7; }}" for i in range(4))
        handed = {"ana": text.replace("tile", "brick"), "ben": given, "cem": more}
        found = class_page.in_common([replace(grade(who), sources={FILE: handed[who]}) for who in handed], {})
        self.assertEqual([group.students for group in found.groups], [("ana", class_page.SOLUTION)])
        page = class_page.text(RUN, [replace(grade(who), sources={FILE: handed[who]}) for who in handed])
        self.assertRegex(page, r"\| 1 \| \[ana\]\(.*the published solution \|")  # which is no student
        self.assertIn(("cem", class_page.SOLUTION), [(pair.first, pair.second) for pair in found.pairs])
        self.assertNotIn("ben", str(found))
        self.assertIn("and with the published solutions", class_page.text(RUN, []))

    def test_the_table_of_students(self) -> None:
        """It is a table on the page, with a line per student."""
        page = pages.to_page(class_page.text(RUN, [grade("a", racing()), grade("b")]), "Grades", Path(), [])
        head, _, rest = page.partition("seconds to grade</th>")
        self.assertTrue(rest and head.rindex("<table") < head.rindex("<th"), page[-2000:])
        self.assertEqual(rest.partition("</table>")[0].count("feedback.html"), 2)

    def test_extra_credit(self) -> None:
        """The maximum is the same everywhere, and what is above it is said."""
        more = Criterion(LAB, 5, "correct", 3, 3, extra=True)
        best = Grade("a", "class/a", (Criterion(LAB, 2, "correct", 10, 10), more))
        text = class_page.text(RUN, [best])
        self.assertIn("Median 13 points (maximum 10, without extra credit).", text)
        self.assertIn("as shares of the maximum; more than 100 % is shown as 100 %", text)
        without = class_page.text(RUN, [replace(best, criteria=best.criteria[:1])])
        self.assertIn("Median 10 points (maximum 10).", without)
        self.assertNotIn("more than 100 %", without)


class Lecture(unittest.TestCase):
    """next-lecture.html"""

    def test_five_topics_without_names(self) -> None:
        kinds = ("crashed", "exited", "hung", "wrong", "refused", "unsupported")
        grades = [grade(f"Ana {kind}", step(kind)) for kind in kinds] + [
            grade("Ana", racing()),
            grade("Ana 2", racing()),
        ]
        text = lecture.text(RUN, grades)
        headings = [line for line in text.splitlines() if line.startswith("## ")]
        self.assertEqual(len(headings), lecture.MOST)
        self.assertEqual(headings[0], "## 1. Race: 2 of 8 students")
        self.assertNotIn("Ana", text)
        self.assertIn(">   4 int b = 2;", text)
        self.assertIn("put __syncthreads() between", text)
        self.assertNotIn("Ana", lecture.page(RUN, grades))

    def test_what_a_compiler_quotes_has_no_comments(self) -> None:
        message = f"labs/{FILE}:4: error: expected ';'\n    4 | int b = 2 // Ana\n      |          ^"
        failure = Failure("cpu", LAB, 2, message=message, place="02_shared.cu:4")
        text = lecture.text(RUN, [grade("a", Record(LAB, 2, "does not compile", "x", (failure,)))])
        self.assertIn("    4 | int b = 2\n      |          ^", text)
        self.assertNotIn("Ana", text)

    def test_nothing_failed(self) -> None:
        self.assertIn("Nothing failed.", lecture.text(RUN, [grade("a", step())]))
        self.assertIn("Nothing failed.", lecture.text(RUN, the_class()))

    def test_an_excerpt(self) -> None:
        """The line in its place, without comments; they may have names. What looks like one in a text stays."""
        one = Difficulty(LAB, 2, "check", "race", "", "02_shared.cu", 7)
        self.assertEqual(
            difficulties.excerpt(one, SOURCE),
            '    4 int b = 2;\n    5 int c = 3;\n    6 int d = 4;\n>   7 char e[] = "// no";\n    8 int f;',
        )
        self.assertEqual(difficulties.excerpt(replace(one, line=1), SOURCE).splitlines()[0], ">   1")
        self.assertEqual(difficulties.excerpt(one, ""), "")

    def test_an_excerpt_without_a_line(self) -> None:
        """The longest part that the student has written."""
        given = starters.all_starters()[next(path for path in starters.all_starters() if path.as_posix() == FILE)]
        lines = given.splitlines()
        at = next(number for number, line in enumerate(lines) if "NOT_WRITTEN" in line or "Your code" in line)
        own = "\n".join([*lines[:at], "", "  int mine = 1;  // Ana", "  mine = 2;", *lines[at + 1 :]])
        one = Difficulty(LAB, 2, "correct", "wrong", "", "02_shared.cu")
        self.assertEqual(difficulties.excerpt(one, own), f"  {at + 2:3}   int mine = 1;\n  {at + 3:3}   mine = 2;")
        self.assertEqual(difficulties.excerpt(one, given), "")


class Plot(unittest.TestCase):
    """distribution.svg"""

    def test_it_can_be_read(self) -> None:
        """In words, and on light and dark pages."""
        graded = [one for one in the_class() if one.points is not None]
        for grades in (graded, graded[:1]):
            svg = class_page.plot(grades)
            self.assertEqual(faults_of(svg), [])
            self.assertIn(f"The points of {len(grades)} student", svg)
        counts = class_page.distribution(graded)
        svg = class_page.plot(graded)
        self.assertEqual(svg.count("<rect "), 1 + sum(count > 0 for count in counts))
        for band, count in enumerate(counts):
            self.assertIn(f"{class_page.band_name(band)}: {count}", svg)


if __name__ == "__main__":
    unittest.main()

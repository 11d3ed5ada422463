"""What is written out of grades: no hostile text acts in any format, and no student sees a seed or a command."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import re
import shutil
import tempfile
import unittest
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from unittest import mock

from grade_data import HOSTILE_NAMES, LAB, RUN, SEEDS, criteria, failed, failure, tally, the_class
from in_folder import InFolder

from workbook.core.judge_types import Case, Finding
from workbook.grading import class_page, feedback, gradebooks, outputs, scoring, texts
from workbook.grading.grades import Criterion, Failure, Grade, grade_file, read_grades
from workbook.grading.scoring import Record

TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "nav",
        "div",
        "h1",
        "h2",
        "h3",
        "p",
        "hr",
        "ul",
        "li",
        "a",
        "link",
    ),
    *("em", "strong", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"),
}
PLOT = {"figure", "figcaption", "svg", "desc", "rect", "line", "text"}


class Tags(html.parser.HTMLParser):
    """The tags, links and visible text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.shown = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        assert not any(name.startswith("on") for name, _ in attrs), attrs

    def handle_data(self, data: str) -> None:
        self.shown += data


class Written(InFolder):
    """All files of a class."""

    out: Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = Path(folder.name) / "grades"
        for grade in the_class():
            outputs.write_student(cls.out, RUN, grade)
        outputs.write_class(cls.out, RUN, the_class())

    def of(self, student: str, file: str) -> str:
        """The text of a student's file."""
        return (outputs.student_folder(self.out, student) / file).read_text(encoding="utf-8")

    def test_files(self) -> None:
        self.assertEqual(
            sorted(path.name for path in self.out.iterdir()),
            [
                "class.html",
                "distribution.svg",
                "grades.csv",
                "instructor",
                "next-lecture.html",
                "not-graded.csv",
                "students",
            ],
        )
        for grade in the_class():
            folder = outputs.student_folder(self.out, grade.student)
            names = ["autolab.json", "feedback.html", "feedback.md", "junit.xml", "results.json"]
            self.assertEqual(sorted(path.name for path in folder.iterdir()), names)
        self.assertEqual(len(list((self.out / "students").iterdir())), len(the_class()))
        self.assertEqual([grade.student for grade in read_grades(self.out)], sorted(one.student for one in the_class()))

    def test_no_secrets(self) -> None:
        """The instructor's files name the seed and the command, the student's do not."""
        seeds = {str(SEEDS["cases"] + n) for n in (0, 33, 1025, *range(2, 12))}
        private = grade_file(self.out, "partial 3").read_text(encoding="utf-8")
        self.assertIn(str(SEEDS["cases"] + 33), private)
        self.assertIn("./workbook run 3 2 --n 33", private)
        for file in (self.out / "students").rglob("*.*"):
            text = file.read_text(encoding="utf-8")
            self.assertFalse([seed for seed in seeds if seed in text], file)
            self.assertNotIn("--seed", text, file)
            self.assertNotIn("case-", text, file)
            self.assertNotIn("the step printed", text, file)  # it may print the keys

    def test_hostile_pages(self) -> None:
        """A page has the tags of its template only, and shows the names as they are."""
        for file in self.out.rglob("*.html"):
            page = Tags(file.read_text(encoding="utf-8"))
            for own in ("script", "link"):  # the template's, of which the link says that there is no icon
                self.assertEqual(page.tags.count(own), 1, file)
            plot = PLOT if file.name == "class.html" else set()
            self.assertLessEqual(set(page.tags), TAGS | plot | {"script", "link"}, file)
            page.links.remove("data:,")
            for link in page.links:
                self.assertRegex(link, r"^(#[a-z0-9-]*|students/[^/:]+/feedback\.html|next-lecture\.html)$")
        shown = Tags((self.out / "class.html").read_text(encoding="utf-8")).shown
        for name in HOSTILE_NAMES:
            self.assertIn(texts.clean(name), shown)
            self.assertIn(texts.clean(name), Tags(self.of(name, "feedback.html")).shown)

    def test_links_lead_to_files(self) -> None:
        links = [link for link in Tags((self.out / "class.html").read_text(encoding="utf-8")).links if "/" in link]
        self.assertEqual(len(set(links)), len(the_class()))
        for link in links:
            self.assertTrue((self.out / re.sub("%(..)", lambda m: chr(int(m[1], 16)), link)).is_file(), link)

    def test_feedback(self) -> None:
        """It names the kind of input, n, the shape, the first wrong index and the finding with its line."""
        text = self.of("partial 3", "feedback.md")
        self.assertIn("**10.5 of 13 points**", text)
        for words in (
            "**correct: wrong, on the cpu build**\n\n```text\nlabs/03-bitonic/02_shared.cu:17: error: race: ",
            "\n  wrong key at index 7: 3 instead of 2; seed ...\n",
            "\n  03-bitonic step 2 shared: 1025 u32 keys, few-values, descending, <<<4, 256>>>\n```",
            "Shown: 5 of 8 cases that failed.",
            "| step 02 | 3.5 | 6 |",  # a subtotal
            "- **speed: 0.5 of 2.** 0.4 times the speed of the reference",
        ):
            self.assertIn(words, text)
        self.assertNotIn("extra: a.out", self.of("refused", "feedback.md"))  # a remark for the instructor
        self.assertIn("02_shared.cu calls fork", self.of("refused", "feedback.md"))

    def test_what_is_said_once(self) -> None:
        """A reason or a failure that criteria of a step share, and what several steps have in common."""
        broken = Failure("cpu", LAB, 2, status="does not compile", message="no")
        names = ("correct", "check", "budgets")
        shared = [Criterion(LAB, step, name, 0, 2, "why", (broken,)) for step in (2, 3) for name in names]
        text = feedback.text(RUN, Grade("ana", "class/ana", tuple(shared)))
        self.assertIn("### step 02, step 03: 0 of 6 points each\n\n- **correct, check, budgets: 0 of 6.** why\n", text)
        self.assertEqual(text.count("**correct, check, budgets: does not compile, on the cpu build**"), 1)
        many = replace(criteria(3, (failure(2, 5),))[1], failed=40)
        self.assertIn("\nShown: 1 of 40 cases that failed.\n", feedback.text(RUN, Grade("ana", "class/ana", (many,))))
        commented = (*shared[:-1], replace(shared[-1], comment="Try it."))
        self.assertEqual(feedback.text(RUN, Grade("ana", "class/ana", commented)).count("### step"), 2)

    def test_steps_that_nobody_wrote(self) -> None:
        """Two states, which have the same words on all pages and in tables; the rest says nothing more."""
        records = (
            Record(LAB, 1, "not handed in", "x was not handed in"), Record(LAB, 2, "not written", "step 02 is not"),
            Record(LAB, 3, tallies=(tally(failed("not-written")),)), Record(LAB, None, "not handed in", "no report"),
        )  # fmt: skip
        lacking = tuple(Criterion(LAB, one.step, "correct" if one.step else "report", 0, 3, one.why) for one in records)
        grade = Grade("ana", "class/ana", lacking, records=tuple(map(scoring.encoded, records)))
        text = feedback.text(RUN, grade)
        states = ("step 01, not handed in", "step 02, not written", "step 03, not written", "report, not handed in")
        for title in states:
            self.assertIn(f"| {title} | 0 |", text)
        self.assertNotIn("### ", text)
        remark = f"not handed in: {LAB} 01, {LAB} report; not written: {LAB} 02, {LAB} 03"
        self.assertIn(remark, gradebooks.grades_csv([grade]))
        broken = scoring.encoded(Record(LAB, 1, "does not compile", "it does not", (Failure("cpu", LAB, 1),)))
        self.assertIn(f"does not compile: {LAB} 01", gradebooks.grades_csv([replace(grade, records=(broken,))]))
        row = next(row for row in class_page.by_criterion([grade]) if row.name == "step 03: correct")
        self.assertEqual(row.difficulties, "not written 1")

    def test_lines_of_the_file(self) -> None:
        """Findings and comments stand at their lines."""
        source = "\n".join(f"line {number}" for number in range(1, 40))
        criterion = replace(criteria(0, (failure(2, 5),))[1], at_lines=((20, "Why?"), (39, "<b> " * 20)))
        text = feedback.text(RUN, Grade("ana", "class/ana", (criterion,), sources={f"{LAB}/02_shared.cu": source}))
        (code,) = re.findall(r"\*\*In your file:\*\*\n\n```\n(.*?)```", text, re.DOTALL)
        shown = [line.strip("> ") for line in code.splitlines()]
        self.assertEqual(shown[3:6], ["17 line 17", "^ race", "18 line 18"])
        self.assertEqual(shown[7:9], ["20 line 20", "^ From your instructor: Why?"])
        self.assertEqual(shown[11:13], ["23 line 23", "..."])
        self.assertIn(">  39 line 39\n      ^ From your instructor: <b> <b>", code)
        self.assertLess(max(map(len, code.splitlines())), 43)  # a long comment is broken into lines

    def test_long_lines_of_findings_are_broken(self) -> None:
        page = self.of("partial 3", "feedback.html")
        self.assertIn('<pre><code class="language-text">', page)
        self.assertIn("pre code.language-text { white-space: pre-wrap;", page)

    def test_the_columns_of_a_table_of_keys_are_kept(self) -> None:
        table = "  index  [0]  [1]\n  got      9    0\n"
        page = feedback.page(f"```text\nwrong key  at index 0\n{table}```\n", Grade("ana", "class/ana"))
        self.assertIn(f'wrong key  at index 0\n<span class="columns" tabindex="0">{table}</span></code>', page)

    def test_a_message_may_hold_a_fence(self) -> None:
        text = self.of(HOSTILE_NAMES[0], "feedback.md")
        self.assertIn("`````\n", text)
        self.assertEqual([line for line in text.splitlines() if line.startswith("# ")][1:], ["# heading"] * 2)
        self.assertNotIn("<h1>heading", self.of(HOSTILE_NAMES[0], "feedback.html"))

    def test_gradescope(self) -> None:
        results = json.loads(self.of("partial 3", "results.json"))
        self.assertNotIn("max_score", results)
        self.assertNotIn("score", results)
        tests = results["tests"]
        self.assertEqual([test["number"] for test in tests], ["3.1", "3.2", "3.3", "3.4", "5.1"])
        self.assertEqual([test["status"] for test in tests], ["passed", "failed", "failed", "passed", "passed"])
        self.assertEqual([test["score"] for test in tests], [4, 3, 0.5, 1, 2])
        self.assertEqual([test["max_score"] for test in tests], [4, 4, 2, 1, 2])
        self.assertEqual(tests[1]["name"], "03-bitonic step 02: correct")
        self.assertEqual({test["visibility"] for test in tests}, {"visible"})
        self.assertIn("1025 u32 keys, few-values", tests[1]["output"])
        self.assertIn("Refused: 02_shared.cu calls fork", json.loads(self.of("refused", "results.json"))["output"])

    def test_not_graded_is_not_zero(self) -> None:
        for student in ("broken", "half broken"):
            results = json.loads(self.of(student, "results.json"))
            self.assertNotIn("score", str(results))
            self.assertEqual(results["output"], gradebooks.NOT_GRADED)
            self.assertNotIn("the disk was full", self.of(student, "feedback.md"))
            (cells,) = [row for row in self.table("grades.csv") if row["student"] == student]
            self.assertEqual(cells["points"], "")
        self.assertEqual(json.loads(self.of("broken", "autolab.json")), {"scores": {}})
        self.assertEqual(json.loads(self.of("half broken", "autolab.json")), {"scores": {"05-radix": 2}})
        self.assertEqual([row["student"] for row in self.table("not-graded.csv")], ["broken", "half broken"])

    def table(self, file: str) -> list[dict[str, str]]:
        """The rows of a CSV file."""
        return list(csv.DictReader(io.StringIO((self.out / file).read_text(encoding="utf-8"))))

    def test_junit(self) -> None:
        for grade in the_class():
            root = ET.fromstring(self.of(grade.student, "junit.xml"))
            self.assertEqual(int(root.attrib["tests"]), len(list(root.iter("testcase"))))
        root = ET.fromstring(self.of("partial 3", "junit.xml"))
        self.assertEqual((root.attrib["tests"], root.attrib["failures"], root.attrib["skipped"]), ("5", "2", "0"))
        self.assertEqual([suite.attrib["name"] for suite in root], ["03-bitonic", "05-radix"])
        failed = root.find(".//testcase[@classname='03-bitonic.step-02'][@name='correct']/failure")
        assert failed is not None and failed.text
        self.assertIn("3 of 4 points", failed.attrib["message"])
        self.assertIn("wrong key at index 7", failed.text)

    def test_autolab(self) -> None:
        text = self.of("partial 3", "autolab.json")
        self.assertEqual(text.count("\n"), 1)
        self.assertEqual(json.loads(text), {"scores": {"03-bitonic": 8.5, "05-radix": 2}})

    def test_csv(self) -> None:
        text = (self.out / "grades.csv").read_text(encoding="utf-8")
        self.assertEqual(text.count("\n"), len(the_class()) + 1)
        rows = {row["student"]: row for row in self.table("grades.csv")}
        self.assertEqual(rows["partial 3"]["points"], "10.5")
        self.assertEqual(rows["partial 3"]["03-bitonic 02 correct"], "3")
        for row in rows.values():
            self.assertFalse([cell for cell in row.values() if cell.startswith(("=", "+", "-", "@", "\t"))])
        self.assertIn("'=cmd|' /C calc'!A0", rows)

    def test_class_page(self) -> None:
        """The distribution counts everyone who was graded; the case that most failed comes first."""
        grades = the_class()
        graded = [grade for grade in grades if grade.points is not None]
        bands = class_page.distribution(graded)
        self.assertEqual((sum(bands), len(bands), bands[0]), (len(graded), 10, 1))
        first = class_page.failed_cases(grades)[0]
        self.assertEqual((first.step, first.students), ("03-bitonic 02", 4 + len(HOSTILE_NAMES)))
        self.assertIn("step 2 shared: 1025 u32 keys", first.case)
        unwritten = Grade("new", "", criteria(0, (failure(2, 5, status="not-written"),)))
        self.assertEqual(class_page.failed_cases([unwritten]), [])
        speed = next(row for row in class_page.by_criterion(graded) if row.name.endswith("speed"))
        self.assertEqual((speed.most, speed.median, speed.full), (2, 0.5, 0))
        text = class_page.text(RUN, grades)
        self.assertIn("bubblewrap, with limits by cgroups", text)
        self.assertIn("the disk was full", text)

    def test_empty_class(self) -> None:
        self.assertIn("Nothing was graded.", class_page.text(RUN, []))
        self.assertEqual(len(gradebooks.grades_csv([]).splitlines()), 1)

    def test_what_is_written_twice_is_the_same(self) -> None:
        out = self.folder / "grades"
        shutil.copytree(self.out / "instructor", out / "instructor")
        grades = read_grades(out)
        for grade in reversed(grades):
            outputs.write_student(out, replace(RUN, date="another day", machine="another"), grade)
        outputs.write_class(out, replace(RUN, date="another day", machine="another"), grades[::-1])
        for file in (self.out / "grades.csv", self.out / "class.html", *(self.out / "students").rglob("*.*")):
            self.assertEqual(file.read_bytes(), (out / file.relative_to(self.out)).read_bytes(), file)


class Interrupted(InFolder):
    """A student is finished when everything about the student is written."""

    def test_grade_is_written_last(self) -> None:
        out, grade = self.folder, Grade("anna", "a", criteria())
        with (
            mock.patch.object(gradebooks, "autolab", side_effect=KeyboardInterrupt),
            self.assertRaises(KeyboardInterrupt),
        ):
            outputs.write_student(out, RUN, grade)
        self.assertEqual(read_grades(out), [])
        outputs.write_student(out, RUN, grade)
        self.assertEqual(read_grades(out), [grade])


class Texts(unittest.TestCase):
    """Single texts."""

    def test_clean(self) -> None:
        self.assertEqual(texts.clean("a\tb\u00a0c\x00d\ud800e\u202ef"), "a b c\ufffdd\ufffde\ufffdf")
        self.assertEqual(texts.clean("a\r\nb", lines=True), "a\nb")
        texts.clean("caf\udce9 Zoë 李雷").encode()  # can be written

    def test_markdown(self) -> None:
        """Whatever the text, the page shows it and nothing else."""
        for text in (
            *HOSTILE_NAMES,
            "$a$ \\(b\\) \\[c\\]",
            "a_b_c _d_ __e__",
            "1. x",
            "&lt;",
            "<br>",
            "![a](b)",
            "~~s~~",
        ):
            page = feedback.page(f"x {texts.markdown(text)}\n", Grade("s", ""))
            body = page[page.index("<body>") : page.index("<script>")]
            self.assertEqual(Tags(body).tags, ["body", "p"], text)
            self.assertEqual(Tags(body).shown.strip(), f"x {texts.clean(text)}")

    def test_long_texts(self) -> None:
        self.assertLessEqual(len(texts.block("x" * 10**6)), texts.LONGEST_BLOCK)
        self.assertIn("more characters", texts.block("x" * 10**6))

    def test_a_text_is_shortened_once(self) -> None:
        """A message is shortened when it is kept, and again when it is shown: the number of lost characters stays."""
        text = "x" * (texts.LONGEST + 5000)
        kept = texts.shortened(text)
        self.assertLessEqual(len(kept), texts.LONGEST)
        self.assertTrue(kept.endswith(f"x\n... ({len(text) - kept.count('x'):,} more characters)"), kept[-50:])
        long = failure(2, 5, message=kept, findings=[Finding("labs/x.cu", 3, "race", kept)] * 3)
        self.assertEqual(texts.block(texts.details(long)).count(kept), 4)
        self.assertEqual(texts.shortened("x" * texts.LONGEST), "x" * texts.LONGEST)

    def test_failures_without_a_case(self) -> None:
        compile_error = Failure("cpu", "03-bitonic", 2, status="does not compile", message="no", place="02_shared.cu:3")
        self.assertEqual(texts.heading(compile_error), "does not compile, at 02_shared.cu:3, on the cpu build")
        self.assertEqual(texts.details(compile_error), "no")

    def test_small_seeds_stay(self) -> None:
        """A small seed is a common number: the texts that contain it are unchanged."""
        case = Case(LAB, 2, 5, seed=7)
        shown = texts.public(failure(2, 5, message="7 keys, keys[7]", case=case), replace(RUN, seeds={"cases": 7}))
        assert shown.outcome
        self.assertEqual(shown.outcome.message, "7 keys, keys[7]")
        self.assertIsNone(shown.outcome.case.seed)

"""Shards: every submission is in exactly one, and their outputs join into those of a single run."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from grade_data import RUN, the_class
from in_folder import InFolder

from workbook.core.console import Problem, Usage
from workbook.grading import outputs, shards
from workbook.grading.grades import Run, read_run, write_run


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
        grades = shard.part(sorted(the_class()[3::2], key=lambda grade: grade.student))
        for grade in grades:
            outputs.write_student(out, run, replace(grade, seconds=shard.number * 1.5))
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


if __name__ == "__main__":
    unittest.main()

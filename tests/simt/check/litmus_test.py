"""Runs the litmus tests of litmus.cu, and compares what is reported with the tables of MEMORY_MODEL.md.

Each row names a test and its accesses, and says whether they race, in one block and between blocks: "race" must be
reported, "no race" must not, and "race, not reported" must not either, so that the tables stay true.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TABLES = ROOT / "common/simt/check/MEMORY_MODEL.md"
CELLS = {"race": True, "no race": False, "race, not reported": False}
SEEDS = ("0", "1", "77")
PLACES = ("block", "grid")

compiler = "g++"


@dataclass(frozen=True)
class Row:
    """What the tables say of a test: whether a race is reported, by place."""

    test: str
    access: str
    is_reported: tuple[bool, ...]


def rows(text: str) -> list[Row]:
    """All rows of the tables. The first cell of a table's heading names its tests."""
    found = []
    tests: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or set(line) <= set("|-"):
            continue
        if cells[1] == "in one block":
            tests = cells[0].split(", ")
            continue
        reported = tuple(CELLS[cell] for cell in cells[1:3])
        found += [Row(test, cells[0], reported) for test in tests]
    return found


class Litmus(unittest.TestCase):
    """Compiles the tests once."""

    folder: tempfile.TemporaryDirectory[str]
    program: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = Path(cls.folder.name) / "litmus"
        subprocess.run(
            [ROOT / "workbook", "cc", "--check", HERE / "litmus.cu", "-o", cls.program, "--cxx", compiler],
            check=True,
            cwd=ROOT,
        )

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def run_test(self, *arguments: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
        """Runs the program with these arguments."""
        return subprocess.run(
            [self.program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            timeout=120,
            env={**os.environ, "SIMT_SEED": seed},
        )

    def test_every_test_has_a_row(self) -> None:
        """And every row a test."""
        listed = self.run_test().stdout.splitlines()
        documented = [f"{row.test}: {row.access}" for row in rows(TABLES.read_text(encoding="utf-8"))]
        self.assertEqual(sorted(listed), sorted(documented))

    def test_races(self) -> None:
        """What is reported is what the tables say, in each order of threads, and nothing but races."""
        for row in rows(TABLES.read_text(encoding="utf-8")):
            for place, is_reported in zip(PLACES, row.is_reported):
                for seed in SEEDS:
                    with self.subTest(test=row.test, access=row.access, place=place, seed=seed):
                        done = self.run_test(row.test, row.access, place, seed=seed)
                        kinds = set(re.findall(r": error: ([\w-]+): ", done.stderr))
                        self.assertEqual(kinds, {"race"} if is_reported else set(), done.stderr)
                        self.assertEqual(done.returncode, 3 if is_reported else 0, done.stderr)

    def test_advice_on_scope(self) -> None:
        """Atomics of block scope that meet between blocks are not told to use an atomic."""
        done = self.run_test("CoWW", "atomicExch_block, atomicAdd_block", "grid")
        self.assertIn("use atomicAdd() instead of atomicAdd_block()", " ".join(done.stderr.split()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("compiler", nargs="?", default="g++")
    arguments, rest = parser.parse_known_args()
    compiler = arguments.compiler
    unittest.main(argv=[sys.argv[0], *rest])

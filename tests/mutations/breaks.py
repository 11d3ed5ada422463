#!/usr/bin/env python3
"""Breaks the solutions: the public graded tests on the cpu build must catch every break.

    breaks.py BUILD [NAME ...]      BUILD is Meson's build folder

Without names, some of the breaks in break_table.py are drawn (drawn.py). Each break changes one text in
one file. Prints the first case that fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests"), str(ROOT / "tests/mistakes")]

from break_table import BREAKS  # noqa: E402
from drawn import drawn  # noqa: E402
from mistake import Mistake  # noqa: E402
from steps import make_runners  # noqa: E402

from workbook.check.checking import Checker  # noqa: E402
from workbook.check.programs import Programs  # noqa: E402
from workbook.core import build  # noqa: E402
from workbook.core.course import find_step  # noqa: E402
from workbook.core.judge_client import JudgeClient  # noqa: E402

TIMEOUT = 60  # seconds that a case may take: other tests run at the same time, and a slow case is not a wrong one


class OneProgram(Programs):
    """The programs of a lab of which there is only one."""

    def __init__(self, judge: JudgeClient, lab: str, program: Path) -> None:
        super().__init__(judge, lab, ["cpu"], timeout=TIMEOUT, solution=True)
        self._program = program

    def runner(self, kind: str) -> Path:
        """The program, whatever the build."""
        return self._program


def first_failure(folder: Path, item: Mistake) -> str:
    """The first case that fails, as "status: message"; "" if all pass."""
    with tempfile.TemporaryDirectory() as temporary:
        try:
            runners, _ = make_runners(folder, item, Path(temporary), ("cpu",))
        except subprocess.CalledProcessError as error:
            return f"does not compile: {error.stdout}{error.stderr}"
        with JudgeClient() as judge:
            programs = OneProgram(judge, item.lab, runners["cpu"])
            step = find_step(item.lab, int(item.file[:2]))
            _, failure = Checker(programs, print).public_tests(step, programs.lines(step), "cpu")
    return f"{failure.outcome.status}: {failure.outcome.message}" if failure else ""


def is_caught(item: Mistake, failure: str) -> bool:
    """Whether a case failed as it must."""
    return bool(failure) and not failure.startswith("does not compile") and not item.missing(failure)


def chosen(arguments: argparse.Namespace) -> Sequence[Mistake]:
    """The breaks that the arguments name or draw."""
    if arguments.names:
        return [item for item in BREAKS if item.name in arguments.names]
    return drawn(BREAKS, 4)


def main() -> int:
    """Breaks the solutions; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    build.use_folder(folder)
    os.chdir(ROOT)
    items = chosen(arguments)
    caught = 0

    def attempt(item: Mistake) -> tuple[Mistake, str]:
        return item, first_failure(folder, item)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for item, failure in pool.map(attempt, items):
            caught += is_caught(item, failure)
            first_line = failure.partition("\n")[0] if is_caught(item, failure) else failure or "all cases pass"
            verdict = "caught" if is_caught(item, failure) else "NOT CAUGHT"
            print(f"{item.lab} {item.file}, {item.name}: {verdict}: {first_line}", flush=True)
    print(f"caught: {caught} of {len(items)} broken solutions")
    return 0 if items and caught == len(items) else 1


if __name__ == "__main__":
    sys.exit(main())

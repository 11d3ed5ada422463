"""Runs a lab's steps on the check build: no finding in any order of lanes, and no cost over its budget.

checked.py BUILD LAB labs|solutions [STEP ...]; BUILD is Meson's build folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))

from workbook.check.words import failure_lines
from workbook.core import build, check_build
from workbook.core.judge_client import JudgeClient


def main(folder: str, lab: str, whose: str, *steps: str) -> int:
    """Prints a line per step, and what is wrong; the exit status."""
    build.use_folder(Path(folder))
    runner = build.runner(lab, "check", whose == "solutions")
    with JudgeClient() as judge:
        numbers = [int(step) for step in steps] or list(dict.fromkeys(step.number for step in judge.lab(lab).steps))
    failed = 0
    for number in numbers:
        verdict = check_build.check_step(lab, number, runner)
        failed += not verdict.passed
        print(f"step {number:02}: {verdict.cases} cases  {'ok' if verdict.passed else 'FAILED'}")
        wrong = failure_lines(verdict.failed, " --build check") if verdict.failed else verdict.over
        for line in (*wrong, *(f"  {costs}" for costs in verdict.costs)):
            print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

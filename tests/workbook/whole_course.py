#!/usr/bin/env python3
"""Hands out the course, and uses it: the release as students would, and the autograder as Gradescope would.

The demo and the tests of a release must succeed without solutions. The autograder's two scripts run in a clean folder
that stands for /autograder. Takes many minutes: everything is compiled twice.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from workbook.core import course
from workbook.core.course import ROOT
from workbook.core.starters import all_starters
from workbook.grading.sandbox import SECOND_USER
from workbook.grading.sandbox_trial import FORCED

LAB = "01-odd-even"


def run(folder: Path, *command: str | Path, status: int = 0, **variables: str) -> str:
    """Runs a command and returns what it printed. Ends the test if its status is another one."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env={**environment, **variables}, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode != status:
        print(done.stdout)
        sys.exit(f"{command[0]} ended with status {done.returncode} and not {status}")
    return done.stdout


def require(is_so: bool, words: str) -> None:
    """Ends the test unless `is_so`."""
    if not is_so:
        sys.exit(f"FAILED: {words}")
    print(f"ok: {words}", flush=True)


def release(folder: Path) -> None:
    """The release builds, its tests pass, and its demo lists every step as not written."""
    out = folder / "release"
    run(ROOT, ROOT / "workbook", "release", out)
    printed = run(out, "./workbook", "demo")
    steps = sum(len(course.steps(lab)) for lab in course.labs())
    require(printed.count("not written yet") >= steps, f"the demo lists all {steps} steps as not written yet")
    require(printed.count("gold standard") >= len(course.labs()), "the demo times the gold standard of every lab")
    printed = run(out, "./workbook", "test")
    passed = re.search(r"(\d+) passed, 0 failed", printed)
    require(bool(passed and int(passed[1]) >= 50), f"the tests of the release pass: {printed.splitlines()[-1]}")
    printed = run(out, "./workbook", "check", LAB, "1", status=1)
    require("step 01 is not written yet" in printed, "check reports the first gap")


def gradescope(folder: Path) -> None:
    """The archive's scripts give a solution all points for its code, and a starter none.

    As in Gradescope's container, everybody may enter the folder, and if we are root, another user runs submissions.
    """
    folder.chmod(0o755)
    if os.geteuid() == 0:
        os.environ[FORCED] = SECOND_USER
    root = folder / "autograder"
    archive = folder / "autograder.zip"
    run(ROOT, ROOT / "workbook", "gradescope", "--labs", LAB, "--out", archive)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(root / "source")
    run(root, "bash", "source/setup.sh", WORKBOOK_AUTOGRADER=str(root))
    made = {path: text for path, text in all_starters().items() if path.parts[0] == LAB}
    solved = {path: (ROOT / "solutions" / path).read_text(encoding="utf-8") for path in made}
    found = [test for test in graded(root, solved) if not test[0].endswith("report")]
    require(bool(found) and all(score == most for _, score, most in found), f"a solution gets all points: {found}")
    require(all(score == 0 for _, score, _ in graded(root, made)), "a starter gets no points")


def graded(root: Path, files: dict[Path, str]) -> list[tuple[str, float, float]]:
    """Hands in files; (name, score, maximum) of each test in results.json."""
    (root / "submission").mkdir(exist_ok=True)
    for path, text in files.items():
        (root / "submission" / path.name).write_text(text, encoding="utf-8")
    run(root, "bash", "source/run_autograder", WORKBOOK_AUTOGRADER=str(root))
    tests = json.loads((root / "results/results.json").read_text(encoding="utf-8"))["tests"]
    return [(test["name"], test["score"], test["max_score"]) for test in tests]


def main() -> None:
    """All of it, or what is named."""
    with tempfile.TemporaryDirectory(prefix="course-") as folder:
        for part in sys.argv[1:] or ("release", "gradescope"):
            {"release": release, "gradescope": gradescope}[part](Path(folder))


if __name__ == "__main__":
    main()

"""What the command can do, and the verdicts on all steps."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from ..core.build import kinds
from ..core.course import ROOT, StepFile, has_solutions, labs, steps
from ..core.progress import ProgressFile

VERBS = (
    ("demo", "sort real input with every step of every lab and verify it"),
    ("test", "run the project's whole test suite"),
    ("check LAB [STEP]", "test what you wrote; show the first thing to fix"),
    ("watch LAB [STEP]", "the same, each time you save a file"),
    ("hint LAB STEP", "show the next hint for a step"),
    ("run LAB STEP", "sort one input"),
    ("picture LAB STEP", "draw which threads read and write which places"),
    ("play LAB STEP", "replay a run in the browser, access by access"),
    ("open [LAB]", "handouts, hints and verdicts in the browser"),
    ("debug LAB STEP", "step through a kernel, thread by thread"),
    ("profile LAB STEP", "show what each kernel does to memory"),
    ("bench LAB", "time the steps against the gold standard"),
    ("report LAB", "write a lab's report, with tables and plots"),
    ("extract LAB STEP", "write a step as one file for nvcc"),
    ("cc FILE.cu", "compile a CUDA program for the CPU"),
    ("editor", "write tasks, debugging and a container for VS Code"),
    ("doctor", "show what this machine has and lacks"),
    ("completion", "complete commands, labs and steps in your shell"),
)
INSTRUCTORS_VERBS = (
    ("grade FOLDER", "grade a folder of submissions"),
    ("starters", "write labs/ from solutions/"),
    ("release FOLDER", "write the course for students, without solutions"),
    ("site FOLDER", "write the course as static pages"),
    ("gradescope", "make the archive for an autograder on Gradescope"),
)


def lab_of_folder(folder: Path) -> str:
    """The lab whose folder in labs/ this is, or is in; "" if it is elsewhere."""
    with contextlib.suppress(ValueError, IndexError):
        name = folder.resolve().relative_to(ROOT / "labs").parts[0]
        return name if name in labs() else ""
    return ""


def next_step(progress: ProgressFile, lab: str) -> StepFile | None:
    """The first step that has not passed: of the lab that the student is in, then of those after it, then of any."""
    names = labs()
    at = names.index(lab) if lab in names else 0
    for name in names[at:] + names[:at]:
        for step in steps(name):
            if progress.verdict(step).word != "passed":
                return step
    return None


def main(_arguments: argparse.Namespace | None = None) -> int:
    """The verbs, and each lab's steps with their verdicts."""
    print("usage: ./workbook COMMAND ...     (./workbook COMMAND --help explains it)\n")
    for verb, what in VERBS:
        print(f"  {verb:<18} {what}")
    if has_solutions():
        print("\nfor instructors")
        for verb, what in INSTRUCTORS_VERBS:
            print(f"  {verb:<18} {what}")
    progress = ProgressFile()
    for lab in labs():
        print(f"\nlabs/{lab}")
        for step in steps(lab):
            print(f"  {step.number:02} {step.name:<15} {progress.verdict(step)}")
    following = next_step(progress, lab_of_folder(Path.cwd()) or progress.latest_lab())
    print()
    built = kinds()
    print(f"builds set up: {', '.join(built)}" if built else "nothing is built yet")
    if "cpu" in built:
        print("the cpu build runs the tests; the check build finds races and counts costs")
    if following:
        print(f"next: read labs/{following.lab}/README.md, fill in labs/{following.file},")
        print(f"      then ./workbook check {following.lab} {following.number}")
    return 0

"""Makes the archive that is uploaded to Gradescope as an autograder."""

import argparse
from pathlib import Path

from ..core import machine
from ..core.console import Problem, note
from ..core.course import ROOT, find_lab, require_solutions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument(
        "--labs", nargs="+", required=True, metavar="LAB", help="the labs that the assignment consists of"
    )
    parser.add_argument("--rubric", type=Path, metavar="FILE", help="points (default: tests/rubric.toml)")
    parser.add_argument(
        "--seeds-of", type=Path, metavar="ARCHIVE", help="the same cases as in another archive (default: new ones)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("autograder.zip"), metavar="FILE", help="default: autograder.zip"
    )


def main(arguments: argparse.Namespace) -> int:
    """The archive."""
    from ..grading import class_run
    from ..release import autograder

    require_solutions()
    out: Path = arguments.out
    if out.exists() or out.is_symlink():
        raise Problem(
            f"{out} exists: its seeds are those of the submissions graded so far. Name another file with --out; with "
            f"--seeds-of {out} it has the same seeds"
        )
    in_repository = out.resolve().is_relative_to(ROOT) and (ROOT / ".git").exists()
    if in_repository and machine.answer("git", "-C", str(ROOT), "check-ignore", str(out.resolve())) is None:
        raise Problem(
            f"{out} is in the workbook, and git would not ignore it, but it holds the solutions and the secret seeds: "
            "name a file outside with --out, or one whose name ends with .zip"
        )
    if not out.resolve().parent.is_dir():
        raise Problem(f"{out.resolve().parent} does not exist: create it first")
    labs = sorted({find_lab(lab) for lab in arguments.labs})
    seeds = autograder.seeds_in(arguments.seeds_of) if arguments.seeds_of else class_run.new_seeds()
    number = autograder.write(out, labs, arguments.rubric or class_run.RUBRIC, seeds)
    print(f"wrote {out}: {number} files, for {', '.join(labs)}")
    note(
        "It holds the solutions and the secret seeds. Upload it under 'Configure Autograder', on Ubuntu 22.04 or later"
    )
    return 0

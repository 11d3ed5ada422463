"""Writes the files of labs/ that students fill in, from solutions/."""

import argparse

from ..core.console import Problem, note
from ..core.course import has_solutions
from ..core.starters import differing, miscounted, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 and name the files that differ")
    parser.add_argument("--force", action="store_true", help="also overwrite files that somebody has worked on")


def main(arguments: argparse.Namespace) -> int:
    """labs/ from solutions/."""
    if not has_solutions():
        raise Problem("this copy of the workbook has no solutions/, and starters are made from solutions")
    if arguments.check:
        different, wrong = differing(), miscounted()
        for path in different:
            print(f"labs/{path} is not the starter of solutions/{path}")
        for path in wrong:
            print(f"{path} has wrong numbers of lines")
        if different or wrong:
            note("./workbook starters writes these files again")
        else:
            print("every file in labs/ is the starter of its solution")
        return 1 if different or wrong else 0
    written, kept = write(arguments.force)
    for path in written:
        print(f"wrote labs/{path}")
    for path in kept:
        note(f"kept labs/{path}: somebody has worked on it (--force overwrites it)")
    if not written and not kept:
        print("every starter was up to date")
    return 1 if kept else 0

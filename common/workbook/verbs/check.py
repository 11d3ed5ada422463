"""Builds a lab's files, runs its public tests and the check build, step by step, and shows the first thing to fix."""

import argparse

from ..check import checking, verdict
from ..core.course import require_solutions
from ..core.options import add, add_lab_and_steps, lab_and_steps


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add_lab_and_steps(parser)
    add(parser, "--solution")
    parser.add_argument("--all", action="store_true", help="show all lines of a long verdict")
    parser.add_argument(
        "--json", action="store_true", help="write each step's verdict as a line of JSON, and nothing else"
    )


def main(arguments: argparse.Namespace) -> int:
    """Checks the steps; the exit status is 0 if all pass."""
    lab, steps = lab_and_steps(arguments)
    require_solutions(arguments.solution)
    show = verdict.write if arguments.json else None
    return 0 if checking.check(lab, steps, arguments.timeout, arguments.solution, show, arguments.all) else 1

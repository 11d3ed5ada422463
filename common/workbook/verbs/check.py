"""Builds a lab's files, runs its public tests and the check build, step by step, and shows the first thing to fix."""

import argparse

from ..core import checking
from ..core.course import require_solutions
from ..core.options import add, add_lab_and_steps, lab_and_steps


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add_lab_and_steps(parser)
    add(parser, "--solution")


def main(arguments: argparse.Namespace) -> int:
    """Tests of a lab."""
    lab, steps = lab_and_steps(arguments)
    require_solutions(arguments.solution)
    return 0 if checking.check(lab, steps, arguments.timeout, arguments.solution) else 1

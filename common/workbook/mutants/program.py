"""The program that holds all mutants of a step's file."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..core.recipe import Recipe
from .reading import RewriteError
from .schemata import Mutant
from .sites import Sites

_ERROR = re.compile(r"^\S+?:(\d+):(?:\d+:)? (?:fatal )?error: ", re.MULTILINE)
HEADER = Path(__file__).with_name("mutants.h")
OPTIONS = ("-w", "-include", str(HEADER), "-fdiagnostics-color=never")
TRIES = 3  # to compile the file, each without the lines whose changes did not compile before


class NotMade(Exception):
    """The program with the mutants of a file cannot be built."""


class MutantProgram:
    """A copy of a lab's runner of the check build with all mutants of one of its files."""

    def __init__(self, recipe: Recipe, source: str, folder: Path) -> None:
        """`recipe`: of the runner, and of the file that contains `source`. `folder`: for all that is made. NotMade."""
        self.runner = folder / "runner"
        try:
            self.mutants: Sequence[Mutant] = self._made(recipe, source, folder)
        except (OSError, RewriteError, IndexError, subprocess.CalledProcessError) as error:
            raise NotMade from error  # such as brackets that do not match

    def _made(self, recipe: Recipe, text: str, folder: Path) -> Sequence[Mutant]:
        excluded: set[int] = set()
        for _ in range(TRIES):
            sites = Sites(text, excluded)
            try:
                changed = recipe.make_object(sites.text(), folder, OPTIONS)
            except subprocess.CalledProcessError as error:
                lines = {int(line) for line in _ERROR.findall(error.stderr)}
                if lines <= excluded:
                    break
                excluded |= lines
                continue
            recipe.make_runner(changed, [], self.runner)
            return sites.mutants
        raise NotMade

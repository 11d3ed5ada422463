"""The program that holds all mutants of a step's file."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..core.recipe import Recipe
from .schemata import Mutant
from .statements import Statements
from .syntax import Syntax, is_available

# An error, or a line that leads to one in a header.
_ERROR = re.compile(r"^(\S+?):(\d+):(?:\d+:)? +(?:(?:fatal )?error: |required from )", re.MULTILINE)
HEADER = Path(__file__).with_name("mutants.h")
_UNDECLARED = re.compile(r"error: [‘'](\w+)[’'] was not declared")
OPTIONS = ("-w", "-include", str(HEADER), "-fdiagnostics-color=never")
TRIES = 5  # to compile the file: the second without constants, the others without lines that did not compile before


class NotMade(Exception):
    """The program with the mutants of a file cannot be built."""


class MutantProgram:
    """A copy of a lab's runner of the check build with all mutants of one of its files."""

    def __init__(self, recipe: Recipe, source: str, folder: Path) -> None:
        """`recipe`: of the runner, and of the file that contains `source`. `folder`: for all that is made. NotMade."""
        self.runner = folder / "runner"
        if not is_available():
            raise NotMade
        try:
            self.mutants: Sequence[Mutant] = self._made(recipe, source, folder)
        except (OSError, subprocess.CalledProcessError) as error:
            raise NotMade from error

    def _made(self, recipe: Recipe, text: str, folder: Path) -> Sequence[Mutant]:
        excluded: set[int] = set()
        name = Path(recipe.source).name
        syntax = Syntax(text)
        for number in range(TRIES):
            places = Statements(syntax, excluded, has_constants=number == 0)
            try:
                changed = recipe.make_object(places.text(), folder, OPTIONS)
            except subprocess.CalledProcessError as error:
                lines = {int(line) for file, line in _ERROR.findall(error.stderr) if Path(file).name == name}
                for lost in set(_UNDECLARED.findall(error.stderr)):  # their declarations became something else
                    lines |= {n for n, line in enumerate(text.splitlines(), 1) if re.search(rf"\b{lost}\b", line)}
                if number > 0:
                    if lines <= excluded:
                        break
                    excluded |= lines
                continue
            recipe.make_runner(changed, [], self.runner)
            return places.mutants
        raise NotMade

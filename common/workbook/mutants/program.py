"""The program that holds all mutants of a step's file."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..core import build, machine
from .reading import RewriteError
from .schemata import Mutant
from .sites import Sites

_ERROR = re.compile(r"^\S+?:(\d+):(?:\d+:)? (?:fatal )?error: ", re.MULTILINE)
_COLOUR = re.compile(r"\033\[[\d;]*[mK]")
HEADER = Path(__file__).with_name("mutants.h")
TRIES = 3  # to compile the file, each without the lines whose changes did not compile before


class NotMade(Exception):
    """The program with the mutants of a file cannot be built."""


class MutantProgram:
    """A copy of a lab's runner of the check build with all mutants of one of its files."""

    def __init__(self, target: str, name: str, source: str, folder: Path) -> None:
        """`target`: the runner, relative to the build folder. `name`: of the file, which contains `source`.
        `folder`: for all that is made. NotMade."""
        self.runner = folder / "runner"
        self._target = target
        self._folder = folder
        self._name = name
        self._generated = f"{self._target}.p/{self._name}.cpp"
        made = self._commands()
        try:
            self._rewrite = next(words for words in made if self._generated in words and "-c" not in words)
            self._compile = next(words for words in made if "-c" in words and self._generated in words)
        except StopIteration as error:
            raise NotMade from error
        self._link = made[-1]
        try:
            self.sites = self._made(source)
        except (OSError, RewriteError, IndexError) as error:  # such as brackets that do not match
            raise NotMade from error

    @property
    def mutants(self) -> Sequence[Mutant]:
        """All that the program has."""
        return self.sites.mutants

    def _commands(self) -> list[list[str]]:
        """What Ninja runs to make the runner."""
        command = [machine.ninja() or "ninja", "-t", "commands", self._target]
        listed = subprocess.run(command, cwd=build.folder(), capture_output=True, text=True, check=False)
        if listed.returncode:
            raise NotMade
        return [shlex.split(line) for line in listed.stdout.splitlines()]

    def _made(self, text: str) -> Sites:
        excluded: set[int] = set()
        for _ in range(TRIES):
            sites = Sites(text, excluded)
            errors = self._compiled(sites.text())
            if not errors:
                self._run(self._link, {self._object: str(self._folder / "changed.o"), self._target: str(self.runner)})
                return sites
            lines = {int(line) for line in _ERROR.findall(errors)}
            if lines <= excluded:
                break
            excluded |= lines
        raise NotMade

    @property
    def _object(self) -> str:
        return self._compile[self._compile.index("-o") + 1]

    def _compiled(self, text: str) -> str:
        """Compiles a text of the file; what the compiler says if it fails."""
        source = self._folder / self._name
        source.write_text(text, encoding="utf-8")
        replaced = {
            self._generated: str(self._folder / f"{self._name}.cpp"),
            self._object: str(self._folder / "changed.o"),
        }
        compile_ = [*self._compile, "-w", "-include", str(HEADER), "-fdiagnostics-color=never"]
        for words in (self._rewrite, compile_):
            own = {word: str(source) for word in words if word.endswith(f"/{self._name}")}
            own |= {word: str(self._folder / "depends.d") for word in words if word.endswith(".d")}
            status, output = self._tried(words, replaced | own)
            if status:
                return _COLOUR.sub("", output)
        return ""

    def _tried(self, words: Sequence[str], replaced: dict[str, str]) -> tuple[int, str]:
        words = [replaced.get(word, word) for word in words]
        done = subprocess.run(words, cwd=build.folder(), capture_output=True, text=True, errors="replace", check=False)
        return done.returncode, done.stderr

    def _run(self, words: Sequence[str], replaced: dict[str, str]) -> None:
        if self._tried(words, replaced)[0]:
            raise NotMade

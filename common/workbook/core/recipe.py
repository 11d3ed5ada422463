"""The commands that make a lab's runner, for a changed copy of one of its files."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import build, machine
from .course import source_of


def commands(folder: Path, target: str, *options: str) -> list[list[str]]:
    """The command lines that make a program, each as words, the link last; with "-s", only this one.
    CalledProcessError: there is no such program."""
    ninja = [machine.ninja() or "ninja", "-C", str(folder), "-t", "commands", *options, target]
    listed = subprocess.run(ninja, env=build.environment(), capture_output=True, text=True, check=True)
    return [shlex.split(line) for line in listed.stdout.splitlines() if line]


@dataclass(frozen=True)
class Recipe:
    """The commands that make a lab's runner of a build, for a changed copy of one of its files."""

    folder: Path
    target: str
    rewrite: list[str]
    compile: list[str]
    link: list[str]
    source: str  # the end of the file's path
    generated: str
    item: str

    @classmethod
    def of(cls, folder: Path, lab: str, name: str, kind: str, solution: bool = True) -> Recipe:
        """The recipe for a file of a lab. `folder`: the build folder, which must exist. CalledProcessError,
        StopIteration: it is not set up to make the runner."""
        target = build.target(lab, kind, solution)
        # A program for a first look has objects of the one for all types.
        generated = f"{target.removesuffix('-first')}.p/{name}.cpp"
        made = commands(folder, target)
        rewrite = next(words for words in made if generated in words and "rewrite.py" in " ".join(words))
        compiled = next(words for words in made if "-c" in words and words[words.index("-c") + 1] == generated)
        item = compiled[compiled.index("-o") + 1]
        return cls(folder, target, rewrite, compiled, made[-1], source_of(f"{lab}/{name}", solution), generated, item)

    def run(self, words: Sequence[str], replaced: dict[str, str]) -> str:
        """Runs one of the commands with other words. Returns its warnings. CalledProcessError: it fails."""
        words = [replaced.get(word, word) for word in words]
        return subprocess.run(
            words, cwd=self.folder, check=True, capture_output=True, text=True, errors="replace"
        ).stderr

    def make_object(self, text: str, into: Path, options: Sequence[str] = ()) -> Path:
        """Compiles a changed text of the file, with more options of the compiler."""
        self.compiled(text, into, options)
        return into / "changed.o"

    def compiled(self, text: str, into: Path, options: Sequence[str] = ()) -> str:
        """The same, for its warnings."""
        source = into / Path(self.source).name
        source.write_text(text, encoding="utf-8")
        replaced = {self.generated: str(into / f"{source.name}.cpp"), self.item: str(into / "changed.o")}
        for words in (self.rewrite, [*self.compile, *options]):
            # The folders of these words differ from build to build.
            ends = {word: str(source) for word in words if word.endswith(self.source)}
            ends |= {word: str(into / "depends.d") for word in words if word.endswith(".d")}
            warnings = self.run(words, replaced | ends)
        return warnings

    def make_runner(self, changed: Path, more: Sequence[Path], runner: Path) -> Path:
        """Links the runner with a changed object and with further ones."""
        self.run([*self.link, *map(str, more)], {self.item: str(changed), self.target: str(runner)})
        return runner

"""Whether files hold parts of a solution: the self-check of everything that is handed out."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..core import starters
from ..core.course import ROOT

# Lengths are in characters, without spaces and comments. Shorter lines are written by anyone, for any purpose.
TELLING = 40  # of a line that nothing which students have shows: it alone is a leak
LINE, RUN, RUN_LENGTH = 8, 3, 60  # so many lines in a row, each at least LINE long and all together RUN_LENGTH


@dataclass(frozen=True)
class Leak:
    """A part of a solution in a file."""

    file: str  # in the release
    solution: str
    words: str  # what was found

    def __str__(self) -> str:
        return f"{self.file} holds a part of {self.solution}: {self.words}"


def _squeezed(line: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"//.*", "", line))


def blocks(text: str) -> Iterator[list[str]]:
    """The lines between each pair of markers, without comments, spaces and what replaces them in the starter."""
    block: list[str] | None = None
    for line in text.splitlines():
        word = line.strip()
        if word == starters.BEGIN:
            block = []
        elif word == starters.END and block is not None:
            yield [line for line in block if line]
            block = None
        elif block is not None and not word.startswith(starters.INSTEAD):
            block.append(_squeezed(line))


def _shown_to_students(root: Path) -> str:
    """What the starters and the other files of the labs show, without spaces."""
    made = starters.all_starters(root)
    others = [path for path in sorted((root / "labs").glob("*/*")) if path.suffix in (".cu", ".cuh", ".h", ".md")]
    given = [path for path in others if path.relative_to(root / "labs") not in made]
    texts = [*made.values(), *(path.read_text(encoding="utf-8") for path in given)]
    return "\n".join(_squeezed(line) for text in texts for line in text.splitlines())


class Solutions:
    """What must not be in a release."""

    def __init__(self, root: Path = ROOT) -> None:
        shown = _shown_to_students(root)
        self.lines: dict[str, str] = {}  # a telling line -> the solution that it is from
        self.runs: dict[str, str] = {}  # lines in a row -> the solution
        for path in starters.all_starters(root):
            name = f"solutions/{path.as_posix()}"
            for block in blocks((root / name).read_text(encoding="utf-8")):
                self.lines.update({line: name for line in block if len(line) >= TELLING and line not in shown})
                long = [line for line in block if len(line) >= LINE]
                for at in range(len(long) - RUN + 1):
                    run = "\n".join(long[at : at + RUN])
                    if len(run) >= RUN_LENGTH:
                        self.runs[run] = name

    def leaks(self, file: str, text: str) -> Iterator[Leak]:
        """The parts of solutions in a text."""
        lines = [_squeezed(line) for line in text.splitlines()]
        joined = re.sub(r"\s+", "", text)
        yield from (Leak(file, name, line) for line, name in self.lines.items() if line in joined)
        long = "\n" + "\n".join(line for line in lines if len(line) >= LINE) + "\n"
        yield from (Leak(file, name, run.split("\n")[0]) for run, name in self.runs.items() if f"\n{run}\n" in long)


def find(folder: Path, files: Iterable[str], root: Path = ROOT) -> list[Leak]:
    """All leaks in the files of a folder."""
    solutions = Solutions(root)
    texts = ((file, (folder / file).read_text(encoding="utf-8", errors="replace")) for file in sorted(files))
    return [leak for file, text in texts for leak in solutions.leaks(file, text)]

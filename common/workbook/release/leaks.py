"""Whether files hold parts of a solution: the self-check of everything that is handed out."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..core import starters
from ..core.course import ROOT

# Lengths are in characters, without spaces and comments. Shorter lines are written by anyone, for any purpose.
TELLING = 40  # of a line that nothing which students have shows: it alone is a leak
LINE, RUN, RUN_LENGTH = 8, 3, 60  # RUN lines in a row, each at least LINE long and all together RUN_LENGTH
# Code with other names or another layout: ALIKE statements in a row, which are together at least ALIKE_LENGTH long.
ALIKE, ALIKE_LENGTH = 5, 60
CODE = (".cu", ".cuh", ".h", ".cpp")
MAY_BE_ALIKE = {
    "labs/04-counting/bug_hunt.cu": "its fault is to be found in a scan such as the student has written in step 02",
}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
# Words that mean the same everywhere: those of the language, of CUDA, and types.
_SAME = frozenset(
    """auto bool break case const constexpr continue do double else false float for if int return sizeof static_cast
    struct template true unsigned void while std int32_t int64_t size_t uint8_t uint16_t uint32_t uint64_t threadIdx
    blockIdx blockDim gridDim x y __syncthreads __syncwarp __shared__ pragma unroll lab data n""".split()  # noqa: SIM905
)


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


def statements(text: str) -> list[str]:
    """The statements of a piece of code, and what opens its blocks, without comments and needless spaces."""
    parts = re.split(r"(?<=[;{}])", _COMMENT.sub(" ", text))
    squeezed = (re.sub(r"\s*(\W)\s*", r"\1", re.sub(r"\s+", " ", part.strip())) for part in parts)
    return [part for part in squeezed if len(part) > 2]


def runs_of_statements(text: str) -> Iterator[tuple[str, ...]]:
    """Statements in a row, in which the names are numbered in the order of their appearance."""
    found = statements(text)
    for at in range(len(found) - ALIKE + 1):
        run = found[at : at + ALIKE]
        if sum(map(len, run)) >= ALIKE_LENGTH:
            yield _with_numbered_names(run)


def _with_numbered_names(run: list[str]) -> tuple[str, ...]:
    numbers: dict[str, str] = {}

    def replaced(word: re.Match[str]) -> str:
        return word[0] if word[0] in _SAME else numbers.setdefault(word[0], f"v{len(numbers)}")

    return tuple(_WORD.sub(replaced, part) for part in run)


def gaps(text: str) -> Iterator[list[str]]:
    """The lines between each pair of markers, without what replaces them in the starter."""
    gap: list[str] | None = None
    for line in text.splitlines():
        word = line.strip()
        if word == starters.BEGIN:
            gap = []
        elif word == starters.END and gap is not None:
            yield gap
            gap = None
        elif gap is not None and not word.startswith(starters.INSTEAD):
            gap.append(line)


def blocks(text: str) -> Iterator[list[str]]:
    """The same lines without comments and spaces."""
    for gap in gaps(text):
        yield [line for line in map(_squeezed, gap) if line]


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
        self.alike: dict[tuple[str, ...], str] = {}  # statements in a row, whatever their names -> the solution
        for path in starters.all_starters(root):
            name = f"solutions/{path.as_posix()}"
            text = (root / name).read_text(encoding="utf-8")
            for gap in gaps(text):
                self.alike.update(dict.fromkeys(runs_of_statements("\n".join(gap)), name))
            for block in blocks(text):
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
        if file.endswith(CODE) and file not in MAY_BE_ALIKE:
            runs = (run for run in runs_of_statements(text) if run in self.alike)
            yield from (Leak(file, self.alike[run], " ".join(run)) for run in runs)


def find(folder: Path, files: Iterable[str], root: Path = ROOT) -> list[Leak]:
    """All leaks in the files of a folder."""
    solutions = Solutions(root)
    texts = ((file, (folder / file).read_text(encoding="utf-8", errors="replace")) for file in sorted(files))
    return [leak for file, text in texts for leak in solutions.leaks(file, text)]

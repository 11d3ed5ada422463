"""Starters are made from solutions.

A solution encloses what a student writes between the lines `// begin solution` and `// end solution`. Lines `//~ TEXT`
directly after the first replace the block in the starter. Lines `//- TEXT` are left out of the starter: they are
comments that answer what students are to predict. Everything else is copied unchanged.

The lab's table of steps says how many lines the student writes and how many are given. Both are counted here.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path

from . import files
from .console import Problem
from .course import ROOT, STATE
from .judge_types import Lines

BEGIN, END, INSTEAD, LEFT_OUT = "// begin solution", "// end solution", "//~", "//-"


def _kept(text: str, name: str) -> list[tuple[int, str]]:
    """The starter's lines, each with the number of the solution's line that it is from. Raises Problem for a block that
    is not closed, not opened, or nested."""
    out = []
    opened: tuple[int, str] | None = None  # line number and indentation of the current block
    replacing = False  # still in the //~ lines at its head
    for number, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        if word == BEGIN:
            if opened:
                raise Problem(f"{name}:{number}: error: '{BEGIN}' inside the block that begins in line {opened[0]}")
            opened = number, line[: len(line) - len(line.lstrip())]
            replacing = True
        elif word == END:
            if not opened:
                raise Problem(f"{name}:{number}: error: '{END}' without '{BEGIN}'")
            opened = None
        elif opened and word.startswith(INSTEAD):
            if not replacing:
                raise Problem(f"{name}:{number}: error: '{INSTEAD}' lines belong directly after '{BEGIN}'")
            replacement = word[len(INSTEAD) :]
            out.append((number, (opened[1] + replacement.removeprefix(" ")).rstrip()))
        elif opened:
            replacing = False
        elif word.startswith(INSTEAD):
            raise Problem(f"{name}:{number}: error: '{INSTEAD}' outside a block")
        elif not word.startswith(LEFT_OUT):
            out.append((number, line))
    if opened:
        raise Problem(f"{name}:{opened[0]}: error: '{BEGIN}' without '{END}'")
    return out


def starter(text: str, name: str = "solution") -> str:
    """The starter of a solution's text. Raises Problem for a block that is not closed, not opened, or nested."""
    return "".join(line + "\n" for _, line in _kept(text, name))


def line_in_starter(text: str, line: int, name: str = "solution") -> int:
    """The line of the starter that shows a line of the solution's text; for one that a student writes, the last one of
    what stands there instead."""
    return max(1, sum(number <= line for number, _ in _kept(text, name)))


def lines_of(text: str) -> Lines:
    """The lines of a solution: those between its markers, which a student writes, and all others that are given."""
    own = given = 0
    inside = False
    for word in map(str.strip, text.splitlines()):
        if word in (BEGIN, END):
            inside = word == BEGIN
        elif not word.startswith((INSTEAD, LEFT_OUT)):
            own, given = own + inside, given + (not inside)
    return Lines(own, given)


def _solutions(root: Path) -> dict[Path, str]:
    """Path below solutions/ -> text, for every file that is filled in."""
    found = sorted((root / "solutions").glob("[0-9][0-9]-*/*"))
    files_ = [path for path in found if path.is_file() and path.suffix in (".cu", ".cuh", ".h", ".cpp")]
    return {path.relative_to(root / "solutions"): path.read_text() for path in files_}


def all_starters(root: Path = ROOT) -> dict[Path, str]:
    """Path below labs/ -> text, for every file that a student fills in."""
    return {path: starter(text, f"solutions/{path}") for path, text in _solutions(root).items()}


def _with_table_lines(table: str, path: Path, text: str) -> str:
    """A lab's table in which the line of a step says how many lines its solution has."""
    count = lines_of(text)
    number, _, name = path.stem.partition("_")
    facts = rf'\.number = {int(number)}, \.name = "{name}", \.idea = "[^"]*"'
    line = re.compile(rf"({facts})(?:(,\s+)\.lines = {{[^}}]*}})?")
    numbers = f".lines = {{.own = {count.own}, .given = {count.given}}}"
    return line.sub(lambda found: f"{found[1]}{found[2] or ', '}{numbers}", table)


def counted(root: Path = ROOT) -> dict[Path, str]:
    """Path below the root -> text, for every lab's table, with the numbers of lines of its solutions."""
    made: dict[Path, str] = {}
    for path, text in _solutions(root).items():
        table = Path("labs") / path.parent / "steps.h"
        if path.name[:2].isdigit() and (root / table).is_file():
            made[table] = _with_table_lines(made.get(table) or (root / table).read_text(), path, text)
    return made


def miscounted(root: Path = ROOT) -> list[Path]:
    """The tables, below the root, that have other numbers of lines than there are."""
    return [path for path, text in counted(root).items() if (root / path).read_text() != text]


def _text(file: Path) -> str | None:
    """The text of a file, in whatever encoding an editor left it; None if it does not exist."""
    return file.read_text(encoding="utf-8", errors="surrogateescape") if file.is_file() else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _committed(root: Path, path: Path) -> str | None:
    """The text of labs/PATH as last committed, or None."""
    try:
        shown = subprocess.run(
            ["git", "-C", str(root), "show", f"HEAD:labs/{path.as_posix()}"], capture_output=True, check=False
        )
    except OSError:
        return None
    return shown.stdout.decode(errors="replace") if shown.returncode == 0 else None


def differing(root: Path = ROOT) -> list[Path]:
    """The starters whose file in labs/ is missing or different."""
    return [path for path, text in all_starters(root).items() if _text(root / "labs" / path) != text]


def write(force: bool = False, root: Path = ROOT, state: Path = STATE) -> tuple[list[Path], list[Path]]:
    """Writes the starters. Returns the paths written, and those kept because somebody has worked on them.

    Also corrects the numbers of lines in the labs' tables."""
    record = state / "starters.json"
    generated = files.known_in(record)
    written: list[Path] = []
    kept: list[Path] = []
    starters = all_starters(root)  # all first: an error in one leaves labs/ unchanged
    corrected = counted(root)
    for path in miscounted(root):
        files.write_whole(root / path, corrected[path])
    for path, text in starters.items():
        file = root / "labs" / path
        there = _text(file)
        if there != text:
            # A file that is still as generated, or as committed, holds no work.
            ours = there is None or _digest(there) == generated.get(str(path)) or there == _committed(root, path)
            if not ours and not force:
                kept.append(path)
                continue
            files.write_whole(file, text)
            written.append(path)
        generated[str(path)] = _digest(text)
    files.write_whole(record, json.dumps(generated, indent=1, sort_keys=True) + "\n")
    return written, kept

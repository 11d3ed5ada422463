"""Starters are made from solutions.

A solution encloses what a student writes between the lines `// begin solution` and `// end solution`. Lines `//~ TEXT`
directly after the first replace the block in the starter. Everything else is copied unchanged.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

from . import files
from .console import Problem
from .course import ROOT, STATE

BEGIN, END, INSTEAD = "// begin solution", "// end solution", "//~"


def starter(text: str, name: str = "solution") -> str:
    """The starter of a solution's text. Raises Problem for a block that is not closed, not opened, or nested."""
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
            out.append((opened[1] + replacement.removeprefix(" ")).rstrip())
        elif opened:
            replacing = False
        elif word.startswith(INSTEAD):
            raise Problem(f"{name}:{number}: error: '{INSTEAD}' outside a block")
        else:
            out.append(line)
    if opened:
        raise Problem(f"{name}:{opened[0]}: error: '{BEGIN}' without '{END}'")
    return "".join(line + "\n" for line in out)


def all_starters(root: Path = ROOT) -> dict[Path, str]:
    """Path below labs/ -> text, for every file that a student fills in."""
    made = {}
    for path in sorted((root / "solutions").glob("[0-9][0-9]-*/*")):
        if path.is_file() and path.name != "NOTES.md" and path.suffix in (".cu", ".cuh", ".h", ".cpp"):
            relative = path.relative_to(root / "solutions")
            made[relative] = starter(path.read_text(), f"solutions/{relative}")
    return made


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
    found = []
    for path, text in all_starters(root).items():
        file = root / "labs" / path
        if _text(file) != text:
            found.append(path)
    return found


def write(force: bool = False, root: Path = ROOT, state: Path = STATE) -> tuple[list[Path], list[Path]]:
    """Writes the starters; returns the paths written, and those kept because somebody has worked on them."""
    record = state / "starters.json"
    try:
        generated = json.loads(record.read_text())
    except (OSError, ValueError):
        generated = {}
    written: list[Path] = []
    kept: list[Path] = []
    starters = all_starters(root)  # all first: an error in one leaves labs/ unchanged
    for path, text in starters.items():
        file = root / "labs" / path
        there = _text(file)
        if there != text:
            # A file that is still as generated, or as committed, holds nobody's work.
            ours = there is None or _digest(there) == generated.get(str(path)) or there == _committed(root, path)
            if not ours and not force:
                kept.append(path)
                continue
            files.write_whole(file, text)
            written.append(path)
        generated[str(path)] = _digest(text)
    files.write_whole(record, json.dumps(generated, indent=1, sort_keys=True) + "\n")
    return written, kept

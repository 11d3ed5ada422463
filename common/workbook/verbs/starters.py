"""Starters are made from solutions.

A solution marks what a student writes by a line `// begin solution` and a line `// end solution`. Lines `//~ TEXT`
directly after the begin line are what the starter gets in place of the block. All else is copied as it is.
"""

import hashlib
import json
import subprocess

from ..core import files
from ..core.course import ROOT, STATE, has_solutions
from ..core.terminal import Problem, note

BEGIN, END, INSTEAD = "// begin solution", "// end solution", "//~"


def starter(text, name="solution"):
    """The starter of a solution's text. Problem: a block that is not closed, not opened, or stands in another."""
    out = []
    opened = None  # line number and indentation of the block that we are in
    replacing = False  # still in the //~ lines at its head
    for number, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        if word == BEGIN:
            if opened:
                raise Problem(f"{name}:{number}: error: '{BEGIN}' within the block that line {opened[0]} begins")
            opened = number, line[: len(line) - len(line.lstrip())]
            replacing = True
        elif word == END:
            if not opened:
                raise Problem(f"{name}:{number}: error: '{END}' without '{BEGIN}'")
            opened = None
        elif opened and word.startswith(INSTEAD):
            if not replacing:
                raise Problem(f"{name}:{number}: error: '{INSTEAD}' lines stand directly after '{BEGIN}'")
            replacement = word[len(INSTEAD) :]
            replacement = replacement[1:] if replacement.startswith(" ") else replacement
            out.append((opened[1] + replacement).rstrip())
        elif opened:
            replacing = False
        elif word.startswith(INSTEAD):
            raise Problem(f"{name}:{number}: error: '{INSTEAD}' outside a block")
        else:
            out.append(line)
    if opened:
        raise Problem(f"{name}:{opened[0]}: error: '{BEGIN}' without '{END}'")
    return "".join(line + "\n" for line in out)


def all_starters(root=ROOT):
    """Path below labs/ -> text, for every file that a student fills in."""
    made = {}
    for path in sorted((root / "solutions").glob("[0-9][0-9]-*/*")):
        if path.is_file() and path.name != "NOTES.md" and path.suffix in (".cu", ".cuh", ".h", ".cpp"):
            relative = path.relative_to(root / "solutions")
            made[relative] = starter(path.read_text(), f"solutions/{relative}")
    return made


def _text(file):
    """The text of a file, in whatever encoding an editor left it; None if it is not there."""
    return file.read_text(encoding="utf-8", errors="surrogateescape") if file.is_file() else None


def _digest(text):
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _committed(root, path):
    """The text of labs/PATH as last committed, or None."""
    try:
        shown = subprocess.run(
            ["git", "-C", str(root), "show", f"HEAD:labs/{path.as_posix()}"], capture_output=True, check=False
        )
    except OSError:
        return None
    return shown.stdout.decode(errors="replace") if shown.returncode == 0 else None


def differing(root=ROOT):
    """The starters whose file in labs/ is missing or another."""
    found = []
    for path, text in all_starters(root).items():
        file = root / "labs" / path
        if _text(file) != text:
            found.append(path)
    return found


def write(force=False, root=ROOT, state=STATE):
    """Writes the starters; gives the paths written and those kept because somebody has worked on them."""
    record = state / "starters.json"
    try:
        generated = json.loads(record.read_text())
    except (OSError, ValueError):
        generated = {}
    written, kept = [], []
    starters = all_starters(root)  # all of them first: an error in one leaves labs/ as it is
    for path, text in starters.items():
        file = root / "labs" / path
        there = _text(file)
        if there != text:
            # Nobody has worked on a file that is still as we made it, or as it was committed.
            ours = there is None or _digest(there) == generated.get(str(path)) or there == _committed(root, path)
            if not ours and not force:
                kept.append(path)
                continue
            files.write_whole(file, text)
            written.append(path)
        generated[str(path)] = _digest(text)
    files.write_whole(record, json.dumps(generated, indent=1, sort_keys=True) + "\n")
    return written, kept


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 and name the files that differ")
    parser.add_argument("--force", action="store_true", help="overwrite also files that somebody has worked on")


def main(arguments):
    """labs/ from solutions/."""
    if not has_solutions():
        raise Problem("there is no solutions/ here, and starters are made from solutions")
    if arguments.check:
        found = differing()
        for path in found:
            print(f"labs/{path} is not the starter of solutions/{path}")
        if found:
            note("./workbook starters writes them anew")
        else:
            print("every file in labs/ is the starter of its solution")
        return 1 if found else 0
    written, kept = write(arguments.force)
    for path in written:
        print(f"wrote labs/{path}")
    for path in kept:
        note(f"kept labs/{path}: it holds somebody's work (--force overwrites it)")
    if not written and not kept:
        print("every starter was up to date")
    return 1 if kept else 0

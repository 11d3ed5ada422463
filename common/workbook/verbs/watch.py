"""`check` again at every save."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path

from ..core import checking
from ..core.console import Problem, note, paint
from ..core.course import ROOT, shown
from ..core.options import add_lab_and_steps, lab_and_steps

POLL = 0.2  # seconds; looking at a dozen files costs next to nothing, and needs no library

Snapshot = Mapping[Path, "tuple[int, int]"]


def snapshot(lab: str, root: Path = ROOT) -> Snapshot:
    """The time and size of each of the lab's sources, by path."""
    found = {}
    for path in (root / "labs" / lab).iterdir():
        if path.suffix in (".cu", ".cuh", ".h", ".cpp") and not path.name.startswith("."):
            try:
                stat = path.stat()
            except OSError:  # an editor is replacing it right now
                continue
            found[path] = (stat.st_mtime_ns, stat.st_size)
    return found


def difference(before: Snapshot, now: Snapshot) -> str:
    """A text about the first file that has changed."""
    saved = [path for path in now if now[path] != before.get(path)]
    if saved:
        return f"{shown(saved[0])} was saved"
    return f"{shown(next(path for path in before if path not in now))} was removed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add_lab_and_steps(parser)


def main(arguments: argparse.Namespace) -> int:
    """Checks now and at every save, until interrupted."""
    lab, steps = lab_and_steps(arguments)
    while True:
        before = snapshot(lab)  # before the check: a file saved while it runs is checked next
        try:
            checking.check(lab, steps, arguments.timeout)
        except Problem as problem:
            print(f"{paint('error:', 'red')} {problem}", flush=True)
        note(f"watching labs/{lab}; Ctrl-C ends it")
        while (now := snapshot(lab)) == before:
            time.sleep(POLL)
        time.sleep(POLL / 2)  # an editor may write in several goes
        note(f"\n--- {difference(before, now)}, {time.strftime('%H:%M:%S')}")

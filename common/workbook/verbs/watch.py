"""`check` again at every save."""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..check import checking
from ..core.console import Problem, error_text, note
from ..core.course import ROOT, StepFile, shown
from ..core.options import add_lab_and_steps, lab_and_steps

POLL = 0.2  # seconds; looking at a dozen files costs almost nothing, and needs no library

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


def changed(before: Snapshot, now: Snapshot) -> list[Path]:
    """The files that were saved, or else those that were removed."""
    return [path for path in now if now[path] != before.get(path)] or [path for path in before if path not in now]


def difference(before: Snapshot, now: Snapshot) -> str:
    """A text about the first file that has changed."""
    path = changed(before, now)[0]
    return f"{shown(path)} was {'saved' if path in now else 'removed'}"


def steps_to_check(all_steps: Sequence[StepFile], files: Sequence[Path]) -> Sequence[StepFile]:
    """The steps whose files were saved; all steps if another file was, which any of them may include."""
    names = {path.name for path in files}
    saved = [step for step in all_steps if Path(step.file).name in names]
    return saved if len(saved) == len(names) else all_steps


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add_lab_and_steps(parser)


def main(arguments: argparse.Namespace) -> int:
    """Checks now and at every save, until interrupted."""
    lab, all_steps = lab_and_steps(arguments)
    steps: Sequence[StepFile] = all_steps
    while True:
        before = snapshot(lab)  # before the check: a file saved while it runs is checked next
        try:
            checking.check(lab, steps, arguments.timeout)
        except Problem as problem:
            print(error_text(problem, sys.stdout), flush=True)
        note(f"watching labs/{lab}; Ctrl-C ends it")
        while (now := snapshot(lab)) == before:
            time.sleep(POLL)
        time.sleep(POLL / 2)  # an editor may write in several goes
        note(f"\n--- {difference(before, now)}, {time.strftime('%H:%M:%S')}")
        steps = steps_to_check(all_steps, changed(before, now))

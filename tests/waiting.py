#!/usr/bin/env python3
"""How long a student waits for a verdict, from saving a file: a table of all steps, measured in a clone.

    waiting.py CLONE [LAB[/FILE] ...]      CLONE is a clone of the repository whose labs/ may be overwritten

The solutions take the places of the students' files. Each step is then saved twice, with a comment added and with its
first break of tests/mutations/break_table.py of that clone, and checked as a student does. Of a right step the seconds
to the end are given; of a wrong one those to the first fault, and to the end. Run it on a machine that does nothing
else: unlike a test, it judges nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

# A compiler cache would answer in place of the compiler.
ENVIRONMENT = {**os.environ, "CCACHE_DISABLE": "1", "NO_COLOR": "1"}


def breaks_of(clone: Path) -> dict[str, tuple[str, str]]:
    """By step's file: the words that its first break changes, and what they become."""
    sys.path.insert(0, str(clone / "tests/mutations"))
    sys.path.insert(0, str(clone / "tests/mistakes"))
    from break_table import BREAKS

    found: dict[str, tuple[str, str]] = {}
    for item in BREAKS:
        ((old, new),) = item.changes.items()
        found.setdefault(f"{item.lab}/{item.file}", (old, new))
    return found


def command(lab: str, step: int) -> list[str]:
    """What a student types."""
    return ["./workbook", "check", lab, str(step)]


def waited(clone: Path, lab: str, step: int) -> tuple[float, float, bool]:
    """The seconds until `check` shows a fault, if it does, and until it ends; whether the step passed."""
    begin = time.monotonic()
    fault = 0.0
    with subprocess.Popen(
        command(lab, step), cwd=clone, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            if not fault and line.startswith(("FAILED", "OVER")):
                fault = time.monotonic() - begin
    return fault, time.monotonic() - begin, process.returncode == 0


def main(folder: str, *only: str) -> int:
    """Measures, and prints the table; the exit status."""
    clone = Path(folder).resolve()
    solutions = sorted(
        path for lab in (clone / "labs").glob("0*") for path in (clone / "solutions" / lab.name).glob("0*.cu")
    )
    breaks = breaks_of(clone)
    for path in solutions:
        shutil.copy(path, clone / "labs" / path.parent.name)
    for lab in sorted({path.parent.name for path in solutions}):
        subprocess.run(["./workbook", "check", lab], cwd=clone, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
    print("| step | right: verdict | wrong: first fault | wrong: end |\n|---|---|---|---|")
    for path in solutions:
        lab, step = path.parent.name, int(path.name[:2])
        name = f"{lab}/{path.name}"
        if only and not name.startswith(only):
            continue
        text = path.read_text(encoding="utf-8")
        saved = clone / "labs" / name
        saved.write_text(f"{text}// {time.time_ns()}\n", encoding="utf-8")
        _, right, passed = waited(clone, lab, step)
        if not passed:
            raise SystemExit(f"{name}: the solution did not pass")
        old, new = breaks[name]
        saved.write_text(text.replace(old, new) + f"// {time.time_ns()}\n", encoding="utf-8")
        fault, end, passed = waited(clone, lab, step)
        if passed:
            raise SystemExit(f"{name}: the break was not found")
        saved.write_text(text, encoding="utf-8")
        # Otherwise the next step's verdict would also wait until this file is compiled again.
        subprocess.run(command(lab, step), cwd=clone, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
        print(f"| {lab[:2]} {path.stem} | {right:.1f} s | {fault:.1f} s | {end:.1f} s |", flush=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

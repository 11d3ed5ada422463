#!/usr/bin/env python3
"""Draws the figures of the handouts and of other documents from the algorithms and the results themselves.

    python3 labs/draw_figures.py            writes */figures/*.svg
    python3 labs/draw_figures.py --check    writes nothing; exits 1 and names the files that differ
    python3 labs/draw_figures.py --record   first runs the solutions whose access pictures the handouts show

Each folder has one module, figures/draw_NAME.py, whose function figures() returns its drawings by file name. It may
also name runs of a lab's solutions in RUNS: their recorded traces, figures/*.trace, are drawn as ./workbook picture
draws them. Nothing else enters a figure, so --check compares the stored files byte by byte.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import files  # noqa: E402
from workbook.pictures import recorded  # noqa: E402

COMMAND = "python3 labs/draw_figures.py"
FOLDERS = ("common", "labs", "labs/*", "reports/records")  # that have a folder figures/


def drawn_by(module_path: Path, record: bool) -> dict[str, bytes]:
    """The SVG files of one folder, by name."""
    folder = module_path.parent
    sys.path.insert(0, str(folder))
    module = importlib.import_module(module_path.stem)
    sys.path.remove(str(folder))
    drawings = {name: drawing.svg().encode() for name, drawing in module.figures().items()}
    for name, run in getattr(module, "RUNS", {}).items():
        trace = folder / f"{name}.trace"
        if record:
            recorded.record(run, trace)
        drawings[f"{name}.svg"] = recorded.draw(run, trace).encode()
    return drawings


def differences(folder: Path, drawn: dict[str, bytes]) -> tuple[list[str], list[str]]:
    """The names of figures that are missing or differ, and of stored figures that no module draws."""
    stale = [
        name for name, svg in drawn.items() if not (folder / name).is_file() or (folder / name).read_bytes() != svg
    ]
    return stale, [path.name for path in sorted(folder.glob("*.svg")) if path.name not in drawn]


def main() -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Draws the figures of the documents.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a stored figure differs")
    parser.add_argument("--record", action="store_true", help="first run the solutions whose access pictures are shown")
    arguments = parser.parse_args()
    out_of_date = False
    for module_path in sorted(path for folder in FOLDERS for path in ROOT.glob(f"{folder}/figures/draw_*.py")):
        folder = module_path.parent
        drawn = drawn_by(module_path, arguments.record)
        stale, unknown = differences(folder, drawn)
        for name in stale:
            if not arguments.check:
                files.write_whole(folder / name, drawn[name])
            state = f"out of date: run {COMMAND}" if arguments.check else "written"
            print(f"{folder.relative_to(ROOT)}/{name}: {state}")
        for name in unknown if arguments.check else []:
            print(f"{folder.relative_to(ROOT)}/{name}: drawn by no module: remove it")
        out_of_date |= arguments.check and bool(stale or unknown)
    return 1 if out_of_date else 0


if __name__ == "__main__":
    sys.exit(main())

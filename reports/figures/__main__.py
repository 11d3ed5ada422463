"""Draws the figures of the handouts from the algorithms themselves.

    python3 reports/figures            writes labs/NN-name/figures/*.svg
    python3 reports/figures --check    exit 1 and the names of the files that differ
    python3 reports/figures --record   runs the solutions anew whose access pictures the handouts show; then as the first

A module a lab gives its figures by name. What it draws depends on nothing but the modules here, so that --check can
compare what is stored byte by byte. The access pictures are drawn by common/workbook from the recorded runs in runs/.
"""

import argparse
import os
import sys
from pathlib import Path

import bitonic
import counting
import merge
import odd_even
import radix
import runs

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = {
    "01-odd-even": odd_even,
    "02-merge": merge,
    "03-bitonic": bitonic,
    "04-counting": counting,
    "05-radix": radix,
}


def differences(folder, drawn):
    """The names of the figures to be written anew, and of those that nothing draws."""
    stale = [
        name for name, svg in drawn.items() if not (folder / name).is_file() or (folder / name).read_bytes() != svg
    ]
    return stale, [path.name for path in sorted(folder.glob("*.svg")) if path.name not in drawn]


def write(folder, name, svg):
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / (name + ".tmp")
    temporary.write_bytes(svg)
    os.replace(temporary, folder / name)


def main():
    parser = argparse.ArgumentParser(prog="reports/figures", description="Draws the figures of the handouts.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a stored figure differs")
    parser.add_argument("--record", action="store_true", help="run the solutions anew first, for the access pictures")
    arguments = parser.parse_args()
    check = arguments.check
    if arguments.record:
        runs.record()
    wrong = False
    for lab, module in MODULES.items():
        folder = ROOT / "labs" / lab / "figures"
        drawn = {name: drawing.svg().encode() for name, drawing in module.figures().items()}
        drawn.update((name, svg.encode()) for name, svg in runs.figures(lab).items())
        stale, unknown = differences(folder, drawn)
        for name in stale:
            if not check:
                write(folder, name, drawn[name])
            state = "is not what reports/figures draws: run python3 reports/figures" if check else "written"
            print(f"labs/{lab}/figures/{name}: {state}")
        for name in unknown if check else []:
            print(f"labs/{lab}/figures/{name}: drawn by nothing: remove it, or draw it in reports/figures")
        wrong |= check and bool(stale or unknown)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

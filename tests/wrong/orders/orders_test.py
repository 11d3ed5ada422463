#!/usr/bin/env python3
"""Counts how many results that depend on the order of atomics are found, by how many schedules (`cc --schedules`).

orders_test.py [--compiler g++] [--most N]
  --most N   schedules for each kernel; the numbers of schedules are fixed, so the outcome is the same each time

Fails if one of the kernels of orders.cu that are drawn (drawn.py) is not found, or if its right twin is accused.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests")]

from drawn import drawn  # noqa: E402

from workbook.core import schedules  # noqa: E402

STEPS = (1, 3, 10, 30, 100, 300, 1000)


def compiled(folder: Path, compiler: str, *options: str) -> Path:
    """The program, with its observers."""
    program = folder / f"orders{len(options)}"
    command = [str(ROOT / "workbook"), "cc", "--check", str(HERE / "orders.cu"), "-o", str(program), "--cxx", compiler]
    subprocess.run([*command, *options], check=True, cwd=ROOT)
    return program


def first_found(program: Path, name: str, most: int) -> int:
    """How many schedules it takes until one of them differs; 0 if none does."""
    command = [str(program), name]
    usual = schedules.usual(command, time.monotonic)
    if usual.run.status or len(usual.run.records) != 1:
        raise SystemExit(f"{name} fails in the usual order:\n{usual.run.errors}")
    for index, (number, difference) in enumerate(schedules.differences(command, usual, most), 1):
        if difference and not difference.is_rounding:
            again = schedules.compare(usual.run, schedules.run_once(command, number, usual.seconds), prints=True)
            if again != difference:
                raise SystemExit(f"{name}: schedule {number} does not repeat: {difference}, then {again}")
            return index
    return 0


def tell(found: dict[str, int], depths: dict[str, int], most: int) -> None:
    """A row for each depth: how many are found by so many schedules."""
    steps = [step for step in STEPS if step <= most]
    print("| depth | kernels |" + "".join(f" {step} |" for step in steps))
    for depth in sorted(set(depths.values())):
        names = [name for name in depths if depths[name] == depth]
        counts = [sum(1 <= found[name] <= step for name in names) for step in steps]
        print(f"| {depth} | {len(names)} |" + "".join(f" {n} |" for n in counts))
    print("last found:", ", ".join(sorted(found, key=lambda name: -found[name])[:5]))


def main() -> int:
    """Compiles, runs and counts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--most", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = compiled(Path(folder), arguments.compiler)
        right = compiled(Path(folder), arguments.compiler, "-DRIGHT")
        listed = subprocess.run([str(wrong)], capture_output=True, text=True, check=True).stdout.splitlines()
        depths = {line.split()[1]: int(line.split()[0]) for line in listed}
        known = len(depths)
        depths = {name: depths[name] for name in drawn(sorted(depths), 12)}
        with ThreadPoolExecutor(2) as pool:
            counts = list(pool.map(lambda name: first_found(wrong, name, arguments.most), depths))
            accusations = list(pool.map(lambda name: first_found(right, name, arguments.most), depths))
        found = dict(zip(depths, counts))
        accused = [name for name, count in zip(depths, accusations) if count]
    tell(found, depths, arguments.most)
    missed = [name for name in found if found[name] == 0]
    print(f"missed: {', '.join(missed) or 'none'}; right twins that are accused: {', '.join(accused) or 'none'}")
    return 1 if missed or accused or known < 30 else 0


if __name__ == "__main__":
    sys.exit(main())

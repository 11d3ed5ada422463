#!/usr/bin/env python3
"""All distributions with far more keys than fit on the device, on the cpu build: beyond_memory.py JUDGE RUNNER [N]

RUNNER: of the solutions of lab 06. By default 2^22 keys and 256 KiB of device memory, the least that the steps take, so
that they work in hundreds of pieces. Each distribution is sorted by one of the steps, in turn, and in one of the
orders.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core.judge_client import JudgeClient  # noqa: E402
from workbook.core.judge_types import Case  # noqa: E402

LAB, MEMORY, SECONDS = "06-beyond-memory", 1 << 18, 900


def main(judge_path: Path, runner: Path, n: int = 1 << 22) -> int:
    """Sorts; the exit status."""
    wrong = 0
    with JudgeClient(judge_path) as judge:
        steps = [step.number for step in judge.lab(LAB).steps]
        for place, info in enumerate(judge.inputs()):
            order = ("ascending", "descending")[place // len(steps) % 2]
            case = Case(LAB, steps[place % len(steps)], n, "sort", "u32", order, info.name, seed=place, memory=MEMORY)
            start = time.monotonic()
            outcome = judge.run(runner, case, timeout=SECONDS)
            wrong += not outcome.passed
            result = (
                outcome.status if outcome.passed else f"{outcome.status}: {outcome.message}\nagain: {outcome.replay}"
            )
            print(f"step {case.step}, {info.name}, {order}: {time.monotonic() - start:.0f} s: {result}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), *map(int, sys.argv[3:])))

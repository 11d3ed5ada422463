#!/usr/bin/env python3
"""Makes beginners' mistakes in the solutions: `check` must show the right place, in words that help.

    steps.py BUILD [NAME ...]      BUILD is Meson's build folder, with the solutions' runners

Each mistake changes one line of a solution. The step is then checked as `./workbook check LAB STEP --solution` does it.
Prints the seconds from the start of the check to the verdict, which are not part of the test.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests/mutations")]

from barriers import Mutation, make_runner, mistake  # noqa: E402

from workbook.core import build, checking  # noqa: E402
from workbook.core.course import find_step  # noqa: E402
from workbook.core.judge_client import JudgeClient  # noqa: E402


@dataclass(frozen=True)
class Mistake:
    """One changed line, and what `check` must print about it."""

    name: str
    lab: str
    file: str
    old: str
    new: str
    shown: Sequence[str]  # in this order
    step: int = 0  # that is checked; 0: the one with the mistake


COUNTING = "04-counting"
MISTAKES = (
    Mistake(
        "the edges are not counted",
        COUNTING,
        "02_shared.cu",
        "for_each_index(vectors.edges, [&](std::int64_t e) { atomicAdd(&block_counts[keys[vectors.edge(e)]], 1u); });",
        "(void)keys;",
        (
            "FAILED  step 02 shared, histogram, cpu build. The first thing to fix:",
            "solutions/04-counting/02_shared.cu: counts[",
            "] of 256 is 0; it should be 1",
            "histogram: 1 u8 keys, range:0:9, ascending, seed 0",
            "again: ./workbook run 04-counting 2 --n 1 --input range:0:9",
            "--task histogram --seed 0 --solution",
        ),
    ),
    Mistake(
        "a fault in a part of an earlier step",
        COUNTING,
        "02_shared.cu",
        "for_each_index(vectors.edges, [&](std::int64_t e) { atomicAdd(&block_counts[keys[vectors.edge(e)]], 1u); });",
        "(void)keys;",
        (
            "FAILED  step 03 parallel uses step 02 shared, histogram, which fails on the cpu build. The first thing",
            "solutions/04-counting/02_shared.cu: counts[",
        ),
        step=3,
    ),
    Mistake(
        "the buffers of the scan are not exchanged",
        COUNTING,
        "02_shared.cu",
        "to = from, from = written;",
        "(void)written;",
        ("FAILED  step 02 shared, hillis-steele, ", "solutions/04-counting/02_shared.cu"),
    ),
    Mistake(
        "the sums are inclusive",
        COUNTING,
        "02_shared.cu",
        "sums[first + i] = i == 0 ? 0 : from[i - 1];",
        "sums[first + i] = from[i];",
        (
            "FAILED  step 02 shared, hillis-steele, cpu build",
            "sums[0] of 1 is 1; it should be 0",
            "1 u64 keys, range:1:1",
        ),
    ),
    Mistake(
        "no atomic",
        COUNTING,
        "02_shared.cu",
        "atomicAdd(&wanted[keys.data[first + i]], 1u);",
        "++wanted[keys.data[first + i]];",
        (
            "FAILED  step 02 shared, check build. The first thing to fix:",
            "02_shared.cu:107: error: race: ",
            "several threads change the same element at once: use atomicAdd() or another atomic",
            "again: ",
            "--build check --solution",
        ),
    ),
    Mistake(
        "a loop that never ends",
        COUNTING,
        "02_shared.cu",
        "for (int distance = 1; distance < count; distance *= 2) {",
        "for (int distance = 1; distance < count; distance *= 1) {",
        ("FAILED  step 02 shared, hillis-steele, cpu build", "error: hang: the kernel was still running here"),
    ),
    Mistake(
        "an unstable merge",
        "02-merge",
        "01_thread.cu",
        "before(from.keys[b], from.keys[a]));",
        "!before(from.keys[a], from.keys[b]));",
        (
            "FAILED  step 01 thread, cpu build",
            "equal keys in the wrong order (the step promises to be stable) at index",
            " pairs, range:0:9, ascending, seed 0",
        ),
    ),
    Mistake(
        "a kernel that prints",
        COUNTING,
        "01_global.cu",
        "if (keys.n < 2) return;",
        'if (keys.n < 2) return; std::printf("n is %d\\n", int(keys.n));',
        ("ok      step 01 global: ", "it printed in ", " of them, first: n is 2"),
    ),
)


def changed(item: Mistake) -> Mutation:
    """The mistake as a mutation of one line."""
    return mistake(item.lab, item.file, item.old, item.new, "")


def check(folder: Path, item: Mistake) -> tuple[str, float]:
    """What `check` prints about a mistake, and the seconds that it took once everything was compiled."""
    with tempfile.TemporaryDirectory() as temporary:
        made = {}
        kinds = ("cpu", "check")
        for kind in kinds:
            (Path(temporary) / kind).mkdir()
        with ThreadPoolExecutor(len(kinds)) as pool:
            mutation = changed(item)
            runners = pool.map(lambda kind: make_runner(folder, mutation, Path(temporary) / kind, kind), kinds)
            made = dict(zip(kinds, runners))
        with (
            mock.patch.object(build, "runner", lambda _lab, kind, _solution=False: made[kind]),
            contextlib.redirect_stdout(io.StringIO()) as printed,
            JudgeClient() as judge,
        ):
            start = time.monotonic()
            checker = checking.Checker(judge, item.lab, ["cpu"], solution=True)
            checker.passes(find_step(item.lab, item.step or int(item.file[:2])))
            seconds = time.monotonic() - start
    return printed.getvalue(), seconds


def missing(item: Mistake, printed: str) -> str:
    """The first text that is not printed where it should be; "" if none is missing."""
    at = 0
    for text in item.shown:
        at = printed.find(text, at)
        if at < 0:
            return text
        at += len(text)
    return ""


def main(folder: str, *names: str) -> int:
    """Tries all mistakes; the exit status."""
    build.use_folder(Path(folder).resolve())
    os.chdir(ROOT)
    wrong = 0
    for item in MISTAKES:
        if names and item.name not in names:
            continue
        printed, seconds = check(Path(folder).resolve(), item)
        text = missing(item, printed)
        wrong += bool(text)
        print(f"{item.name}: {seconds:.1f} s" + (f": not shown: {text}\n{printed}" if text else ""), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

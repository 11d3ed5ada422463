#!/usr/bin/env python3
"""Holds the check build's counts against a GPU's own counters, kernel by kernel, for every step of the solutions.

    python3 reports/agreement/agreement.py               counts anew, writes reports/agreement/README.md
    python3 reports/agreement/agreement.py --check       says what lies beyond the tolerance unexplained, and writes nothing
    python3 reports/agreement/agreement.py --record      on a machine with a GPU and Nsight Compute: records what the GPU counts,
                                               in reports/agreement/agreement.csv

The same keys (seed 1) are sorted on both; the counts of a kernel are added over its launches. The programs are looked
for in build/, or where BUILD says.
"""

import argparse
import csv
import io
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import files  # noqa: E402
from workbook.core.course import labs  # noqa: E402
from workbook.core.terminal import Problem  # noqa: E402
from workbook.verbs import profile  # noqa: E402

FOLDER = Path(os.environ.get("BUILD", ROOT / "build"))
RECORDED = ROOT / "reports/agreement/agreement.csv"
TABLE = ROOT / "reports/agreement/README.md"
WHAT = ["lab", "step", "task", "type", "n", "kernel"]
COUNTERS = [
    "shared_ld_wavefronts",
    "shared_st_wavefronts",
    "global_ld_requests",
    "global_ld_sectors",
    "global_st_requests",
    "global_st_sectors",
    "shared_atomic_requests",
    "global_atomic_requests",
    "global_atomic_sectors",
]
FACTS = ["machine", "date", "commit"]
TOLERANCE = 10  # percent
KEYS = 16384
FEW = 65  # where a launch is a phase, as many launches as keys, and the profiler takes a quarter of a second for each

# Why a count differs, by lab, step, kernel and counter; None stands for any.
_JOINED = (
    "a branch in a loop, or a loop in a loop. A GPU runs each turn of the outer loop with the lanes that need it and "
    "waits for them; the check build joins each lane's k-th execution since the barrier with the others' k-th, "
    "whichever turn that was, and so counts fewer, fuller requests"
)
_HALVES = (
    "of the next piece's cut only differences of 32 bits are used, and nvcc loads the low halves of its two members "
    "(two requests of 4 bytes, seen in the machine code); the check build counts the one load of 16 bytes that the "
    "source asks for"
)
REASONS = [
    ("02-merge", "3", "merge_pieces", "global_ld_requests", _HALVES),
    ("02-merge", "3", "merge_pieces", "global_ld_sectors", _HALVES),
    ("04-counting", "4", "place_range", "global_ld_requests", _JOINED),
    ("04-counting", "4", "place_range", "global_ld_sectors", _JOINED),
    ("05-radix", "3", "scatter_tiles", "global_ld_requests", _JOINED),
    (
        "05-radix",
        "3",
        "scatter_tiles",
        "shared_ld_wavefronts",
        "partly known. The machine code has as many loads as the source, so that the difference is in wavefronts a load; 8-byte "
        "loads of `shifted` can explain 3,618 of them, if a GPU serves their two half warps one after the other although "
        "neighbours read the same word. The rest is not traced to a line",
    ),
]


def sorts():
    """(lab, step, task, type, n) of everything that is compared."""
    for lab in labs():
        told = subprocess.run(
            [str(FOLDER / "labs/judge"), "table", "--lab", lab], capture_output=True, text=True, check=True
        ).stdout
        for line in told.splitlines():
            number, _, _, _, _, largest, types, task = line.split("\t")[:8]
            if number == "0":
                continue  # the CPU's
            types = types.split(",")
            kind = "u32" if "u32" in types and lab != "04-counting" else types[0]
            yield lab, number, task, kind, str(KEYS if int(largest) > 1 << 20 else FEW)


def command(build, lab, step, task, kind, n):
    """What sorts once."""
    return [
        str(FOLDER / "labs/judge"),
        "sort",
        "--lab",
        lab,
        "--step",
        step,
        "--task",
        task,
        "--runner",
        str(FOLDER / "labs" / f"{lab}-{build}-solution"),
        "--n",
        n,
        "--type",
        kind,
        "--seed",
        "1",
        "--timeout",
        "600",
    ]


def counted(build):
    """{(lab, step, task, type, n, kernel): {counter: sum over launches}} on the check build or on cuda."""
    cases = list(sorts())
    if build == "check":
        launches = [(case, launch) for case in cases for launch in profile.from_check(command(build, *case))]
    else:  # one profiler for all: its start takes longer than most sorts; each sort is a process of its own
        script = " && ".join(shlex.join(command(build, *case)) for case in cases)
        all_launches = profile.from_ncu(["sh", "-c", script], by_instruction=False)
        processes = list(dict.fromkeys(launch["process"] for launch in all_launches))
        if len(processes) != len(cases):
            raise Problem(f"ncu saw {len(processes)} processes on the GPU, not {len(cases)}: one of the sorts failed")
        launches = [(cases[processes.index(launch["process"])], launch) for launch in all_launches]
    found = {}
    for case, launch in launches:
        sums = found.setdefault((*case, launch["kernel"]), dict.fromkeys(COUNTERS, 0))
        for name in COUNTERS:
            sums[name] += int(launch.get(name) or 0)
    return found


def record(path):
    """Writes what the GPU counts."""
    ask = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    facts = [
        subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip().split("\n")[0],
        time.strftime("%Y-%m-%d"),
        os.environ.get("MEASURE_COMMIT") or commit.stdout.strip(),
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*WHAT, *COUNTERS, *FACTS])
    for what, sums in counted("cuda").items():
        writer.writerow([*what, *(sums[name] for name in COUNTERS), *facts])
    files.write_whole(path, text.getvalue())


def recorded():
    """What the GPU counted, in the form of `counted`, and where."""
    with open(RECORDED, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise Problem(f"{RECORDED} is empty: agreement.py --record on a machine with a GPU makes it")
    return {tuple(row[w] for w in WHAT): {name: int(row[name]) for name in COUNTERS} for row in rows}, rows[0]


def reason(what, counter):
    """Why this count differs, where that is known."""
    key = (what[0], what[1], what[5], counter)
    return next((why for *where, why in REASONS if all(w in (None, k) for w, k in zip(where, key))), None)


def compare():
    """The lines of the document, and the lines of what differs without a known reason."""
    ours, (theirs, facts) = counted("check"), recorded()
    unexplained, lines, explained, total, exact = [], [], {}, 0, 0
    for what in dict.fromkeys([*theirs, *ours]):
        if what not in theirs:
            lines.append(
                f"| {what[0]} {what[1]}, {what[3]} | {int(what[4]):,} | {what[5]} | not counted on a GPU yet |"
            )
            continue
        if what not in ours:
            unexplained.append(f"{' '.join(what)}: recorded on a GPU, but there is no such kernel")
            continue
        cells = []
        for name in COUNTERS:
            a, b = ours[what][name], theirs[what][name]
            if not a and not b:
                cells.append("")
                continue
            total += 1
            exact += a == b
            percent = 100 * (a - b) / b if b else float("inf")
            text = f"{a:,}" if a == b else f"{a:,} / {b:,} ({percent:+.1f} %)"
            if abs(percent) > TOLERANCE:
                text = f"**{text}**"
                why = reason(what, name)
                if why:
                    explained.setdefault(why, []).append(
                        f"{what[0]} step {what[1]} {what[5]}, {name.replace('_', ' ')}"
                    )
                else:
                    unexplained.append(f"{' '.join(what)} {name}: {a} here, {b} on the GPU ({percent:+.1f} %)")
            cells.append(text)
        lab, step, task, kind, n, kernel = what
        part = "" if task == "sort" else f" {task}"
        lines.append(f"| {lab} {step}{part}, {kind} | {int(n):,} | {kernel} | " + " | ".join(cells) + " |")
    beyond = sum(len(set(cases)) for cases in explained.values()) + len(unexplained)
    head = [
        "# The check build against a GPU",
        "",
        "Each step of the solutions sorts the same keys on the check build and, under Nsight Compute, on a GPU; counts of "
        "a kernel are added over its launches.",
        "Shared memory is counted in wavefronts, global memory in requests (one warp's instruction) and in sectors of 32 "
        "bytes. One number in a cell: both count the same; else the check build's / the GPU's.",
        "",
        f"GPU: {facts['machine']}, {facts['date']}, commit {facts['commit']}, by `python3 reports/agreement/agreement.py --record`. "
        "The check build counts the same everywhere: `python3 reports/agreement/agreement.py` makes this page, and a test holds it "
        "to what is recorded.",
        "",
        f"Of {total} counts {exact} are the same and {total - beyond} agree within {TOLERANCE} %; the others are in bold.",
        "",
        "| lab, step, type | n | kernel | "
        + " | ".join(name.replace("_", " ").replace(" ld ", " load ").replace(" st ", " store ") for name in COUNTERS)
        + " |",
        "|---|---:|---|" + "---:|" * len(COUNTERS),
    ]
    tail = ["", "## What differs, and why", ""] if explained else []
    for why, cases in explained.items():
        tail += [f"* {'; '.join(dict.fromkeys(cases))}: {why}"]
    return "\n".join([*head, *lines, *tail]) + "\n", unexplained


def main():
    parser = argparse.ArgumentParser(description="Holds the check build's counts against a GPU's.")
    parser.add_argument(
        "--record", nargs="?", const=str(RECORDED), metavar="FILE", help="write what this machine's GPU counts"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail where a count differs without a known reason"
    )
    arguments = parser.parse_args()
    if arguments.record:
        return record(arguments.record)
    text, unexplained = compare()
    if not arguments.check:
        files.write_whole(TABLE, text)
    print("\n".join(unexplained) or "agreement: nothing differs without a known reason")
    return 1 if unexplained else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Problem, OSError) as problem:
        sys.exit(f"agreement.py: {problem}")

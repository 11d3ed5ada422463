#!/usr/bin/env python3
"""Runs NVIDIA's compute-sanitizer on the faulty kernels of check/, to compare what it names with what `cc --check` does.

    python3 tests/wrong/sanitizer.py -o faults.csv [--jobs N] [--arch sm_90] [FILE.cu ..]

Needs nvcc, compute-sanitizer and a GPU; --compile-only needs nvcc alone. Each case runs by itself, once under each of
the four tools. In the table a fault is `line`, if it was named with a fitting kind and its line, `kind`, if with the
kind only (or the host's line), or `no`; `hung` lists the tools whose run was ended after 20 s. The column `ours` is
`cc --check` on this machine's CPU. Summed up by kind on standard output.
"""

import argparse
import collections
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import check_test

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SECONDS = 20
# What the tools call each kind, in the first line of a report.
CALLED = {
    "race": r"Race reported|hazard",
    "out-of-bounds": r"Invalid __(global|shared|local)__|Invalid .*(read|write|atomic)|out of bounds|illegal memory access",
    "use-after-free": r"Invalid __global__|Invalid .*(read|write|atomic)|after free|illegal memory access",
    "host-pointer": r"Invalid __global__|Invalid .*(read|write|atomic)|illegal memory access",
    "misaligned": r"misaligned",
    "uninitialized": r"Uninitialized",
    "divergent-barrier": r"Barrier error|Divergent thread|divergent|Invalid arguments",
    "deadlock": r"Barrier error|Divergent thread|divergent|Invalid arguments",
    "invalid-warp-mask": r"Barrier error|Divergent thread|divergent|Invalid arguments|mask",
    "invalid-launch": r"invalid configuration|cudaErrorInvalidConfiguration|cudaErrorInvalidValue|invalid argument",
    "time-limit": r"$^",
}


def compile_cuda(path, program, arch):
    """What is wrong with it, or an empty text."""
    done = subprocess.run(["nvcc", "-std=c++20", f"-arch={arch}", "-lineinfo", "-g", "-o", str(program), str(path)],
                          capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def run_tool(tool, program, number):
    """(text, whether it hung)"""
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "1000", str(program), str(number)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          start_new_session=True) as process:
        try:
            return process.communicate(timeout=SECONDS)[0], False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)  # the program as well as the tool
            return process.communicate()[0] or "", True


def reports_of(text):
    """Each report of a tool as one text: it begins at the margin, and what belongs to it is set in."""
    reports = []
    for line in text.splitlines():
        if not line.startswith("========="):
            continue
        line = line[9:]
        if re.match(r" {1,2}\S", line):
            reports.append(line)
        elif reports:
            reports[-1] += "\n" + line
    return reports


def judge_fault(fault, text, name):
    """line, kind or no."""
    result = "no"
    lines = "|".join(str(line) for line in sorted(fault.lines))
    for report in reports_of(text):
        if not any(re.search(CALLED[kind], report) for kind in fault.kinds):
            continue
        # A host frame's line is that of the launch: it counts where the launch is the fault.
        if "invalid-launch" not in fault.kinds:
            report = re.split(r"\n\s+(?:Saved )?[Hh]ost (?:backtrace|Frame)", report)[0]
        if re.search(rf"{re.escape(name)}:({lines})\b", report):
            return "line"
        result = "kind"
    return result


def ours(path, folder, compiler, seeds):
    """The lines and kinds that the check build names; in each of several orders."""
    program = folder / f"{path.stem}-check"
    made = check_test.compile_check(path, program, compiler)
    if made.returncode:
        print(f"{path.name}: {made.stdout}{made.stderr}", file=sys.stderr)
        return [set()]
    return [check_test.findings_of(check_test.run(program, seed).stderr, path) for seed in seeds]


def summary(rows):
    """The share that each tool has named by kind and line; of compute-sanitizer also that of all four together."""
    columns = ["ours", *TOOLS]
    lines = [f"{'kind':20}{'faults':>7}" + "".join(f"{name:>10}" for name in [*columns, "any"])]
    kinds = sorted({row["fault"] for row in rows})
    for kind in [*kinds, "all"]:
        those = [row for row in rows if kind in (row["fault"], "all")]
        counts = [sum(row[name] == "line" for row in those) for name in columns]
        counts.append(sum(any(row[tool] == "line" for tool in TOOLS) for row in those))
        lines.append(f"{kind:20}{len(those):7}" + "".join(f"{n:10}" for n in counts))
    return "\n".join(lines)


def main():
    """Writes the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", dest="table", default="faults.csv")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--compiler", default="g++", help="of the check build")
    parser.add_argument("--without-ours", action="store_true", help="the column `ours` stays empty")
    parser.add_argument("--keep", type=Path, help="a folder for what the tools say, a file a run")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    paths = [path.resolve() for path in arguments.files] or sorted(check_test.HERE.glob("*.cu"))
    needed = ["nvcc"] if arguments.compile_only else ["nvcc", "compute-sanitizer"]
    missing = [name for name in needed if not shutil.which(name)]
    if missing:
        print(f"not found: {', '.join(missing)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(arguments.jobs) as pool:
        folder = Path(name)
        wrong = list(pool.map(lambda path: compile_cuda(path, folder / path.stem, arguments.arch), paths))
        for path, text in zip(paths, wrong):
            if text:
                print(f"{path.name} does not compile:\n{text}", file=sys.stderr)
        if arguments.compile_only or any(wrong):
            return 1 if any(wrong) else 0
        texts = {}

        def one(task):
            path, number, tool = task
            texts[task] = run_tool(tool, folder / path.stem, number)
            if arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"{path.stem}-{number}-{tool}.txt").write_text(texts[task][0])

        named = [None] * len(paths)
        if not arguments.without_ours:
            named = pool.map(lambda path: ours(path, folder, arguments.compiler, ["0", "1", "77"]), paths)
        # Those that hang take their 20 s: begin with them.
        order = sorted(paths, key=lambda path: path.stem not in ("endless", "warp", "barrier", "race_fence"))
        list(pool.map(one, [(path, number, tool) for path in order
                            for number in range(1, check_test.faults_of(path)[1] + 1) for tool in TOOLS]))
        rows = []
        for path, found in zip(paths, named):
            for fault in check_test.faults_of(path)[0]:
                row = {"file": path.name, "case": fault.case, "fault": fault.kinds[0],
                       "line": " ".join(map(str, sorted(fault.lines))),
                       "ours": "" if found is None else
                               "line" if all(check_test.hits(fault, each) for each in found) else "no"}
                hung = []
                for tool in TOOLS:
                    text, late = texts[path, fault.case, tool]
                    row[tool] = judge_fault(fault, text, path.name)
                    hung += [tool] * late
                rows.append({**row, "hung": " ".join(hung)})
    with open(arguments.table, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    said = collections.Counter(row["hung"] != "" for row in rows)
    print(summary(rows), f"faults whose run hung under some tool: {said[True]}", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

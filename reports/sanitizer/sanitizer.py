#!/usr/bin/env python3
"""Runs NVIDIA's compute-sanitizer on the faulty kernels of check/, to compare what it names with `cc --check`.

    python3 reports/sanitizer/sanitizer.py -o faults.csv [--keep FOLDER] [--jobs N] [--arch sm_90] [FILE.cu ..]
    python3 reports/sanitizer/sanitizer.py --from FOLDER -o faults.csv     the table, from the texts that --keep left
    python3 reports/sanitizer/sanitizer.py --from faults.csv --page page.md    a page, from the table

Needs nvcc, compute-sanitizer and a GPU; --compile-only needs nvcc alone, --from none of them. Each case runs by itself,
once under each of the four tools, and the table is written anew after each run, so that what is done outlives an
interruption. In it a fault is `line`, if it was named with a fitting kind and its line, `kind`, if with the kind only
(or the host's line), `no`, or `not run`; `hung` lists the tools whose run was ended after 20 s, `said` what they named
in the case instead. The column `ours` is `cc --check` on this machine's CPU.
"""

import argparse
import collections
import csv
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import check_test

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SECONDS = 20
INVALID = r"Invalid __\w+__ (?!.*misaligned)|illegal memory access"
WRONG_BARRIER = r"Barrier error|Divergent thread"
# What the tools call each kind, in what a report says before it comes to places and names (which may hold any word).
CALLED = {
    "race": r"Race reported",
    "out-of-bounds": INVALID,
    "use-after-free": INVALID,
    "host-pointer": INVALID,
    "misaligned": r"misaligned",
    "uninitialized": r"Uninitialized",
    "divergent-barrier": WRONG_BARRIER,
    "deadlock": WRONG_BARRIER,
    "invalid-warp-mask": WRONG_BARRIER,
    "invalid-launch": r"invalid configuration|cudaErrorInvalidConfiguration|cudaErrorInvalidValue|invalid argument",
    "time-limit": r"$^",
}
# Faults that tools like these are known to miss: their cases here.
FIVE = [
    ("a race between blocks on global memory", {"race_global.cu": range(2, 14)}),
    ("out of bounds, into the next `__shared__` array", {"bounds_shared.cu": (1, 2, 3, 9, 15)}),
    (
        "shared memory that was never initialised",
        {"uninitialized.cu": (1, 2, 3, 4, 5, 12, 13), "bounds_global.cu": (7,)},
    ),
    ("a warp primitive with lanes missing", {"warp.cu": (4, 5, 6, 8, 10, 11, 12)}),
    ("a barrier that some threads never reach, as they have returned", {"barrier.cu": (3, 6, 8)}),
]


def compile_cuda(path, program, arch):
    """What is wrong with it, or an empty text."""
    done = subprocess.run(
        ["nvcc", "-std=c++20", f"-arch={arch}", "-lineinfo", "-g", "-o", str(program), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr if done.returncode else ""


def run_tool(tool, program, number):
    """(text, whether it hung)"""
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "1000", str(program), str(number)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
    ) as process:
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
    return [report for report in reports if not re.match(r" (COMPUTE-SANITIZER|[A-Z ]*SUMMARY)", report)]


def head_of(report):
    """What a report says, without its places."""
    first, *rest = report.splitlines()
    told = [line.strip() for line in rest if re.match(r"\s+(Access to|Address) ", line)]
    return " ".join([first.strip().split(" at ")[0], *told])


def ended(text):
    """Whether a run came to its end: all tools close with a summary. One that hung had none when it was killed; one
    that was cut off with this script left no text."""
    return bool(re.search(r"^========= [A-Z ]*SUMMARY", text, re.M))


def judge_fault(fault, text, name):
    """line, kind or no."""
    result = "no"
    lines = "|".join(str(line) for line in sorted(fault.lines))
    for report in reports_of(text):
        if not any(re.search(CALLED[kind], head_of(report)) for kind in fault.kinds):
            continue
        # A host frame's line is that of the launch: it counts where the launch is the fault.
        if "invalid-launch" not in fault.kinds:
            report = re.split(r"\n\s+(?:Saved )?[Hh]ost (?:backtrace|Frame)", report)[0]
        if re.search(rf"{re.escape(name)}:({lines})\b", report):
            return "line"
        result = "kind"
    return result


def ours(path, folder, compiler, seeds):
    """The lines and kinds that the check build names, in each of several orders; None, if it does not compile."""
    program = folder / f"{path.stem}-check"
    made = check_test.compile_check(path, program, compiler)
    if made.returncode:
        print(f"{path.name}: {made.stdout}{made.stderr}", file=sys.stderr)
        return None
    return [check_test.findings_of(check_test.run(program, seed).stderr, path) for seed in seeds]


def said_of(texts, fault):
    """What the tools name in a case that is no fitting kind."""
    said = set()
    for tool, text in texts:
        for report in reports_of(text):
            head = head_of(report)
            known = [*(CALLED[kind] for kind in fault.kinds), "Program hit"]  # the latter repeats an invalid access
            if not any(re.search(pattern, head) for pattern in known):
                head = re.sub(r" (Access to|Address) .*", "", head)
                said.add(f"{tool}: {head}")
    return "; ".join(sorted(said))


def rows_of(paths, texts, named, about):
    """The table: a fault a row, with what is known so far of {(path, case, tool): (text, whether it hung)}."""
    rows = []
    for path in paths:
        for fault in check_test.faults_of(path)[0]:
            own = [(tool, *texts[path, fault.case, tool]) for tool in TOOLS if (path, fault.case, tool) in texts]
            found = named.get(path)
            row = {
                "file": path.name,
                "case": fault.case,
                "fault": fault.kinds[0],
                "line": " ".join(map(str, sorted(fault.lines))),
                "ours": ""
                if found is None
                else "line"
                if all(check_test.hits(fault, each) for each in found)
                else "no",
            }
            row.update(dict.fromkeys(TOOLS, "not run"))
            row.update({tool: judge_fault(fault, text, path.name) for tool, text, _ in own})
            rows.append(
                {
                    **row,
                    "hung": " ".join(tool for tool, _, late in own if late),
                    "said": said_of([each[:2] for each in own], fault),
                    **about,
                }
            )
    return rows


def write_table(path, rows):
    """As a whole, or not at all."""
    beside = Path(f"{path}.new")
    with open(beside, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(beside, path)


def kept_texts(folder, paths):
    """What --keep has left."""
    texts = {}
    for path in paths:
        for number in range(1, check_test.faults_of(path)[1] + 1):
            for tool in TOOLS:
                kept = folder / f"{path.stem}-{number}-{tool}.txt"
                text = kept.read_text(errors="replace") if kept.exists() else ""
                if text.strip():  # an empty one does not tell how its run went
                    texts[path, number, tool] = text, not ended(text)
    return texts


def outcome(row):
    """What the four tools together say of a fault; `not run`, if one of them might still name it with its line."""
    results = [row[tool] for tool in TOOLS]
    return next(result for result in ("line", "not run", "kind", "no") if result in results)


def summary(rows):
    """By kind: how the faults fare."""
    head = ["kind", "faults", "run", "kind and line", "kind only", "not at all", "of them hung", "`cc --check`"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for kind in [*sorted({row["fault"] for row in rows}), "all"]:
        those = [row for row in rows if kind in (row["fault"], "all")]
        ran = [row for row in those if outcome(row) != "not run"]
        got = collections.Counter(map(outcome, ran))
        share = [f"{got[name]} ({100 * got[name] / len(ran):.0f} %)" if ran else "" for name in ("line", "kind", "no")]
        checked = [row["ours"] for row in those if row["ours"]]
        cells = [
            kind,
            len(those),
            len(ran),
            *share,
            sum(bool(row["hung"]) for row in ran) if ran else "",
            f"{checked.count('line')} of {len(checked)}" if checked else "",
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def told_by(rows):
    """What each tool said of these faults, in words."""
    parts = []
    for tool in TOOLS:
        count = collections.Counter("hung" if tool in row["hung"].split() else row[tool] for row in rows)
        words = [("line", "named with its line"), ("kind", "named"), ("no", "silent"), ("hung", "hung")]
        parts.append((tool, ", ".join(f"{word} {count[name]}" for name, word in words if count[name])))
    if len({words for _, words in parts}) == 1:
        return f"all four tools: {parts[0][1]}"
    return "; ".join(f"{tool}: {words or 'not run'}" for tool, words in parts)


def page(rows, command):
    """The table in words, as Markdown."""
    one = rows[0]
    runs = len({(row["file"], row["case"], tool) for row in rows for tool in TOOLS if row[tool] != "not run"})
    every = len({(row["file"], row["case"]) for row in rows}) * len(TOOLS)
    hung = len({(row["file"], row["case"], tool) for row in rows for tool in row["hung"].split()})
    missed = [row for row in rows if outcome(row) == "no"]
    lines = [
        "# The check build's faulty kernels under compute-sanitizer",
        "",
        f"{one['machine']}, {one['date']}, commit {one['commit']}. This page: `{command}`.",
        "",
        "Each case of `tests/wrong/kernels/` ran by itself under memcheck, racecheck, initcheck and synccheck. "
        "A fault counts as named if one of the four did; with its line if a frame on the device (at a launch: on "
        f"the host) shows it. Of {every} runs {runs} were done and {hung} of those ended after {SECONDS} s, as "
        "they hung (of what a killed tool has written, the closing summary is missing).",
    ]
    parts = sorted({row["file"] for row in rows if outcome(row) == "not run"})
    if runs < every:
        lines += [
            f"The other {every - runs} were not done, as the time was up: their faults count nowhere but under "
            "`faults`, and the shares are of the faults that were `run`. That is no random sample: whole "
            f"files are missing, or their last cases: {', '.join(parts)}."
        ]
    newer = sum(len(check_test.faults_of(path)[0]) for path in sorted(check_test.HERE.glob("*.cu"))) - len(rows)
    if newer > 0:
        lines += ["", f"{newer} faults in `tests/wrong/kernels/` are newer than these runs."]
    lines += [
        "",
        summary(rows),
        "",
        "`cc --check` must name kind and line in each of three orders; `tests/wrong/kernels/check_test.py` holds it to "
        "that, and these kernels were written to test it, which favours it. Not every fault shows on a GPU, "
        "either: since Volta a thread that has returned no longer counts at a barrier, and the first invalid "
        "access ends a kernel, so that a second fault behind it (`kind only`) never happens.",
        "",
        "## Five kinds that such tools miss",
        "",
    ]
    for name, cases in FIVE:
        those = [row for row in rows if int(row["case"]) in cases.get(row["file"], ())]
        ran = [row for row in those if outcome(row) != "not run"]
        files = ", ".join(f"`{file}`" for file in cases)
        lines += [
            f"- {name[0].upper()}{name[1:]} ({files}; {len(those)} faults, {len(ran)} run): "
            + (told_by(ran) if ran else "not run, so it is not known")
            + "."
        ]
    lines += ["", "## What all four missed", ""]
    for row in missed:
        source = (check_test.HERE / row["file"]).read_text().splitlines()
        code = source[int(row["line"].split()[0]) - 1].split("//")[0].strip()
        told = [
            "hung under all"
            if len(row["hung"].split()) == len(TOOLS)
            else f"hung under {row['hung']}"
            if row["hung"]
            else "",
            row["said"],
        ]
        lines += [
            f"- {row['file']}:{row['line'].replace(' ', ', ')}, {row['fault']}: `{code}`"
            + "".join(f"; {text}" for text in told if text)
        ]
    return "\n".join(lines) + "\n"


def measure(arguments, paths, texts, save):
    """Compiles and runs; what is wrong, or 0. Calls save() after each run."""
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
        lock = threading.Lock()

        def one(task):
            path, number, tool = task
            result = run_tool(tool, folder / path.stem, number)
            if arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"{path.stem}-{number}-{tool}.txt").write_text(result[0])
            with lock:
                texts[task] = result
                save()

        # Those that hang take their 20 s: begin with them.
        order = sorted(paths, key=lambda path: path.stem not in ("endless", "warp", "barrier", "race_fence"))
        list(
            pool.map(
                one,
                [
                    (path, number, tool)
                    for path in order
                    for number in range(1, check_test.faults_of(path)[1] + 1)
                    for tool in TOOLS
                ],
            )
        )
    return 0


def told(*command):
    """What a command says, or an empty text."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=check_test.ROOT).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def main():
    """Writes the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", dest="table", type=Path, help="the table (faults.csv, unless --from is a table)")
    parser.add_argument("--from", dest="kept", type=Path, help="a folder of kept texts, or a table")
    parser.add_argument("--page", type=Path, help="a page to write")
    parser.add_argument("--machine", default="", help="where the texts are from; with --date and --commit")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--commit", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--compiler", default="g++", help="of the check build")
    parser.add_argument("--without-ours", action="store_true", help="the column `ours` stays empty")
    parser.add_argument("--keep", type=Path, help="a folder for what the tools say, a file a run")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    if arguments.kept and not arguments.kept.exists():
        parser.error(f"no such folder or table: {arguments.kept}")
    if arguments.kept and arguments.kept.is_file():
        with open(arguments.kept, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    else:
        paths = [path.resolve() for path in arguments.files] or sorted(check_test.HERE.glob("*.cu"))
        table = arguments.table or Path("faults.csv")
        about = {
            "machine": arguments.machine
            or (told("nvidia-smi", "--query-gpu=name", "--format=csv,noheader") if not arguments.kept else ""),
            "date": arguments.date,
            "commit": arguments.commit or told("git", "rev-parse", "--short", "HEAD"),
        }
        texts, named = {}, {}
        if arguments.kept:
            texts = kept_texts(arguments.kept, paths)
        else:
            failed = measure(arguments, paths, texts, lambda: write_table(table, rows_of(paths, texts, {}, about)))
            if failed or arguments.compile_only:
                return failed
        if not arguments.without_ours:
            with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(arguments.jobs) as pool:
                named = dict(
                    zip(
                        paths,
                        pool.map(lambda path: ours(path, Path(name), arguments.compiler, ["0", "1", "77"]), paths),
                    )
                )
        rows = rows_of(paths, texts, named, about)
        write_table(table, rows)
    print(summary(rows))
    if arguments.page:
        source = arguments.table if arguments.table else arguments.kept
        arguments.page.write_text(
            page(rows, f"python3 reports/sanitizer/sanitizer.py --from {source} --page {arguments.page}"),
            encoding="utf-8",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs NVIDIA's compute-sanitizer on the faulty kernels of tests/wrong/kernels, to compare it with `cc --check`.

    python3 reports/sanitizer/sanitizer.py -o faults.csv [--keep FOLDER] [--jobs N] [--arch sm_90] [FILE.cu ...]
    python3 reports/sanitizer/sanitizer.py --from FOLDER -o faults.csv     the table, from the output that --keep stored
    python3 reports/sanitizer/sanitizer.py --from faults.csv --page page.md    a page, from the table

Needs nvcc, compute-sanitizer and a GPU; --compile-only needs only nvcc, and --from none of them. Each case runs by
itself, once under each of the four tools. The table is written after each run, so an interruption loses nothing.

The table has one row per fault; `line` holds its lines, and `code` the source of the first. In a tool's column, `line`
means that the tool named the fault's kind and line, `kind` that it named the kind only (or the host's line), and `no`
that it did not name it. `hung` lists the tools that were ended after 20 s, and `other_reports` what the tools named
instead. The column `check_build` is the result of `cc --check` on this machine's CPU.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import tool_output
from page import Row, page, summary
from tool_output import ROOT, TOOLS

sys.path.insert(0, str(ROOT / "common"))

import check_test

from workbook.core import files, machine
from workbook.core.course import shown

SECONDS = 20  # for one run of a tool
SEEDS = ("0", "1", "77")  # orders of threads in the check build
HANG = ("endless", "warp", "barrier", "child_launches", "constants", "grid", "graphs")  # the files with cases that hang
NESTED = "child_launches"  # kernels that launch kernels need relocatable code
REFUSED = check_test.HERE / "refused_by_nvcc.cu"


def sources() -> list[Path]:
    """The files that run on a GPU."""
    return sorted(set(check_test.HERE.glob("*.cu")) - {REFUSED})


def count_faults(paths: Sequence[Path]) -> int:
    """The number of faults in files."""
    return sum(len(check_test.faults_of(path)[0]) for path in paths)


@dataclass(frozen=True)
class Task:
    """One run: a case of a file, under one tool."""

    path: Path
    case: int
    tool: str

    def kept_in(self, folder: Path) -> Path:
        """The file in which --keep stores the tool's output."""
        return folder / f"{self.path.stem}-{self.case}-{self.tool}.txt"


@dataclass(frozen=True)
class Output:
    """What a tool printed, and whether it was ended at the time limit."""

    text: str
    hung: bool


Outputs = dict[Task, Output]
Findings = set[tuple[int, str]]  # (line, kind)


def tasks_of(paths: Sequence[Path]) -> list[Task]:
    """All runs of these files."""
    return [
        Task(path, case, tool)
        for path in paths
        for case in range(1, check_test.faults_of(path)[1] + 1)
        for tool in TOOLS
    ]


# --- compute-sanitizer ---


def compile_cuda(path: Path, program: Path, arch: str) -> str:
    """Compiles a file with nvcc; the compiler's errors, "" if there are none."""
    command = [
        "nvcc",
        "-std=c++20",
        f"-arch={arch}",
        "-lineinfo",
        "-g",
        *(["-rdc=true"] if path.stem == NESTED else []),
        "--extended-lambda",
        "-o",
        str(program),
        str(path),
        "-lcudadevrt",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def run_tool(tool: str, program: Path, case: int) -> Output:
    """Runs one case under one tool."""
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "1000", str(program), str(case)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
    ) as process:
        try:
            return Output(process.communicate(timeout=SECONDS)[0], False)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the program as well as the tool
            return Output(process.communicate()[0] or "", True)


def run_all(
    paths: Sequence[Path], folder: Path, jobs: int, keep: Path | None, done: Callable[[Task, Output], None]
) -> None:
    """Runs every case of the programs in `folder` under every tool; calls `done` after each run, one at a time."""
    lock = threading.Lock()

    def run_task(task: Task) -> None:
        output = run_tool(task.tool, folder / task.path.stem, task.case)
        if keep:
            keep.mkdir(parents=True, exist_ok=True)
            task.kept_in(keep).write_text(output.text, encoding="utf-8")
        with lock:
            done(task, output)

    # Runs that hang take the whole time limit, so they begin first.
    ordered = sorted(paths, key=lambda path: path.stem not in HANG)
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(run_task, tasks_of(ordered)))


def measure(arguments: argparse.Namespace, paths: Sequence[Path], done: Callable[[Task, Output], None]) -> int:
    """Compiles the files and, unless --compile-only is given, runs them; the exit status."""
    needed = ["nvcc"] if arguments.compile_only else ["nvcc", "compute-sanitizer"]
    missing = [name for name in needed if not shutil.which(name)]
    if missing:
        print(f"not found: {', '.join(missing)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ThreadPoolExecutor(arguments.jobs) as pool:
            errors = list(pool.map(lambda path: compile_cuda(path, folder / path.stem, arguments.arch), paths))
        for path, error in zip(paths, errors):
            if error:
                print(f"{path.name} does not compile:\n{error}", file=sys.stderr)
        if any(errors):
            return 1
        if not arguments.compile_only:
            run_all(paths, folder, arguments.jobs, arguments.keep, done)
    return 0


def kept_outputs(folder: Path, paths: Sequence[Path]) -> Outputs:
    """The outputs that --keep stored."""
    outputs = {}
    for task in tasks_of(paths):
        kept = task.kept_in(folder)
        text = kept.read_text(encoding="utf-8", errors="replace") if kept.exists() else ""
        if text.strip():  # a run that was interrupted with this script left an empty file
            outputs[task] = Output(text, hung=not tool_output.complete(text))
    return outputs


# --- the check build ---


def check_build_findings(path: Path, folder: Path, compiler: str) -> list[Findings] | None:
    """What the check build reports in each of several orders of threads; None if the file does not compile."""
    program = folder / f"{path.stem}-check"
    made = check_test.compile_check(path, program, compiler)
    if made.returncode:
        print(f"{path.name}: {made.stdout}{made.stderr}", file=sys.stderr)
        return None
    return [check_test.findings_of(check_test.run(program, seed).stderr, path) for seed in SEEDS]


def all_check_build_findings(paths: Sequence[Path], arguments: argparse.Namespace) -> dict[Path, list[Findings] | None]:
    """The findings of the check build in each file."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(arguments.jobs) as pool:
        findings = pool.map(lambda path: check_build_findings(path, Path(name), arguments.compiler), paths)
        return dict(zip(paths, findings))


# --- the table ---


def row_of(path: Path, fault: check_test.Fault, outputs: Outputs, findings: list[Findings] | None) -> Row:
    """The row of one fault, as far as its case has run."""
    source = path.read_text(encoding="utf-8").splitlines()
    of_case = {tool: outputs[task] for tool in TOOLS if (task := Task(path, fault.case, tool)) in outputs}
    check_build = ""
    if findings is not None:
        check_build = "line" if all(check_test.hits(fault, found) for found in findings) else "no"
    others = {
        f"{tool}: {heading}"
        for tool, output in of_case.items()
        for heading in tool_output.other_headings(fault, output.text)
    }
    return {
        "file": path.name,
        "case": str(fault.case),
        "fault": fault.kinds[0],
        "line": " ".join(map(str, sorted(fault.lines))),
        "code": source[min(fault.lines) - 1].split("//")[0].strip(),
        "check_build": check_build,
        **dict.fromkeys(TOOLS, "not run"),
        **{tool: tool_output.verdict(fault, output.text, path.name) for tool, output in of_case.items()},
        "hung": " ".join(tool for tool, output in of_case.items() if output.hung),
        "other_reports": "; ".join(sorted(others)),
    }


def table(
    paths: Sequence[Path], outputs: Outputs, findings: Mapping[Path, list[Findings] | None], facts: Row
) -> list[Row]:
    """One row per fault; `facts` is the same in all."""
    return [
        {**row_of(path, fault, outputs, findings.get(path)), **facts}
        for path in paths
        for fault in check_test.faults_of(path)[0]
    ]


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Writes the table as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files.write_whole(path, text.getvalue())


def page_text(path: Path, rows: Sequence[Row], table_name: Path) -> str:
    """The page that belongs into `path`."""
    command = f"python3 reports/sanitizer/sanitizer.py --from {shown(table_name)} --page {shown(path)}"
    newer = count_faults(sources()) - len(rows)
    return page(rows, command, SECONDS, newer, count_faults([REFUSED]))


# --- the command ---


def parse_arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", dest="table", metavar="TABLE", type=Path, help="the table to write (default: faults.csv)")
    parser.add_argument("--from", dest="source", type=Path, help="a folder that --keep wrote, or a table")
    parser.add_argument("--page", type=Path, help="the page to write")
    parser.add_argument("--check", action="store_true", help="do not write the page; fail if it is out of date")
    parser.add_argument("--machine", default="", help="where the outputs come from; goes with --date and --commit")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--commit", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--compiler", default="g++", help="the compiler of the check build")
    parser.add_argument("--without-check-build", action="store_true", help="leave the column `check_build` empty")
    parser.add_argument("--keep", type=Path, help="a folder for the output of each run")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    if arguments.source and not arguments.source.exists():
        parser.error(f"no such folder or table: {arguments.source}")
    return arguments


def facts_of(arguments: argparse.Namespace) -> Row:
    """The columns that describe a measurement."""
    return {
        "machine": arguments.machine or ("" if arguments.source else machine.gpu_name()),
        "date": arguments.date,
        "commit": arguments.commit or machine.commit(),
    }


def make_table(arguments: argparse.Namespace) -> list[Row]:
    """Makes and writes the table, from runs or from kept outputs. Raises SystemExit if there is nothing to tabulate."""
    paths = [path.resolve() for path in arguments.files] or sources()
    path = arguments.table or Path("faults.csv")
    facts = facts_of(arguments)
    outputs: Outputs = kept_outputs(arguments.source, paths) if arguments.source else {}

    def add(task: Task, output: Output) -> None:
        outputs[task] = output
        write_table(path, table(paths, outputs, {}, facts))

    if not arguments.source:
        status = measure(arguments, paths, add)
        if status or arguments.compile_only:
            raise SystemExit(status)
    findings = {} if arguments.without_check_build else all_check_build_findings(paths, arguments)
    rows = table(paths, outputs, findings, facts)
    write_table(path, rows)
    return rows


def main() -> int:
    """Writes the table, the page, or both."""
    arguments = parse_arguments()
    if arguments.source and arguments.source.is_file():
        with open(arguments.source, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    else:
        rows = make_table(arguments)
    print(summary(rows))
    if arguments.page:
        text = page_text(arguments.page, rows, arguments.table or arguments.source or Path("faults.csv"))
        if not arguments.check:
            files.write_whole(arguments.page, text)
        elif arguments.page.read_text(encoding="utf-8") != text:
            print(f"{shown(arguments.page)} is out of date: run the command that its first lines name", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

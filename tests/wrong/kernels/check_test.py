"""Compiles faulty kernels with `cc --check` and counts how many faults are reported with the right kind and line.

In kernels/*.cu each `CASE { ... }` launches the kernel between it and the case before. A comment `// expect: KIND` is
on every line that must be reported (if it names two kinds, either will do). `// expect-one: KIND` is on lines of which
at least one must be reported: a race has two ends, and the order of threads decides which comes second. No other line
may be reported. kernels/right/*.cu must have no finding at all. A comment `// note: KIND` is on every line that must
have a note of a kind in REMARKS; no other line may have one. Without names of files, some are drawn (drawn.py).
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from drawn import drawn  # noqa: E402

MARK = re.compile(r"// expect(-one)?: ([\w -]+?)\s*$")
FINDING = re.compile(r"^(.+?):(\d+): error: ([\w-]+): ")
NOTE_MARK = re.compile(r"// note: ([\w-]+)\s*$")
NOTE = re.compile(r"^(.+?):(\d+): note: ([\w-]+): ")
# Other notes are on costs.
REMARKS = (
    *("early-exit", "same-value", "shuffle-order", "split-primitive", "stream-race", "tested-atomic", "uninitialized"),
)


@dataclass(frozen=True)
class Fault:
    """One of the lines must be reported, with one of the kinds. The first kind is the fault's name."""

    case: int
    lines: frozenset[int]
    kinds: tuple[str, ...]


Tally = dict[str, list[int]]  # by kind: [caught, all]


def faults_of(path: Path) -> tuple[list[Fault], int]:
    """The faults of a program, and the number of its cases."""
    faults: list[Fault] = []
    groups: dict[tuple[int, str], tuple[set[int], set[str]]] = {}
    case = begun = 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("CASE "):
            begun += 1
        if mark := MARK.search(line):
            of_case = begun if line.startswith("CASE ") or begun > case else case + 1
            kinds = tuple(mark[2].split())
            if mark[1]:
                lines, group_kinds = groups.setdefault((of_case, kinds[0]), (set(), set(kinds)))
                lines.add(number)
                group_kinds.update(kinds)
            else:
                faults.append(Fault(of_case, frozenset({number}), kinds))
        if line == "}" or (line.startswith("CASE ") and line.split("//")[0].rstrip().endswith("}")):
            case = begun
    for (of_case, kind), (lines, group_kinds) in groups.items():
        faults.append(Fault(of_case, frozenset(lines), (kind, *sorted(group_kinds - {kind}))))
    return sorted(faults, key=lambda fault: (fault.case, min(fault.lines))), begun


def compile_check(path: Path, program: Path, compiler: str) -> subprocess.CompletedProcess[str]:
    """Compiles the program with its observers."""
    return subprocess.run(
        [str(ROOT / "workbook"), "cc", "--check", str(path), "-o", str(program), "--cxx", compiler],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def run(program: Path, seed: str) -> subprocess.CompletedProcess[str]:
    """Runs all cases, one after the other. A kernel that does not end is stopped soon."""
    return subprocess.run(
        [str(program)],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
        cwd=ROOT,  # to which the names of sources are relative
        env={**os.environ, "SIMT_SEED": seed, "SIMT_SECONDS": "2"},
    )


def findings_of(text: str, path: Path) -> set[tuple[int, str]]:
    """The findings (line, kind) in one source file."""
    matches = (FINDING.match(line) for line in text.splitlines())
    return {(int(m[2]), m[3]) for m in matches if m and Path(m[1]).name == path.name}


def remarks_in(path: Path) -> set[tuple[int, str]]:
    """The notes (line, kind) that a source file asks for."""
    marks = ((number, NOTE_MARK.search(line)) for number, line in enumerate(path.read_text().splitlines(), 1))
    return {(number, mark[1]) for number, mark in marks if mark}


def remarks_of(text: str, path: Path) -> set[tuple[int, str]]:
    """The notes (line, kind) of REMARKS that were printed for one source file."""
    matches = (NOTE.match(line) for line in text.splitlines())
    return {(int(m[2]), m[3]) for m in matches if m and Path(m[1]).name == path.name and m[3] in REMARKS}


def hits(fault: Fault, found: set[tuple[int, str]]) -> set[tuple[int, str]]:
    """The findings that report the fault."""
    return {(line, kind) for line, kind in found if line in fault.lines and kind in fault.kinds}


def check_run(path: Path, program: Path, seed: str, where: str, tally: Tally) -> list[str]:
    """What is wrong with one run. Counts into the tally."""
    try:
        done = run(program, seed)
    except subprocess.TimeoutExpired:
        return [f"{where} does not end"]
    wrong: list[str] = []
    faults, _ = faults_of(path)
    found = findings_of(done.stderr, path)
    expected: set[tuple[int, str]] = set()
    for fault in faults:
        of_fault = hits(fault, found)
        expected |= of_fault
        tally[fault.kinds[0]][0] += bool(of_fault)
        tally[fault.kinds[0]][1] += 1
        if not of_fault:
            wrong.append(f"{where}: line {sorted(fault.lines)}: no {' or '.join(fault.kinds)}")
    lines = done.stderr.splitlines()
    races = [pair for pair in zip(lines, lines[1:]) if ": error: stream-race: " in pair[0]]
    wrong += [f"{where}: no line of the other operation: {line}" for line, other in races if path.name not in other]
    errors = [line for line in lines if ": error: " in line]
    unexpected = [line for line in errors if not findings_of(line, path) & expected]
    if unexpected:
        wrong.append(f"{where}: unexpected\n  " + "\n  ".join(unexpected))
    if remarks_of(done.stderr, path) != remarks_in(path):
        wrong.append(f"{where}: notes {sorted(remarks_of(done.stderr, path) ^ remarks_in(path))} missing or unexpected")
    if done.returncode != (3 if faults else 0):
        wrong.append(f"{where}: exit code {done.returncode}\n{done.stderr[-600:]}")
    return wrong


def table(tally: Tally) -> str:
    """The share that was caught, by kind."""
    lines = [f"{'kind':24}{'faults':>8}{'caught':>8}{'share':>8}"]
    total = [sum(column) for column in zip(*tally.values())] or [0, 0]
    for kind, (caught, faults) in [*sorted(tally.items()), ("all", total)]:
        lines.append(f"{kind:24}{faults:8}{caught:8}{100 * caught / max(faults, 1):7.1f}%")
    return "\n".join(lines)


def main() -> int:
    """Exit status 1 if a fault was missed or something else was reported."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", action="append")
    parser.add_argument("--seed", action="append")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    tally: Tally = collections.defaultdict(lambda: [0, 0])

    def check_program(compiler: str, path: Path, folder: str) -> list[str]:
        # kernels/heap.cu and kernels/right/heap.cu are compiled at the same time.
        program = Path(folder) / f"{path.parent.name}-{path.stem}-{Path(compiler).name}"
        made = compile_check(path, program, compiler)
        if made.returncode:
            return [f"{path.name} ({compiler}) does not compile: {made.stdout}{made.stderr}"]
        wrong = []
        for seed in arguments.seed or ["0", "1", "77"]:
            wrong += check_run(path, program, seed, f"{path.name} ({compiler}, SIMT_SEED={seed})", tally)
        return wrong

    wrong = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        tasks = [
            pool.submit(check_program, compiler, path.resolve(), folder)
            for compiler in arguments.compiler or ["g++"]
            for path in arguments.files or drawn(sorted(HERE.glob("**/*.cu")), 22)
        ]
        for task in tasks:
            wrong += task.result()
    heading = "caught, with kind and line:"
    print("\n".join(wrong), f"\n\n{heading}" if wrong else heading, sep="")
    print(table(tally))
    caught, faults = (sum(counts[i] for counts in tally.values()) for i in (0, 1))
    print(f"caught: {caught} of {faults} faults in kernels, with kind and line")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

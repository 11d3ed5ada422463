"""Compiles faulty kernels with `cc --check` and counts how many are caught, with their kind and line.

In check/*.cu each CASE { .. } launches what stands between it and the case before. There a comment `// expect: KIND`
is on every line that must be named (two kinds: either will do), and `// expect-one: KIND` on lines of which at least
one must be, as a race has two ends and the order of threads decides which comes second. No other line may be named.
check/right/*.cu must have no finding at all.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MARK = re.compile(r"// expect(-one)?: ([\w -]+?)\s*$")
FINDING = re.compile(r"^(.+?):(\d+): error: ([\w-]+): ")

# What must be named: one of the lines, with one of the kinds; the first kind is the fault's name.
Fault = collections.namedtuple("Fault", "case lines kinds")


def faults_of(path):
    """The faults of a program, and how many cases it has."""
    single, groups = [], {}
    case = begun = 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("CASE "):
            begun += 1
        if mark := MARK.search(line):
            of_case = begun if line.startswith("CASE ") or begun > case else case + 1
            kinds = tuple(mark[2].split())
            if mark[1]:
                groups.setdefault((of_case, kinds[0]), (set(), set(kinds)))[0].add(number)
                groups[of_case, kinds[0]][1].update(kinds)
            else:
                single.append(Fault(of_case, {number}, kinds))
        if line == "}" or (line.startswith("CASE ") and line.split("//")[0].rstrip().endswith("}")):
            case = begun
    grouped = [
        Fault(of_case, lines, (kind, *sorted(kinds - {kind}))) for (of_case, kind), (lines, kinds) in groups.items()
    ]
    return sorted(single + grouped, key=lambda fault: (fault.case, min(fault.lines))), begun


def compile_check(path, program, compiler):
    """The program with its observers."""
    return subprocess.run(
        [str(ROOT / "workbook"), "cc", "--check", str(path), "-o", str(program), "--cxx", compiler],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def run(program, seed):
    """All cases, one after the other. A kernel that does not end is given up soon."""
    return subprocess.run(
        [str(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "SIMT_SEED": seed, "SIMT_SECONDS": "2"},
    )


def findings_of(text, path):
    """{(line, kind)} of one source file."""
    return {(int(m[2]), m[3]) for m in map(FINDING.match, text.splitlines()) if m and Path(m[1]).name == path.name}


def hits(fault, found):
    """Those findings that name the fault."""
    return {(line, kind) for line, kind in found if line in fault.lines and kind in fault.kinds}


def judge(path, program, seed, where, tally):
    """What is wrong with one run; counts into tally[kind] = [caught, faults]."""
    wrong = []
    try:
        done = run(program, seed)
    except subprocess.TimeoutExpired:
        return [f"{where} hangs"]
    faults, _ = faults_of(path)
    found = findings_of(done.stderr, path)
    named = set()
    for fault in faults:
        hit = hits(fault, found)
        named |= hit
        tally[fault.kinds[0]][0] += bool(hit)
        tally[fault.kinds[0]][1] += 1
        if not hit:
            wrong.append(f"{where}: line {sorted(fault.lines)}: no {' or '.join(fault.kinds)}")
    errors = [line for line in done.stderr.splitlines() if ": error: " in line]
    strange = [line for line in errors if not findings_of(line, path) & named]
    if strange:
        wrong.append(f"{where}: unexpected\n  " + "\n  ".join(strange))
    if done.returncode != (3 if faults else 0):
        wrong.append(f"{where}: exit code {done.returncode}\n{done.stderr[-600:]}")
    return wrong


def table(tally):
    """The share that was caught, by kind."""
    lines = [f"{'kind':24}{'faults':>8}{'caught':>8}{'share':>8}"]
    for kind, (caught, all_) in [*sorted(tally.items()), ("all", [sum(c) for c in zip(*tally.values())] or [0, 0])]:
        lines.append(f"{kind:24}{all_:8}{caught:8}{100 * caught / max(all_, 1):7.1f}%")
    return "\n".join(lines)


def main():
    """Exit status 1 if a fault was missed or something else was named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", action="append")
    parser.add_argument("--seed", action="append")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    tally = collections.defaultdict(lambda: [0, 0])

    def one(compiler, path, folder):
        program = Path(folder) / f"{path.stem}-{Path(compiler).name}"
        made = compile_check(path, program, compiler)
        if made.returncode:
            return [f"{path.name} ({compiler}) does not compile: {made.stdout}{made.stderr}"]
        wrong = []
        for seed in arguments.seed or ["0", "1", "77"]:
            wrong += judge(path, program, seed, f"{path.name} ({compiler}, SIMT_SEED={seed})", tally)
        return wrong

    wrong = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        tasks = [
            pool.submit(one, compiler, path.resolve(), folder)
            for compiler in arguments.compiler or ["g++"]
            for path in arguments.files or sorted(HERE.glob("**/*.cu"))
        ]
        for task in tasks:
            wrong += task.result()
    print("\n".join(wrong), "\n\ncaught, with kind and line:" if wrong else "caught, with kind and line:", sep="")
    print(table(tally))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

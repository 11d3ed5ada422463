"""Compiles faulty kernels with `cc --check` and counts how many are caught, with their kind and line.

In check/*.cu a comment `// expect: KIND` stands on every line that must be named (two kinds: either will do), and
`// expect-one: KIND` on lines of which at least one must be, as a race has two ends and the order of threads decides
which comes second. No other line may be named. check/right/*.cu must have no finding at all.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent / "check"
ROOT = HERE.parents[2]
MARK = re.compile(r"// expect(-one)?: ([\w -]+?)\s*$")
FINDING = re.compile(r"^(.+?):(\d+): error: ([\w-]+): ")


def function_of(lines, number):
    """Marks with expect-one belong together up to the next empty line."""
    while number > 1 and lines[number - 2].strip():
        number -= 1
    return number


def expected(path):
    """[(lines, kinds)]: of each, one of the lines must be named, with one of the kinds."""
    lines = path.read_text().splitlines()
    all_of, groups = [], {}
    for number, line in enumerate(lines, 1):
        if mark := MARK.search(line):
            kinds = set(mark[2].split())
            if mark[1]:
                groups.setdefault((function_of(lines, number), mark[2]), (set(), kinds))[0].add(number)
            else:
                all_of.append(({number}, kinds))
    return all_of + list(groups.values())


def compile_check(path, program, compiler):
    return subprocess.run([str(ROOT / "workbook"), "cc", "--check", str(path), "-o", str(program), "--cxx", compiler],
                          capture_output=True, text=True, check=False, cwd=ROOT)


def run(program, seed):
    return subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "SIMT_SEED": seed})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", action="append")
    parser.add_argument("--seed", action="append")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    caught = wanted = 0
    wrong = []
    for compiler in arguments.compiler or ["g++"]:
        for path in arguments.files or sorted(HERE.glob("**/*.cu")):
            with tempfile.TemporaryDirectory() as folder:
                program = Path(folder) / path.stem
                made = compile_check(path, program, compiler)
                if made.returncode:
                    wrong.append(f"{path.name} ({compiler}) does not compile: {made.stdout}{made.stderr}")
                    continue
                for seed in arguments.seed or ["0", "1", "77"]:
                    where = f"{path.name} ({compiler}, SIMT_SEED={seed})"
                    try:
                        done = run(program, seed)
                    except subprocess.TimeoutExpired:
                        wrong.append(f"{where} hangs")
                        continue
                    found = {(int(m[2]), m[3]) for m in map(FINDING.match, done.stderr.splitlines())
                             if m and Path(m[1]).name == path.name}
                    errors = [line for line in done.stderr.splitlines() if ": error: " in line]
                    named = set()
                    for lines, kinds in expected(path):
                        wanted += 1
                        hit = {(line, kind) for line, kind in found if line in lines and kind in kinds}
                        named |= hit
                        caught += bool(hit)
                        if not hit:
                            wrong.append(f"{where}: line {sorted(lines)}: no {' or '.join(sorted(kinds))}")
                    if len(found) > len(named) or (errors and not found):
                        wrong.append(f"{where}: unexpected {sorted(found - named)}\n" + "\n".join(errors))
                    if done.returncode != (3 if expected(path) else 0):
                        wrong.append(f"{where}: exit code {done.returncode}\n{done.stderr[-600:]}")
    print(f"caught, with kind and line: {caught} of {wanted}")
    print("\n".join(wrong))
    return 1 if wrong or caught < wanted else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The program that measures the records (reports/records/measure.cpp).

measure_test.py run PROGRAM...    programs of the cpu build print a row for each sort; those of the cuda build, help
measure_test.py compile CXX NVCC  the program compiles with the headers of NVCC's CUDA. No GPU is needed.
"""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = "machine,commit,sort,type,order,input,n,runs,min_ms,median_ms,gkeys_per_s,ratio"


def rows_of(program: str, *options: str) -> list[dict[str, str]]:
    """What the program measures. Raises CalledProcessError if it fails."""
    command = [program, "--commit", "abc", "--runs", "3", *options]
    rows = list(csv.DictReader(io.StringIO(subprocess.run(command, capture_output=True, text=True, check=True).stdout)))
    assert rows and all(",".join(row) == HEADER and None not in row.values() for row in rows), rows
    return rows


def check_rows(program: str, lab: str, step: str, *options: str) -> None:
    """The step comes last, after at least one other sort, and all have times."""
    rows = rows_of(program, "--step", step, *options)
    assert len(rows) > 1 and rows[-1]["sort"] == f"{lab} {step}" and rows[-1]["ratio"] == "1.000", rows
    for row in rows:
        assert 0 < float(row["min_ms"]) <= float(row["median_ms"]) and row["commit"] == "abc", row


def check_drawn(program: str, *options: str) -> None:
    """A seed draws the same cells again, another seed others, and a summary follows their rows."""
    drawn = []
    for seed in ("1", "1", "2"):
        command = [program, "--commit", "abc", "--runs", "1", "--draw", seed, "--cells", "12", *options]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        comments = [line for line in output.splitlines() if line.startswith("#")]
        assert comments[0].startswith("# 12 cells: ") and len(comments) == 6, comments
        rows = csv.DictReader(line for line in output.splitlines() if not line.startswith("#"))
        drawn.append({(row["type"], row["order"], row["input"], row["n"]) for row in rows})
        assert len(drawn[-1]) == 12 and all(64 <= int(n) <= 1024 for _, _, _, n in drawn[-1]), drawn[-1]
    assert drawn[0] == drawn[1] and not drawn[0] & drawn[2], drawn


def check_program(program: str) -> None:
    """A program of the cpu build measures; one of the cuda build, for which there may be no GPU, starts."""
    subprocess.run([program, "--help"], capture_output=True, check=True)
    lab = Path(program).name.removeprefix("measure-").removesuffix("-cpu")
    if lab.endswith("-cuda"):
        return
    key_type = "u8" if lab == "04-counting" else "u32"
    check_rows(program, lab, "record", "--n", "2000", "--type", key_type, "--input", "few-values")
    if lab == "03-bitonic":
        check_rows(program, lab, "record", "--n", "2^9", "--type", "pairs", "--descending")
        check_rows(program, lab, "segments", "--n", "5000")
        rows = rows_of(program, "--n", "100", "--against", "stable-sort")
        assert [row["sort"] for row in rows] == ["CPU stable-sort", f"{lab} record"], rows
        check_drawn(program, "--step", "record", "--beside", "shared", "--type", "u32,f32,pairs", "--n", "2^6,2^10")
    wrong = subprocess.run([program, "--commit", "abc", "--step", "none"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and "has no step 'none'" in wrong.stderr, wrong


def compile_with_cuda(compiler: str, nvcc: str) -> None:
    """Compiles the program for one lab with CUDA's own headers. Raises CalledProcessError if that fails."""
    folders = [f"-I{ROOT / folder}" for folder in ("common", "labs", "labs/03-bitonic")]
    cuda = f"-isystem{Path(nvcc).resolve().parents[1] / 'include'}"
    options = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DLAB_SPACE=bitonic", "-DFMT_HEADER_ONLY"]
    options.append('-DLAB_GOLD="CUB"')
    source = str(ROOT / "reports/records/measure.cpp")
    subprocess.run([compiler, *options, *folders, cuda, source], check=True)


if __name__ == "__main__":
    if sys.argv[1] == "compile":
        compile_with_cuda(*sys.argv[2:])
    else:
        for path in sys.argv[2:]:
            check_program(path)

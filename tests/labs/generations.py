#!/usr/bin/env python3
"""nvcc compiles every record step for several generations of GPUs, without a warning. No GPU is needed.

generations.py NVCC

Nor does a kernel spill, that is, keep values in local memory because registers do not suffice: this costs time and is
easily overlooked. Kernels that are known to spill are only reported.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import course  # noqa: E402

RECORDS = [step.file for lab in course.labs() for step in course.records(lab)]
CAPABILITIES = ("75", "80", "86", "89", "90", "100")
MEASURED = "sm_90"  # the GPU that the records are measured on
# Kernels of these labs with this word in their names spill there: of lab 02, those that sort tiles of 64-bit keys
# (12 bytes per thread); of lab 05, most.
SPILLING = {"02-merge": "sort_record_tiles", "05-radix": ""}
# The warnings of meson.build, as errors.
OPTIONS = ["-std=c++20", "-O2", "-lineinfo", "-Xcompiler=-Wall,-Wextra,-Werror,-Wno-unused-parameter"]
OPTIONS += ["--Werror=all-warnings", "-Xptxas=-v", "--threads=2"]
KERNEL = re.compile(
    r"Compiling entry function '(?P<name>\w+)' for '(?P<gpu>sm_\w+)'.*?(?P<stores>\d+) bytes spill stores", re.DOTALL
)


def known_capabilities(nvcc: str) -> list[str]:
    """Those that this nvcc compiles for: an older one does not know the newest GPUs."""
    listed = subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True, check=True).stdout.split()
    return [capability for capability in CAPABILITIES if f"sm_{capability}" in listed]


def compiled(nvcc: str, step: str, capabilities: list[str]) -> str | None:
    """What ptxas reports about a step's kernels; None if nvcc refuses the step."""
    lab = step.split("/")[0]
    folders = [f"-I{ROOT / folder}" for folder in ("common", "labs", f"labs/{lab}")]
    codes = [f"-gencode=arch=compute_{number},code=sm_{number}" for number in capabilities]
    with tempfile.TemporaryDirectory() as into:
        command = [nvcc, *OPTIONS, *codes, *folders, "-c", str(ROOT / "solutions" / step), "-o", f"{into}/step.o"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout + done.stderr
    print(f"{step}: nvcc fails\n{done.stdout}{done.stderr}")
    return None


def spilling(report: str) -> dict[str, int]:
    """The kernels that spill, by their mangled names, and how many bytes."""
    kernels = [found for found in KERNEL.finditer(report) if found["gpu"] == MEASURED]
    if not kernels:
        raise SystemExit(f"no kernel was compiled for {MEASURED}: has the report of ptxas changed?\n{report[:2000]}")
    return {found["name"]: int(found["stores"]) for found in kernels if int(found["stores"])}


def passes(nvcc: str, step: str, capabilities: list[str]) -> bool:
    """Whether nvcc compiles a step, and none of its kernels spills unexpectedly."""
    report = compiled(nvcc, step, capabilities)
    if report is None:
        return False
    found = spilling(report)
    print(f"{step}: compiled for {', '.join(capabilities)}; {len(found)} kernels spill on {MEASURED}")
    for name, size in found.items():
        print(f"  {size} bytes: {name}")
    sys.stdout.flush()
    known = SPILLING.get(step.split("/")[0])
    return all(known is not None and known in name for name in found)


def main(nvcc: str) -> int:
    """Compiles all record steps; the exit status."""
    capabilities = known_capabilities(nvcc)
    failed = [step for step in RECORDS if not passes(nvcc, step, capabilities)]
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

#!/usr/bin/env python3
"""What the check build shows first about the kernels of advice.cu, what it advises, and what it does not.

advice_test.py [--compiler g++]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tests/wrong/kernels"))

from check_test import FINDING, compile_check  # noqa: E402

SEEDS = ("0", "1", "77")  # of the order of lanes


@dataclass(frozen=True)
class Advice:
    """What is expected of a case."""

    kernel: str
    first: str  # kind of the first finding
    words: Sequence[str]  # that are shown
    absent: Sequence[str] = ()  # that are not
    line: str = ""  # that the first finding names; "": any
    findings: int = 0  # how many there are; 0: any number


BARRIER = "put __syncthreads()"
CHANGE = "use atomicAdd() or another atomic, which returns the old value: "
AT_ONCE = "both threads execute the same lines for this element"
CASES = (
    Advice("no_block_in_index", "race", ["is blockIdx in the index, times"], ["__syncthreads", "__syncwarp"]),
    Advice(
        "phases_in_one_launch",
        "race",
        ["nothing orders these blocks: check which thread has which element, or use two launches"],
        ["is blockIdx in", BARRIER],
    ),
    Advice("thread_per_key", "race", ["check which thread has which element"], [BARRIER, "__syncwarp", "shuffles"]),
    Advice(
        "in_both",
        "race",
        ["threads of different blocks do the same", "use two launches"],
        [BARRIER, "put __syncwarp"],
    ),
    Advice("unfenced", "race", ["put __threadfence() before the flag is written"], ["two launches"]),
    Advice("one_barrier", "race", [BARRIER, "2 more pairs of lines"], ["atomic"], findings=1),
    Advice("between_lanes", "race", ["nothing orders these lanes: "], ["shuffles"]),
    Advice("between_lanes", "race", ["nothing orders these lanes, and shuffles and votes do not: "]),
    Advice(
        "leaves_early",
        "early-exit",
        ["32 of 64 threads return here, before the __syncthreads() at ", "error: uninitialized: "],
        line="  if (threadIdx.x >= 32) return;",
    ),
    Advice(
        "stores_late",
        "early-exit",
        ["32 of 64 threads return here", "error: uninitialized: "],
        line="  if (threadIdx.x >= 32) return;",
    ),
    Advice("leaves_rightly", "uninitialized", [], ["error: early-exit"], findings=1),
    Advice("from_exited_lane", "invalid-warp-mask", ["keep every lane until after the shuffle"], ["use a mask"]),
    Advice("barrier_in_loop", "divergent-barrier", ["all threads of the block must reach the same"]),
    Advice("shared_pairs", "race", [AT_ONCE], [BARRIER, "__syncwarp"], findings=1),
    Advice("wrong_partner", "race", [AT_ONCE], [BARRIER, "__syncwarp"], findings=1),
    Advice("phases_without_barrier", "race", [], [AT_ONCE]),
    Advice("stride_of_a_block", "race", ["is blockIdx in the index", "is the step gridDim.x times that number?"]),
    Advice("below_zero", "out-of-bounds", ["reads 4 bytes before the start of __shared__ tile", "an index below 0"]),
    Advice("below_zero_of_one", "out-of-bounds", ["reads 4 bytes before the start of __shared__ only"], findings=1),
    Advice(
        "leaves_function",
        "divergent-barrier",
        ["return", "here", "let every thread of the block reach each barrier"],
        line="  if (threadIdx.x >= 32) return;",
    ),
    Advice(
        "leaves_function_and_kernel",
        "early-exit",
        ["32 of 64 threads return here, before the __syncthreads() at "],
        line="  if (threadIdx.x >= 32) return 0;",
    ),
    Advice("by_reference", "host-pointer", ["argument ", " refers to, which is in host memory", "without &"]),
    Advice("by_address", "host-pointer", ["is the address of a device pointer", "pass the pointer itself"]),
    Advice(
        "not_shared",
        "uninitialized",
        ["reads tile[", "which this thread has not written", "declare it __shared__"],
        line="  out[threadIdx.x] = tile[127 - threadIdx.x];",
    ),
    Advice("forgets_to_store", "uninitialized", ["nothing has been stored in this array at all"]),
    Advice("shifts_in_place", "race", ["put __syncthreads() after that"], ["put __syncwarp"]),
    Advice("claims_number", "race", [f"    {CHANGE}", "in it?"], ["times the number of"], findings=1),
    Advice("claims_in_block", "race", [f"    {CHANGE}"], [BARRIER, AT_ONCE, "blockIdx"], findings=1),
    Advice("sums_of_blocks", "race", [f"    {CHANGE}"], ["times the number of"], findings=1),
    Advice(
        "too_little_asked",
        "out-of-bounds",
        ["the launch asks for 64 bytes of it, the third argument between <<< and >>>, and this access needs at least "],
    ),
    Advice("reads_all", "uninitialized", ["only some bytes have been written", "is sizeof missing"]),
    Advice("in_rows", "race", ["these blocks differ in blockIdx.y or .z only"], ["is blockIdx in the index"]),
    Advice("in_rows", "race", ["these threads differ in threadIdx.y or .z only"], [BARRIER]),
    Advice("halo_in_place", "race", ["let the kernel write into another array than it reads"], ["is blockIdx in"]),
    Advice("loads_half", "uninitialized", ["of its 64 elements, only 0 to 31 have been written"]),
    Advice("loads_nothing", "uninitialized", ["this block has stored nothing in this array"], ["elements, only"]),
    Advice("no_size", "uninitialized", ["tile is one value of 8 bytes: if it should be an array"]),
    Advice("next_block_in_place", "race", ["let the kernel write into another array than it reads"], [BARRIER]),
    Advice(
        "no_barrier_at_end",
        "race",
        ["in the next round of a loop", f"{BARRIER} at the end of the round"],
        ["atomic"],
        findings=1,
    ),
    Advice("copied_without_stream", "stream-race", ["use cudaMemcpyAsync(..., stream)"], ["cudaStreamWaitEvent"]),
    Advice("copied_without_stream", "stream-race", ["use cudaMemsetAsync(..., stream)"], ["cudaStreamWaitEvent"]),
)


def wrong_in(printed: str, expected: Advice, lines: Sequence[str]) -> list[str]:
    """What is not as expected in what the program printed."""
    found = [match for match in map(FINDING.match, printed.splitlines()) if match]
    if not found:
        return ["nothing was found"]
    wrong = [f"not shown: {words}" for words in expected.words if words not in printed]
    wrong += [f"shown: {words}" for words in expected.absent if words in printed]
    if found[0][3] != expected.first:
        wrong.append(f"the first finding is {found[0][3]}")
    if expected.line and lines[int(found[0][2]) - 1] != expected.line:
        wrong.append(f"the first finding is in line {found[0][2]}")
    if expected.findings and len(found) != expected.findings:
        wrong.append(f"{len(found)} findings")
    return wrong


def main() -> int:
    """The exit status: 1 if some advice is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    compiler = parser.parse_args().compiler
    source = HERE / "advice.cu"
    lines = source.read_text().splitlines()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "advice"
        made = compile_check(source, program, compiler)
        if made.returncode:
            print(made.stdout + made.stderr)
            return 1
        unwatched = {"not_shared"} if "clang" in compiler else set()  # see LocalArray in simt/device.h
        for number, expected in enumerate(CASES, 1):
            if expected.kernel in unwatched:
                print(f"{expected.kernel}: not run, {compiler} does not instrument arrays of a thread's own")
                continue
            for seed in SEEDS:
                command, environment = [str(program), str(number)], {**os.environ, "SIMT_SEED": seed}
                done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
                wrong = wrong_in(done.stderr, expected, lines)
                failed += bool(wrong)
                if wrong:
                    print(f"{expected.kernel}, SIMT_SEED={seed}: {'; '.join(wrong)}\n{done.stderr}")
    runs = (len(CASES) - len(unwatched)) * len(SEEDS)
    print(f"{runs - failed} of {runs} runs are advised well")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

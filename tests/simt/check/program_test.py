#!/usr/bin/env python3
"""What a checked program reports, however it ends, and what its text alone does not show.

program_test.py [--compiler g++]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/wrong/kernels"), str(ROOT / "common")]

from check_test import FINDING, compile_check  # noqa: E402

from workbook.pictures import trace  # noqa: E402

RACE = """#include <cassert>
#include <csignal>
#include <cstdlib>
__global__ void race(int* keys) { keys[0] = int(threadIdx.x); }  // here
int main() {
  int* keys;
  cudaMalloc(&keys, 4);
  race<<<1, 64>>>(keys);
  cudaDeviceSynchronize();
  END;
}
"""
ENDS = {
    "return": "return 0",
    "exit": "std::exit(7)",
    "an assertion": "assert(keys == nullptr)",
    "abort": "std::abort()",
    "quick_exit": "std::quick_exit(0)",
    "an exception": "throw 1",
    "a signal": "std::raise(SIGSEGV)",
}
ASKED_TO_END = "a kernel without end, whose program is asked to end"
KERNELS: dict[str, tuple[str | None, str]] = {
    "a kernel's assertion": (
        "assert",
        """#include <cassert>
__global__ void few(int n) { assert(int(threadIdx.x) < n); }  // here
int main() { few<<<1, 64>>>(40); }
""",
    ),
    "blockDim and gridDim, used as dim3 and uint3": (
        None,
        """#include <cassert>
__device__ unsigned as_dim3(dim3 shape) { return shape.x; }
__device__ unsigned as_uint3(uint3 shape) { return shape.x; }
__device__ unsigned as_reference(const dim3& shape) { return shape.x; }
__global__ void shapes() {
  dim3 copied = blockDim, constructed(gridDim), listed{blockDim}, in_list = {gridDim};
  uint3 converted = blockDim, built(gridDim);
  auto deduced = blockDim;
  const dim3& bound = blockDim;
  const dim3 either = threadIdx.x == 0 ? blockDim : dim3(1);
  const auto one = threadIdx.x == 0 ? blockDim : gridDim;
  unsigned sum = as_dim3(blockDim) + as_uint3(gridDim) + as_reference(blockDim);
  sum += copied.x + constructed.x + listed.x + in_list.x + converted.x + built.x + deduced.x + bound.x;
  if (threadIdx.x == 0) sum += either.x + one.x;
  copied = gridDim;
  assert(sum + copied.x == (threadIdx.x == 0 ? 9 : 7) * 64u + 5 * 2);
}
int main() {
  shapes<<<2, 64>>>();
  const cudaError_t launched = cudaGetLastError();
  return launched == cudaSuccess ? cudaDeviceSynchronize() : launched;
}
""",
    ),
    "memory of the device, used by the host": (
        "device-pointer",
        """__global__ void fill(int* keys) { keys[threadIdx.x] = 1; }
int main() {
  int *keys, *both, *pinned;
  cudaMalloc(&keys, 128);
  cudaMallocManaged(&both, 128);
  cudaMallocHost(&pinned, 128);
  fill<<<1, 32>>>(keys);
  fill<<<1, 32>>>(both);
  cudaDeviceSynchronize();
  cudaMemcpy(pinned, keys, 128, cudaMemcpyDeviceToHost);
  int sum = pinned[0] + both[0];
  for (int i = 0; i < 32; ++i) sum += keys[i];  // here
  cudaFree(keys);
  return sum == 34 ? 0 : 1;
}
""",
    ),
    "a null pointer of the host's": (
        "out-of-bounds",
        """#include <cstring>
__global__ void nothing() {}
int main(int argc, char**) {
  nothing<<<1, 1>>>();
  int* const keys = argc > 1 ? new int[100] : nullptr;
  std::memset(keys, 0, sizeof(int) * 100);  // here
  return keys[0];
}
""",
    ),
    "a host array": (
        "host-pointer",
        """static int host[128];
__global__ void add(int* keys) { keys[threadIdx.x] += 1; }  // here
int main() { add<<<1, 128>>>(host); }
""",
    ),
    "a device array, as its address is": (
        None,
        """__device__ int sums[128];
__global__ void add(int* keys) { keys[threadIdx.x] += 1; }
int main() {
  void* address;
  cudaGetSymbolAddress(&address, sums);
  add<<<1, 127>>>(static_cast<int*>(address) + 1);
}
""",
    ),
    "a managed array": (
        None,
        """__managed__ int both[128];
__global__ void add(int* keys) { keys[threadIdx.x] += 1; }
int main() { add<<<1, 128>>>(both); }
""",
    ),
    "a shared array that nothing writes": (
        "uninitialized",
        """__global__ void copy(int* keys) {
  __shared__ int tile[32];
  keys[threadIdx.x] = tile[31 - threadIdx.x];  // here
}
int main() {
  int* keys;
  cudaMalloc(&keys, 128);
  copy<<<1, 32>>>(keys);
}
""",
    ),
    "too much shared memory": (
        "invalid-launch",
        """__global__ void fill(int* keys) {
  __shared__ int tile[20000];
  tile[threadIdx.x] = keys[threadIdx.x];  // here
}
int main() {
  int* keys;
  cudaMallocManaged(&keys, 128);
  fill<<<1, 32>>>(keys);
}
""",
    ),
    "a recursion without end": (
        "stack-overflow",
        """
__device__ int deep(volatile int n) { return deep(n - 1) + n; }  // here
__global__ void start(int* out) { *out = deep(*out); }
int main() {
  int* out;
  cudaMallocManaged(&out, 4);
  *out = 1;
  start<<<1, 1>>>(out);
}
""",
    ),
    ASKED_TO_END: (
        None,
        """#include <cstdio>
__global__ void meet() {
  if (threadIdx.x == 0) printf("it runs\\n");
  for (;;) __syncthreads();  // here
}
int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  meet<<<1, 64>>>();
  cudaDeviceSynchronize();
}
""",
    ),
    "a loop that does nothing": (
        "time-limit",
        # On one line, because g++ does not say which line such a loop is in: that of the launch is reported.
        """__global__ void nothing() { while (true); } int main() { nothing<<<1, 1>>>(); }  // here
""",
    ),
    "a loop of barriers": (
        "time-limit",
        """__global__ void meet() {
  while (true) __syncthreads();  // here
}
int main() { meet<<<1, 64>>>(); }
""",
    ),
    "different values, before a structure is copied over both": (
        "race",
        """struct Nine {
  int words[9];
};
__global__ void copy(const Nine* in, int* out) {
  __shared__ Nine all;
  if (threadIdx.x < 2) {
    all.words[3] = threadIdx.x;  // here
    if (threadIdx.x == 1) all = *in;
  }
  __syncthreads();
  out[threadIdx.x] = all.words[3];
}
int main() {
  Nine* in;
  int* out;
  cudaMalloc(&in, sizeof *in);
  cudaMalloc(&out, 128);
  cudaMemset(in, 0, sizeof *in);
  copy<<<1, 32>>>(in, out);
}
""",
    ),
    "outside all device variables": (
        "out-of-bounds",
        """__device__ int sums[1 << 20];
__global__ void add(int past) { sums[past + threadIdx.x] = 1; }  // here
int main() { add<<<1, 4>>>((1 << 20) + 100000000); }
""",
    ),
}
# Two threads store in each even place. The race is found when the later one makes its next access.
TRACED = """__global__ void fill(int* keys) { keys[threadIdx.x] = 0; }
__global__ void faulty(int* keys) {
  keys[threadIdx.x / 2 * 2] = int(threadIdx.x);  // races
  keys[threadIdx.x + 32] = 1;
  __syncthreads();
  if (threadIdx.x == 0) keys[64] = 1;  // outside
}
int main() {
  int* keys;
  cudaMalloc(&keys, 256);
  fill<<<1, 64>>>(keys);
  faulty<<<1, 32>>>(keys);
  return cudaDeviceSynchronize();
}
"""


def check_trace(folder: Path, compiler: str) -> str | None:
    """Traces the second launch of a program. Returns what is wrong, or None."""
    source, program, path = folder / "traced.cu", folder / "traced", folder / "trace"
    source.write_text(TRACED)
    made = compile_check(source, program, compiler)
    if made.returncode:
        return f"trace: {made.stdout}{made.stderr}"
    environment = {**os.environ, "CHECK_TRACE": str(path), "CHECK_TRACE_LAUNCHES": "1-1"}
    subprocess.run([str(program)], capture_output=True, check=False, timeout=600, env=environment)
    run = trace.read(path.read_text())
    lines = TRACED.splitlines()
    marked = [
        (lines[int(run.lines[a.code].rpartition(":")[2]) - 1].partition("// ")[2], a.races, a.faulty, a.outside)
        for a in run.accesses
    ]
    expected = [("races", True, False, False), ("", False, False, False)] * 32 + [("outside", False, True, True)]
    made_at = 1 + next(i for i, line in enumerate(lines) if "cudaMalloc" in line)
    names = {trace.without_folders(a.array.name) for a in run.accesses}
    known = names == {f"the array allocated at traced.cu:{made_at}"}
    if (
        len(run.launches) == 2
        and {a.launch for a in run.accesses} == {1}
        and sorted(marked) == sorted(expected)
        and known
    ):
        return None
    return f"trace: {len(run.launches)} launches: {marked}; arrays: {names}"


def check(name: str, text: str, kind: str | None, folder: Path, compiler: str) -> str | None:
    """Compiles and runs a program. Returns what is wrong, or None."""
    source, program, document = folder / "program.cu", folder / "program", folder / "check.json"
    document.unlink(missing_ok=True)
    source.write_text(text)
    made = compile_check(source, program, compiler)
    if made.returncode:
        return f"{name}: {made.stdout}{made.stderr}"
    with subprocess.Popen(
        [str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "CHECK_JSON": str(document)},
    ) as run:
        if name == ASKED_TO_END and run.stdout:
            run.stdout.readline()
            run.terminate()
        try:
            _, errors = run.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            run.kill()
            return f"{name}: has not ended"
    line = next((i for i, words in enumerate(text.splitlines(), 1) if "// here" in words), 0)
    expected = [(line, kind)] if kind else []
    printed = [(int(match[2]), match[3]) for match in map(FINDING.match, errors.splitlines()) if match]
    written = None
    if document.exists():
        written = [(finding["line"], finding["kind"]) for finding in json.loads(document.read_text())["findings"]]
    status = 3 if kind else 0
    if name == ASKED_TO_END:
        status = -signal.SIGTERM
        if f"program.cu:{line}: note: interrupted: kernel meet, block (0,0,0)" not in errors:
            return f"{name}: {errors}"
    if printed != expected or written != expected or run.returncode != status:
        return f"{name}: exit {run.returncode}, printed {printed}, written {written}, expected {expected}\n{errors}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    compiler = parser.parse_args().compiler
    cases: list[tuple[str, str, str | None]] = []
    cases += [(f"ends by {name}", RACE.replace("END", words), "race") for name, words in ENDS.items()]
    cases += [(name, text, kind) for name, (kind, text) in KERNELS.items()]
    with tempfile.TemporaryDirectory() as folder:
        results = [check(*case, Path(folder), compiler) for case in cases] + [check_trace(Path(folder), compiler)]
    wrong = [text for text in results if text]
    print("\n".join(wrong))
    print(f"{len(results) - len(wrong)} of {len(results)} as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What `cc --check --schedules` says about programs.

schedules_test.py [--compiler g++]
"""

import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from programs import Programs, main

BEST = """__global__ void best(int* a) {
  const int mine = threadIdx.x * 5 % 16;
  if (mine > atomicAdd(a, 0)) atomicExch(a, mine);
}
int main() {
  int *a, result;
  cudaMalloc(&a, sizeof *a);
  cudaMemset(a, 0, sizeof *a);
  best<<<1, 16>>>(a);
  cudaMemcpy(&result, a, sizeof result, cudaMemcpyDeviceToHost);
}
"""
MANAGED = """#include <cstdio>
__global__ void last(int* a) { atomicExch(a, blockIdx.x); }
int main() {
  int* a;
  cudaMallocManaged(&a, sizeof *a);
  last<<<9, 1>>>(a);
  cudaDeviceSynchronize();
  if (*a > 100) std::puts("never");
}
"""
SUM = """__global__ void sum(float* a) { atomicAdd(a, 1.0f / float(threadIdx.x + 1)); }
int main() {
  float *a, result;
  cudaMalloc(&a, sizeof *a);
  cudaMemset(a, 0, sizeof *a);
  sum<<<1, 200>>>(a);
  cudaMemcpy(&result, a, sizeof result, cudaMemcpyDeviceToHost);
}
"""
CLOCK = """#include <ctime>
__global__ void store(long* a, long time) { *a = time; }
int main() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  long *a, result;
  cudaMalloc(&a, sizeof *a);
  store<<<1, 1>>>(a, now.tv_nsec);
  cudaMemcpy(&result, a, sizeof result, cudaMemcpyDeviceToHost);
}
"""
DEADLOCK = """__global__ void two_locks(int* locks) {
  const int first = blockIdx.x, second = 1 - first;
  while (atomicCAS(locks + first, 0, 1) != 0) {
  }
  while (atomicCAS(locks + second, 0, 1) != 0) {
  }
  atomicExch(locks + second, 0);
  atomicExch(locks + first, 0);
}
int main() {
  int* locks;
  cudaMalloc(&locks, 2 * sizeof *locks);
  cudaMemset(locks, 0, 2 * sizeof *locks);
  two_locks<<<2, 1>>>(locks);
  return cudaDeviceSynchronize();
}
"""
PRINTS = """#include <cstdio>
__global__ void say() { printf("%u\\n", blockIdx.x); }
int main() {
  say<<<6, 1>>>();
  cudaDeviceSynchronize();
}
"""


class Schedules(Programs):
    def explored(self, text: str, *words: str) -> "subprocess.CompletedProcess[str]":
        self.file("p.cu", text)
        return self.cc("--check", "--schedules", "60", "p.cu", *words)

    def test_a_result_that_depends_on_the_order_is_named_and_its_number_repeats_it(self) -> None:
        done = self.explored(BEST)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"p\.cu:10: error: order-dependent: .*; in the usual order, it is 15\n")
        number = re.findall(r"SIMT_SCHEDULE=(\d+)", done.stderr)[0]
        wrong = int(re.findall(r"copies here is (\d+)", done.stderr)[0])
        for _ in range(2):
            results = self.folder / "results"
            environment = {**os.environ, "SIMT_SCHEDULE": number, "SIMT_RESULTS": str(results)}
            subprocess.run([str(self.folder / "p")], check=True, env=environment, capture_output=True)
            self.assertIn(b"\n" + wrong.to_bytes(4, "little"), results.read_bytes())
            results.unlink()
        self.assertEqual(self.cc("--check", "--schedule", number, "p.cu").returncode, 0)

    def test_an_atomic_maximum_depends_on_no_order(self) -> None:
        done = self.explored(BEST.replace("if (mine > atomicAdd(a, 0)) atomicExch(a, mine);", "atomicMax(a, mine);"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("60 orders of threads: what the host gets is the same\n", done.stdout)

    def test_a_plain_read_before_a_swap_is_no_race_in_any_order(self) -> None:
        loop = "int old; do old = *a; while (atomicCAS(a, old, old + mine) != old);"
        done = self.explored(BEST.replace("if (mine > atomicAdd(a, 0)) atomicExch(a, mine);", loop))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_the_host_reads_of_managed_memory_counts(self) -> None:
        done = self.explored(MANAGED)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"p\.cu:8: error: order-dependent: 4-byte element 0 of what the host reads")

    def test_rounding_is_a_note(self) -> None:
        done = self.explored(SUM)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("p.cu:7: note: rounding: ", done.stdout)
        self.assertIn("the same but for rounding", done.stdout)

    def test_a_program_that_is_not_repeatable_is_not_explored(self) -> None:
        done = self.explored(CLOCK)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("p is not repeatable", done.stderr)

    def test_a_run_that_does_not_end_is_a_difference(self) -> None:
        os.environ["SIMT_SECONDS"] = "1"
        self.addCleanup(os.environ.pop, "SIMT_SECONDS")
        done = self.explored(DEADLOCK)
        self.assertEqual(done.returncode, 3, done.stderr)
        # On a busy machine, the limit for the whole program can be reached first, which names no kernel.
        self.assertRegex(done.stderr, "two_locks|it does not end within")

    def test_what_the_program_prints_counts(self) -> None:
        done = self.explored(PRINTS)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("the program prints ", done.stderr)

    def test_a_program_with_findings_is_to_be_repaired_first(self) -> None:
        done = self.explored("__global__ void k(int* a) { *a = threadIdx.x; }\n" + BEST.replace("best<<<", "k<<<"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("error: race: ", done.stderr)
        self.assertIn("repair that first", done.stderr)

    def test_schedules_are_for_checked_programs(self) -> None:
        self.file("p.cu", BEST)
        for option in ("--schedules", "--schedule"):
            done = self.cc(option, "5", "p.cu")
            self.assertEqual(done.returncode, 2)
            self.assertIn("need --check", done.stderr)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What `./workbook cc` makes of programs, and of the options that nvcc takes.

cc_test.py [--compiler g++]
"""

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from programs import COMPILER, ROOT, Programs, main


@contextlib.contextmanager
def limited(resource_type: int, amount: int) -> Iterator[None]:
    """A limit of this process, which the programs that it starts inherit."""
    before = resource.getrlimit(resource_type)
    resource.setrlimit(resource_type, (amount, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource_type, before)


ARCHITECTURE = """#include <cstdio>
#ifndef __NVCC__
#error only nvcc compiles this
#endif
__global__ void k(int* a) {
#ifdef __CUDA_ARCH__
  *a = __CUDA_ARCH__;
#endif
}
int main() {
  int *d, h = 0;
  cudaMalloc(&d, sizeof h);
  k << <1, 1 >> > (d);
  cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("%d %ld\\n", h, __cplusplus);
}
"""
ENDLESS_HOST = """#include <cstdio>
__global__ void k(int* a) { a[threadIdx.x + 1] = 1; }
int main() {
  int* a;
  cudaMalloc(&a, 128);
  k<<<1, 32>>>(a);
  std::printf("launched\\n");
  std::fflush(stdout);
  for (volatile int i = 0;; i = 1) {
  }
}
"""
SLOW_KERNEL = """__global__ void add(unsigned* sums, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) sums[i % 32] += i;
}
__global__ void k(unsigned* a) { a[threadIdx.x + 1] = 1; }
int main() {
  unsigned* a;
  cudaMallocManaged(&a, 128);
  k<<<1, 32>>>(a);
  add<<<1, 1>>>(a, 4000000000u);
  cudaDeviceSynchronize();
}
"""
WAITING_KERNEL = """#include <cstdio>
__global__ void wait(volatile int* flag) {
  while (*flag == 0) {  // line 3
  }
}
int main() {
  int* flag;
#if defined(STREAM) || defined(ALONE)
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
#else
  cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped);
  *flag = 0;
#endif
#ifdef STREAM
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
#endif
  wait<<<1, 32>>>(flag);
#ifdef STREAM
  cudaMemsetAsync(flag, 1, sizeof *flag, stream);
#elif !defined(ALONE)
  *flag = 1;
#endif
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
"""
ENDLESS_KERNEL = """#include <cstdio>
#include <thread>
__global__ void count(volatile unsigned* a) {
  for (;;) *a = *a + 1;
}
int main() {
  volatile unsigned* a;
  cudaMallocManaged((void**)&a, sizeof *a);
  *a = 0;
  std::thread([a] {
    while (*a == 0) std::this_thread::yield();
    std::puts("running");
    std::fflush(stdout);
  }).detach();
  count<<<1, 1>>>(a);
  cudaDeviceSynchronize();
}
"""
# It is right only if the compiler makes no copy of what owner() returns.
OWNER = """#include <cstdio>
struct Owner {
  int* data;
  Owner() { cudaMalloc(&data, 128); }
  ~Owner() { cudaFree(data); }
};
__global__ void fill(int* a) { a[threadIdx.x] = 1; }
Owner owner() {
  Owner made;
  fill<<<1, 32>>>(made.data);
  return made;
}
int main() {
  Owner kept = owner();
  fill<<<1, 32>>>(kept.data);
  std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
"""
# Two files, as the steps of a lab: the arrays of both lie in one piece of memory.
READS_TOO_FAR = """namespace {
__global__ void k(int* out) {
  __shared__ int tile[16];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x + 2100];
}
}  // namespace
void other(int*);
int main() {
  int* out;
  cudaMalloc(&out, 64);
  other(out);
  k<<<1, 16>>>(out);
  return cudaDeviceSynchronize();
}
"""
HAS_ARRAY = """namespace {
__global__ void k(int* out) {
  __shared__ int columns[4096];
  columns[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = columns[15 - threadIdx.x];
}
}  // namespace
void other(int* out) {
  k<<<1, 16>>>(out);
  (void)cudaGetLastError();
}
"""
SECTORS = """__global__ void k(const int* in, int* out) {
  out[threadIdx.x] = in[2 * threadIdx.x];
  if (threadIdx.x % 2 == 0) out[64 + threadIdx.x] = 0;
  out[128 + threadIdx.x + 1] = 0;
  out[256 + threadIdx.x * 9] = 0;
}
int main() {
  int* a;
  cudaMallocManaged(&a, 8192);
  k<<<1, 32>>>(a, a + 512);
  return cudaDeviceSynchronize();
}
"""
MEMORY = """#include <sys/resource.h>
#include <cstdio>
#include <cstdlib>
#define FIRST blockIdx.x * size_t(blockDim.x) + threadIdx.x
#define ALL size_t(gridDim.x) * blockDim.x
__global__ void fill(int* a, size_t n) {
  for (size_t i = FIRST; i < n; i += ALL) a[i] = i;
}
__global__ void look(const int* a, size_t n) {
  for (size_t i = FIRST; i < n; i += ALL) {
    if (a[i] != int(i)) printf("wrong\\n");
  }
}
int main(int, char** argv) {
  const size_t n = atol(argv[1]) * 262144;
  int* a;
  cudaMalloc(&a, n * sizeof(int));
  fill<<<64, 256>>>(a, n);
  look<<<64, 256>>>(a, n);
  const int error = cudaDeviceSynchronize();
  rusage use;
  getrusage(RUSAGE_SELF, &use);
  std::printf("%d %ld\\n", error, use.ru_maxrss);
}
"""
LARGE_ARRAYS = """__global__ void put(int* a) { a[threadIdx.x] = 1; }
__global__ void get(const int* a, int* b) {
  b[threadIdx.x] = a[threadIdx.x];
}
int main() {
  int *a, *b, *both;
  cudaStream_t s, t;
  cudaMalloc(&a, 32 << 20);
  cudaMalloc(&b, 32 << 20);
  cudaMallocManaged(&both, 32 << 20);
  put<<<1, 32>>>(both);
  get<<<1, 32>>>(both, b);
  const int first = both[0];
  cudaDeviceSynchronize();
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  put<<<1, 32, 0, s>>>(a);
  get<<<1, 32, 0, t>>>(both, b);
  get<<<1, 32, 0, t>>>(a, b);
  return int(cudaDeviceSynchronize()) + first - 1;
}
"""
PLAIN = "int main() {}\n"


class CcTest(Programs):
    @classmethod
    def setUpClass(cls) -> None:
        """The first program of each kind waits for its library, which is announced."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.cu").write_text(PLAIN)
            for option in ("-w", "--check"):
                command = [str(ROOT / "workbook"), "cc", "a.cu", option, "--cxx", COMPILER]
                subprocess.run(command, check=True, cwd=folder, capture_output=True)

    def output(self, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Compiles and runs a program; the compiler writes nothing."""
        self.file("k.cu", text)
        self.assertEqual(self.compiled("k.cu", *options), "")
        return self.run_program("k")

    def test_options_of_nvcc(self) -> None:
        self.file("a.cu", ARCHITECTURE)
        for options, expected in (
            ("", "700 201703"),
            ("-O3 -g -arch=sm_80 -lineinfo -w", "800 201703"),
            ("-arch sm_75 -std=c++20 -Xcompiler -Wall,-Wextra -Xptxas -v", "750 202002"),
            ("-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 --std=c++11", "900 201703"),
            ("-rdc=true --expt-relaxed-constexpr -lcudart --use_fast_math -Wno-deprecated-gpu-targets", "700 201703"),
        ):
            self.compiled(*options.split(), "a.cu", "-o", "p")
            self.assertEqual(self.run_program("p").stdout, expected + "\n", options)
        self.assertEqual(self.cc("--arc=sm_80x", "--no-such-option", "a.cu").returncode, 2)

    def test_several_files(self) -> None:
        self.file("shared.h", "#ifdef __CUDACC__\n__global__ void k(int*);\n#endif\nvoid run(int*);\nint c(int);\n")
        self.file(
            "k.cu", '#include "shared.h"\n__global__ void k(int* a) { *a = 5; }\nvoid run(int* a) { k<<<1, 1>>>(a); }\n'
        )
        self.file("c.c", "int c(int class) { return class + 1; }\n")
        self.file(
            "main.cpp",
            """#include <cuda_runtime.h>
#include <cstdio>
#ifdef __CUDACC__
#error this is not CUDA C++
#endif
extern "C" int c(int);
void run(int*);
int main() {
  int* a;
  cudaMallocManaged(&a, 4);
  run(a);
  cudaDeviceSynchronize();
  std::printf("%d\\n", c(*a));
}
""",
        )
        self.compiled("k.cu", "-O1", "main.cpp", "-o", "p", "c.c")
        self.assertEqual(self.run_program("p").stdout, "6\n")
        done = self.cc("k.cu", "missing.cu")
        self.assertEqual((done.returncode, "no such file: missing.cu" in done.stderr), (2, True))

    def test_no_noise_about_volatile(self) -> None:
        text = "__global__ void k(volatile int* a) { a[0] += 1; ++a[1]; }\n" + PLAIN
        for standard in ("17", "20"):
            self.output(text, f"-std=c++{standard}")

    def test_headers_that_programs_include(self) -> None:
        names = ("cuda", "driver_types", "vector_functions", "host_defines", "builtin_types", "cuda_profiler_api")
        self.output("".join(f"#include <{name}.h>\n" for name in names) + PLAIN)

    def test_both_builds_agree_about_the_architecture(self) -> None:
        self.file("a.cu", ARCHITECTURE)
        self.compiled("--check", "a.cu")
        self.assertEqual(self.run_program("a").stdout, "700 201703\n")

    def test_the_host_interface_in_a_kernel_is_named_with_its_line(self) -> None:
        text = "__global__ void k() {\n  int* a;\n  %s;\n}\nint main() {\n  k<<<1, 1>>>();\n}\n"
        for options, call, remedy in (
            ((), "cudaMallocManaged(&a, 4)", "move the call there"),
            (("--check",), "cudaDeviceSynchronize()", "cudaStreamTailLaunch"),
        ):
            message = self.output(text % call, *options).stderr
            self.assertTrue(message.startswith("k.cu:3: error: host-call: kernel k, "), message)
            self.assertIn(f"calls {call.partition('(')[0]}, which", message)
            self.assertIn(remedy, message)

    def test_a_copy_in_the_wrong_direction_is_named_with_the_right_one(self) -> None:
        text = """int main() {
  int *d, h[4] = {};
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemcpy(h, d, sizeof h,
             cudaMemcpyHostToDevice);
  return int(cudaGetLastError());
}
"""
        for options, status in (((), 1), (("--check",), 3)):
            done = self.output(text, *options)
            self.assertEqual(done.returncode, status)
            self.assertRegex(
                done.stderr, r"^k\.cu:[56]: error: invalid-copy: cudaMemcpy\(\) copies from device memory to host"
            )
            self.assertIn("write cudaMemcpyDeviceToHost", done.stderr)

    def endless_program(self, number: signal.Signals) -> subprocess.Popen[str]:
        """Starts k, which a minute of processor time ends, and for which this signal is not ignored, as nohup does."""

        def prepare() -> None:
            signal.signal(number, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

        return subprocess.Popen(
            [str(self.folder / "k")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=prepare,
        )

    def test_findings_survive_signals_while_the_host_never_ends(self) -> None:
        self.file("k.cu", ENDLESS_HOST)
        self.compiled("k.cu", "--check")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.endless_program(number) as program:
                assert program.stdout
                self.assertEqual(program.stdout.readline(), "launched\n")
                program.send_signal(number)
                _, findings = program.communicate()
                self.assertEqual(program.returncode, 3, number)
                self.assertRegex(findings, r"k\.cu:2: error: out-of-bounds: kernel k, ")
        self.file("k.cu", ENDLESS_HOST.replace("threadIdx.x + 1", "threadIdx.x"))
        self.compiled("k.cu", "--check")
        with self.endless_program(signal.SIGINT) as program:
            assert program.stdout
            program.stdout.readline()
            program.send_signal(signal.SIGINT)
            program.communicate()
            self.assertEqual(program.returncode, -signal.SIGINT)  # nothing was found

    def interrupted(self, number: signal.Signals) -> tuple[int, str]:
        """Interrupts k when it has said that it is slow. Returns its status, and what it printed after that."""
        with mock.patch.dict(os.environ, {"SIMT_SECONDS": "2"}), self.endless_program(number) as program:
            assert program.stderr
            note = program.stderr.readline()
            self.assertRegex(note, r"^k\.cu:2: note: still-running: kernel add, block \(0,0,0\), thread \(0,0,0\): ")
            self.assertRegex(note, r"has run for 1 s of processor time; .* \(after 2 s it is an error\)$")
            program.send_signal(number)
            _, printed = program.communicate()
            return program.returncode, printed

    def test_a_slow_kernel_is_noted_and_not_accused_when_it_is_interrupted(self) -> None:
        here = r"(?m)^k\.cu:2: note: interrupted: kernel add, block \(0,0,0\), thread \(0,0,0\): was running here when "
        self.file("k.cu", SLOW_KERNEL)
        self.compiled("k.cu", "--check")
        status, printed = self.interrupted(signal.SIGINT)
        self.assertEqual(status, 3, printed)
        self.assertRegex(printed, r"^k\.cu:4: error: out-of-bounds: kernel k, ")
        self.assertRegex(printed, here + r"Ctrl-C \(SIGINT\) interrupted the program")
        self.assertEqual(printed.count(": error: "), 1, printed)
        self.file("k.cu", SLOW_KERNEL.replace("threadIdx.x + 1", "threadIdx.x"))
        self.compiled("k.cu", "--check")
        status, printed = self.interrupted(signal.SIGTERM)
        self.assertEqual(status, -signal.SIGTERM, printed)  # nothing was found
        self.assertRegex(printed, here + "SIGTERM interrupted the program")
        self.assertNotIn(": error: ", printed)

    def test_a_kernel_that_waits_for_the_host_is_no_fault_of_the_program(self) -> None:
        self.file("k.cu", WAITING_KERNEL)
        with mock.patch.dict(os.environ, {"SIMT_SECONDS": "1"}):
            for options in ([], ["-DSTREAM"]):
                self.compiled("k.cu", "--check", *options)
                done = self.run_program("k")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(
                    done.stderr, r"(?m)^k\.cu:3: note: waits-for-host: kernel wait, .*nothing in this launch writes"
                )
                self.assertIn("a launch runs to its end before the host goes on", done.stderr)
                self.assertNotIn(": error: ", done.stderr)
            self.compiled("k.cu", "--check", "-DALONE")
            done = self.run_program("k")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr, r"(?m)^k\.cu:3: error: time-limit: ")
            self.compiled("k.cu")
            with self.endless_program(signal.SIGTERM) as program:
                assert program.stderr
                note = program.stderr.readline()
                program.kill()
            self.assertRegex(note, r"^k\.cu:3: note: still-running: kernel wait, .*if it waits for the host")

    def test_a_slow_kernel_of_the_plain_build_is_not_accused_when_it_is_ended(self) -> None:
        self.file("k.cu", ENDLESS_KERNEL)
        self.compiled("k.cu")
        with self.endless_program(signal.SIGTERM) as program:
            assert program.stdout
            self.assertEqual(program.stdout.readline(), "running\n")
            program.send_signal(signal.SIGTERM)
            _, printed = program.communicate()
        self.assertEqual(program.returncode, -signal.SIGTERM, printed)
        self.assertRegex(
            printed,
            r"^k\.cu:\d: note: interrupted: kernel count, block \(0,0,0\), thread \(0,0,0\): was running here when "
            r"SIGTERM interrupted the program\n$",
        )

    def test_a_class_that_copies_would_free_twice_is_compiled_without_them(self) -> None:
        self.file("k.cu", OWNER)
        for flags in ([], ["--check"]):
            self.compiled("k.cu", *flags)
            done = self.run_program("k")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "no error\n", ""))

    def run_with_addr2line(self, script: str) -> str:
        """What k prints if this script is in the place of addr2line."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        (tools / "addr2line").write_text(f"#!/bin/sh\ncd {tools}\n{script}\n")
        (tools / "addr2line").chmod(0o755)
        with mock.patch.dict(os.environ, {"PATH": f"{tools}:{os.environ['PATH']}"}):
            return self.run_program("k").stderr

    def test_lines_are_found_although_addr2line_fails_once(self) -> None:
        text = """__global__ void k(int* a) {
  a[threadIdx.x + 64] = 1;
}
int main() {
  int* a;
  cudaMalloc(&a, 128);
  k<<<1, 32>>>(a);
  cudaMemcpy(a, a + 64, 4, cudaMemcpyDeviceToDevice);
  return int(cudaDeviceSynchronize());
}
"""
        self.file("k.cu", text)
        real = shutil.which("addr2line")
        once = f'[ -e failed ] && exec {real} "$@"; touch failed; %s'
        for options in ((), ("--check",)):
            self.compiled("k.cu", *options)
            for way in ("exit 0", "exit 1", "kill -9 $$", "echo 0x1; exit 0"):
                (self.folder / "tools/failed").unlink(missing_ok=True)
                self.assertRegex(self.run_with_addr2line(once % way), r"(?m)^k\.cu:[28]: error: out-of-bounds: ", way)
            for way, why in (("exit 1", "ended with status 1"), ("kill -9 $$", "signal 9"), ("exit 127", "not found")):
                printed = self.run_with_addr2line(way)
                self.assertRegex(printed, rf"(?m)^note: addr2line, .* has failed twice: .*{why}")
                self.assertRegex(printed, r"(?m)^\(addr2line failed\):0: error: out-of-bounds: ")
                self.assertEqual(printed.count("has failed twice"), 1, printed)

    def test_lines_are_found_although_the_program_has_been_compiled_again(self) -> None:
        self.file(
            "k.cu",
            SLOW_KERNEL.replace("4000000000u", "1").replace(
                "int main() {", "int main(int, char** argv) {\n  remove(argv[0]);"
            ),
        )
        self.compiled("k.cu", "--check")
        self.assertRegex(self.run_program("k").stderr, r"^k\.cu:4: error: out-of-bounds: kernel k, ")

    def test_the_check_build_keeps_few_bytes_for_each_byte(self) -> None:
        self.file("k.cu", MEMORY)
        self.compiled("k.cu", "--check")
        done = self.run_program("k", "64")
        self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "0"), done.stderr)
        kept = int(done.stdout.split()[1]) / (64 << 10)
        self.assertLess(kept, 5.5)  # 14, if everything were kept for each word
        with limited(resource.RLIMIT_DATA, 3 << 30):  # as ./workbook grade limits it without control groups
            self.assertEqual(self.run_program("k", "1").stderr, "")

    def test_accesses_of_large_arrays_are_kept_while_something_may_race_with_them(self) -> None:
        done = self.output(LARGE_ARRAYS, "--check")
        found = [line.split(": ")[:3] for line in done.stderr.splitlines() if ": error: " in line]
        self.assertEqual(found, [["k.cu:13", "error", "stream-race"], ["k.cu:3", "error", "stream-race"]], done.stderr)

    def test_used_up_memory_is_a_finding(self) -> None:
        self.file("k.cu", MEMORY)
        self.compiled("k.cu", "--check")
        with mock.patch.dict(os.environ, {"SIMT_MEMORY": "60"}):
            done = self.run_program("k", "256")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"k\.cu:7: error: out-of-memory: kernel fill, (?s:.*)run it on less data")

    def test_an_array_of_another_file_lends_no_name_to_an_access_outside(self) -> None:
        self.file("a.cu", READS_TOO_FAR)
        self.file("b.cu", HAS_ARRAY)
        for files in (("a.cu", "b.cu"), ("b.cu", "a.cu")):
            self.compiled("--check", *files, "-o", "program")
            printed = self.run_program("program").stderr
            self.assertRegex(printed, r"^a\.cu:6: error: out-of-bounds: kernel k, .*: reads __shared__ tile\[21\d\d\]")
            self.assertNotIn("columns", printed)

    def test_why_sectors_are_wasted(self) -> None:
        done = self.output(SECTORS, "--check")
        found = re.findall(r"^k\.cu:(\d): note: uncoalesced: .*\n    (.*)", done.stderr, re.MULTILINE)
        for line, words in {
            "2": "50 % of what is moved is used: neighbouring lanes access elements that are 2 apart",
            "3": "only 16 of 32 lanes take part on average, and 50 % of what is moved is used: let all lanes",
            "4": "80 % of what is moved is used: check whether the first address of each request is a multiple of 32",
            "5": "12 % of what is moved is used: neighbouring lanes access elements that are 8 or more apart",
        }.items():
            self.assertEqual(dict(found)[line][: len(words)], words)

    def test_what_a_gpu_computes_differently_is_noted(self) -> None:
        text = """#include <cstdio>
__global__ void k(float f, double g, int by, unsigned* u, int* i) {
  u[0] += f;
  i[0] += g;
  u[1] = 1u << by;
  u[2] = __float2uint_rz(f) + (1u << (by - 1)) + unsigned(int(f));
}
int main(int argc, char**) {
  unsigned* u;
  int* i;
  cudaMallocManaged(&u, 12);
  cudaMallocManaged(&i, 4);
  u[0] = i[0] = 0;
  k<<<1, 1>>>(argc == 1 ? -1.0f : 7.0f, argc == 1 ? 3e9 : 7.0, argc == 1 ? 32 : 3, u, i);
  cudaDeviceSynchronize();
  std::printf("%u\\n", u[2]);
  return argc + int(u[0]) < 0;
}
"""
        for options in ((), ("--check",)):
            done = self.output(text, *options)
            notes = [line for line in done.stderr.splitlines() if " conversion: " in line or " shift: " in line]
            self.assertEqual(len(notes), 3, done.stderr)
            self.assertRegex(notes[0], r"^k\.cu:3: note: conversion: .*converts -1 to unsigned int.*a GPU gives 0,")
            self.assertIn("__float2uint_rz()", notes[0])
            self.assertRegex(notes[1], r"^k\.cu:4: note: conversion: .*converts 3e\+09 to int.*a GPU gives 2147483647,")
            self.assertRegex(notes[2], r"^k\.cu:5: note: shift: .*shifts unsigned int by 32.*and so does this program")
            self.assertEqual(done.returncode, 0)
            self.assertNotIn("conversion", self.run_program("k", "x").stderr)

    def test_an_exception_in_a_kernel_ends_the_program_and_is_not_taken_for_a_fault(self) -> None:
        text = """__host__ __device__ int checked(int i) {
  if (i == 3) throw i;
  return i;
}
__global__ void k(int* a) { a[threadIdx.x] = checked(threadIdx.x); }
int main() {
  int* a;
  cudaMallocManaged(&a, 128);
  k<<<1, 32>>>(a);
  cudaDeviceSynchronize();
}
"""
        self.file("k.cu", text)
        self.compiled("k.cu")
        done = self.run_program("k")
        self.assertIn("terminate called after throwing an instance of 'int'", done.stderr)
        self.assertNotIn(" error: ", done.stderr)
        self.assertEqual(done.returncode, -signal.SIGABRT)


if __name__ == "__main__":
    main()

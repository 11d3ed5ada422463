#!/usr/bin/env python3
"""Programs of `./workbook cc` on machines of another kind: with larger pages, with an older Linux, or with libstdc++ as
an archive only.

machines_test.py [--compiler g++]
"""

import os
import subprocess
from unittest import mock

from programs import Programs, main

# A system with pages of 64 KiB, as far as a program can notice: it closes no part of a page.
LARGE_PAGES = """#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { page = 65536, configured_page = 30 /* _SC_PAGESIZE */ };
extern long __sysconf(int);
long sysconf(int name) { return name == configured_page ? page : __sysconf(name); }
static size_t rounded(size_t bytes) { return (bytes + page - 1) / page * page; }
void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (at != 0 || file >= 0) return (void*)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
  char* const whole = (char*)syscall(SYS_mmap, 0, rounded(bytes) + page, protection, flags, file, offset);
  return whole == MAP_FAILED ? MAP_FAILED : (void*)rounded((uintptr_t)whole);
}
void* mmap64(void*, size_t, int, int, int, off_t) __attribute__((alias("mmap")));
int mprotect(void* at, size_t bytes, int protection) {
  if ((uintptr_t)at % page == 0) return syscall(SYS_mprotect, at, rounded(bytes), protection);
  errno = EINVAL;
  return -1;
}
"""
# Before 6.13, Linux has no MADV_GUARD_INSTALL.
NO_GUARDS = """#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int madvise(void* at, size_t bytes, int advice) {
  if (advice != 102) return syscall(SYS_madvise, at, bytes, advice);
  errno = EINVAL;
  return -1;
}
"""
# More threads wait than a process may have guard pages.
MANY_STACKS = """#include <cooperative_groups.h>
__device__ int deep(volatile int n) { return deep(n - 1) + n; }
__global__ void start(int* out) {
  cooperative_groups::this_grid().sync();
  if (blockIdx.x % 32 == 7 && threadIdx.x == 0) *out = deep(*out);
}
int main() {
  int* out;
  cudaMallocManaged(&out, 4);
  void* arguments[] = {&out};
  const int error = cudaLaunchCooperativeKernel((void*)start, 256, 256, arguments);
  return error != 0 ? 0 : int(cudaDeviceSynchronize());
}
"""
FAULTS = {
    "stack-overflow": """__device__ int deep(volatile int n) { return deep(n - 1) + n; }
__global__ void start(int* out) { *out = deep(*out); }
int main() {
  int* out;
  cudaMallocManaged(&out, 4);
  start<<<2, 64>>>(out);
  return int(cudaDeviceSynchronize());
}
""",
    "out-of-bounds": """__global__ void fill(int* out, int n) {
  __shared__ int tile[32];
  for (int i = threadIdx.x; i < n; i += 32) tile[i] = i;
  out[threadIdx.x] = tile[threadIdx.x];
}
int main() {
  int* out;
  cudaMallocManaged(&out, 128);
  fill<<<1, 32>>>(out, 40000);
  return int(cudaDeviceSynchronize());
}
""",
}
RACE = """__global__ void a_name_that_is_too_long_for_a_short_string(int* a, int past) {
  __shared__ int tile[32];
  tile[threadIdx.x] = threadIdx.x;
  a[threadIdx.x] = tile[31 - threadIdx.x] + a[threadIdx.x + past];
}
int main() {
  int* a;
  cudaMalloc(&a, 128);
  cudaMemset(a, 0, 128);
  a_name_that_is_too_long_for_a_short_string<<<1, 32>>>(a, 1);
  return int(cudaDeviceSynchronize());
}
"""


class OtherMachines(Programs):
    def findings(self, text: str, *options: str, preload: str = "") -> str:
        """What a program prints."""
        self.file("k.cu", text)
        self.compiled("k.cu", *options)
        with mock.patch.dict(os.environ, {"LD_PRELOAD": preload} if preload else {}):
            done = self.run_program("k")
        self.assertGreater(done.returncode, 0, done.stderr)
        return done.stderr

    def library(self, text: str) -> str:
        """A library to load before the C library."""
        self.file("library.c", text)
        command = ["cc", "-shared", "-fPIC", "library.c", "-o", "library.so"]
        subprocess.run(command, check=True, cwd=self.folder)
        return str(self.folder / "library.so")

    def test_more_stacks_than_guard_pages(self) -> None:
        with mock.patch.dict(os.environ, {"SIMT_MULTIPROCESSORS": "32"}):
            for preload in ("", self.library(NO_GUARDS)):
                with self.subTest(preload=preload):
                    found = self.findings(MANY_STACKS, preload=preload)
                    self.assertRegex(found, r"^k\.cu:\d+: error: stack-overflow: ")

    def test_pages_of_64_kib(self) -> None:
        library = self.library(LARGE_PAGES)
        for kind, text in FAULTS.items():
            for options in ((), ("--check",)):
                with self.subTest(kind, options=options):
                    found = self.findings(text, *options, preload=library)
                    self.assertRegex(found, rf"^k\.cu:\d+: error: {kind}: ")

    def test_a_static_standard_library(self) -> None:
        static = ("-Xcompiler", "-static-libstdc++")
        self.assertEqual(self.findings(RACE, "--check", *static), self.findings(RACE, "--check"))


if __name__ == "__main__":
    main()

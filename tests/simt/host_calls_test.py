#!/usr/bin/env python3
"""Host functions in device code: what nvcc refuses, `./workbook cc` refuses with the line, and nothing else.

host_calls_test.py [--compiler g++]

nvcc 13.0 refuses each marked line of REFUSED, and warns about that of WARNED. It compiles ACCEPTED as it is.
"""

import argparse
import contextlib
import io
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

from programs import COMPILER, ROOT, Programs, main

sys.path.insert(0, str(ROOT / "common"))

from workbook.verbs import cc

# Launches of all kinds.
KERNELS = """
#define CHECK(call) call
__global__ void none() {}
template <int more> __global__ void shifted(int* a, int n = 3) { a[0] = n + more; }
__global__ void add(int* a, int n) { a[0] += n; }
void add(float* a) { a[0] += 1; }
template <class F, class... A> void launch(F f, A... a) { f<<<1, 1>>>(a...); }
struct Launcher { static void run(int* a) { shifted<3><<<1, 1>>>(a, 4); } };
int main() {
  int* a;
  float f = 0;
  cudaMallocManaged(&a, 4);
  none<<<1, 1>>>();
  launch(shifted<4>, a, 3);
  launch(none);
  Launcher::run(a);
  CHECK((add<<<1, 1>>>(a, 1)));
  add(&f);
  auto kernel = shifted<5>;
  kernel<<<1, 1>>>(a, 2);
}
"""

HEADERS = """#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>
#include <vector>
"""

# The mark gives the name in the error and a word of its remedy.
REFUSED = """
int twice(int a) { return a * 2; }
static int later(int a);
constexpr int digits(int n) { return n < 2 ? 0 : 1 + digits(n / 2); }
template <class T> T next(T a) { return a + 1; }
struct Pair {
  int x;
  bool less(const Pair& o) const { return x < o.x; }
  bool operator<(const Pair& o) const { return x < o.x; }
};
struct Counter {
  int n;
  Counter() {}
  ~Counter() {}
};
struct Copied {
  int x;
  Copied& operator=(const Copied& o) {
    x = o.x;
    return *this;
  }
};
struct Holder { Copied c; };
struct Initialized { int x = twice(3); };
struct Run {
  int n;
  __device__ int run() const {
    return go();  // Run::go: __device__
  }
  int go() const { return n; }
};
__device__ int never_called(int n) {
  return twice(n);  // twice: __device__
}
namespace {
__global__ void own(int* a, int n) {
  a[0] = twice(n);  // twice: __device__
  a[1] = later(n);  // later: __device__
  a[2] = digits(n);  // digits: __device__
  a[3] = next(n);  // next: __device__
  Pair p{1}, q{2};
  a[4] = p.less(q);  // Pair::less: __device__
  a[5] = p < q;  // Pair::operator<: __device__
  Copied c, d;
  c = d;  // Copied::operator=: __device__
  Holder h, i;
  h = i;  // Copied::operator=: __device__
  Initialized r;  // twice: __device__
  a[6] = [](int m) {
    return twice(m);  // twice: __device__
  }(n) + r.x + c.x + h.c.x;
  Run run{n};
  a[7] = run.run();
}
__global__ void library(int* a, int n) {
  std::swap(a[0], a[1]);  // std::swap: temporary
  a[2] = std::min(a[0], a[1]);  // std::min: min()
  std::sort(a, a + n);  // std::sort: device
  std::vector<int> v;  // std::vector::vector: __shared__
  v.push_back(n);  // std::vector::push_back: cudaMalloc
  std::cout << n;  // std::cout: printf
  a[3] = rand();  // rand: index
  a[4] = int(std::strlen(reinterpret_cast<char*>(a)));  // strlen: device
  std::pair<int, int> p(n, n);  // std::pair::pair: struct
  a[5] = p.first;
  if (n == 7) throw 3;  // throw: memory
  a[6] = int(std::sqrt(n));  // std::sqrt: float
}
template <class F>
__global__ void apply(int* a, F f) {
  a[0] = f(a[1]);  // a lambda of host code: operator()
}
}  // namespace
__global__ void lives() {
  Counter c;  // Counter::Counter: __device__
  c.n = 3;
}  // Counter::~Counter: __device__
static int later(int a) { return a; }
int main(int argc, char**) {
  own<<<1, 1>>>(nullptr, argc);
  library<<<1, 1>>>(&argc, argc);
  apply<<<1, 1>>>(nullptr, [=](int i) { return i + argc; });
  lives<<<1, 1>>>();
}
"""

WARNED = """
int twice(int a) { return a * 2; }
__host__ __device__ int both(int a) {
  return twice(a);  // twice: __device__
}
__host__ __device__ int unused(int a) { return twice(a); }
__global__ void k(int* a) { *a = both(*a); }
int main() { k<<<1, 1>>>(nullptr); }
"""

ACCEPTED = """
#define BOTH __host__ __device__
int on_host(int a) { return a + rand(); }
__host__ __device__ int both(int a) { return a * 2; }
BOTH inline float through_macro(float a) { return a * 2; }
template <class T> BOTH T generic(T a) { return a + 1; }
template <class T> __device__ T* __restrict__ pointer_to(T* a) { return a + 1; }
int* __device__ star(int* a) { return a; }
extern "C" __device__ int in_c(int a) { return a; }
__device__ int declared(int a);
struct Plain { int x = 3; int y[4]; };
struct Defaulted { int x = 3; Defaulted() = default; Defaulted(const Defaulted&) = default; };
struct Inherits : Defaulted { using Defaulted::Defaulted; };
struct Marked {
  int x;
  BOTH explicit Marked(int a) : x(a) {}
  BOTH ~Marked() {}
  __device__ Marked(const Marked& other) : x(other.x) {}
  __device__ operator int() const { return x; }
  friend __device__ bool operator==(const Marked& a, const Marked& b) { return a.x == b.x; }
};
struct Empty { int x; Empty() {} };  // such a constructor is allowed for __shared__ variables
struct ByHost { int x; ByHost() : x(rand()) {} };
struct Base { __device__ virtual int f() const { return 1; } };
struct Derived : Base { __device__ int f() const override { return 2; } };
struct Add { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
// g++ adds a call of its own after the last return.
template <class T> __device__ T returns_from_both(T a) {
  if (sizeof(T) == 4) return a;
  else return a + 1;
}
__device__ int (*function)(int) = nullptr;
__device__ __constant__ int table[4] = {1, 2, 3, 4};
template <class T, class F> __global__ void k(T* a, int n, float f, ByHost b, F op) {
  __shared__ Empty shared[4];
  a[0] = std::move(n) + std::forward<int>(n) + both(n) + generic(n) + *star(pointer_to(a)) + in_c(n) + declared(n);
  a[1] = int(std::sqrt(f) + sqrt(f) + std::pow(f, 2.0f) + std::abs(n) + std::fabs(f) + std::isnan(f) + std::fmin(f, f));
  a[1] += int(pow(2, n) + pow(f, n) + pow(n, f) + std::pow(2, n) + std::pow(2.0, n) + std::pow(n, 2u));
  a[2] = min(n, 3) + max(n, 4) + abs(n) + int(std::exp(f)) + int(through_macro(f)) + b.x + table[n];
  Plain p, q = p;
  q = p;
  Inherits i, j(i);
  Marked m(n), o(m);
  a[3] = q.x + j.x + int(m) + (m == o) + shared[0].x;
  auto lambda = [=](int v) { return v + n; };
  auto marked = [=] __device__(int v) { return v + n; };
  auto nested = [&] { return [&] { return lambda(n); }(); };
  a[4] = lambda(3) + marked(4) + nested() + op(n, 3);
  Derived d;
  const Base* base = &d;
  a[5] = base->f() + (function ? function(3) : 0);
  std::memcpy(a, a + 8, 4 * n);
  std::printf("%d", n);
  int* heap = new int[4];
  delete[] heap;
  free(malloc(4));
  for (int v : {1, 2, 3}) a[6] += v;
  assert(n);
  if (sizeof(decltype(on_host(3))) == 4) atomicAdd(a, 1);
  __syncthreads();
  a[7] = __shfl_sync(~0u, n, 0) + __popc(n) + int(clock64()) + returns_from_both(n);
}
__device__ int declared(int a) { return a; }
template __global__ void k<int, Add>(int*, int, float, ByHost, Add);
typedef struct {
  int x, y;
} Unnamed;
typedef struct __align__(8)
{
  Unnamed a, b;
} Nested;
template <class T> __global__ void assign(T* to, const T* from) { *to = *from; }
template __global__ void assign(Unnamed*, const Unnamed*);
template __global__ void assign(Nested*, const Nested*);
int main() {
  std::vector<int> v(4, on_host(3));
  std::sort(v.begin(), v.end());
  std::swap(v[0], v[1]);
  int* a;
  if (cudaMalloc(&a, 64) != cudaSuccess) throw 3;
  k<<<1, 32>>>(a, 3, 1.0f, ByHost(), Add());
  std::cout << std::min(v[0], both(v[1])) << "\\n";
}
"""


# With --expt-relaxed-constexpr.
RELAXED = """
constexpr int digits(int n) { return n < 2 ? 0 : 1 + digits(n / 2); }
struct Point {
  int x;
  constexpr explicit Point(int x) : x(x) {}
  constexpr int get() const { return x; }
};
__global__ void k(int* a, int n) {
  a[0] = digits(n) + std::min(a[1], a[2]) + std::max(n, 3) + Point(n).get();
  std::swap(a[0], a[1]);  // std::swap: temporary
}
int main() { k<<<1, 1>>>(nullptr, 3); }
"""


class HostCallsTest(Programs):
    def made(self, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        """What `cc` makes of a text."""
        self.file("k.cu", HEADERS + text)
        return self.cc("k.cu", *options)

    def compile(self, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        """The compiler's own output, of which `cc` shows the first errors."""
        self.file("k.cu", HEADERS + text)
        simt = ROOT / "common/simt"
        rewrite = [sys.executable, str(simt / "rewrite/rewrite.py"), "k.cu", "-o", "k.cpp"]
        subprocess.run(rewrite, check=True, cwd=self.folder)
        command = [
            *(COMPILER, "-std=c++17", "-I", str(simt / "include"), "-include", "cuda_runtime.h", "-Wno-attributes"),
            *("-wrapper", f"python3,{simt / 'calls/compile.py'}", "-c", "k.cpp", *options),
        ]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)

    def expect(self, text: str, output: str, severity: str) -> None:
        """Each marked line has its message, and no other line has one."""
        lines = (HEADERS + text).splitlines()
        for number, line in enumerate(lines, 1):
            messages = [shown for shown in output.splitlines() if f"k.cu:{number}:" in shown.split(f"{severity}:")[0]]
            name, _, remedy = line.partition("  // ")[2].partition(": ")
            with self.subTest(line=line):
                self.assertEqual(len(messages), 1 if remedy else 0, messages)
                if remedy:
                    wording = f"uses {name}:" if name == "throw" else f"calls {name}"
                    self.assertIn(wording, messages[0])
                    self.assertIn(remedy, messages[0].partition(name)[2])

    def test_what_nvcc_refuses(self) -> None:
        if "clang" in COMPILER:
            self.skipTest("an option of g++ only")
        for options in (("-O2",), ("-O0",), ("-O1", "-DSIMT_CHECK", "-fsanitize=thread", "-fno-builtin-memcpy")):
            done = self.compile(REFUSED, *options)
            self.assertEqual(done.returncode, 1)
            self.expect(REFUSED, done.stderr, "error")
            self.assertFalse((self.folder / "k.o").exists())

    def test_both_builds_of_a_program(self) -> None:
        for options in ((), ("--check",)):
            done = self.made(REFUSED, *options)
            self.assertEqual(done.returncode, 1)
            self.assertIn(
                "k.cu:36:14: error: device function Run::run calls Run::go, which is a host function", done.stderr
            )
            self.assertFalse((self.folder / "k").exists())

    def test_kernels_that_are_called_like_functions(self) -> None:
        for call in (
            "CHECK(add(a, 1));",
            "n ? add(a, 1) : (void)0;",
            "for (; n < 3; add(a, n)) ++n;",
            "n++, add(a, n);",
        ):
            done = self.made(f"{KERNELS}\nvoid f(int* a, int n) {{\n  {call}\n}}\n")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"k\.cu:\d+:\d+: error: the kernel add is called like a function: launch it")
            self.assertIn(f"k.cu:{len((HEADERS + KERNELS).splitlines()) + 3}:", done.stderr)
        self.assertEqual(self.made(KERNELS).stderr, "")

    def test_what_nvcc_warns_about(self) -> None:
        done = self.made(WARNED)
        self.assertEqual(done.returncode, 0)
        self.expect(WARNED, done.stderr, "warning")

    def test_what_nvcc_compiles(self) -> None:
        if "clang" in COMPILER:
            self.skipTest("clang++ takes no __shared__ array whose elements have a constructor")
        for options in ((), ("--check",), ("-O0",), ("-std=c++20",), ("-D_FORTIFY_SOURCE=2",)):
            done = self.made(ACCEPTED, *options)
            self.assertEqual((done.returncode, done.stderr), (0, ""), options)

    def test_constexpr_functions_can_be_allowed(self) -> None:
        done = self.made(RELAXED, "--expt-relaxed-constexpr")
        self.assertEqual(done.returncode, 1)
        self.expect(RELAXED, done.stderr, "error")
        self.assertEqual(self.made(RELAXED.replace("std::swap", "// std::swap"), "--expt-relaxed-constexpr").stderr, "")

    def test_without_gcc_clang_says_what_it_does_not_report(self) -> None:
        printed = io.StringIO()
        with mock.patch("shutil.which", return_value=None), contextlib.redirect_stderr(printed):
            looked_for = cc.HostCalls().looked_for(Path("k.cu"), Path("k.cpp"), argparse.Namespace())
            with looked_for:
                pass
        self.assertRegex(
            printed.getvalue(), "^note: clang.* does not report host functions that kernels call, .*g\\+\\+"
        )

    def test_other_errors_are_shown_as_they_are(self) -> None:
        done = self.made("__global__ void k(int* a) { *a = missing(3); }\nint main() {}\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("missing", done.stderr)
        self.assertNotIn("host function", done.stderr)


class SecondPart(Programs):
    """A file that is compiled twice, for different types, defines its other functions twice. Only g++ runs its parts
    through another program."""

    COMPILER = "g++" if "clang" in COMPILER else COMPILER

    def make(self, name: str, text: str, *options: str) -> None:
        self.file(f"{name}.cpp", text)
        wrapper = ",".join(["python3", str(ROOT / "common/simt/calls/compile.py"), *options])
        command = [self.COMPILER, "-wrapper", wrapper, "-c", f"{name}.cpp", "-o", f"{name}.o"]
        subprocess.run(command, check=True, cwd=self.folder)

    def link(self, *names: str) -> subprocess.CompletedProcess[str]:
        command = [self.COMPILER, *(f"{name}.o" for name in names), "-o", "program"]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)

    def test_its_definitions_give_way_to_those_of_the_first(self) -> None:
        for options in ((), ("--calls-unseen",)):
            with self.subTest(options=options):
                self.make("k", "int f() { return 1; }\nint main() { return f(); }\n", *options)
                self.make("k.others", "int f() { return 2; }\nint g() { return f(); }\n", *options)
                for names in (("k", "k.others"), ("k.others", "k")):
                    self.assertEqual(self.link(*names).returncode, 0)
                    self.assertEqual(subprocess.run([self.folder / "program"], check=False).returncode, 1)
                self.make("another", "int f() { return 3; }\n", *options)
                done = self.link("k", "k.others", "another")
                self.assertIn("multiple definition of `f()'", done.stderr)


if __name__ == "__main__":
    if "clang" in COMPILER and not shutil.which("g++"):
        print("not run: there is no g++, and only g++ writes which function calls which")
        sys.exit(77)
    main()

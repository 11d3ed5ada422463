"""What common/simt/rewrite promises about its output and its errors; launches.cu tests what the output does.

python3 rewrite_test.py [--compiler CXX]      (default: c++)
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REWRITE = os.path.join(ROOT, "common", "simt", "rewrite", "rewrite.py")
HEADERS = os.path.join(ROOT, "common", "simt", "include")
COMPILER = "c++"


class RewriteTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(self.path("out"))

    def path(self, *parts: str) -> str:
        return os.path.join(self.folder, *parts)

    def file(self, name: str, text: str) -> None:
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", newline="") as file:
            file.write(text)

    def run_on(self, text: str, *options: str, name: str = "k.cu") -> subprocess.CompletedProcess[str]:
        """Rewrites `text` as file k.cu into out/k.cpp; everything is relative to the test's folder."""
        self.file(name, text)
        return subprocess.run(
            [sys.executable, REWRITE, name, "-o", "out/k.cpp", *options],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )

    def rewritten(self, text: str, *options: str) -> str:
        done = self.run_on(text, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out", "k.cpp"), newline="") as file:
            line, _, rest = file.read().partition("\n")
        self.assertEqual(line, '#line 1 "k.cu"')
        self.assertEqual(rest.count("\n"), text.count("\n"))
        return rest

    def unchanged(self, text: str) -> None:
        self.assertEqual(self.rewritten(text), text)

    def error(self, text: str) -> str:
        done = self.run_on(text)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(os.listdir(self.path("out")), [])
        return done.stderr.strip()

    def compile(self, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                COMPILER,
                "-std=c++20",
                "-fsyntax-only",
                "-I",
                HEADERS,
                "-include",
                "cuda_runtime.h",
                *options,
                "out/k.cpp",
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )

    # --- launches ---

    def test_launch_becomes_one_call(self) -> None:
        self.assertEqual(
            self.rewritten("void f() { k<int><<<1, n>>>(a, b); }"),
            "void f() { ::simt::launch([&](auto&... simt_args) { k<int>(simt_args...); }, "
            '"k<int>", __FILE__, __LINE__, '
            "::simt::LaunchConfig(1, n), a, b); }",
        )

    def test_launch_without_arguments_has_no_comma_at_its_end(self) -> None:
        self.assertTrue(self.rewritten("k<<<g, b>>>( );").endswith("::simt::LaunchConfig(g, b) );"))

    def test_name_is_passed_on_one_line_without_comments(self) -> None:
        self.assertIn(', "ns::k<A, 2>", ', self.rewritten("ns::k<A, // first\n   2><<<1, 1>>>();"))

    def test_every_token_keeps_its_line(self) -> None:
        text = "k\n<<<\n g,\n b\n>>>\n(\n x,\n y\n)\n;\nint last;\n"
        lines = self.rewritten(text).split("\n")
        for number, what in ((1, "k"), (3, "g"), (4, "b"), (7, "x"), (8, "y"), (11, "int last;")):
            self.assertIn(what, lines[number - 1])

    def test_text_that_only_looks_like_a_launch_is_left_alone(self) -> None:
        self.unchanged('// k<<<1, 1>>>(x);\nconst char* s = "k<<<1, 1>>>(x)";\n')
        self.unchanged('auto s = R"(k<<<1, 1>>>(x) " )" u8"<<<";  /* <<<\n */ char c = \'"\'; int n = 1\'000;\n')
        self.unchanged("int a = b << 2 >> 1; A<B<C<int>>> x; f<(1 << 2)>(); operator<<<int>(s, x);\n")
        self.unchanged("#if 0\nk<<< not code\n#endif\n#error it's <<< here\n// a \\\n k<<<\n")

    def test_line_ends_of_other_systems_are_kept(self) -> None:
        self.assertEqual(self.rewritten("int a;\r\nk<<<1, 1>>>();\r\n").count("\r\n"), 2)

    def test_launches_in_macros(self) -> None:
        text = self.rewritten(
            "#define RUN(k, ...) k<<<1, 1>>>(__VA_ARGS__)\n#define OTHER(k) \\\n  k##_x<<<1, 1>>>()\n"
        )
        self.assertIn("RUN(k, ...) ::simt::launch(", text)
        self.assertIn("__VA_OPT__(,) __VA_ARGS__)", text)
        self.assertIn("{ k##_x(simt_args...); }", text)

    def test_launches_as_editors_space_them(self) -> None:
        expected = self.rewritten("void f() { k<int><<<g, 32>>>(a); }").split()
        for text in ("k<int> << <g, 32 >> > (a)", "k<int> <<< g, 32 >>> (a)", "k<int>< < <g, 32> > >(a)"):
            found = self.rewritten("void f() { " + text + "; }").split()
            self.assertEqual("".join(found), "".join(expected))
        self.assertIn("LaunchConfig(f<A<B<C<int> > > >(), 1 )", self.rewritten("k<<<f<A<B<C<int> > > >(), 1 >>>();"))
        self.unchanged("ostream& operator<< <int>(ostream&); bool b = operator< <A<B<int> > >(x, y);\n")

    def test_a_stray_backslash_is_dropped(self) -> None:
        text = self.rewritten("int n = 1 + \\ // more\n  2; \\ \nint m = 3 \\/* . */;\nint \\u00e9;\n")
        self.assertEqual(text, "int n = 1 +   // more\n  2;   \nint m = 3  /* . */;\nint \\u00e9;\n")
        self.unchanged("#define F(a) \\\n  a\nint b = \\\n  1;\n")

    # --- __CUDA_ARCH__ ---

    def test_device_code_sees_the_architecture(self) -> None:
        for before in (
            "__global__ void k() {",
            "template <int N = (2 > 1)> __device__ int f(int a = 3) {",
            "struct S { __device__ __forceinline__ S() : a(1), b{2} {",
            "struct alignas(8) S : B<int> { int a = 3; static __device__ S& operator=(const S& s) {",
            "#define DEVICE inline __device__\nnamespace n { DEVICE auto f() -> int {",
            "void host() { auto l = [=] __device__(int i) {",
            "__global__ void k() { auto l = [&](int i) { if (i) {",
        ):
            text = self.rewritten(before + "\n#if __CUDA_ARCH__ >= 700 && defined(__CUDA_ARCH__)\n#endif\n")
            self.assertIn("\n#if 700 >= 700 && 1\n", text, before)
        text = "__global__ void k() {\n%s\n#endif\n}\n"
        for condition, expected in (
            ("#ifdef __CUDA_ARCH__", "#if 1"),
            ("#ifndef __CUDA_ARCH__ // host", "#if 0 // host"),
            ("# if !defined __CUDA_ARCH__ || A(1)", "# if ! 1 || A(1)"),
            ("#if A\n#elif __CUDA_ARCH__<800", "#if A\n#elif 700<800"),
        ):
            self.assertEqual(self.rewritten(text % condition), text % expected)
        self.assertIn("int a = 700;", self.rewritten("__device__ void f() { int a = __CUDA_ARCH__; }\n"))
        self.assertIn(
            "#if 860\n", self.rewritten("__device__ void f() {\n#if __CUDA_ARCH__\n#endif\n}\n", "--arch", "860")
        )

    def test_host_code_does_not_see_the_architecture(self) -> None:
        for before in (
            "void f() {",
            "int main() { k<<<1, 1>>>(); if (a) {",
            "__host__ int f() {",
            "__device__ int table[] = {1, 2};\n__device__ void f();\nvoid g() {",
            "__global__ void k() {}\nstruct S { S() {",
            "int n = f([](int i) {",
            "__device__ void f() {}\nenum { A, B }; void g() {",
        ):
            text = before + "\n#if __CUDA_ARCH__ >= 700\n#endif\n"
            self.assertIn("\n#if __CUDA_ARCH__ >= 700\n", self.rewritten(text), before)

    def test_each_branch_begins_with_the_braces_before_it(self) -> None:
        text = "#if A\n__global__ void k(int a) {\n#else\n__global__ void k() {\n#endif\n"
        text += "#ifdef __CUDA_ARCH__\n#endif\n}\nvoid f() {\n#ifdef __CUDA_ARCH__\n#endif\n}\n"
        self.assertEqual(self.rewritten(text).count("#if 1"), 1)

    def test_a_function_for_host_and_device_has_one_version(self) -> None:
        for text, line in (
            ("__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n  return 1;\n#endif\n}\n", 2),
            ("#define HD __host__ __device__\nHD int f() {\n#if __CUDA_ARCH__ >= 700\n#endif\n}\n", 3),
            ("struct S {\n __device__ __host__ S() {\n  if (a) {\n#if X\n#elif __CUDA_ARCH__\n#endif\n}}};\n", 5),
            ("__host__ __device__ int f() {\n  return\n __CUDA_ARCH__;\n}\n", 3),
            ("\n#ifdef __CUDA_ARCH__\n#define A 1\n#endif\nint f() { A; }\n__device__ int g() { A; }\n", 2),
        ):
            message = self.error(text)
            self.assertTrue(message.startswith(f"k.cu:{line}: error: "), message)
            self.assertIn("!defined(__SIMT__)", message)
        for condition in (
            "#if defined(__CUDA_ARCH__) && !defined(__SIMT__)",
            "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600",
            "#if 0 && __CUDA_ARCH__",
            "#if defined(__SIMT__) || __CUDA_ARCH__ >= 700",
        ):
            self.unchanged("__host__ __device__ int f() {\n" + condition + "\n#endif\n}\n")

    def test_conditions_between_functions_follow_what_they_choose(self) -> None:
        fallback = "__device__ double add(double* a) { return *a; }\n"
        self.unchanged("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\n#else\n" + fallback + "#endif\n")
        for text, expected in (
            ("#if __CUDA_ARCH__ < 600\n" + fallback + "#endif\n", "#if 700 < 600"),
            ("#ifdef __CUDA_ARCH__\n__constant__ int a;\n#else\n__constant__ int b;\n#endif\n", "#if 1"),
            ("#ifdef __CUDA_ARCH__\n#define L(x) __ldg(x)\n#endif\n__global__ void k() { L(0); }\n", "#if 1"),
            ("#if __CUDA_ARCH__\n#define A 1\n#endif\n__global__ void k() {\n#ifdef A\n#endif\n}\n", "#if 700"),
            ("#ifdef __CUDA_ARCH__\nint a;\n#endif\nvoid f() { a; }\n", "#ifdef __CUDA_ARCH__"),
            ("#ifdef __CUDA_ARCH__\n#define A 1\n#endif\nvoid f() { A; }\n", "#ifdef __CUDA_ARCH__"),
            ("#define NEW (__CUDA_ARCH__ >= 700)\n__global__ void k() {\n#if NEW\n#endif\n}\n", "#if (( 700 >= 700))"),
        ):
            self.assertIn(expected + "\n", self.rewritten(text))

    def test_headers_see_the_architecture_too(self) -> None:
        self.file("q.h", "#define HD __host__ __device__\n#define ON_DEVICE __device__\n")
        self.file("h.h", '#include "q.h"\nON_DEVICE inline int f() {\n#ifdef __CUDA_ARCH__\n#endif\n}\n')
        self.rewritten('#include "h.h"\n')
        [copy] = [name for name in os.listdir(self.path("out")) if name.endswith("h.h")]
        with open(self.path("out", copy)) as file:
            self.assertIn("#if 1\n", file.read())

    # --- shared memory ---

    def test_dynamic_shared_memory_in_a_kernel(self) -> None:
        self.assertEqual(
            " ".join(self.rewritten("void k() { extern __shared__ unsigned int s[]; }").split()),
            "void k() { unsigned int (&s)[] = *reinterpret_cast<unsigned int (*)[]>(::simt::dynamic_shared()); }",
        )

    def test_dynamic_shared_memory_at_file_scope(self) -> None:
        for around in ("%s", "namespace a::b {\n%s\n}", 'extern "C" { %s }', "namespace { inline namespace c { %s } }"):
            text = self.rewritten(around % "extern __shared__ __align__(16) T s[];")
            self.assertIn("static const ::simt::DynamicShared<T> s{};", text)

    def test_branches_of_an_if_do_not_confuse_scopes(self) -> None:
        text = self.rewritten("#ifdef A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nextern __shared__ int s[];\n")
        self.assertIn("DynamicShared<int> s{};", text)

    def test_order_and_alignment_of_specifiers_do_not_matter(self) -> None:
        for text in (
            "__shared__ extern volatile float s[];",
            "extern __shared__ alignas(16) volatile float s[];",
            "extern __shared__ volatile float __attribute__((aligned(16))) s[];",
        ):
            self.assertIn("volatile float (*)[]>(::simt::dynamic_shared())", self.rewritten("void k() {" + text + "}"))

    def test_the_type_may_precede_shared(self) -> None:
        for text, expected in (
            (
                "extern float __shared__ s[];",
                "float (&s)[] = *reinterpret_cast<float (*)[]>(::simt::dynamic_shared());",
            ),
            ("extern A<int, 2> volatile __shared__ s[];", "A<int, 2> volatile (&s)[] ="),
            ("int __shared__ a[4];", "__shared__ int a[4];"),
            ("unsigned int __shared__ a, b[2];", "__shared__ unsigned int a; __shared__ unsigned int b[2];"),
            ("static const n::T __shared__ a;", "__shared__ const n::T a;"),
        ):
            self.assertIn(expected, " ".join(self.rewritten("void k() { int n; " + text + " }").split()))
        self.assertIn("DynamicShared<float> s{};", self.rewritten("extern float __shared__ s[];"))

    # --- arrays of the device ---

    def test_arrays_of_the_device_get_gaps(self) -> None:
        zeroed, filled = (f"SIMT_{kind}_GAP SIMT_{kind}_ARRAY %s SIMT_{kind}_GAP" for kind in ("ZEROED", "FILLED"))
        for form, text in (
            (zeroed, "__device__ int t[256];"),
            (zeroed, "static __device__ float x, y[4];"),
            (zeroed, "__constant__ __align__(16) unsigned char w[4][2];"),
            (filled, "__constant__ int t[] = {1, 2, (3)};"),
            (filled, "__device__ Pair pairs[2];"),
        ):
            self.assertIn(form % text, self.rewritten(f"void f() {{}}\nnamespace n {{ {text} }}"))

    def test_other_declarations_for_the_device_keep_their_form(self) -> None:
        for text in (
            "__device__ int f(int a[4]) { int b[2]; return a[0]; }",
            "template <class T> __device__ T t[4];",
            "extern __device__ int e[3];",
            "__device__ const int c[2] = {1, 2};",
            "__device__ int scalar = 1;",
            "__device__ void (*table[2])(int);",
            "struct S { static __device__ int member[2]; };",
            "struct { int x; } __device__ points[2];",
        ):
            self.assertIn(text, self.rewritten(text))

    # --- headers ---

    def test_headers_with_launches_are_copied_and_others_are_not(self) -> None:
        self.file("plain.h", "int plain;\n")
        self.file("deep.h", "inline void f() { k<<<1, 1>>>(); }\n")
        self.file("folder/middle.h", '#pragma once\n#include "../deep.h"\n')
        text = self.rewritten('#include "plain.h"\n#include <middle.h>\n#include <vector>\n', "-I", "folder")
        self.assertIn(f'#include "{os.path.join(os.path.realpath(self.folder), "plain.h")}"', text)
        self.assertIn("#include <vector>", text)
        copies = [name for name in os.listdir(self.path("out")) if name != "k.cpp"]
        self.assertEqual(sorted(name.split(".", 3)[3] for name in copies), ["deep.h", "middle.h"])
        for copy in copies:
            self.assertTrue(copy.startswith("k.cpp."))
            with open(self.path("out", copy)) as file:
                content = file.read()
            if copy.endswith("deep.h"):
                self.assertTrue(content.startswith('#line 1 "deep.h"\ninline void f() { ::simt::launch('))
            else:
                self.assertIn([name for name in copies if name.endswith("deep.h")][0], content)

    def test_headers_that_include_each_other(self) -> None:
        self.file("a.h", '#pragma once\n#include "b.h"\n')
        self.file("b.h", '#pragma once\n#include "a.h"\ninline void f() { k<<<1, 1>>>(); }\n')
        self.rewritten('#include "a.h"\n')
        self.assertEqual(len(os.listdir(self.path("out"))), 3)

    def test_messages_may_name_files_relative_to_a_root(self) -> None:
        self.file("labs/k.cu", '#include "h.h"\nk<<<1, 1>>>();\n')
        self.file("labs/h.h", "\n<<<\n")
        done = subprocess.run(
            [sys.executable, REWRITE, "../labs/k.cu", "-o", "k.cpp", "--root", ".."],
            cwd=self.path("out"),
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.stderr, "labs/h.h:2: error: kernel launch: the kernel's name is missing before '<<<'\n")

    def test_dependencies_name_every_header_that_was_read_and_the_rewriter(self) -> None:
        self.file("a b.h", "")
        self.file("folder/c.h", "")
        self.rewritten('#include "a b.h"\n#include "c.h"\n#include "missing.h"\n', "-I", "folder", "--depfile", "out/d")
        with open(self.path("out", "d")) as file:
            words = file.read().replace("\\ ", "\\_").split()
        self.assertEqual(words[:4], ["out/k.cpp:", "k.cu", "a\\_b.h", "folder/c.h"])
        folder = os.path.dirname(REWRITE)
        rewriter = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".py")]
        self.assertEqual(words[4:], [path.replace(" ", "\\_") for path in rewriter])

    # --- messages ---

    def test_errors_name_the_line_and_write_nothing(self) -> None:
        for text, line, what in (
            ("\n\nk<<<1, 1;\n", 3, "never closed by '>>>'"),
            ("f(k<<<1, 1);\n", 1, "never closed by '>>>'"),
            ("\n<<<1, 1>>>();", 2, "no kernel name before"),
            ("return <<<1, 1>>>();", 1, "no kernel name before"),
            ("k<<<1, 1>>>;", 1, "launch of k: no '(arguments)'"),
            ("k<<<1, 1>>>(a;", 1, "launch of k: this '(' is never closed"),
            ("k<<<>>>();", 1, "needs a grid and a block"),
            ("int a;\n<<<<<<< HEAD\n", 2, "left over from a merge"),
            ("k<<<1, 1>>>();\n/* open", 2, "comment is never closed"),
            ('k<<<1, 1>>>();\nauto s = R"(open', 2, "raw string is never closed"),
            ("void k() {\n  extern __shared__ int a, b[];\n}", 2, "expected one array"),
            ("void k() {\n  extern __shared__ int a;\n}", 2, "expected one array"),
            ("void k() {\n  __shared__ int a =\n 0;\n}", 2, "cannot have an initial value"),
        ):
            message = self.error(text)
            self.assertTrue(message.startswith(f"k.cu:{line}: error: "), message)
            self.assertIn(what, message)

    def test_a_kernel_is_not_called_like_a_function(self) -> None:
        kernel = "template <class T>\n__global__ void __launch_bounds__(256) k(T* p) {}\n"
        for call in ("k(p)", "ns::k<int>(p)", "if (n) k<T>(p, 1)", "return k(p)", "else k(p)"):
            message = self.error(kernel + "void f() {\n  a();\n  " + call + ";\n}\n")
            self.assertTrue(message.startswith("k.cu:5: error: the kernel "), message)
            self.assertIn("called like a function", message)
        self.file("k.cuh", "#pragma once\n" + kernel)
        self.assertIn("k.cu:3: error: the kernel k", self.error('#include "k.cuh"\nvoid f() {\n k(0);\n}\n'))
        for call in ("std::k(p)", "::std::k(p, p + 1)", "std::ranges::k<T>(p)"):
            self.rewritten(kernel + "void f() {\n  " + call + ";\n}\n")

    def test_a_braced_argument_needs_its_type(self) -> None:
        for arguments in ("({p, 3}, 4)", "(4, {p})", "(f({p}), {p})"):
            self.assertIn(
                "k.cu:2: error: launch of k: CUDA on the CPU needs this argument's type",
                self.error("void f() {\n k<<<1, 2>>>" + arguments + ";\n}\n"),
            )
        self.rewritten("void f() { k<<<1, 2>>>(S{p, 3}, g({p}), [] { return 1; }()); }\n")

    def test_a_byte_order_mark_is_skipped(self) -> None:
        self.assertNotIn("\ufeff", self.rewritten("\ufeff#include <stdio.h>\r\nint n;\r\n"))

    def test_shared_variables_of_one_declaration_are_separated(self) -> None:
        for text, apart in (
            ("__shared__ T a[N], b[N / 2];", "__shared__ T a[N]; __shared__ T b[N / 2];"),
            ("static __shared__ int x, *y;", " __shared__ int x; __shared__ int *y;"),
            (
                "__shared__ alignas(8) P<int, 2> p, q[2];",
                "alignas(8) __shared__  P<int, 2> p; alignas(8) __shared__ P<int, 2> q[2];",
            ),
        ):
            self.assertEqual(self.rewritten("void k() { " + text + " }\n"), "void k() { " + apart + " }\n")
        self.unchanged("void k() { __shared__ struct { int n; } a, b; }\n")
        self.unchanged("void k() { __shared__ int (*f)(int), (*g)(int); }\n")

    def test_what_only_looks_like_a_call_of_a_kernel_is_accepted(self) -> None:
        kernel = "__global__ void k(int* p);\n__global__ void k(int* p) { }\n"
        for text in (
            "void f() { k<<<1, 1>>>(p); }",
            "void f() { x.k(p); y->k(p); cudaFuncSetAttribute(k, a, 1); }",
            "void k(float*);\nvoid f() { k(p); }",
            "void f() { auto k = [](int*) {};\n k(p); }",
            "template <class F>\nvoid f(F&& k) { k(p); }",
            "template <> __global__ void k<int>(int*);",
            "struct S { S() : k(1) {} int k; };",
        ):
            self.rewritten(kernel + text + "\n")

    def test_a_missing_input_is_an_error(self) -> None:
        done = subprocess.run(
            [sys.executable, REWRITE, "no.cu", "-o", "out/k.cpp"], cwd=self.folder, capture_output=True, text=True
        )
        self.assertEqual((done.returncode, done.stderr), (1, "error: no.cu: No such file or directory\n"))

    def test_the_compilers_messages_name_the_students_lines(self) -> None:
        self.file(
            "h.cuh",
            "#pragma once\n__global__ void k(int*) {}\ninline void f(int* p) {\n  k<<<1, 1>>>(p);\n  in_header;\n}\n",
        )
        self.rewritten(
            '#include "h.cuh"\n__global__ void m(float* p) {\n  extern __shared__ float s[];\n'
            "  p[0] = s[0];\n}\nvoid g(float* p) {\n  m\n    <<<1,\n       1>>>\n      (p);\n"
            "  in_source;\n}\n",
            "-I",
            HEADERS,
        )
        message = self.compile().stderr
        self.assertRegex(message, r"(?m)^h\.cuh:5:3: error: .*in_header")
        self.assertRegex(message, r"(?m)^k\.cu:11:3: error: .*in_source")
        self.assertEqual(message.count("error:"), 2)

    def test_headers_are_the_emulations_own(self) -> None:
        names = sorted(name for name in os.listdir(HEADERS) if name.endswith(".h"))
        names = [name for name in names if name not in ("cuda_fp16.h", "cuda_bf16.h")]
        self.rewritten("".join(f"#include <{name}>\n" for name in names))
        done = self.compile("-M")
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in done.stdout.replace("\\\n", " ").split()[1:]:
            folder = os.path.dirname(path)
            if folder != HEADERS:  # a folder of the toolkit, which has the same names
                self.assertFalse(os.path.exists(os.path.join(folder, "cuda_runtime.h")), path)

    def test_programs_find_out_by_include_guards_what_is_declared(self) -> None:
        for guard, use in (
            ("__DRIVER_TYPES_H__", "cudaError_t e = cudaSuccess; (void)cudaGetErrorName(e);"),
            ("__CUDA_RUNTIME_H__", "int mode = cudaComputeModeProhibited; (void)mode;"),
            ("__VECTOR_TYPES_H__", "float4 v = make_float4(1, 2, 3, 4); (void)v;"),
            ("__cuda_cuda_h__", "CUstream s = nullptr; CUresult r = CUDA_SUCCESS; (void)s, (void)r;"),
        ):
            text = f"#include <cuda.h>\n#ifndef {guard}\n#error no {guard}\n#endif\nvoid f() {{ {use} }}\n"
            self.rewritten(text)
            done = self.compile("-std=c++17", "-Wall", "-Wextra", "-Werror")
            self.assertEqual(done.stderr, "")

    def test_an_atomic_function_that_cuda_lacks_is_named_with_a_way_out(self) -> None:
        self.rewritten("#include <stdint.h>\n__global__ void k(uint64_t* p) {\n  atomicAdd(p, 1);\n}\n")
        message = self.compile().stderr
        self.assertRegex(message, r"k\.cu:3:.*atomicAdd")
        self.assertIn("cast its address to unsigned long long*", message)
        self.rewritten(
            "void atomicAdd(unsigned long*, unsigned long) {}\nvoid f(unsigned long* p) { atomicAdd(p, 1ul); }\n"
        )
        self.assertEqual(self.compile().stderr, "")

    def test_what_is_missing_is_named_by_the_compiler(self) -> None:
        self.rewritten("#include <cub/cub.cuh>\n")
        self.assertIn("CUB runs on GPUs only", self.compile().stderr)
        self.rewritten("#include <cuda_fp16.h>\n")
        self.assertIn("__half is for GPUs only", self.compile().stderr)
        self.rewritten("void f() { cudaGraph_t graph; }\n")
        self.assertIn("cudaGraph_t", self.compile().stderr)
        self.rewritten("void f(unsigned long* p) { atomicAdd(p, 1ul); }\n")
        self.assertIn("atomicAdd", self.compile().stderr)
        self.rewritten("__global__ void k(int*) {}\nvoid f(float* p) {\n  k<<<1, 1>>>(p);\n}\n")
        self.assertRegex(self.compile().stderr, r"k\.cu:3")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--compiler", default=COMPILER)
    own, rest = parser.parse_known_args()
    COMPILER = own.compiler
    unittest.main(argv=sys.argv[:1] + rest)

"""What common/simt/rewrite makes of __CUDA_ARCH__ in device code, in host code, and in functions for both."""

import os
import unittest

from rewriting import Rewriting


class Architecture(Rewriting):
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

    def test_a_function_for_host_and_device_has_two_versions(self) -> None:
        for before, condition, device in (
            ("__host__ __device__ int f() ", "#ifdef __CUDA_ARCH__", "#if 1"),
            ("#define HD __host__ __device__\nHD int f() ", "#if __CUDA_ARCH__ >= 700", "#if 700 >= 700"),
            ("struct S {\n __device__ __host__ S() : a(1) ", "#if X\n#elif __CUDA_ARCH__", "#if X\n#elif 700"),
            ("auto l = [] __host__ __device__ ", "#ifndef __CUDA_ARCH__", "#if 0"),
        ):
            body = "{ g();\n%s\n  return __CUDA_ARCH__;\n#endif\n}"
            self.run_on(before + body % condition + " int after;\n")
            with open(self.path("out", "k.cpp")) as file:
                text = file.read()
            line = before.count("\n") + 1
            of_device = (body % device).replace("__CUDA_ARCH__", "700")
            versions = f'{{ if (simt::is_in_kernel()) {of_device}\n#line {line} "k.cu"\n'
            versions += f"else {{ simt::host_version(); {body % condition} }} }}"
            self.assertEqual(text, f'#line 1 "k.cu"\n{before}{versions} int after;\n')

    def test_constants_have_the_version_of_their_users(self) -> None:
        function = "__host__ __device__ constexpr int f() {\n#ifdef __CUDA_ARCH__\n#endif\n}\n"
        for users, side in (
            ("__device__ int g() { return f(); }\n", "device"),
            ("int g() { return f(); }\n", "host"),
            ("int g() { return f(); }\n__device__ int h() { return f(); }\n", "either"),
            ("constexpr int n = f();\n", "either"),
            ("#define F f()\n__device__ int g() { return F; }\n", "either"),
        ):
            self.run_on(function + users)
            with open(self.path("out", "k.cpp")) as file:
                self.assertIn(f"simt::is_on_device<simt::Side::{side}>()", file.read(), users)

    def test_what_cannot_have_two_versions_is_refused(self) -> None:
        for text, line in (
            ("__host__ __device__ int f() {\n  return\n __CUDA_ARCH__;\n}\n", 3),
            ("__host__ __device__ int f() {\n#if __CUDA_ARCH__\n  goto end;\n#endif\nend:;\n}\n", 2),
            ("#if X\n__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n#else\n#endif\n#endif\n}\n", 3),
            ("\n#ifdef __CUDA_ARCH__\n#define A 1\n#endif\nint f() { A; }\n__device__ int g() { A; }\n", 2),
        ):
            message = self.error(text)
            self.assertTrue(message.startswith(f"k.cu:{line}: error: "), message)
            self.assertIn("!defined(__SIMT__)", message)

    def test_a_condition_that_is_the_same_for_both_stays(self) -> None:
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


if __name__ == "__main__":
    unittest.main()

"""What a compiler makes of rewritten files and of the headers of CUDA on the CPU: its messages name the right lines.

python3 compiler_test.py [--compiler CXX]      (default: g++)
"""

import os
import subprocess
import sys

from programs import COMPILER, main
from rewriting import ROOT, Rewriting

sys.path.insert(0, os.path.join(ROOT, "common", "simt"))

from rewrite.architecture import KNOWN

HEADERS = os.path.join(ROOT, "common", "simt", "include")


class Compiled(Rewriting):
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
                "-D__NVCC__",  # as in kernel_args of common/simt/meson.build
                *options,
                "out/k.cpp",
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )

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
        names = []
        for name in sorted(name for name in os.listdir(HEADERS) if name.endswith(".h")):
            with open(os.path.join(HEADERS, name), encoding="utf-8") as file:
                text = file.read()
            if "#include_next" in text:  # cuRAND in kernels, whose own headers are wanted
                continue
            if "#error" not in text:  # such a header has nothing but the error, which says what is for GPUs only
                names.append(name)
            else:
                self.assertRegex(text, r"\A#pragma once\n#error (\\\n *)?[^\n]* for GPUs only[^\n]*\n\Z", name)
        self.rewritten("".join(f"#include <{name}>\n" for name in names))
        done = self.compile("-M")
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in done.stdout.replace("\\\n", " ").split()[1:]:
            folder = os.path.dirname(path)
            if folder != HEADERS:  # a folder of the toolkit, which has the same names
                self.assertFalse(os.path.exists(os.path.join(folder, "cuda_runtime.h")), path)

    def test_the_rewriter_knows_what_the_headers_define(self) -> None:
        conditions = (f"#if {name} != {value}\n#error {name}\n#endif\n" for name, value in KNOWN.items())
        self.rewritten("#include <cuda.h>\n" + "".join(conditions))
        self.assertEqual(self.compile().stderr, "")

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
        self.rewritten("#include <cusparse.h>\n")
        self.assertIn("cuSPARSE is for GPUs only", self.compile().stderr)
        self.rewritten("void f() { cudaExternalMemory_t memory; }\n")
        self.assertIn("cudaExternalMemory_t", self.compile().stderr)
        self.rewritten("void f(unsigned long* p) { atomicAdd(p, 1ul); }\n")
        self.assertIn("atomicAdd", self.compile().stderr)
        self.rewritten("__global__ void k(int*) {}\nvoid f(float* p) {\n  k<<<1, 1>>>(p);\n}\n")
        self.assertRegex(self.compile().stderr, r"k\.cu:3")


if __name__ == "__main__":
    main()

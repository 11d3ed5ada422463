#!/usr/bin/env python3
"""What programs written for GPUs use: `cc` compiles programs in public/, with and without --check. The
programs verify their own results, and the check build finds nothing.

public_test.py [--compiler g++]
public_test.py Public.test_nvcc_compiles_them      with the variable NVCC: that nvcc compiles each, too
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from collections.abc import Sequence
from pathlib import Path

from programs import Programs, main

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from drawn import drawn  # noqa: E402

# Some programs ask for what the device must refuse, or for what it computes in another way than the CPU.
EXPECTED = re.compile(r": error: invalid-launch: kernel reverse: |: note: ")
ARCHITECTURE = "sm_90"
INCLUDE = Path("/usr/local/cuda/include")


class Public(Programs):
    """Programs of the kind that others write."""

    def test_programs(self) -> None:
        names = sorted(source.stem for source in (HERE / "public").glob("*.cu"))
        if not (INCLUDE / "curand_kernel.h").is_file():
            print("not run: random, because cuRAND's headers are not installed")
            names.remove("random")
        for name in drawn(names, 5):
            for options in ([], ["--check"]):
                with self.subTest(name=name, options=options):
                    self.compile_and_run(name, options)

    def compile_and_run(self, name: str, options: Sequence[str]) -> None:
        """Compiles and runs one of them."""
        self.compiled(str(HERE / "public" / f"{name}.cu"), "-arch", ARCHITECTURE, "-o", name, *options)
        done = self.run_program(name)
        self.assertEqual(done.stdout, "right\n", f"exit status {done.returncode}\n{done.stderr}")
        errors = [line for line in done.stderr.splitlines() if ": error: " in line]
        self.assertEqual([line for line in errors if not EXPECTED.search(line)], [])
        self.assertEqual(done.returncode, 3 if errors and options else 0, done.stderr)

    def test_libraries_that_are_part_of_the_runtime_are_not_linked(self) -> None:
        self.file("k.cu", "int main() {}\n")
        self.compiled("k.cu", "-lcublas", "-lcurand", "-lcufft", "-lnvToolsExt")

    def test_storage_of_cub_that_is_used_again_too_early_is_a_race(self) -> None:
        for header, declared, called in (
            ("block/block_reduce.cuh", "cub::BlockReduce<int, 64>", "x = Algorithm(storage).Sum(x);"),
            ("block/block_scan.cuh", "cub::BlockScan<int, 64>", "Algorithm(storage).ExclusiveSum(x, x);"),
            (
                "block/block_exchange.cuh",
                "cub::BlockExchange<int, 64, 2>",
                "int items[2] = {x, x}; Algorithm(storage).BlockedToStriped(items); x = items[1];",
            ),
            (
                "block/block_radix_sort.cuh",
                "cub::BlockRadixSort<int, 64, 1>",
                "int items[1] = {x}; Algorithm(storage).Sort(items); x = items[0];",
            ),
        ):
            with self.subTest(declared):
                self.file(
                    "early.cu",
                    f"""#include <cub/{header}>
__global__ void twice(int* out) {{
  using Algorithm = {declared};
  __shared__ typename Algorithm::TempStorage storage;
  int x = int(threadIdx.x);
  {{ {called} }}
#ifdef BARRIER
  __syncthreads();
#endif
  {{ {called} }}  // line 10
  out[threadIdx.x] = x;
}}
int main() {{
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  twice<<<1, 64>>>(out);
  cudaFree(out);
}}
""",
                )
                self.compiled("early.cu", "--check", "-DBARRIER")
                self.assertEqual(self.run_program("early").returncode, 0)
                self.compiled("early.cu", "--check")
                done = self.run_program("early")
                self.assertEqual(done.returncode, 3)
                self.assertRegex(done.stderr, r"early\.cu:(6|10): error: race: ")

    def test_a_block_of_another_shape_than_that_of_cub_ends_the_kernel(self) -> None:
        self.file(
            "shape.cu",
            """#include <cub/block/block_reduce.cuh>
#include <cstdio>
__global__ void k() {
  __shared__ cub::BlockReduce<int, 64>::TempStorage storage;
  cub::BlockReduce<int, 64>(storage).Sum(1);  // line 5
}
int main() {
  k<<<1, 128>>>();
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
""",
        )
        self.compiled("shape.cu")
        done = self.run_program("shape")
        self.assertEqual(done.stdout, "cudaErrorLaunchFailure\n")
        self.assertRegex(done.stderr, r"shape\.cu:5: error: .*the block has another shape than the template arguments")

    def test_an_error_in_a_function_of_cub_names_the_line_of_its_call(self) -> None:
        self.file(
            "past.cu",
            """#include <cub/device/device_scan.cuh>
int main() {
  std::size_t bytes = 1;
  int *in, *storage, out[100];
  cudaMalloc(&in, sizeof out);
  cudaMalloc(&storage, bytes);
  cudaMemset(in, 0, sizeof out);
#ifdef OF_HOST
  cub::DeviceScan::ExclusiveSum(storage, bytes, in, out, 100);  // line 9
#else
  cub::DeviceScan::ExclusiveSum(storage, bytes, in, in + 1, 100);  // line 11
#endif
  return cudaDeviceSynchronize() != cudaSuccess;
}
""",
        )
        for options, message in (
            (["-DOF_HOST"], r"past\.cu:9: error: host-pointer: .* cub::DeviceScan::ExclusiveSum.* argument 2"),
            (["-DOF_HOST", "--check"], r"past\.cu:9: error: host-pointer: .* argument 2"),
            (["--check"], r"past\.cu:11: error: out-of-bounds: kernel cub::DeviceScan::ExclusiveSum"),
        ):
            with self.subTest(options=options):
                self.compiled("past.cu", *options)
                done = self.run_program("past")
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, message)

    def test_constants_of_both_sides_are_refused(self) -> None:
        self.file(
            "constant.cu",
            """__host__ __device__ constexpr int lanes() {
#ifdef __CUDA_ARCH__
  return 32;
#else
  return 1;
#endif
}
__global__ void k() { constexpr int n = lanes(); __shared__ int room[n]; room[0] = 1; }
int main() { constexpr int n = lanes(); return n - 1; }
""",
        )
        done = self.cc("constant.cu")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(  # clang++ only says that it is no constant
            done.stderr, "a_constant_that_differs_between_host_and_device_code|must be initialized by a constant"
        )

    def test_what_cannot_be_captured_is_refused(self) -> None:
        self.file(
            "captured.cu",
            """#include <cstdio>
__global__ void k(int*) {}
int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  void (*kernel)(int*) = k;
  cudaGraph_t graph;

  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  kernel<<<1, 1, 0, stream>>>(nullptr);  // line 10
  std::puts(cudaGetErrorName(cudaGetLastError()));
  std::puts(cudaGetErrorName(cudaStreamEndCapture(stream, &graph)));
}
""",
        )
        self.compiled("captured.cu")
        done = self.run_program("captured")
        self.assertEqual(done.stdout.split(), ["cudaErrorNotSupported", "cudaSuccess"])
        self.assertRegex(done.stderr, r"^captured\.cu:10: error: invalid-launch: kernel k: launched by a variable")

    def test_a_kernel_of_which_only_the_address_is_known_is_named_with_a_way_out(self) -> None:
        self.file(
            "address.cu",
            """#include <cstdio>
__global__ void k() {}
void* address_of(void (*kernel)()) { return (void*)kernel; }
int main() {
  void* const kernel = address_of(k);
  std::puts(cudaGetErrorName(cudaLaunchKernel(kernel, 1, 1, nullptr)));  // line 6
}
""",
        )
        self.compiled("address.cu")
        done = self.run_program("address")
        self.assertEqual(done.stdout, "cudaErrorInvalidDeviceFunction\n")
        self.assertRegex(done.stderr, r"address\.cu:6: error: invalid-launch: .* as in \(void\*\)kernel\n")

    def test_clusters_and_attributes_that_do_not_exist_are_refused(self) -> None:
        self.file(
            "attributes.cu",
            """#include <cstdio>
__global__ void k() {}
int main() {
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config = {1, 32, 0, 0, &attribute, 1};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  std::puts(cudaGetErrorName(cudaLaunchKernelEx(&config, k)));  // line 8
  attribute.id = cudaLaunchAttributeID(99);
  std::puts(cudaGetErrorName(cudaLaunchKernelEx(&config, k)));
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {1, 1, 1};
  std::puts(cudaGetErrorName(cudaLaunchKernelEx(&config, k)));
}
""",
        )
        self.compiled("attributes.cu")
        done = self.run_program("attributes")
        self.assertEqual(done.stdout.split(), ["cudaErrorNotSupported", "cudaErrorInvalidValue", "cudaSuccess"])
        self.assertRegex(done.stderr, r"^attributes\.cu:8: error: invalid-launch: .*clusters of \(2,1,1\) blocks.*\n$")

    def test_what_only_a_gpu_can_do_is_refused_with_a_way_out(self) -> None:
        for text, message in (
            ("#include <cublasLt.h>", r"cuBLASLt is for GPUs only: .*#ifdef __SIMT__"),
            ("__global__ void __cluster_dims__(2, 1, 1) k() {}", r"clusters of blocks are for GPUs only: .* __SIMT__"),
            (
                "#include <cooperative_groups.h>\n__global__ void k() { cooperative_groups::this_cluster().sync(); }",
                r"this_cluster.*: clusters of blocks are for GPUs only",
            ),
            ("#include <cublasXt.h>", r"cuBLASXt is for GPUs only: .* cublas_v2.h"),
            ("#include <cusparse.h>", r"cuSPARSE is for GPUs only: .* kernel"),
            ("#include <cuda_fp8.h>", r"8-bit floating-point types are for GPUs only: .*#ifdef __SIMT__"),
            (
                "#include <cufftXt.h>\nvoid f(cufftHandle p) { cufftXtSetCallback(p, 0, CUFFT_CB_LD_COMPLEX, 0); }",
                r"cufftXtSetCallback|CUFFT_CB_LD_COMPLEX",  # clang names what it misses first
            ),
            ("#include <cub/block/no_such_block.cuh>", r"cub runs on GPUs only: build"),
            (
                "#include <cuda.h>\nvoid f(CUmodule* m) { cuModuleLoad(m, 0); }",
                r"cuModuleLoad.*: it loads kernels that are compiled for GPUs.*<<<>>>",
            ),
            (
                "void f(cudaGraph_t g) { cudaGraphConditionalHandle h; cudaGraphConditionalHandleCreate(&h, g); }",
                r"has no conditional nodes: launch the body's graph in a loop",
            ),
        ):
            self.file("k.cu", f"{text}\nint main() {{}}\n")
            done = self.cc("k.cu")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.replace("\n", " "), message)

    @unittest.skipUnless("NVCC" in os.environ, "the variable NVCC does not name an nvcc")
    def test_nvcc_compiles_them(self) -> None:
        for source in sorted((HERE / "public").glob("*.cu")):
            program = str(self.folder / "program")
            command = [os.environ["NVCC"], "-std=c++17", f"-arch={ARCHITECTURE}", str(source), "-o", program]
            command += ["-rdc=true", "-lcuda", "-lcublas", "-lcufft", "-lcurand"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()

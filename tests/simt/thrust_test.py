#!/usr/bin/env python3
"""What `./workbook cc` makes of programs that use Thrust.

thrust_test.py [--compiler g++]     exits with 77, which Meson counts as "not run", where Thrust's headers are missing
"""

import sys

from programs import ROOT, Programs, main

sys.path.insert(0, str(ROOT / "common"))

from workbook.core import thrust
from workbook.core.console import Problem

SKIPPED = 77

ALGORITHMS = """#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <cstdio>
struct Twice {
  __host__ __device__ int operator()(int x) const { return 2 * x; }
};
__global__ void reverse_signs(int* keys, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) keys[i] = -keys[i];
}
__global__ void sort_alone(int* keys, int n) { thrust::sort(thrust::seq, keys, keys + n); }
int main() {
  thrust::device_vector<int> keys(1000);
  thrust::sequence(keys.begin(), keys.end());
  thrust::transform(keys.begin(), keys.end(), keys.begin(), Twice());
  reverse_signs<<<8, 128>>>(thrust::raw_pointer_cast(keys.data()), 1000);
  thrust::sort(keys.begin(), keys.end());
  const thrust::host_vector<int> sorted = keys;
  std::printf("%d %d %d\\n", sorted[0], int(keys[999]), thrust::reduce(keys.begin(), keys.end()));
  thrust::sort(keys.begin(), keys.end(), thrust::greater<int>());
  sort_alone<<<1, 1>>>(thrust::raw_pointer_cast(keys.data()), 1000);
  std::printf("%d %d\\n", int(keys[0]), int(*thrust::max_element(keys.begin(), keys.end())));
  int *own, *values;
  cudaMalloc(&own, 400);
  cudaMalloc(&values, 400);
  thrust::fill(thrust::device, own, own + 100, 3);
  thrust::device_ptr<int> first(own), value = thrust::device_pointer_cast(values);
  thrust::sequence(value, value + 100);
  thrust::exclusive_scan(first, first + 100, first);
  thrust::stable_sort_by_key(first, first + 100, value, thrust::greater<int>());
  reverse_signs<<<1, 128>>>(values, 100);
  int host[100];
  cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d %d\\n", host[0], host[99]);
  cudaFree(own);
  cudaFree(values);
}
"""
PAST_THE_END = """#include <thrust/device_vector.h>
__global__ void shift(int* keys) { keys[threadIdx.x + 1] = int(threadIdx.x); }
int main() {
  thrust::device_vector<int> keys(32);
  shift<<<1, 32>>>(thrust::raw_pointer_cast(keys.data()));
  return int(cudaDeviceSynchronize());
}
"""


FUNCTION_OBJECTS = """#include <cub/cub.cuh>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <cstdio>
__global__ void combine(int* out) {
  using Reduce = cub::BlockReduce<int, 32>;
  __shared__ Reduce::TempStorage storage;
  const int lane = int(threadIdx.x);
  const int largest = Reduce(storage).Reduce(lane, cuda::maximum<>{});
  __syncthreads();
  const int sum = Reduce(storage).Reduce(lane, cuda::std::plus<int>());
  if (lane != 0) return;
  out[0] = largest;
  out[1] = sum;
  out[2] = cuda::minimum<int>{}(3, 4) + cuda::std::multiplies<>{}(2, 5);
  const cuda::std::complex<float> number(1, 2);
  out[3] = int((number * number).imag()) + cuda::std::get<1>(cuda::std::make_tuple(1, 2));
}
int main() {
  int *out, host[4];
  cudaMalloc(&out, sizeof host);
  combine<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\\n", host[0], host[1], host[2], host[3]);
  cudaFree(out);
}
"""


class Thrust(Programs):
    def test_kernels_use_function_objects_and_classes_of_libcu(self) -> None:
        self.file("k.cu", FUNCTION_OBJECTS)
        for options in ((), ("--check",)):
            self.compiled("k.cu", *options)
            done = self.run_program("k")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, "31 496 13 6\n")

    def test_algorithms_work_on_device_memory(self) -> None:
        self.file("k.cu", ALGORITHMS)
        for options in ((), ("--check",)):
            self.compiled("k.cu", *options)
            done = self.run_program("k")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("error", done.stderr)
            self.assertEqual(done.stdout.splitlines(), ["-1998 0 -999000", "-1998 0", "-99 0"])

    def test_an_access_past_the_end_of_a_device_vector_is_reported(self) -> None:
        self.file("k.cu", PAST_THE_END)
        self.compiled("k.cu", "--check")
        done = self.run_program("k")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(
            done.stderr, r"k\.cu:2: error: out-of-bounds: .* element 32 of the array allocated at .*k\.cu:4"
        )


if __name__ == "__main__":
    try:
        thrust.folder([])
    except Problem as problem:
        print(f"not run: {problem}")
        sys.exit(SKIPPED)
    main()

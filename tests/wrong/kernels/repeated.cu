// Faults of an instruction that has accessed the same memory many times before, without one: in wide types, and in two
// arrays in turn.
#include "case.h"

constexpr int rounds = 16;

/// In the last round, each thread reads what its neighbour writes.
__global__ void race_of_doubles(double* values) {
  const int i = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const int from = r < rounds - 1 ? i : (i + 1) % 64;
    values[i] = values[from] + r;  // expect: race
  }
}
CASE { race_of_doubles<<<1, 64>>>(filled<double>(64)); }

/// The same, of blocks.
__global__ void race_of_quads(int4* values) {
  for (int r = 0; r < rounds; ++r) {
    const int to = r < rounds - 1 ? blockIdx.x : 0;
    values[to] = make_int4(r, blockIdx.x, 0, 0);  // expect: race
  }
}
CASE { race_of_quads<<<4, 1>>>(filled<int4>(4)); }

/// The last element has been written in half only.
__global__ void half_written(const double* values, int n, double* sum) {
  double total = 0;
  for (int i = 0; i < n; ++i) total += values[i];  // expect: uninitialized
  *sum = total;
}
CASE {
  double* const values = device<double>(32);
  cudaMemset(values, 0, 31 * sizeof(double) + 4);
  half_written<<<1, 1>>>(values, 32, device<double>(1));
}

/// Three words of four are within bounds.
__global__ void past_the_end(int4* values, int n, int* sum) {
  int total = 0;
  for (int i = 0; i < n; ++i) total += values[i].w;
  const int4 last = values[n - 1];
  for (int i = n - 2; i <= n; ++i) {
    values[i] = last;  // expect: out-of-bounds
  }
  *sum = total;
}
CASE { past_the_end<<<1, 1>>>(reinterpret_cast<int4*>(filled<int>(4 * 8 + 3)), 8, device<int>(1)); }

__global__ void misaligned_in_the_end(char* bytes, double* sum) {
  double total = 0;
  for (int r = 0; r < rounds; ++r) {
    const int at = r < rounds - 1 ? 8 * r : 8 * r + 4;
    total += *reinterpret_cast<double*>(bytes + at);  // expect: misaligned
  }
  *sum = total;
}
CASE { misaligned_in_the_end<<<1, 1>>>(filled<char>(8 * rounds + 8), device<double>(1)); }

/// Two arrays in turn; the last barrier is missing.
__global__ void two_arrays(int* out) {
  __shared__ int a[64], b[64];
  const int i = threadIdx.x;
  a[i] = b[i] = i;
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    const int sum = a[(i + r) % 64] + b[(i + 2 * r) % 64];  // expect-one: race
    if (r < rounds - 1) __syncthreads();
    a[i] = sum;   // expect-one: race
    b[i] = a[i];  // expect-one: race
  }
  out[i] = b[i];
}
CASE { two_arrays<<<1, 64>>>(device<int>(64)); }

/// One launch after the other: the second has no right to what the first has accessed by the same instruction.
__global__ void sum_up(const float2* values, float* sum) {
  *sum = values[0].x + values[1].y;  // expect: use-after-free
}
CASE {
  float2* const values = filled<float2>(2);
  float* const sum = device<float>(1);
  sum_up<<<1, 1>>>(values, sum);
  cudaFree(values);
  sum_up<<<1, 1>>>(values, sum);
}

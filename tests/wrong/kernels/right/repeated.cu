// Right accesses of one instruction to many places: wide types, two arrays in turn, blocks after blocks.
#include "../case.h"

__global__ void in_turn(double* values, int4* quads, int rounds) {
  __shared__ double a[64];
  __shared__ int b[64];
  const int i = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    a[i] = values[i + 64 * (blockIdx.x % 2 == r % 2 ? blockIdx.x : gridDim.x + blockIdx.x)];
    b[63 - i] = i;
    __syncthreads();
    values[i + 64 * (gridDim.x + blockIdx.x)] = a[63 - i] + b[i];
    quads[i + 64 * blockIdx.x] = make_int4(b[63 - i], i, r, 0);
    __syncthreads();
  }
}
CASE { in_turn<<<4, 64>>>(filled<double>(2 * 4 * 64), device<int4>(4 * 64), 8); }

/// Memory that is freed and allocated again, at another place or the same.
__global__ void copy(const float2* from, float2* to) { to[threadIdx.x] = from[threadIdx.x]; }
CASE {
  for (int round = 0; round < 4; ++round) {
    float2 *const from = filled<float2>(32), *const to = device<float2>(32);
    copy<<<1, 32>>>(from, to);
    cudaFree(from);
    copy<<<1, 32>>>(to, filled<float2>(32 + round));
    cudaFree(to);
  }
}

// Blocks that wait for blocks of which CUDA does not promise that they run.
#include "case.h"

/// Look-back by the block's index: the blocks before this one may begin later.
__global__ void look_back(const unsigned* in, volatile unsigned* sums, volatile unsigned* flags, unsigned* out) {
  const unsigned b = blockIdx.x;
  __shared__ unsigned before;
  if (threadIdx.x == 0) {
    before = 0;
    if (b > 0) {
      while (flags[b - 1] == 0) {  // expect: forward-progress
      }
      __threadfence();
      before = sums[b - 1];
    }
    sums[b] = before + in[b];
    __threadfence();
    flags[b] = 1;
  }
  __syncthreads();
  out[b * 32 + threadIdx.x] = before + threadIdx.x;
}
CASE { look_back<<<5, 32>>>(filled<unsigned>(5), filled<unsigned>(5), filled<unsigned>(5), device<unsigned>(160)); }

/// The same for each digit, by atomics.
__global__ void digits_look_back(unsigned* sums, unsigned* flags, unsigned* out) {
  const unsigned b = blockIdx.x, d = threadIdx.x;
  sums[b * 64 + d] = d;
  __threadfence();
  atomicExch(&flags[b * 64 + d], 1u);
  unsigned before = 0;
  for (int p = int(b) - 1; p >= 0; --p) {
    while (atomicAdd(&flags[p * 64 + d], 0u) == 0) {  // expect: forward-progress
    }
    before += sums[p * 64 + d];
  }
  out[b * 64 + d] = before;
}
CASE { digits_look_back<<<6, 64>>>(device<unsigned>(384), filled<unsigned>(384), device<unsigned>(384)); }

/// With a pause that grows.
__global__ void in_turn(unsigned* turn, unsigned* out) {
  if (threadIdx.x == 0) {
    unsigned pause = 8;
    while (atomicAdd(turn, 0u) != blockIdx.x) {  // expect: forward-progress
      __nanosleep(pause);
      if (pause < 256) pause *= 2;
    }
    out[blockIdx.x] = blockIdx.x;
    __threadfence();
    atomicAdd(turn, 1u);
  }
}
CASE { in_turn<<<4, 32>>>(filled<unsigned>(1), device<unsigned>(4)); }

/// The next block may have to wait until this one ends.
__global__ void look_ahead(volatile int* flags, int* out) {
  const unsigned b = blockIdx.x;
  flags[b] = 1;
  if (b + 1 < gridDim.x) {
    while (flags[b + 1] == 0) {  // expect: forward-progress
    }
  }
  out[b] = 1;
}
CASE { look_ahead<<<4, 1>>>(filled<int>(4), device<int>(4)); }

/// A barrier of all blocks.
__global__ void all_blocks(int* count, int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < int(gridDim.x)) {  // expect: forward-progress
    }
    __threadfence();
  }
  __syncthreads();
}
CASE { all_blocks<<<3, 64>>>(filled<int>(1), device<int>(192)); }

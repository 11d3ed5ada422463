// Faulty kernels, for each of which advice_test.py knows what the check build must advise.
#include "../../wrong/kernels/case.h"

__global__ void no_block_in_index(int* keys) {
  const int i = threadIdx.x;
  const int key = keys[i];
  keys[i] = key + int(blockIdx.x) + 1;
}
CASE { no_block_in_index<<<2, 32>>>(filled<int>(32)); }

/// A pair for each key: two threads have each key in common, of one block or of two.
__global__ void thread_per_key(int* keys, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 >= n) return;
  const int a = keys[i], b = keys[i + 1];
  keys[i] = b;
  keys[i + 1] = a + 1;
}
CASE { thread_per_key<<<2, 32>>>(filled<int>(64), 64); }

/// The same after a barrier: at first it is found within a block.
__global__ void in_both(int* keys, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  __syncthreads();
  const int next = keys[(i + 1) % n];
  keys[i] = next + 1;
}
CASE { in_both<<<2, 32>>>(filled<int>(64), 64); }

__global__ void unfenced(int* data, int* flag) {
  if (blockIdx.x == 0) {
    data[0] = 7;
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    data[1] = data[0];
  }
}
CASE { unfenced<<<2, 1>>>(filled<int>(2), filled<int>(1)); }

/// One barrier is missing, between three pairs of lines.
__global__ void one_barrier(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = int(threadIdx.x);
  const int next = tile[(threadIdx.x + 1) % 64];
  const int previous = tile[(threadIdx.x + 63) % 64];
  const int opposite = tile[63 - threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = next + previous + opposite;
}
CASE { one_barrier<<<1, 64>>>(device<int>(64)); }

__global__ void between_lanes(int* out, bool shuffle) {
  __shared__ int tile[32];
  if (shuffle) out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, int(threadIdx.x), 1);
  tile[threadIdx.x] = int(threadIdx.x);
  const int next = tile[(threadIdx.x + 1) % 32];
  out[threadIdx.x] = next;
}
CASE { between_lanes<<<1, 32>>>(device<int>(32), false); }
CASE { between_lanes<<<1, 32>>>(device<int>(32), true); }

/// Threads that have nothing to compute should still load.
__global__ void leaves_early(const int* in, int* out) {
  __shared__ int tile[64];
  if (threadIdx.x >= 32) return;
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[2 * threadIdx.x] + tile[2 * threadIdx.x + 1];
}
CASE { leaves_early<<<1, 64>>>(filled<int>(64), device<int>(32)); }

/// The same, but the next launch reads what is missing.
__global__ void stores_late(const int* in, int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x >= 32) return;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void copy(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }
CASE {
  int* between = device<int>(64);
  stores_late<<<1, 64>>>(filled<int>(64), between);
  copy<<<1, 64>>>(between, device<int>(64));
}

/// Threads leave early, as they may; what is not written has nothing to do with it.
__global__ void leaves_rightly(const int* in, const int* unwritten, int* out) {
  __shared__ int tile[64];
  if (threadIdx.x >= 32) return;
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x] + unwritten[threadIdx.x];
}
CASE { leaves_rightly<<<1, 64>>>(filled<int>(64), device<int>(64), device<int>(32)); }

__global__ void from_exited_lane(int* keys, int n) {
  if (threadIdx.x >= n) return;
  keys[threadIdx.x] = __shfl_down_sync(0xffffffffu, keys[threadIdx.x], 1);
}
CASE { from_exited_lane<<<1, 32>>>(filled<int>(32, 1), 8); }

/// Rounds that differ in number, with a barrier in each.
__global__ void barrier_in_loop(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = int(threadIdx.x);
  for (int i = 0; i < int(threadIdx.x % 2); ++i) {
    tile[threadIdx.x] += tile[(threadIdx.x + 1) % 64];
    __syncthreads();
  }
  out[threadIdx.x] = tile[threadIdx.x];
  __syncthreads();
}
CASE { barrier_in_loop<<<1, 64>>>(device<int>(64)); }

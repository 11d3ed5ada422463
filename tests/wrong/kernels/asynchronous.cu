// cuda::atomic, cuda::barrier and copies of groups, each without something that it needs.
#include "case.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>

namespace cg = cooperative_groups;

using Counter = cuda::atomic<unsigned, cuda::thread_scope_device>;

/// Relaxed: it orders nothing.
__global__ void relaxed(int* values, Counter* done, int* total) {
  if (threadIdx.x != 0) return;
  values[blockIdx.x] = int(blockIdx.x);  // expect-one: race
  if (done->fetch_add(1, cuda::memory_order_relaxed) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += values[b];  // expect-one: race
  *total = sum;
}
CASE { relaxed<<<10, 32>>>(device<int>(10), filled<Counter>(1), device<int>(1)); }

/// Arrives, and does not wait.
__global__ void no_wait(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = int(threadIdx.x);  // expect-one: race
  (void)barrier.arrive();
  out[threadIdx.x] = tile[(threadIdx.x + 32) % 64];  // expect-one: race
}
CASE { no_wait<<<1, 64>>>(device<int>(64)); }

// cuda::atomic, cuda::barrier, cuda::pipeline and copies of groups, with all that they need.
#include "../case.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

using Counter = cuda::atomic<unsigned, cuda::thread_scope_device>;

/// The block that comes last adds up what the others have written before their release.
__global__ void last_block_adds(int* values, Counter* done, int* total) {
  if (threadIdx.x != 0) return;
  values[blockIdx.x] = int(blockIdx.x);
  if (done->fetch_add(1, cuda::memory_order_acq_rel) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += values[b];
  *total = sum;
}
CASE { last_block_adds<<<10, 32>>>(device<int>(10), filled<Counter>(1), device<int>(1)); }

/// A flag of the block, between its warps.
__global__ void flag(int* out) {
  __shared__ int value;
  __shared__ cuda::atomic<int, cuda::thread_scope_block> is_ready;
  if (threadIdx.x == 0) is_ready.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 40) {
    value = 7;
    is_ready.store(1, cuda::memory_order_release);
  }
  if (threadIdx.x < 32) {
    while (is_ready.load(cuda::memory_order_acquire) == 0) {
    }
    out[threadIdx.x] = value;
  }
}
CASE { flag<<<1, 64>>>(device<int>(32)); }

/// Copies into a tile, which all read after the barrier, and write after the next one.
__global__ void tiles(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int t = 0; t < 3; ++t) {
    cuda::memcpy_async(cg::this_thread_block(), tile, in + 64 * t, sizeof tile, barrier);
    barrier.arrive_and_wait();
    out[64 * t + threadIdx.x] = tile[63 - threadIdx.x];
    barrier.arrive_and_wait();
  }
}
CASE { tiles<<<1, 64>>>(filled<int>(192), device<int>(192)); }

/// One warp fills what the other uses.
__global__ void stages(const int* in, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int tile[2][32];
  auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, std::size_t(32));
  for (int t = 0; t < 6; ++t) {
    if (threadIdx.x < 32) {
      pipe.producer_acquire();
      tile[t % 2][threadIdx.x] = in[t * 32 + threadIdx.x];
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      out[t * 32 + threadIdx.x - 32] = tile[t % 2][63 - threadIdx.x];
      pipe.consumer_release();
    }
  }
}
CASE { stages<<<1, 64>>>(filled<int>(192), device<int>(192)); }

__global__ void group_copies(const int* in, int* out) {
  __shared__ int tile[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof tile);
  cg::wait(block);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
CASE { group_copies<<<1, 64>>>(filled<int>(64), device<int>(64)); }

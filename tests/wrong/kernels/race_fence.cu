// What a block or warp publishes to others by a flag, a counter or a lock, without the fence that must come before.
#include "case.h"

/// A flag without a fence does not publish what was written before it.
__global__ void unfenced_flag(int* data, unsigned* ticket) {
  if (blockIdx.x == 0) {
    data[0] = 7;
    atomicExch(ticket, 1u);
  } else {
    while (atomicAdd(ticket, 0u) == 0) {  // expect: forward-progress
    }
    data[1] = data[0];  // expect: race
  }
}
CASE { unfenced_flag<<<2, 1>>>(filled<int>(2), filled<unsigned>(1)); }

/// Decoupled look-back: the sum of a tile, then its flag, with no fence in between.
__global__ void look_back(const unsigned* data, unsigned* sums, volatile unsigned* flags, unsigned* out) {
  if (threadIdx.x == 0) {
    const unsigned b = blockIdx.x;
    sums[b] = data[b];
    flags[b] = 1;
    unsigned before = 0;
    for (int p = int(b) - 1; p >= 0; --p) {
      while (flags[p] == 0) {  // expect: forward-progress
      }
      before += sums[p];  // expect: race
    }
    out[b] = before;
  }
}
CASE { look_back<<<8, 32>>>(filled<unsigned>(8), device<unsigned>(8), filled<unsigned>(8), device<unsigned>(8)); }

/// The same with the fence, but the write of the flag is neither volatile nor atomic.
__global__ void plain_flag(unsigned* sums, unsigned* flags, unsigned* out) {
  const unsigned b = blockIdx.x;
  sums[b] = 1;
  __threadfence();
  flags[b] = 1;  // expect-one: race
  unsigned before = 0;
  for (int p = int(b) - 1; p >= 0; --p) {
    while (atomicAdd(&flags[p], 0u) == 0) {  // expect-one: race
    }
    before += sums[p];  // expect-one: race
  }
  out[b] = before;
}
CASE { plain_flag<<<4, 1>>>(device<unsigned>(4), filled<unsigned>(4), device<unsigned>(4)); }

/// The last block to finish adds up what all blocks have written but not published.
__global__ void last_block(const int* data, int* sums, unsigned* done, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = data[blockIdx.x];
    last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) atomicAdd(out, sums[i]);  // expect: race
}
CASE { last_block<<<8, 32>>>(filled<int>(8), device<int>(8), filled<unsigned>(1), filled<int>(1)); }

/// There is a fence, but after the counter.
template <class T>
__global__ void fence_too_late(T* sums, unsigned* done, T* out) {
  sums[blockIdx.x] = T(blockIdx.x);
  const unsigned before = atomicAdd(done, 1u);
  __threadfence();
  if (before + 1 == gridDim.x) {
    T total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += sums[i];  // expect: race
    *out = total;
  }
}
CASE { fence_too_late<long long><<<6, 1>>>(device<long long>(6), filled<unsigned>(1), device<long long>(1)); }

/// A lock that is released without a fence.
__device__ void add_locked(int* lock, int* value) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *value += 1;  // expect: race
  atomicExch(lock, 0);
}
__global__ void locked(int* lock, int* value) { add_locked(lock, value); }
CASE { locked<<<4, 1>>>(filled<int>(1), filled<int>(1)); }

/// A work queue: the item is written after its number has been published.
__global__ void queue(int* items, volatile int* count, int* out) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < 4; ++i) {
      *count = i + 1;
      items[i] = i;  // expect-one: race
    }
  } else {
    while (*count < 4) {  // expect: forward-progress
    }
    out[blockIdx.x] = items[blockIdx.x];  // expect-one: race uninitialized
  }
}
CASE { queue<<<3, 1>>>(device<int>(4), filled<int>(1), device<int>(4)); }

/// A fence for the block only, although other blocks read.
__global__ void block_fence(int* data, unsigned* flag) {
  if (blockIdx.x == 0) {
    data[0] = 7;
    __threadfence_block();
    atomicExch(flag, 1u);
  } else {
    while (atomicAdd(flag, 0u) == 0) {  // expect: forward-progress
    }
    data[1] = data[0];  // expect: race
  }
}
CASE { block_fence<<<2, 1>>>(filled<int>(2), filled<unsigned>(1)); }

/// A warp fills a buffer for another warp, but its fence comes after the flag.
__global__ void unfenced_buffer(const int* in, int* out, int rounds) {
  __shared__ int buffer[32];
  __shared__ volatile int full;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x < 32) {
      if (lane == 0)
        while (full) {
        }
      __syncwarp();
      buffer[lane] = in[r * 32 + lane];  // expect-one: race
      __syncwarp();
      if (lane == 0) full = 1;
      __threadfence_block();
    } else {
      if (lane == 0)
        while (!full) {
        }
      __syncwarp();
      out[r * 32 + lane] = buffer[31 - lane];  // expect-one: race
      __threadfence_block();
      __syncwarp();
      if (lane == 0) full = 0;
    }
  }
}
CASE { unfenced_buffer<<<1, 64>>>(filled<int>(128), device<int>(128), 4); }

/// A lock that threads of one block take in turn, released without a fence.
__global__ void locked_in_block(int* lock, int* value) {
  __shared__ int own;
  if (threadIdx.x == 0) own = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    own += 1;  // expect: race
    atomicExch(lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) *value = own;
}
CASE { locked_in_block<<<1, 128>>>(filled<int>(1), device<int>(1)); }

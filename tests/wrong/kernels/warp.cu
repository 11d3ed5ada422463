// Warp primitives: lanes that are missing, masks that are wrong, and lanes that wait for each other. Lanes that have
// exited do not count.
#include <cooperative_groups.h>

#include "case.h"

constexpr unsigned full = 0xffffffffu;

/// Half a warp waits for the other half, which waits for the block.
__global__ void mixed(int* out) {
  if (threadIdx.x < 16) {
    __syncwarp();  // expect: deadlock
  }
  __syncthreads();
  out[threadIdx.x] = 0;
}
CASE { mixed<<<1, 32>>>(device<int>(32)); }

/// Two half warps, each in a primitive that needs the other half.
__global__ void crossed(unsigned* out) {
  unsigned sum = threadIdx.x;
  if (threadIdx.x % 2 == 0) {
    sum += __shfl_xor_sync(full, sum, 1);  // expect-one: deadlock invalid-warp-mask
  } else {
    __syncwarp();  // expect-one: deadlock invalid-warp-mask
  }
  out[threadIdx.x] = sum;
}
CASE { crossed<<<1, 32>>>(device<unsigned>(32)); }

/// Lanes of a branch wait for lanes that spin until the branch is left.
__global__ void two_groups(int* out) {
  if (threadIdx.x < 8) {
    __syncwarp(0x0000ffffu);  // expect-one: deadlock
  } else if (threadIdx.x < 16) {
    __syncwarp(0x00ffff00u);  // expect-one: deadlock
  } else if (threadIdx.x < 24) {
    __syncwarp(0x00ff00ffu);  // expect-one: deadlock
  }
  out[threadIdx.x] = 1;
}
CASE { two_groups<<<1, 32>>>(device<int>(32)); }

/// A full mask in a branch that half of the warp takes.
__global__ void reduce(int* out) {
  if (threadIdx.x < 16) {
    int v = threadIdx.x;
    v += __shfl_down_sync(full, v, 8);  // expect: deadlock invalid-warp-mask
    out[threadIdx.x] = v;
  }
  __syncthreads();
}
CASE { reduce<<<1, 32>>>(device<int>(32)); }

/// A scan whose lanes take part only as long as they have a partner.
template <class T>
__device__ T warp_scan(T value) {
  for (unsigned d = 1; d < 32; d *= 2) {
    if (threadIdx.x % 32 >= d) value += __shfl_up_sync(full, value, d);  // expect: deadlock invalid-warp-mask
  }
  return value;
}
__global__ void scan(unsigned long long* out) { out[threadIdx.x] = warp_scan(1ull); }
CASE { scan<<<1, 64>>>(device<unsigned long long>(64)); }

/// The lanes of keys beyond the end have returned and do not vote.
__global__ void ranks(const unsigned char* keys, unsigned* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    out[i] = __popc(__match_any_sync(full, unsigned(keys[i])));  // note: early-exit
  }
}
CASE { ranks<<<1, 32>>>(filled<unsigned char>(50), device<unsigned>(50), 50); }

__global__ void outside(unsigned* out) {
  out[threadIdx.x] = __ballot_sync(0x0000ffffu, 1);  // expect: invalid-warp-mask
}
CASE { outside<<<1, 32>>>(device<unsigned>(32)); }

__global__ void exited(int* out) {
  if (threadIdx.x >= 20) return;
  __syncwarp(full);  // note: early-exit
  out[threadIdx.x] = 1;
}
CASE { exited<<<1, 32>>>(device<int>(32)); }

/// The mask is that of the lanes on the other side of the branch.
__global__ void stale_mask(int* out) {
  const unsigned odd = __ballot_sync(full, threadIdx.x % 2);
  const auto add = [&](int value) { return __reduce_add_sync(odd, value); };  // expect: invalid-warp-mask
  out[threadIdx.x] = threadIdx.x % 2 == 0 ? add(1) : 0;
}
CASE { stale_mask<<<1, 32>>>(device<int>(32)); }

/// Two-dimensional blocks: a row of sixteen is half a warp.
__global__ void rows(int* out) {
  if (threadIdx.y == 1) return;
  int sum = 1;
  for (int d = 8; d > 0; d /= 2) sum += __shfl_down_sync(full, sum, d, 16);  // note: early-exit
  if (threadIdx.x == 0) out[threadIdx.y] = sum;
}
CASE { rows<<<1, dim3(16, 2)>>>(device<int>(2)); }

/// __activemask() is called before the lanes diverge, and used after that.
__global__ void active(const int* keys, unsigned* out) {
  const unsigned mask = __activemask();
  if (keys[threadIdx.x] == 0 && threadIdx.x < 24) {
    out[threadIdx.x] = __ballot_sync(mask, threadIdx.x % 2);  // note: early-exit
  }
}
CASE { active<<<1, 32>>>(filled<int>(32), device<unsigned>(32)); }

/// A tile of the block, in a branch that only a part of the tile takes.
__global__ void of_tile(int* out) {
  auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  int sum = 1;
  if (warp.thread_rank() < 10) sum = warp.shfl(sum, 0);  // note: early-exit
  out[threadIdx.x] = sum;
}
CASE { of_tile<<<1, 64>>>(device<int>(64)); }

/// A reduction of eight lanes that begins as if there were 32.
template <class T>
__global__ void too_wide(T* out) {
  T sum = T(threadIdx.x);
  const unsigned mask = __ballot_sync(full, threadIdx.x < 8);
  if (threadIdx.x < 8) {
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(mask, sum, d);  // expect: invalid-warp-mask
    if (threadIdx.x == 0) *out = sum;
  }
}
CASE { too_wide<<<1, 32>>>(device<int>(1)); }
CASE { too_wide<<<1, 64>>>(device<float>(1)); }
CASE { too_wide<<<1, 32>>>(device<unsigned long long>(1)); }

/// A value from a lane that has left the branch, stored as it is.
__global__ void neighbour(int* out) {
  if (threadIdx.x < 4) {
    out[threadIdx.x] = __shfl_sync(0xfu, int(threadIdx.x), 4);  // expect: invalid-warp-mask
  }
  __syncthreads();
}
CASE { neighbour<<<1, 32>>>(device<int>(4)); }

/// The upper half of eight lanes takes values from outside the mask, which nothing uses.
template <class T>
__device__ T sum_of_eight(T value) {
  for (int d = 4; d > 0; d /= 2) value += __shfl_down_sync(0xffu, value, d);
  return value;
}
__global__ void unused(int* sums, double* totals) {
  if (threadIdx.x < 8) {
    const int sum = sum_of_eight(int(threadIdx.x));
    const double total = sum_of_eight(0.5);
    if (threadIdx.x == 0) *sums = sum, *totals = total;
    int last = int(threadIdx.x);
    const int next = __shfl_down_sync(0xffu, last, 1);
    if (threadIdx.x < 7) last += next;
    sums[threadIdx.x + 1] = last;
  }
}
CASE { unused<<<1, 32>>>(device<int>(9), device<double>(1)); }

/// Lanes of one warp vote in two places. They meet, and each gets the votes of both.
__global__ void two_votes(unsigned* out) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = __ballot_sync(full, threadIdx.x % 2);  // note: split-primitive
  } else {
    out[threadIdx.x] = __popc(__ballot_sync(full, threadIdx.x % 3 == 0));
  }
}
CASE { two_votes<<<1, 32>>>(device<unsigned>(32)); }

// Warp primitives: lanes that are missing, masks that are wrong, and lanes that wait for each other.
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

/// The lanes of keys beyond the end have returned and cannot vote.
__global__ void ranks(const unsigned char* keys, unsigned* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    out[i] = __popc(__match_any_sync(full, unsigned(keys[i])));  // expect: deadlock invalid-warp-mask
  }
}
CASE { ranks<<<1, 32>>>(filled<unsigned char>(50), device<unsigned>(50), 50); }

__global__ void outside(unsigned* out) {
  out[threadIdx.x] = __ballot_sync(0x0000ffffu, 1);  // expect: invalid-warp-mask
}
CASE { outside<<<1, 32>>>(device<unsigned>(32)); }

__global__ void exited(int* out) {
  if (threadIdx.x >= 20) return;
  __syncwarp(full);  // expect: invalid-warp-mask
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
  for (int d = 8; d > 0; d /= 2) sum += __shfl_down_sync(full, sum, d, 16);  // expect: invalid-warp-mask
  if (threadIdx.x == 0) out[threadIdx.y] = sum;
}
CASE { rows<<<1, dim3(16, 2)>>>(device<int>(2)); }

/// __activemask() is called before the lanes diverge, and used after that.
__global__ void active(const int* keys, unsigned* out) {
  const unsigned mask = __activemask();
  if (keys[threadIdx.x] == 0 && threadIdx.x < 24) {
    out[threadIdx.x] = __ballot_sync(mask, threadIdx.x % 2);  // expect: deadlock invalid-warp-mask
  }
}
CASE { active<<<1, 32>>>(filled<int>(32), device<unsigned>(32)); }

/// A tile of the block, in a branch that only a part of the tile takes.
__global__ void of_tile(int* out) {
  auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  int sum = 1;
  if (warp.thread_rank() < 10) sum = warp.shfl(sum, 0);  // expect: deadlock invalid-warp-mask
  out[threadIdx.x] = sum;
}
CASE { of_tile<<<1, 64>>>(device<int>(64)); }

// Races between lanes of one warp, which do not run in step: what one writes, another sees after __syncwarp.
#include "case.h"

__device__ void store(int* tile, int at, int value) { tile[at] = value; }

/// Through a device function and dynamic shared memory.
__global__ void in_a_warp(int* out) {
  extern __shared__ int work[];
  store(work, threadIdx.x, 1);
  __syncwarp();
  work[threadIdx.x] = 2;                     // expect-one: race
  out[threadIdx.x] = work[threadIdx.x ^ 1];  // expect-one: race
}
CASE { in_a_warp<<<1, 32, 128>>>(device<int>(32)); }

/// The last steps of a reduction, written as if lanes ran in step.
template <class T>
__global__ void warp_reduce(T* out) {
  __shared__ T sums[64];
  sums[threadIdx.x] = T(1);
  __syncthreads();
  if (threadIdx.x < 32) {
    sums[threadIdx.x] += sums[threadIdx.x + 32];                        // expect-one: race
    if (threadIdx.x < 16) sums[threadIdx.x] += sums[threadIdx.x + 16];  // expect-one: race
    if (threadIdx.x < 8) sums[threadIdx.x] += sums[threadIdx.x + 8];    // expect-one: race
    if (threadIdx.x < 4) sums[threadIdx.x] += sums[threadIdx.x + 4];    // expect-one: race
    if (threadIdx.x < 2) sums[threadIdx.x] += sums[threadIdx.x + 2];    // expect-one: race
    if (threadIdx.x < 1) *out = sums[0] + sums[1];                      // expect-one: race
  }
}
CASE { warp_reduce<unsigned><<<1, 64>>>(device<unsigned>(1)); }

/// A read, then a write of the neighbour's slot, with only one __syncwarp per round.
__global__ void scan(unsigned* out) {
  __shared__ unsigned sums[32];
  sums[threadIdx.x] = 1;
  for (int d = 1; d < 32; d *= 2) {
    __syncwarp();
    const unsigned other = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;  // expect-one: race
    sums[threadIdx.x] += other;                                           // expect-one: race
  }
  __syncwarp();
  out[threadIdx.x] = sums[threadIdx.x];
}
CASE { scan<<<1, 32>>>(device<unsigned>(32)); }

/// __syncwarp of half a warp does not order the other half.
__global__ void half(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = threadIdx.x;  // expect-one: race
  if (threadIdx.x < 16)
    __syncwarp(0x0000ffffu);
  else
    __syncwarp(0xffff0000u);
  out[threadIdx.x] = tile[31 - threadIdx.x];  // expect-one: race uninitialized
}
CASE { half<<<1, 32>>>(device<int>(32)); }

/// Lanes that add to one counter of their warp.
__global__ void digit_counts(const unsigned char* keys, unsigned* out) {
  __shared__ unsigned counts[4][16];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane < 16) counts[warp][lane] = 0;
  __syncwarp();
  counts[warp][keys[threadIdx.x] >> 4]++;  // expect: race
  __syncwarp();
  if (lane < 16) out[warp * 16 + lane] = counts[warp][lane];
}
CASE { digit_counts<<<1, 128>>>(filled<unsigned char>(128, 0x35), device<unsigned>(64)); }

/// The leader of the peers writes, and the others read without waiting.
__global__ void leaders(const unsigned* keys, unsigned* out) {
  __shared__ unsigned first[32];
  const unsigned peers = __match_any_sync(0xffffffffu, keys[threadIdx.x]);
  const unsigned leader = __ffs(peers) - 1;
  if (threadIdx.x == leader) first[leader] = peers;  // expect-one: race
  out[threadIdx.x] = first[leader];                  // expect-one: race uninitialized
}
CASE { leaders<<<1, 32>>>(filled<unsigned>(32), device<unsigned>(32)); }

/// In global memory, between lanes.
__global__ void neighbours(unsigned short* data) {
  const unsigned short next = data[(threadIdx.x + 1) % 32];  // expect-one: race
  data[threadIdx.x] = next;                                  // expect-one: race
}
CASE { neighbours<<<1, 32>>>(filled<unsigned short>(32)); }

/// The same reduction through a volatile pointer, which old tutorials teach: it does not make lanes run in step.
__device__ void reduce_in_step(volatile int* sums, unsigned lane) {
  sums[lane] += sums[lane + 32];  // expect-one: race
  sums[lane] += sums[lane + 16];  // expect-one: race
  sums[lane] += sums[lane + 8];   // expect-one: race
  sums[lane] += sums[lane + 4];   // expect-one: race
  sums[lane] += sums[lane + 2];   // expect-one: race
  sums[lane] += sums[lane + 1];   // expect-one: race
}
__global__ void volatile_reduce(const int* in, int* out) {
  __shared__ int sums[128];
  sums[threadIdx.x] = in[threadIdx.x];
  sums[threadIdx.x + 64] = 0;
  __syncthreads();
  if (threadIdx.x < 32) reduce_in_step(sums, threadIdx.x);
  if (threadIdx.x == 0) *out = sums[0];
}
CASE { volatile_reduce<<<1, 64>>>(filled<int>(64), device<int>(1)); }

/// A shuffle waits for the lanes, but does not order what these do to memory: on today's GPUs, the lanes read first.
__global__ void rotate(int* data) {
  __shared__ int tile[32];
  const int lane = threadIdx.x;
  tile[lane] = data[lane];
  __syncwarp();
  int value = tile[(lane + 1) % 32];
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  tile[lane] = value;  // note: shuffle-order
  __syncwarp();
  data[lane] = tile[31 - lane];
}
CASE { rotate<<<1, 32>>>(filled<int>(32)); }
__global__ void voted(int* data) {
  __shared__ int tile[32];
  tile[threadIdx.x] = data[threadIdx.x];  // expect-one: race
  if (__any_sync(0xffffffffu, data[threadIdx.x] > 0)) return;
  data[threadIdx.x] = tile[31 - threadIdx.x];  // expect-one: race uninitialized
}
CASE { voted<<<1, 32>>>(filled<int>(32)); }

/// A read, a vote of each half of the warp, and a write: lanes of two halves do not meet.
__global__ void in_place_by_halves(int* data, int distance) {
  __shared__ int tile[32];
  const int lane = threadIdx.x;
  tile[lane] = data[lane];
  __syncwarp();
  const int other = tile[lane ^ distance];  // expect-one: race
  const bool any = __any_sync(0xffffu << lane / 16 * 16, other > 0);
  tile[lane] = any ? other : lane;  // expect-one: race
  __syncwarp();
  data[lane] = tile[31 - lane];
}
CASE { in_place_by_halves<<<1, 32>>>(filled<int>(32), 16); }

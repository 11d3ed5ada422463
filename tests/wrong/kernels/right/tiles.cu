// Work within a block, in shared memory: transposes, scans, reductions, sorts, groups and vectors.
#include <cooperative_groups.h>

#include "../case.h"

template <class T>
__global__ void transpose(const T* in, T* out) {
  __shared__ T tile[32][33];
  for (int y = threadIdx.y; y < 32; y += blockDim.y) tile[y][threadIdx.x] = in[y * 32 + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += blockDim.y) out[y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}
CASE { transpose<double><<<1, dim3(32, 8)>>>(filled<double>(1024), device<double>(1024)); }
CASE { transpose<unsigned char><<<1, dim3(32, 8)>>>(filled<unsigned char>(1024), device<unsigned char>(1024)); }

/// Two buffers and one barrier per step.
template <class T>
__global__ void scan(T* keys) {
  extern __shared__ unsigned char memory[];
  T *now = reinterpret_cast<T*>(memory), *next = now + blockDim.x;
  now[threadIdx.x] = keys[threadIdx.x];
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    next[threadIdx.x] = now[threadIdx.x] + (threadIdx.x >= d ? now[threadIdx.x - d] : T(0));
    T* const kept = now;
    now = next;
    next = kept;
  }
  keys[threadIdx.x] = now[threadIdx.x];
}
CASE { scan<long long><<<1, 100, 200 * sizeof(long long)>>>(filled<long long>(100)); }
CASE { scan<short><<<1, 100, 200 * sizeof(short)>>>(filled<short>(100)); }

/// Blelloch's scan, with one element of padding after every 32.
__global__ void tree_scan(int* keys) {
  __shared__ int sums[256 + 8];
  const auto at = [](int i) { return i + i / 32; };
  const int t = threadIdx.x;
  sums[at(2 * t)] = keys[2 * t];
  sums[at(2 * t + 1)] = keys[2 * t + 1];
  for (int d = 1; d < 256; d *= 2) {
    __syncthreads();
    if (t < 128 / d) sums[at(2 * d * (t + 1) - 1)] += sums[at(2 * d * t + d - 1)];
  }
  if (t == 0) sums[at(255)] = 0;
  for (int d = 128; d > 0; d /= 2) {
    __syncthreads();
    if (t < 128 / d) {
      const int left = sums[at(2 * d * t + d - 1)];
      sums[at(2 * d * t + d - 1)] = sums[at(2 * d * (t + 1) - 1)];
      sums[at(2 * d * (t + 1) - 1)] += left;
    }
  }
  __syncthreads();
  keys[2 * t] = sums[at(2 * t)];
  keys[2 * t + 1] = sums[at(2 * t + 1)];
}
CASE { tree_scan<<<1, 128>>>(filled<int>(256)); }

/// A reduction whose last steps one warp does, with __syncwarp between read and write.
__global__ void reduce(unsigned* out) {
  __shared__ unsigned sums[128];
  sums[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x < 64) sums[threadIdx.x] += sums[threadIdx.x + 64];
  __syncthreads();
  if (threadIdx.x < 32) {
    unsigned own = sums[threadIdx.x] + sums[threadIdx.x + 32];
    __syncwarp();
    for (unsigned d = 16; d > 0; d /= 2) {
      sums[threadIdx.x] = own;
      __syncwarp();
      own += sums[threadIdx.x ^ d];
      __syncwarp();
    }
    out[threadIdx.x] = own;
  }
}
CASE { reduce<<<1, 128>>>(device<unsigned>(32)); }

struct Pair {
  unsigned key;
  unsigned short value, more;
};
__device__ void exchange(Pair& a, Pair& b) {
  const Pair kept = a;
  a = b;
  b = kept;
}

/// Odd-even exchange of pairs, with a barrier after each phase.
__global__ void odd_even(Pair* pairs, int n) {
  extern __shared__ Pair own[];
  const int t = threadIdx.x;
  own[t] = {unsigned(n - t), static_cast<unsigned short>(t), 0};
  for (int phase = 0; phase < n; ++phase) {
    __syncthreads();
    const int i = 2 * t + phase % 2;
    if (i + 1 < n && own[i].key > own[i + 1].key) exchange(own[i], own[i + 1]);
  }
  __syncthreads();
  pairs[t] = own[t];
}
CASE { odd_even<<<1, 48, 48 * sizeof(Pair)>>>(device<Pair>(48), 48); }

/// A bitonic sort of any length: positions beyond the end are filled with the greatest key.
template <class Less>
__global__ void bitonic(float* keys, int n, Less less) {
  __shared__ float tile[128];
  const int i = threadIdx.x;
  tile[i] = i < n ? keys[i] : 3e38f;
  __syncthreads();
  for (int size = 2; size <= 128; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int j = i ^ stride;
      if (j > i && less(tile[j], tile[i]) == ((i & size) == 0)) {
        const float kept = tile[i];
        tile[i] = tile[j];
        tile[j] = kept;
      }
      __syncthreads();
    }
  }
  if (i < n) keys[i] = tile[i];
}
struct Less {
  __device__ bool operator()(float a, float b) const { return a < b; }
};
CASE { bitonic<<<1, 128>>>(filled<float>(100), 100, Less{}); }

/// Two arrays in dynamic shared memory, the wider type first; bytes counted by atomics.
__global__ void two_arrays(const unsigned char* keys, unsigned* counts, int n) {
  extern __shared__ unsigned words[];
  unsigned* own = words;
  unsigned char* tile = reinterpret_cast<unsigned char*>(words + 256);
  for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = keys[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&own[tile[n - 1 - i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) counts[i] = own[i];
}
CASE { two_arrays<<<1, 96, 1024 + 301>>>(filled<unsigned char>(301), device<unsigned>(256), 301); }

/// Four keys at once, and the rest one by one.
__global__ void vectors(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, fours = n / 4;
  if (i < fours) {
    int4 four = reinterpret_cast<const int4*>(in)[i];
    four.x += 1, four.w -= 1;
    reinterpret_cast<int4*>(out)[i] = four;
  }
  if (i < n - fours * 4) out[fours * 4 + i] = in[fours * 4 + i];
}
CASE { vectors<<<2, 32>>>(filled<int>(127), device<int>(127), 127); }

/// Larger structures, through shared memory.
struct Run {
  int keys[7];
};
__global__ void runs(const Run* in, Run* out) {
  __shared__ Run tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x];
}
CASE { runs<<<1, 32>>>(filled<Run>(32), device<Run>(32)); }

/// Threads past the end reach every barrier but do not write.
__global__ void partial_block(const int* in, int* out, int n) {
  __shared__ int tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  const int other = tile[threadIdx.x ^ 1];
  if (i < n) out[i] = other;
}
CASE { partial_block<<<3, 128>>>(filled<int>(300), device<int>(300), 300); }

/// Ranks of equal digits within a warp, by the lanes that have them.
__global__ void ranks(const unsigned* keys, unsigned* out) {
  __shared__ unsigned counts[4][16];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane < 16) counts[warp][lane] = 0;
  __syncwarp();
  for (int round = 0; round < 3; ++round) {
    const unsigned digit = (keys[threadIdx.x] + lane * round) & 15;
    const unsigned peers = __match_any_sync(0xffffffffu, digit);
    const unsigned before = __popc(peers & ((1u << lane) - 1));
    const unsigned first = counts[warp][digit];
    __syncwarp();
    if (before == 0) counts[warp][digit] = first + __popc(peers);
    __syncwarp();
    out[round * 128 + threadIdx.x] = first + before;
  }
}
CASE { ranks<<<1, 128>>>(filled<unsigned>(128), device<unsigned>(384)); }

/// Groups: tiles of eight and sixteen threads, and the threads that enter a branch.
__global__ void groups(int* out) {
  namespace cg = cooperative_groups;
  __shared__ int tile[64];
  auto block = cg::this_thread_block();
  auto eight = cg::tiled_partition<8>(block);
  tile[threadIdx.x] = eight.thread_rank();
  eight.sync();
  int sum = tile[threadIdx.x ^ 7];
  for (int d = 4; d > 0; d /= 2) sum += eight.shfl_down(sum, d);
  block.sync();
  if (threadIdx.x % 3 == 0) {
    auto active = cg::coalesced_threads();
    sum += active.shfl(sum, 0);
  }
  out[threadIdx.x] = sum;
}
CASE { groups<<<1, 64>>>(device<int>(64)); }

/// A barrier with a vote ends an odd-even sort.
__global__ void until_sorted(int* keys, int n) {
  __shared__ int tile[65];
  const int t = threadIdx.x;
  tile[2 * t] = n - 2 * t;
  tile[2 * t + 1] = n - 2 * t - 1;
  __syncthreads();
  for (bool again = true; again;) {
    bool moved = false;
    for (int phase = 0; phase < 2; ++phase) {
      const int i = 2 * t + phase;
      if (i + 1 < n && tile[i] > tile[i + 1]) {
        const int kept = tile[i];
        tile[i] = tile[i + 1], tile[i + 1] = kept, moved = true;
      }
      __syncthreads();
    }
    again = __syncthreads_or(moved) != 0;
  }
  keys[t] = tile[t];
}
CASE { until_sorted<<<1, 32>>>(device<int>(64), 64); }

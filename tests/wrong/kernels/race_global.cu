// Races in global memory, within a block and between blocks.
#include <cooperative_groups.h>

#include "case.h"

__global__ void count(int* counter, const unsigned char* keys) {
  counter[keys[threadIdx.x]] += 1;  // expect: race
}
CASE { count<<<1, 64>>>(filled<int>(256), filled<unsigned char>(64, 3)); }

/// Each block reads what the next block writes: the halo of its tile.
__global__ void between_blocks(int* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int n = gridDim.x * blockDim.x;
  const int next = data[(i + 1) % n];  // expect-one: race
  data[i] = next;                      // expect-one: race
}
CASE { between_blocks<<<4, 64>>>(filled<int>(256)); }

template <int Rounds>
__global__ void last_wins(int* data) {
  for (int i = 0; i < Rounds; ++i) data[i] = blockIdx.x;  // expect: race
}
CASE { last_wins<3><<<2, 1>>>(filled<int>(3)); }

/// Writing the same value from all blocks has a defined result.
__global__ void not_sorted(const int* keys, int n, unsigned char* flag) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n && keys[i] >= keys[i + 1]) *flag = 1;  // note: same-value
}
CASE { not_sorted<<<4, 32>>>(filled<int>(128), 128, filled<unsigned char>(1)); }

/// Threads put their pairs in the same place. g++ reports the store of a structure's copy before the load.
__global__ void pairs_in_one_place(const int2* from, int2* to) {
  to[threadIdx.x / 2] = from[threadIdx.x];  // expect: race
}
CASE {
  int2* from = filled<int2>(64);
  for (int i = 0; i < 64; ++i) {
    const int2 pair = {i, -i};
    cudaMemcpy(from + i, &pair, sizeof pair, cudaMemcpyHostToDevice);
  }
  pairs_in_one_place<<<1, 64>>>(from, filled<int2>(32));
}

/// A stride that adds where it should multiply: two threads handle one element.
__global__ void wrong_stride(unsigned* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x + gridDim.x) data[i] += 1;  // expect: race
}
CASE { wrong_stride<<<4, 64>>>(filled<unsigned>(1000), 1000); }

/// Counters of the grid: most blocks use atomics, the last block a plain addition.
__global__ void mixed_atomic(unsigned long long* total) {
  if (blockIdx.x + 1 < gridDim.x) {
    atomicAdd(total, 1ull);  // expect-one: race
  } else {
    *total += 1;  // expect-one: race
  }
}
CASE { mixed_atomic<<<4, 1>>>(filled<unsigned long long>(1)); }

/// Block 0 resets a counter while the other blocks count.
__global__ void reset(unsigned* total) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *total = 0;  // expect-one: race
  __syncthreads();
  if (threadIdx.x == 32) atomicAdd(total, 1u);  // expect-one: race
}
CASE { reset<<<3, 64>>>(filled<unsigned>(1)); }

/// Blocks merge a whole array in place.
__device__ void place(const uint2* from, uint2* to, int i, int n) {
  to[(i * 2 + i / (n / 2)) % n] = from[i];  // expect: race
}
__global__ void shuffle_in_place(uint2* pairs, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) place(pairs, pairs, i, n);
}
CASE { shuffle_in_place<<<4, 32>>>(filled<uint2>(128), 128); }

/// A block barrier where a grid barrier is needed.
__global__ void two_phases(int* sums, int* out) {
  namespace cg = cooperative_groups;
  if (threadIdx.x == 0) sums[blockIdx.x] = blockIdx.x;  // expect-one: race
  cg::this_thread_block().sync();
  int sum = 0;
  for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += sums[b];  // expect-one: race
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
CASE { two_phases<<<4, 32>>>(filled<int>(4), device<int>(128)); }

/// The scatter of a counting sort whose offsets two blocks share.
template <class Key>
__global__ void scatter(const Key* keys, Key* out, const unsigned* offsets, int n) {
  __shared__ unsigned next[2];
  if (threadIdx.x < 2) next[threadIdx.x] = offsets[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[atomicAdd(&next[keys[i] & 1], 1u)] = Key(keys[i] + i);  // expect: race
}
CASE {
  scatter<unsigned char><<<2, 32>>>(filled<unsigned char>(64), device<unsigned char>(64), filled<unsigned>(2), 64);
}

/// A device variable that all blocks write.
__device__ unsigned longest;
__global__ void maximum(const unsigned* lengths) {
  if (lengths[blockIdx.x] >= longest) longest = lengths[blockIdx.x];  // expect: race
}
CASE { maximum<<<8, 1>>>(filled<unsigned>(8)); }

/// Keys copied as structures, each of which overlaps those of the next block.
struct Run {
  int keys[5];
};
__global__ void move_runs(Run* runs) {
  const int i = blockIdx.x;
  runs[i] = runs[i + 1];  // expect: race
}
CASE { move_runs<<<4, 1>>>(filled<Run>(5)); }

/// Vector stores that overlap by half.
__global__ void overlapping(unsigned* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  *reinterpret_cast<uint4*>(data + 4 * (i - i % 2)) = make_uint4(i, i, i, i);  // expect: race
}
CASE { overlapping<<<2, 16>>>(device<unsigned>(128)); }

/// In place within one block, by a functor.
struct Reverse {
  int* keys;
  int n;
  __device__ void operator()(int i) const { keys[i] = keys[n - 1 - i]; }  // expect: race
};
template <class Body>
__global__ void for_each(int n, Body body) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) body(i);
}
CASE { for_each<<<1, 64>>>(100, Reverse{filled<int>(100), 100}); }

/// A test before the atomic spares most atomics, and the atomic decides. The model calls the plain read a race.
__global__ void checked_first(unsigned* largest) {
  const unsigned own = blockIdx.x * 7 % 5;
  if (*largest < own) atomicMax(largest, own);  // note: tested-atomic
}
CASE { checked_first<<<8, 1>>>(filled<unsigned>(1)); }

/// A maximum by an exchange: what other blocks store between the plain read and the exchange is lost.
__global__ void exchange_larger(float* largest, const float* values) {
  const float own = values[blockIdx.x] + float(blockIdx.x * 7 % 5);
  if (threadIdx.x == 0) atomicExch(largest, fmaxf(*largest, own));  // expect: race
}
CASE { exchange_larger<<<2, 32>>>(filled<float>(1), filled<float>(2)); }
CASE { exchange_larger<<<8, 32>>>(filled<float>(1), filled<float>(8)); }

/// The same in a block.
__global__ void exchange_sum(int* sum) { atomicExch(sum, *sum + int(threadIdx.x)); }  // expect: race
CASE { exchange_sum<<<1, 64>>>(filled<int>(1)); }

/// All threads that find a flag unset set it in the same way. The model calls the plain read a race.
__global__ void set_flag(int* flag) {
  if (*flag == 0) atomicExch(flag, 1);  // note: tested-atomic
}
CASE { set_flag<<<8, 64>>>(filled<int>(1)); }

/// The exchange's result says which thread is the first.
__global__ void elect(int* owner, int* out) {
  if (*owner == 0 && atomicExch(owner, int(blockIdx.x) + 1) == 0) *out = 1;  // note: tested-atomic
}
CASE { elect<<<8, 1>>>(filled<int>(1), device<int>(1)); }

/// Counters that are read while other threads still count: no atomic of the reader decides.
__global__ void count_and_read(const unsigned* keys, unsigned* counts, unsigned* out) {
  for (int round = 0; round < 2; ++round) {
    atomicAdd(&counts[keys[threadIdx.x] % 64], 1u);  // expect-one: race
    out[threadIdx.x] = counts[threadIdx.x];          // expect-one: race
  }
}
CASE { count_and_read<<<1, 64>>>(filled<unsigned>(64), filled<unsigned>(64), device<unsigned>(64)); }

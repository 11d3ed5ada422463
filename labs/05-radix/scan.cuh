// What lab 04 teaches: the scan, here over a warp and over a block, and a last block that continues when all others
// have ended. array_scan.cuh scans arrays.
#pragma once

namespace radix {

/// The sum of `value` over the lanes up to and including this one. All 32 lanes call it.
template <class T>
__device__ T warp_inclusive_sum(T value) {
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const T other = __shfl_up_sync(0xffffffffu, value, distance);
    if (lane >= distance) value += other;
  }
  return value;
}

/// Exclusive sums over groups of `group` threads, a multiple of 32: the sum of `value` over the threads of its group
/// before this one. `sums` has room for one sum per warp, which no thread may still be reading. All threads of the
/// block call it. It contains one barrier, which also orders what the threads wrote before.
template <int group, class T>
__device__ T group_exclusive_sum(T value, T* sums) {
  const int warp = int(threadIdx.x) / 32, first_warp = int(threadIdx.x) / group * (group / 32);
  const T inclusive = warp_inclusive_sum(value);
  if (threadIdx.x % 32 == 31) sums[warp] = inclusive;
  __syncthreads();  // a thread adds elements of `sums` that the last lanes of earlier warps have written
  T before = 0;
  for (int w = first_warp; w < warp; ++w) before += sums[w];
  return before + inclusive - value;
}

/// The sum of `value` over the threads of the block before this one. `sums` has room for one sum per warp. The block
/// has a multiple of 32 threads, and all of them call it. `total` becomes the sum over all threads.
template <class T>
__device__ T block_exclusive_sum(T value, T* sums, T& total) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const T inclusive = warp_inclusive_sum(value);
  __syncthreads();  // a warp overwrites an element of `sums` that others may still be reading in an earlier call
  if (lane == 31) sums[warp] = inclusive;
  __syncthreads();  // every thread reads elements of `sums` that other warps have written
  T before = 0;
  total = 0;
  for (int w = 0; w < int(blockDim.x) / 32; ++w) {
    const T sum = sums[w];
    if (w < warp) before += sum;
    total += sum;
  }
  return before + inclusive - value;
}

/// True in one block of the grid: the last one to call this, which sees what all others wrote before they called it.
/// All threads of the block call it. `done`: 0 at the start.
__device__ inline bool is_last_block(unsigned* done) {
  bool is_last = false;
  __syncthreads();  // the fence of thread 0 comes after what all threads have written
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
  }
  return __syncthreads_or(is_last);
}

}  // namespace radix

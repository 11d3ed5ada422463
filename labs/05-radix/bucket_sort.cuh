// The end of step 05's splits: each bucket fits into one block, which sorts it in shared memory.
//
// Bins: the block counts the keys in about as many bins as it has keys, by the bits below those of the bucket, and puts
// each key into its bin. Now all keys are in order but for those in the same bin, and a bin seldom has more than seven.
// Neighbours: so a few rounds in which neighbours exchange keys finish the sort, without a look at the other bits.
#pragma once

#include <algorithm>
#include <bit>

#include "buckets.cuh"

namespace radix {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
inline constexpr int threads_per_multiprocessor = 1024;
#else
inline constexpr int threads_per_multiprocessor = 1536;  // or 2048
#endif

/// Threads per block, and how many blocks a multiprocessor should run at a time; the rest follows.
template <int threads_per_block, int blocks>
struct BucketShape {
  static constexpr int threads = threads_per_block;
  static constexpr int blocks_per_multiprocessor = std::min(blocks, threads_per_multiprocessor / threads);
  static constexpr int items = 18;                  ///< keys per thread
  static constexpr int capacity = threads * items;  ///< keys per bucket
  static constexpr int usual = capacity / 12 * 11;  ///< so many on average leave room for chance
  static constexpr int words = 8;                   ///< of bins, per thread
  static constexpr int bins = 2 * words * threads;  ///< two share a word
  static constexpr int bin_bits = std::bit_width(unsigned(bins)) - 1;
  static constexpr unsigned few = 4;           ///< keys in a bin; most threads have no bin with more
  static constexpr int per_warp = 32 * items;  ///< positions that a warp sorts
  static constexpr int margin = 32;            ///< others before and after them, as bins cross borders
  static constexpr int per_lane = per_warp / 32 + 2 * margin / 32;
  static_assert(per_lane % 4 == 0 && margin % 4 == 0 && per_warp % 4 == 0, "lanes load four keys at a time");
  static_assert(capacity < 1 << 16, "positions have 16 bits");
};

using SmallBucket = BucketShape<256, 5>;
using LargeBucket = BucketShape<1024, 1>;

/// What the threads of a block share while they sort a bucket.
template <class TheShape>
struct Bucket {
  using Shape = TheShape;
  alignas(16) unsigned bins[Shape::bins / 2];  ///< counters; then the positions of the bins' next keys
  alignas(16) std::uint32_t codes[Shape::margin + Shape::capacity + Shape::margin];
  unsigned warp_sums[Shape::threads / 32];
  unsigned fullest;  ///< how many keys the fullest bin has
};

namespace detail {

/// Adds 1 to a bin, and returns what it was.
template <class Shape>
__device__ unsigned increment_bin(Bucket<Shape>& bucket, std::uint32_t code, int bucket_bits) {
  const unsigned bin = code << bucket_bits >> (32 - Shape::bin_bits), shift = bin % 2 * 16;
  return atomicAdd(&bucket.bins[bin / 2], 1u << shift) >> shift & 0xffff;
}

/// Replaces the bins' counts by their first positions, and finds out how many keys the fullest bin has.
template <class Shape>
__device__ void find_bins(Bucket<Shape>& bucket) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint4* const quads = reinterpret_cast<uint4*>(bucket.bins) + threadIdx.x * (Shape::words / 4);
  unsigned words[Shape::words], sum = 0, most = 0;
  load_quads(quads, 1, words);
#pragma unroll
  for (int i = 0; i < Shape::words; ++i) {
    const unsigned low = words[i] & 0xffff, high = words[i] >> 16;
    sum += low + high;
    most = max(most, max(low, high));
  }
  if (most > Shape::few) atomicMax(&bucket.fullest, most);
  const unsigned inclusive = warp_inclusive_sum(sum);
  if (lane == 31) bucket.warp_sums[warp] = inclusive;
  __syncthreads();  // a thread adds the sums of the warps before its own
  unsigned next = inclusive - sum;
  for (int w = 0; w < warp; ++w) next += bucket.warp_sums[w];
#pragma unroll
  for (int i = 0; i < Shape::words; ++i) {
    const unsigned low = words[i] & 0xffff, high = words[i] >> 16;
    words[i] = next | (next + low) << 16;
    next += low + high;
  }
  store_quads(words, quads);
}

/// Lets neighbours exchange keys twice: those at even places with the right one, then those at odd places.
template <int count>
__device__ void exchange_neighbours(std::uint32_t (&codes)[count]) {
  const auto exchange = [](std::uint32_t& a, std::uint32_t& b) {
    const std::uint32_t lower = min(a, b);
    b = max(a, b);
    a = lower;
  };
#pragma unroll
  for (int i = 0; i < count; i += 2) exchange(codes[i], codes[i + 1]);
  const std::uint32_t right = __shfl_down_sync(0xffffffffu, codes[0], 1);
  const std::uint32_t left = __shfl_up_sync(0xffffffffu, codes[count - 1], 1);
#pragma unroll
  for (int i = 1; i + 1 < count; i += 2) exchange(codes[i], codes[i + 1]);
  if (threadIdx.x % 32 != 31) codes[count - 1] = min(codes[count - 1], right);
  if (threadIdx.x % 32 != 0) codes[0] = max(codes[0], left);
}

/// Sorts what is in the bins; `count` keys in all. A warp looks at its own positions and at a margin around them; there
/// it may leave keys in disorder, but their own warp does not. Later, each lane may read the warp's own positions.
template <class Shape>
__device__ void sort_bins(Bucket<Shape>& bucket, int count) {
  constexpr int per_lane = Shape::per_lane;
  const int lane = threadIdx.x % 32, first = int(threadIdx.x) / 32 * Shape::per_warp;
  uint4* const quads = reinterpret_cast<uint4*>(bucket.codes + first + lane * per_lane);
  std::uint32_t codes[per_lane];
  if (first < count) {
    load_quads(quads, 1, codes);
    const unsigned fullest = bucket.fullest;
    for (unsigned round = 0; round < fullest; round += 2) exchange_neighbours(codes);
  }
  __syncthreads();  // a warp overwrites keys that others look at
  if (first >= count) return;
#pragma unroll
  for (int i = 0; i < per_lane; i += 4) {
    const int position = lane * per_lane + i - Shape::margin;
    if (position < 0 || position >= Shape::per_warp) continue;
    const uint4 quad{codes[i], codes[i + 1], codes[i + 2], codes[i + 3]};
    quads[i / 4] = quad;
  }
  __syncwarp();  // a lane reads keys that others have sorted
}

/// Sorts the `count` codes at `from`, of which the highest bits are `highest` or missing, and stores them as keys at
/// `to`, which may be the same place. `bucket_bits`: how many bits they agree in. Returns false, and stores nothing, if
/// one of the bins has too many keys.
template <class Shape, class From, class Key>
__device__ bool sort_bucket(Bucket<Shape>& bucket, const From* from, std::uint32_t highest, std::uint32_t* to,
                            int count, Coding<Key> coding, int bucket_bits) {
  constexpr int threads = Shape::threads, items = Shape::items, margin = Shape::margin;
  const int t = threadIdx.x, left = count - t;
  const From* const loaded = from + t;
  std::uint32_t codes[items];
#pragma unroll
  for (int row = 0; row < items; ++row) {
    if (row * threads < left) codes[row] = loaded[row * threads];
  }
  for (int i = t; i < Shape::bins / 2; i += threads) bucket.bins[i] = 0;
  if (t == 0) bucket.fullest = Shape::few;
  __syncthreads();  // a thread counts in bins that others have cleared
#pragma unroll
  for (int row = 0; row < items; ++row) {
    if (row * threads < left) increment_bin(bucket, codes[row], bucket_bits);
  }
  // No key before the first; no key after the last.
  if (t < margin) bucket.codes[t] = 0;
  for (int i = t + count; i < Shape::capacity + margin; i += threads) bucket.codes[margin + i] = 0xffffffffu;
  __syncthreads();  // a thread adds up bins in which others have counted
  find_bins(bucket);
  __syncthreads();  // a thread draws positions that others have found
  if (bucket.fullest > unsigned(margin)) return false;
#pragma unroll
  for (int row = 0; row < items; ++row) {
    if (row * threads < left) bucket.codes[margin + increment_bin(bucket, codes[row], bucket_bits)] = codes[row];
  }
  __syncthreads();  // a warp reads keys that others have put into bins
  sort_bins(bucket, count);
  const int own = t / 32 * Shape::per_warp + t % 32;
  const std::uint32_t* const sorted = bucket.codes + margin + own;
  std::uint32_t* const stored = to + own;
#pragma unroll
  for (int row = 0; row < items; ++row) {
    if (32 * row < count - own) stored[32 * row] = coding.decode(sorted[32 * row] | highest);
  }
  return true;
}

}  // namespace detail
}  // namespace radix

// The end of step 06: each bucket fits into one block, which sorts it in shared memory.
//
// Bins: the block counts the keys in about as many bins as it has keys, by the bits below those of the bucket, and puts
// each key into its bin. Then all keys are in order except for those in the same bin, of which there are few.
// Neighbours: therefore a few phases in which neighbours exchange keys finish the sort, without passes by the other
// bits.
// Source of the local sort: E. Stehle and H.-A. Jacobsen, as in partition.cuh. They sort buckets by passes. The bins
// are ours.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "quads.cuh"
#include "scan.cuh"

namespace radix {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
inline constexpr int threads_per_multiprocessor = 1024;
#else
inline constexpr int threads_per_multiprocessor = 1536;  // or 2048
#endif

/// Threads per block, and how many blocks should share a multiprocessor. The rest follows.
template <int threads_per_block, int blocks>
struct BucketShape {
  static constexpr int threads = threads_per_block;
  static constexpr int blocks_per_multiprocessor = std::min(blocks, threads_per_multiprocessor / threads);
  static constexpr int items = 18;                        ///< keys per thread
  static constexpr int capacity = threads * items;        ///< keys per bucket
  static constexpr int target_fill = capacity / 12 * 11;  ///< keys per bucket on average, with room for chance
  static constexpr int words = 8;                         ///< of bins, per thread
  static constexpr int bins = 2 * words * threads;        ///< two share a word
  static constexpr int bin_bits = std::bit_width(unsigned(bins)) - 1;
  static constexpr unsigned report_threshold = 4;  ///< keys in a bin; most threads have no bin with more to report
  static constexpr int per_warp = 32 * items;      ///< positions that a warp sorts
  static constexpr int margin = 32;                ///< positions before and after them, because bins cross borders
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
  alignas(16) std::uint32_t keys[Shape::margin + Shape::capacity + Shape::margin];
  unsigned warp_sums[Shape::threads / 32];
  unsigned max_bin;  ///< keys in the fullest bin, at least report_threshold
};

/// One bucket: `count` transformed keys at `from`, from which `base` has been subtracted. The highest `bits` bits of
/// what is left are equal. The keys are to be stored, as they were before the transform, at `to`, which may be the same
/// place.
template <class From>
struct BucketJob {
  const From* from;
  std::uint32_t base;
  std::uint32_t* to;
  int count, bits;
};

// --- the phases of a bucket ---

/// Adds 1 to the key's bin, and returns what it was: its count or, after scan_bin_counts, the position of its next key.
template <class Shape>
__device__ unsigned claim_in_bin(Bucket<Shape>& bucket, std::uint32_t key, int bucket_bits) {
  const unsigned bin = key << bucket_bits >> (32 - Shape::bin_bits), shift = bin % 2 * 16;
  return atomicAdd(&bucket.bins[bin / 2], 1u << shift) >> shift & 0xffff;
}

/// Clears the bins, and puts sentinels around the keys: no key before the first one, no key after the last one.
template <class Shape, class From>
__device__ void clear_bucket(Bucket<Shape>& bucket, BucketJob<From> job) {
  const int t = threadIdx.x;
  for (int i = t; i < Shape::bins / 2; i += Shape::threads) bucket.bins[i] = 0;
  if (t == 0) bucket.max_bin = Shape::report_threshold;
  if (t < Shape::margin) bucket.keys[t] = 0;
  for (int i = t + job.count; i < Shape::capacity + Shape::margin; i += Shape::threads) {
    bucket.keys[Shape::margin + i] = 0xffffffffu;
  }
}

/// Replaces the bins' counts by their first positions, and finds out how many keys the fullest bin has.
template <class Shape>
__device__ void scan_bin_counts(Bucket<Shape>& bucket) {
  uint4* const quads = reinterpret_cast<uint4*>(bucket.bins) + threadIdx.x * (Shape::words / 4);
  unsigned words[Shape::words], sum = 0, largest = 0;
  load_quads(quads, 1, words);
#pragma unroll
  for (int i = 0; i < Shape::words; ++i) {
    const unsigned low = words[i] & 0xffff, high = words[i] >> 16;
    sum += low + high;
    largest = max(largest, max(low, high));
  }
  if (largest > Shape::report_threshold) atomicMax(&bucket.max_bin, largest);
  unsigned next = group_exclusive_sum<Shape::threads>(sum, bucket.warp_sums);
#pragma unroll
  for (int i = 0; i < Shape::words; ++i) {
    const unsigned low = words[i] & 0xffff, high = words[i] >> 16;
    words[i] = next | (next + low) << 16;
    next += low + high;
  }
  store_quads(words, quads);
}

/// Two phases of the odd-even transposition sort of lab 01: keys at even places are compared with the right neighbour,
/// then those at odd places.
template <int count>
__device__ void exchange_neighbours(std::uint32_t (&keys)[count]) {
  const auto compare_exchange = [](std::uint32_t& a, std::uint32_t& b) {
    const std::uint32_t lower = min(a, b);
    b = max(a, b);
    a = lower;
  };
#pragma unroll
  for (int i = 0; i < count; i += 2) compare_exchange(keys[i], keys[i + 1]);
  const std::uint32_t right = __shfl_down_sync(0xffffffffu, keys[0], 1);
  const std::uint32_t left = __shfl_up_sync(0xffffffffu, keys[count - 1], 1);
#pragma unroll
  for (int i = 1; i + 1 < count; i += 2) compare_exchange(keys[i], keys[i + 1]);
  if (threadIdx.x % 32 != 31) keys[count - 1] = min(keys[count - 1], right);
  if (threadIdx.x % 32 != 0) keys[0] = max(keys[0], left);
}

/// The keys of a warp's own positions in bucket.keys and of a margin around them, per_lane neighbours in each lane.
template <class Shape>
struct Window {
  static constexpr int per_lane = Shape::per_lane;
  std::uint32_t keys[per_lane];
  uint4* quads;  ///< where they are in shared memory

  __device__ explicit Window(Bucket<Shape>& bucket)
      : quads(
            reinterpret_cast<uint4*>(bucket.keys + threadIdx.x / 32 * Shape::per_warp + threadIdx.x % 32 * per_lane)) {}

  __device__ void load() { load_quads(quads, 1, keys); }

  __device__ bool is_sorted() const {
    bool sorted = true;
#pragma unroll
    for (int i = 1; i < per_lane; ++i) sorted &= keys[i - 1] <= keys[i];
    const std::uint32_t right = __shfl_down_sync(0xffffffffu, keys[0], 1);
    return __all_sync(0xffffffffu, sorted && (threadIdx.x % 32 == 31 || keys[per_lane - 1] <= right));
  }

  /// In each phase, disorder at an end of the window reaches one position further. After as many phases as the margin is
  /// wide, the warp's own positions are still right.
  __device__ void exchange(unsigned phases) {
    for (unsigned phase = 0; phase < phases; phase += 2) exchange_neighbours(keys);
  }

  __device__ void store_own() const {
#pragma unroll
    for (int i = 0; i < per_lane; i += 4) {
      const int position = int(threadIdx.x) % 32 * per_lane + i - Shape::margin;
      if (position < 0 || position >= Shape::per_warp) continue;
      const uint4 quad{keys[i], keys[i + 1], keys[i + 2], keys[i + 3]};
      quads[i / 4] = quad;
    }
  }
};

/// Sorts the keys of each bin, `count` keys in all. All threads of the block call it. When it returns, each lane may
/// read the warp's own positions. A key moves at most as far as its bin has keys, so phases within a margin are enough
/// for nearly all buckets. A bin with more keys needs phases only if its keys are not equal, and as long as some move.
template <class Shape>
__device__ void sort_within_bins(Bucket<Shape>& bucket, int count) {
  Window<Shape> window(bucket);
  const unsigned phases = bucket.max_bin;
  if (phases <= unsigned(Shape::margin)) {
    const bool has_keys = int(threadIdx.x) / 32 * Shape::per_warp < count;
    if (has_keys) window.load(), window.exchange(phases);
    __syncthreads();  // a warp overwrites elements of bucket.keys that others may still be loading as their margins
    if (has_keys) window.store_own();
  } else {
    window.load();
    while (__syncthreads_or(!window.is_sorted())) {  // also the barrier before a warp overwrites others' margins
      window.exchange(Shape::margin);
      window.store_own();
      __syncthreads();  // a warp loads positions that others have stored
      window.load();
    }
  }
  __syncwarp();  // a lane reads elements of bucket.keys that other lanes have stored
}

}  // namespace radix

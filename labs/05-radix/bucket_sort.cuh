// The end of step 06: each bucket fits into one block, which sorts it in shared memory.
//
// Bins: the block counts the keys in about as many bins as it has keys, by the bits below those of the bucket, and puts
// each key into its bin. Then all keys are in order except for those in the same bin, of which there are few.
// Neighbours: therefore a few phases in which neighbours exchange keys finish the sort, without passes by the other
// bits. A bucket with a bin that has too many keys is sorted from the lowest bits instead: by bins of these, where equal
// keys may meet in any order, and then by passes in shared memory, those of tile.cuh.
// Source of the local sort: E. Stehle and H.-A. Jacobsen, as in partition.cuh. They sort buckets by passes. The bins
// are ours.
#pragma once

#include <algorithm>
#include <bit>

#include "quads.cuh"
#include "tile.cuh"

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
using MediumBucket = BucketShape<512, 2>;
using LargeBucket = BucketShape<1024, 1>;

/// What the threads of a block share while they sort a bucket.
template <class TheShape>
struct Bucket {
  using Shape = TheShape;
  alignas(16) unsigned bins[Shape::bins / 2];  ///< counters; then the positions of the bins' next keys
  alignas(16) std::uint32_t keys[Shape::margin + Shape::capacity + Shape::margin];
  unsigned warp_sums[Shape::threads / 32];
  unsigned max_bin;  ///< keys in the fullest bin, at least report_threshold; 0: no bin has different keys
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

  /// True if there is a bin for each value, so that all keys of a bin are equal.
  __device__ bool has_exact_bins(int bin_bits) const { return 32 - bits <= bin_bits; }
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
  if (t == 0) bucket.max_bin = job.has_exact_bins(Shape::bin_bits) ? 0 : Shape::report_threshold;
  if (t < Shape::margin) bucket.keys[t] = 0;
  for (int i = t + job.count; i < Shape::capacity + Shape::margin; i += Shape::threads) {
    bucket.keys[Shape::margin + i] = 0xffffffffu;
  }
}

/// Replaces the bins' counts by their first positions, and finds out how many keys the fullest bin has, or leaves
/// bucket.max_bin at 0 if no bin has to be sorted.
template <class Shape, class From>
__device__ void scan_bin_counts(Bucket<Shape>& bucket, BucketJob<From> job) {
  uint4* const quads = reinterpret_cast<uint4*>(bucket.bins) + threadIdx.x * (Shape::words / 4);
  unsigned words[Shape::words], sum = 0, largest = 0;
  load_quads(quads, 1, words);
#pragma unroll
  for (int i = 0; i < Shape::words; ++i) {
    const unsigned low = words[i] & 0xffff, high = words[i] >> 16;
    sum += low + high;
    largest = max(largest, max(low, high));
  }
  if (largest > Shape::report_threshold && !job.has_exact_bins(Shape::bin_bits)) atomicMax(&bucket.max_bin, largest);
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

/// Sorts the keys of each bin, `count` keys in all. A warp loads its own positions and a margin around them. It may
/// leave keys of the margin in disorder, but the warp that owns them does not. When it returns, each lane may read the
/// warp's own positions.
template <class Shape>
__device__ void sort_within_bins(Bucket<Shape>& bucket, int count) {
  constexpr int per_lane = Shape::per_lane;
  const int lane = threadIdx.x % 32, first = int(threadIdx.x) / 32 * Shape::per_warp;
  uint4* const quads = reinterpret_cast<uint4*>(bucket.keys + first + lane * per_lane);
  std::uint32_t keys[per_lane];
  if (first < count) {
    load_quads(quads, 1, keys);
    const unsigned phases = bucket.max_bin;
    for (unsigned phase = 0; phase < phases; phase += 2) exchange_neighbours(keys);
  }
  __syncthreads();  // a warp overwrites elements of bucket.keys that others may still be loading as their margins
  if (first >= count) return;
#pragma unroll
  for (int i = 0; i < per_lane; i += 4) {
    const int position = lane * per_lane + i - Shape::margin;
    if (position < 0 || position >= Shape::per_warp) continue;
    const uint4 quad{keys[i], keys[i + 1], keys[i + 2], keys[i + 3]};
    quads[i / 4] = quad;
  }
  __syncwarp();  // a lane reads elements of bucket.keys that other lanes have stored
}

// --- a bucket by passes ---

/// A tile that holds the largest bucket.
template <class Shape>
using BucketTile = Tile<TileShape<Shape::threads, Shape::items, Shape::blocks_per_multiprocessor>, std::uint32_t,
                        std::uint32_t, NoValue>;

/// The shared memory in which a block sorts a bucket, in either way.
template <class Shape>
inline constexpr std::size_t bucket_bytes = std::max(sizeof(Bucket<Shape>), sizeof(BucketTile<Shape>));

/// Turns sorted keys of a bucket back into what they were.
template <class Key>
struct BucketTransform {
  KeyTransform<Key> transform;
  std::uint32_t base;

  __device__ std::uint32_t inverse(std::uint32_t key) const { return transform.inverse(key + base); }
};

/// The digits of passes that sort by the bits from `shift` on.
template <int shift>
struct DigitsFrom {
  __device__ unsigned digit(std::uint32_t key, int pass) const { return key >> (shift + 8 * pass) & (byte_values - 1); }
};

/// Puts the keys of a bucket into bucket.keys, in the order of their lowest Shape::bin_bits bits. Returns the bits in
/// which some keys differ.
template <class Shape, class From>
__device__ std::uint32_t sort_by_lowest_bits(Bucket<Shape>& bucket, BucketJob<From> job) {
  constexpr int bits_above = 32 - Shape::bin_bits;
  __shared__ std::uint32_t differences;
  if (threadIdx.x == 0) differences = 0;
  clear_bucket(bucket, job);
  __syncthreads();  // a thread adds to `differences` and to elements of bucket.bins, which others have cleared
  const std::uint32_t first_key = job.from[0];
  std::uint32_t own = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < job.count; i += Shape::threads) {
    const std::uint32_t key = job.from[i];
    own |= key ^ first_key;
    claim_in_bin(bucket, key, bits_above);
  }
  __syncthreads();  // a thread adds up elements of bucket.bins to which others have added
  scan_bin_counts(bucket, job);
  if (own != 0) atomicOr(&differences, own);
  __syncthreads();  // the next loop uses positions from bucket.bins, which others have written
#pragma unroll 4
  for (int i = threadIdx.x; i < job.count; i += Shape::threads) {
    const std::uint32_t key = job.from[i];
    bucket.keys[Shape::margin + claim_in_bin(bucket, key, bits_above)] = key;
  }
  __syncthreads();  // a thread loads keys that others have put into bucket.keys
  return differences;
}

/// Sorts a bucket, in dynamic shared memory, by Core::sort_bucket(bucket, job, transform). If that returns false,
/// because a bin has too many keys, it has stored nothing. Then bins put the keys in the order of their lowest bits, and
/// passes by Core::RankAndScatter (see sort_items) sort them by the others. This is slower, but sorts any keys.
template <class Core, class Shape, class From, class Key>
__device__ void sort_any_bucket(BucketJob<From> job, KeyTransform<Key> transform) {
  extern __shared__ uint4 shared_memory[];
  auto& bucket = *reinterpret_cast<Bucket<Shape>*>(shared_memory);
  if (Core::sort_bucket(bucket, job, transform)) return;
  __syncthreads();  // the bins are cleared, while other threads may still be reading bucket.max_bin
  const std::uint32_t differences = sort_by_lowest_bits(bucket, job);
  Items<BucketTile<Shape>> items((job.count + Shape::threads - 1) / Shape::threads);
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (row < items.rows) items.keys[row] = bucket.keys[Shape::margin + items.first + 32 * row];
  }
  __syncthreads();  // the tile overwrites the bucket, which others may still be reading
  auto& tile = tile_in_shared_memory<BucketTile<Shape>>();
  sort_items<typename Core::RankAndScatter>(tile, items, DigitsFrom<Shape::bin_bits>{}, differences >> Shape::bin_bits);
  items.store(BucketTransform<Key>{transform, job.base}, job.count, Pairs<std::uint32_t, NoValue>{job.to, nullptr});
}

}  // namespace radix

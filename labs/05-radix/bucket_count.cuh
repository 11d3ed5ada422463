// The count of bucket_plan.cu: one read of the keys counts those of each bucket, in shared memory. It also finds out
// whether the keys are in order and, before it begins, whether a sample of them is skewed.
#pragma once

#include <cstdint>

#include "bucket_plan.h"
#include "quads.cuh"
#include "sample.cuh"
#include "scan.cuh"

namespace radix {
namespace detail {

inline constexpr int bucket_threads = 1024;
inline constexpr int group_rows = 4;  ///< of 32 quads, which a warp reads at a time
inline constexpr int group_keys = group_rows * 32 * 4;

/// The counters of a block, one of 16 bits per bucket. Two buckets that differ only in their highest bit share a word.
struct PackedCounts {
  unsigned* words;
  int bits;  ///< of a bucket's index

  __device__ unsigned bucket(std::uint32_t key) const { return key >> (32 - bits); }
  __device__ unsigned* word(std::uint32_t key) const { return words + (bucket(key) & ((1u << (bits - 1)) - 1)); }
  __device__ static unsigned shift(std::uint32_t key) { return key >> 31 << 4; }
  __device__ unsigned add(std::uint32_t key, unsigned count) const {
    return atomicAdd(word(key), count << shift(key)) >> shift(key) & 0xffff;
  }
};

// --- sampling: a look at a few keys, before all of them are counted ---

/// Counts the first `rows` samples of each thread, and returns true if they collide more than `times` times as often as
/// uniform keys would. Leaves the counters at 0.
__device__ inline bool collisions_exceed(unsigned times, const std::uint32_t (&keys)[samples_per_thread], int rows,
                                         PackedCounts counts, unsigned* sums) {
  const unsigned samples = rows * bucket_threads;
  unsigned pairs = 0, all_pairs;
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) {
    if (i < rows) pairs += counts.add(keys[i], 1);
  }
  block_exclusive_sum(pairs, sums, all_pairs);
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) {
    if (i < rows) atomicAnd(counts.word(keys[i]), 0u);
  }
  __syncthreads();  // a thread adds to counters in `counts` that others have cleared
  return all_pairs > times * (samples * (samples / 2) >> counts.bits) + 64;
}

/// True if too many keys of a sample are in few buckets or, by the bits below, in few bins of the bucket sort.
template <class Key>
__device__ bool sample_is_skewed(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, PackedCounts counts,
                                 unsigned* sums) {
  if (keys.n < std::int64_t(samples_per_thread) * bucket_threads * gridDim.x) return false;
  // Each sample lies in a different page of memory, so it takes long to load. With fewer buckets, fewer are enough.
  const int rows = counts.bits <= 12 ? 1 : counts.bits <= 14 ? 2 : samples_per_thread;
  std::uint32_t samples[samples_per_thread] = {};
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) {
    if (i >= rows) break;
    const unsigned index = (i * bucket_threads + threadIdx.x) * gridDim.x + blockIdx.x;
    samples[i] = transform.forward(keys.data[sample_position(index, keys.n)]);
  }
  const bool skewed = collisions_exceed(2, samples, rows, counts, sums);
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) samples[i] <<= counts.bits;
  return collisions_exceed(8, samples, rows, {counts.words, min(counts.bits, 12)}, sums) || skewed;
}

// --- counting ---

/// A thread's part of a group of keys: one quad of each row of 32 quads. Lane 0 also has the key after the group.
struct KeyGroup {
  std::uint32_t keys[4 * group_rows], after;

  /// Loads group `index` of those that begin at all.data[head], which lane l sees as quads from `quads` on.
  __device__ void load(lab::Span<const std::uint32_t> all, int head, const uint4* quads, std::int64_t index) {
    load_quads(quads + index * (group_keys / 4), 32, keys);
    const std::int64_t end = head + (index + 1) * group_keys;
    if (threadIdx.x % 32 == 0) after = all.data[end < all.n ? end : end - 1];
  }

  template <class Key>
  __device__ void transform_keys(const KeyGroup& loaded, KeyTransform<Key> transform, Seen& seen) {
#pragma unroll
    for (int i = 0; i < 4 * group_rows; ++i) {
      keys[i] = transform.forward(loaded.keys[i]);
      seen.zeros |= transform.zero_kind(keys[i]);
    }
    after = transform.forward(loaded.after);
  }

  /// The bits in which some of the thread's keys differ from the key to the right.
  __device__ std::uint32_t compare_neighbours(Seen& seen) const {
    const int lane = threadIdx.x % 32;
    std::uint32_t differences = 0;
#pragma unroll
    for (int i = 0; i < 4 * group_rows; ++i) {
      std::uint32_t right = i + 1 < 4 * group_rows ? keys[i + 1] : after;
      // The right neighbour of a quad is in the next lane. That of lane 31 is in lane 0, in the next row.
      if (i % 4 == 3) right = __shfl_sync(0xffffffffu, lane == 0 ? right : keys[i - 3], (lane + 1) % 32);
      seen.out_of_order |= right < keys[i];
      differences |= right ^ keys[i];
    }
    return differences;
  }

  /// Counts the keys. Lanes that need the same counter wait for each other: all lanes if the keys are sorted, and many
  /// if they are nearly sorted. Then lane 0 counts for all lanes that have its bucket.
  __device__ void count(PackedCounts counts, std::uint32_t differences) const {
    const int lane = threadIdx.x % 32;
    if (__all_sync(0xffffffffu, counts.bucket(differences) == 0)) {
      if (lane == 0) counts.add(keys[0], group_keys);
    } else if (__popc(lanes_as_lane_0(counts.bucket(keys[0]))) >= crowded_lanes) {
#pragma unroll
      for (int i = 0; i < 4 * group_rows; ++i) {
        const unsigned together = lanes_as_lane_0(counts.bucket(keys[i]));
        if (lane == 0 || (together >> lane & 1) == 0) counts.add(keys[i], lane == 0 ? __popc(together) : 1);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4 * group_rows; ++i) counts.add(keys[i], 1);
    }
  }
};

/// Counts key i, which belongs to no whole group.
template <class Key>
__device__ void count_single(lab::Span<const std::uint32_t> keys, std::int64_t i, KeyTransform<Key> transform,
                             PackedCounts counts, Seen& seen) {
  const std::uint32_t key = transform.forward(keys.data[i]);
  counts.add(key, 1);
  seen.zeros |= transform.zero_kind(key);
  seen.out_of_order |= i + 1 < keys.n && transform.forward(keys.data[i + 1]) < key;
}

/// Adds the block's counters to those of all blocks. Returns true if one of the block's has overflowed. It has then
/// lost 2^16, or 2^16 - 1 if its neighbour in the word has gained 1, so keys are missing from the sum.
__device__ inline bool add_counts(PackedCounts counts, unsigned counted, unsigned* all_counts, unsigned* sums) {
  const int pairs = 1 << (counts.bits - 1);
  for (int i = threadIdx.x; i < pairs; i += bucket_threads) {
    const unsigned pair = counts.words[i];
    if ((pair & 0xffff) != 0) atomicAdd(&all_counts[i], pair & 0xffff);
    if (pair >> 16 != 0) atomicAdd(&all_counts[i + pairs], pair >> 16);
    counted -= (pair & 0xffff) + (pair >> 16);
  }
  unsigned missing;
  block_exclusive_sum(counted, sums, missing);
  return missing != 0;
}

/// Counts the keys of each bucket, whose index is the highest `bits` bits of a transformed key.
template <class Key>
static __global__ void __launch_bounds__(bucket_threads, 1)
    count_buckets(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, int bits, unsigned* all_counts,
                  BucketPlan* plan) {
  extern __shared__ unsigned words[];
  __shared__ unsigned sums[bucket_threads / 32];
  const PackedCounts counts{words, bits};
  const int t = threadIdx.x;
  for (int i = t; i < 1 << (bits - 1); i += bucket_threads) words[i] = 0;
  __syncthreads();  // a thread adds to `words` that others have cleared
  // PHASE 1: look at a sample. If it is skewed, counting would take long, and partitions would not work.
  if (sample_is_skewed(keys, transform, counts, sums)) {
    if (t == 0) atomicOr(&plan->unsorted, 1u);
    return;
  }
  Seen seen;
  unsigned counted = 0;
  // PHASE 2: count the keys before the first aligned quad and after the last whole group.
  const int head = int(-(reinterpret_cast<std::uintptr_t>(keys.data) / 4) % 4);
  const std::int64_t groups = (keys.n - head) / group_keys;
  if (blockIdx.x == 0) {
    const std::int64_t i = t < head ? t : groups * group_keys + t;
    if (i < keys.n) count_single(keys, i, transform, counts, seen), ++counted;
  }
  // PHASE 3: count the groups. A warp loads the next one while it counts.
  const uint4* const quads = reinterpret_cast<const uint4*>(keys.data + head) + t % 32;
  const std::int64_t stride = std::int64_t(gridDim.x) * (bucket_threads / 32);
  std::int64_t index = std::int64_t(t / 32) * gridDim.x + blockIdx.x;
  KeyGroup next, group;
  if (index < groups) next.load(keys, head, quads, index);
  for (; index < groups; index += stride) {
    group.transform_keys(next, transform, seen);
    if (index + stride < groups) next.load(keys, head, quads, index + stride);
    group.count(counts, group.compare_neighbours(seen));
    counted += 4 * group_rows;
  }
  __syncthreads();  // a thread reads `words` to which others have added
  // PHASE 4: add to the counters of all blocks, and report what the block has seen.
  if (add_counts(counts, counted, all_counts, sums) && t == 0) atomicOr(&plan->unsorted, 1u);
  if (seen.zeros != 0) atomicOr(&plan->zeros, seen.zeros);
  if (__syncthreads_or(seen.out_of_order) && t == 0) atomicOr(&plan->out_of_order, 1u);
}

}  // namespace detail
}  // namespace radix

// How step 05 splits keys into buckets by their highest bits: one read counts them, and shows whether that will work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "code.cuh"
#include "device.cuh"
#include "scan.cuh"
#include "step/launch_shape.h"

namespace radix {

/// The bits of a code that one split looks at: bins() of them, from bit `shift` on.
struct SplitDigit {
  int shift, bits;

  LAB_HOST_DEVICE int bins() const { return 1 << bits; }
  LAB_HOST_DEVICE unsigned of(std::uint32_t code) const { return code >> shift & ((1u << bits) - 1); }
};

/// The buckets that a split starts from, and their tiles: bucket b has the keys firsts[b] ... firsts[b + 1] - 1 and the
/// tiles tile_firsts[b] ... tile_firsts[b + 1] - 1.
struct SplitSource {
  unsigned firsts[byte_values + 1];
  unsigned tile_firsts[byte_values + 1];
};

/// What the splits of one sort need to know. All 0 at the start.
struct BucketPlan {
  unsigned out_of_order;                ///< not 0 if some key belongs before the one to its left
  unsigned zeros;                       ///< 1 if some key is -0, 2 if some key is +0, 3 for both
  unsigned skewed;                      ///< not 0 if the keys cannot be split
  unsigned splits;                      ///< 1 if the keys are to be split; 0 if they are in order, or skewed
  unsigned first_cursors[byte_values];  ///< where the first split puts the next key of a bin
  SplitSource first, second;

  /// Where the buckets of the second split divide into two halves.
  __device__ unsigned middle() const { return second.firsts[byte_values / 2]; }
};

namespace detail {

inline constexpr int bucket_threads = 1024;
inline constexpr int group_rows = 4;  ///< of 32 quads, which a warp reads at a time
inline constexpr int group_keys = group_rows * 32 * 4;
inline constexpr int samples_per_thread = 4;

/// The counters of a block: 16 bits each. Two share a word, those of buckets whose highest bits differ.
struct PackedCounts {
  unsigned* words;
  int bits;  ///< of a bucket's number

  __device__ unsigned* word(std::uint32_t code) const {
    return words + (code >> (32 - bits) & ((1u << (bits - 1)) - 1));
  }
  __device__ static unsigned shift(std::uint32_t code) { return code >> 31 << 4; }
  __device__ unsigned add(std::uint32_t code, unsigned count) const {
    return atomicAdd(word(code), count << shift(code)) >> shift(code) & 0xffff;
  }
};

/// Loads 4 keys at a time.
template <int count>
__device__ void load_quads(const uint4* from, int stride, std::uint32_t (&to)[count]) {
#pragma unroll
  for (int i = 0; i < count; i += 4) {
    const uint4 quad = from[i / 4 * stride];
    to[i] = quad.x, to[i + 1] = quad.y, to[i + 2] = quad.z, to[i + 3] = quad.w;
  }
}

template <int count>
__device__ void store_quads(const std::uint32_t (&from)[count], uint4* to) {
#pragma unroll
  for (int i = 0; i < count; i += 4) {
    const uint4 quad{from[i], from[i + 1], from[i + 2], from[i + 3]};
    to[i / 4] = quad;
  }
}

/// Counts the samples, and returns true if they meet so many times as often as evenly spread keys would. Leaves the
/// counters at 0.
__device__ inline bool samples_meet(const std::uint32_t (&codes)[samples_per_thread], PackedCounts counts,
                                    unsigned times, unsigned* sums) {
  constexpr unsigned samples = samples_per_thread * bucket_threads;
  unsigned pairs = 0, all_pairs;
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) pairs += counts.add(codes[i], 1);
  block_exclusive_sum(pairs, sums, all_pairs);
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) atomicAnd(counts.word(codes[i]), 0u);
  __syncthreads();  // a thread counts in counters that others have cleared
  return all_pairs > times * (samples * (samples / 2) >> counts.bits) + 64;
}

/// A number that looks like chance: samples at regular distances could show a pattern of the keys as skew.
/// Source: the last steps of MurmurHash3 by A. Appleby.
__device__ inline unsigned mixed(unsigned number) {
  number = (number ^ number >> 16) * 0x85ebca6bu;
  number = (number ^ number >> 13) * 0xc2b2ae35u;
  return number ^ number >> 16;
}

/// Looks at a few keys: are too many of them in few buckets, or, by the bits below, in few bins?
template <class Key>
__device__ bool sample_is_skewed(lab::Span<const std::uint32_t> keys, Coding<Key> coding, PackedCounts counts,
                                 unsigned* sums) {
  if (keys.n < std::int64_t(samples_per_thread) * bucket_threads * gridDim.x) return false;
  std::uint32_t codes[samples_per_thread];
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) {
    const unsigned random = mixed((i * bucket_threads + threadIdx.x) * gridDim.x + blockIdx.x);
    codes[i] = coding.encode(keys.data[std::int64_t(random) * keys.n >> 32]);
  }
  const bool skewed = samples_meet(codes, counts, 2, sums);
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) codes[i] <<= counts.bits;
  return samples_meet(codes, {counts.words, min(counts.bits, 12)}, 8, sums) || skewed;
}

/// Counts the keys of each bucket, which the highest `bits` bits of a code give.
template <class Key>
static __global__ void __launch_bounds__(bucket_threads, 1)
    count_buckets(lab::Span<const std::uint32_t> keys, Coding<Key> coding, int bits, unsigned* counts,
                  BucketPlan* plan) {
  extern __shared__ unsigned words[];
  __shared__ unsigned sums[bucket_threads / 32];
  const PackedCounts packed{words, bits};
  const int t = threadIdx.x, lane = t % 32, pairs = 1 << (bits - 1);
  for (int i = t; i < pairs; i += bucket_threads) words[i] = 0;
  __syncthreads();  // a thread counts in counters that others have cleared
  if (sample_is_skewed(keys, coding, packed, sums)) {
    if (t == 0) atomicOr(&plan->skewed, 1u);
    return;
  }
  bool out_of_order = false;
  unsigned counted = 0, zeros = 0;
  // Warps read groups of keys, as quads. Keys before the first quad and after the last group are read one by one.
  const int head = int(-(reinterpret_cast<std::uintptr_t>(keys.data) / 4) % 4);
  const std::int64_t groups = (keys.n - head) / group_keys;
  const uint4* const quads = reinterpret_cast<const uint4*>(keys.data + head) + lane;
  if (blockIdx.x == 0) {
    const std::int64_t i = t < head ? t : groups * group_keys + t;
    if (i < keys.n) {
      const std::uint32_t code = coding.encode(keys.data[i]);
      packed.add(code, 1);
      ++counted;
      zeros |= coding.zero_kind(code);
      out_of_order |= i + 1 < keys.n && coding.encode(keys.data[i + 1]) < code;
    }
  }
  std::uint32_t codes[4 * group_rows], after = 0, next_codes[4 * group_rows], next_after = 0;
  const auto load = [&](std::int64_t group) {
    load_quads(quads + group * (group_keys / 4), 32, next_codes);
    const std::int64_t end = head + (group + 1) * group_keys;
    if (lane == 0) next_after = keys.data[end < keys.n ? end : end - 1];
  };
  const std::int64_t step = std::int64_t(gridDim.x) * (bucket_threads / 32);
  std::int64_t group = std::int64_t(t / 32) * gridDim.x + blockIdx.x;
  if (group < groups) load(group);
  for (; group < groups; group += step) {
#pragma unroll
    for (int i = 0; i < 4 * group_rows; ++i) {
      codes[i] = coding.encode(next_codes[i]);
      zeros |= coding.zero_kind(codes[i]);
    }
    after = coding.encode(next_after);
    if (group + step < groups) load(group + step);
    std::uint32_t differences = 0;
#pragma unroll
    for (int i = 0; i < 4 * group_rows; ++i) {
      std::uint32_t right = i + 1 < 4 * group_rows ? codes[i + 1] : after;
      // A quad's right neighbour is the next lane's; of lane 31, lane 0's of the next row.
      if (i % 4 == 3) right = __shfl_sync(0xffffffffu, lane == 0 ? right : codes[i - 3], (lane + 1) % 32);
      out_of_order |= right < codes[i];
      differences |= right ^ codes[i];
    }
    counted += 4 * group_rows;
    // Lanes that count in the same bucket wait for each other. In sorted keys, all do; in keys that are nearly in
    // order, many: then lane 0 counts for all that have its bucket.
    const auto bucket_of = [=](std::uint32_t code) { return code >> (32 - bits); };
    const auto as_lane_0 = [=](unsigned bucket) {
      return __ballot_sync(0xffffffffu, bucket == __shfl_sync(0xffffffffu, bucket, 0));
    };
    if (__all_sync(0xffffffffu, bucket_of(differences) == 0)) {
      if (lane == 0) packed.add(codes[0], group_keys);
    } else if (__popc(as_lane_0(bucket_of(codes[0]))) >= 8) {
#pragma unroll
      for (int i = 0; i < 4 * group_rows; ++i) {
        const unsigned together = as_lane_0(bucket_of(codes[i]));
        if (lane == 0 || (together >> lane & 1) == 0) packed.add(codes[i], lane == 0 ? __popc(together) : 1);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4 * group_rows; ++i) packed.add(codes[i], 1);
    }
  }
  __syncthreads();  // a thread adds up counters in which others have counted
  for (int i = t; i < pairs; i += bucket_threads) {
    const unsigned pair = words[i];
    if ((pair & 0xffff) != 0) atomicAdd(&counts[i], pair & 0xffff);
    if (pair >> 16 != 0) atomicAdd(&counts[i + pairs], pair >> 16);
    counted -= (pair & 0xffff) + (pair >> 16);
  }
  // A counter that overflows loses 2^16, or 2^16 - 1 if its neighbour gains 1. So if none are missing, none did.
  unsigned missing;
  block_exclusive_sum(counted, sums, missing);
  if (missing != 0 && t == 0) atomicOr(&plan->skewed, 1u);
  if (zeros != 0) atomicOr(&plan->zeros, zeros);
  if (__syncthreads_or(out_of_order) && t == 0) atomicOr(&plan->out_of_order, 1u);
}

/// Turns counts into the buckets' first positions, and decides whether the keys are split. One block.
static __global__ void __launch_bounds__(bucket_threads)
    plan_buckets(unsigned* counts, unsigned n, SplitDigit first, SplitDigit second, unsigned most, int tile_size,
                 BucketPlan* plan) {
  __shared__ unsigned sums[bucket_threads / 32];
  if (plan->skewed != 0) return;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // A warp has rows of 32 groups of four counters. In a group, a lane adds them up by itself.
  const int groups = (1 << (first.bits + second.bits)) / 4;
  const int per_warp = max(groups / (bucket_threads / 32), 32), begin_group = warp * per_warp + lane;
  const int end_group = min(groups, (warp + 1) * per_warp);
  uint4* const count_groups = reinterpret_cast<uint4*>(counts);
  unsigned sum = 0, largest = 0;
#pragma unroll 4
  for (int i = begin_group; i < end_group; i += 32) {
    const uint4 count = count_groups[i];
    sum += count.x + count.y + count.z + count.w;
    largest = max(largest, max(max(count.x, count.y), max(count.z, count.w)));
  }
  const bool too_many = __syncthreads_or(largest > most);
  unsigned total;
  // Of a warp, lane 0 has the sum of the warps before it.
  unsigned next = __shfl_sync(0xffffffffu, block_exclusive_sum(sum, sums, total), 0);
  constexpr int rows = 4;  // whose loads are on their way at the same time
  for (int i = begin_group; i - lane < end_group; i += 32 * rows) {
    uint4 count[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      count[row] = i + 32 * row < end_group ? count_groups[i + 32 * row] : uint4{0, 0, 0, 0};
    }
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const uint4 c = count[row];
      const unsigned own = c.x + c.y + c.z + c.w, inclusive = warp_inclusive_sum(own);
      const unsigned x = next + inclusive - own;
      if (i + 32 * row < end_group) count_groups[i + 32 * row] = {x, x + c.x, x + c.x + c.y, x + c.x + c.y + c.z};
      next += __shfl_sync(0xffffffffu, inclusive, 31);
    }
  }
  __syncthreads();  // a thread reads positions that others have written
  const int bin = threadIdx.x;
  unsigned begin = n, end = n;
  if (bin < first.bins()) begin = counts[bin << second.bits];
  if (bin + 1 < first.bins()) end = counts[(bin + 1) << second.bits];
  const unsigned tiles = (end - begin + tile_size - 1) / tile_size;
  const unsigned tile_first = block_exclusive_sum(tiles, sums, total);
  if (bin < first.bins()) plan->first_cursors[bin] = begin;
  if (bin <= first.bins()) {
    plan->second.firsts[bin] = begin;
    plan->second.tile_firsts[bin] = tile_first;
  }
  // The halves of the second split must find room in the arrays beside each other.
  const bool uneven = __syncthreads_or(bin == byte_values / 2 && first.bits + second.bits == 16 &&
                                       (begin < n / 3 || begin > n - n / 3));
  if (bin == 0) {
    plan->first.firsts[1] = n;
    plan->first.tile_firsts[1] = (n + tile_size - 1) / tile_size;
    plan->skewed |= too_many || uneven || plan->zeros == 3;  // splits do not keep the order of equal keys
    plan->splits = plan->out_of_order != 0 && plan->skewed == 0;
  }
}

}  // namespace detail

/// The shared memory in which a block counts the keys of 2^bits buckets.
inline int bucket_counter_bytes(int bits) { return 2 << bits; }

/// Counts the keys of the buckets that `first` and `second` give together, and fills `plan`. At the end, counts has the
/// position of each bucket's first key. Buckets of more than `most` keys make the keys skewed.
template <class Key>
void make_bucket_plan(lab::Span<const std::uint32_t> keys, Coding<Key> coding, SplitDigit first, SplitDigit second,
                      unsigned most, int tile_size, BucketPlan* plan, unsigned* counts, const Device& device,
                      cudaStream_t stream) {
  const int bits = first.bits + second.bits, bytes = bucket_counter_bytes(bits);
  const unsigned blocks = std::min(lab::blocks_or({}, keys.n, detail::group_keys), unsigned(device.multiprocessors));
  allow_shared_memory<detail::count_buckets<Key>>(bytes, device);
  detail::count_buckets<<<blocks, detail::bucket_threads, bytes, stream>>>(keys, coding, bits, counts, plan);
  CUDA_CHECK(cudaGetLastError());
  detail::plan_buckets<<<1, detail::bucket_threads, 0, stream>>>(counts, unsigned(keys.n), first, second, most,
                                                                 tile_size, plan);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace radix

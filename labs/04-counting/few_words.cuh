// Sorts up to about a million keys of 16 bits in one launch, on GPUs that have thread block clusters (from compute
// capability 9.0 on). Step 06 uses it where clearing, scanning and searching 65,536 counters in global memory would take
// longer than counting the keys.
//
// The blocks of one cluster run at the same time, and each can read and write the shared memory of the others. Each
// counts its share of the keys in its own 65,536 counters, two in each word. Then each adds up a slice of the counters
// of all blocks. Where the run of a value begins in the output, the block that has its counter marks the place with the
// value, in the shared memory of the block that writes this part of the output. That block then knows all its keys:
// each is the last mark up to its place, so a scan that takes the larger of two values finds them, without a search.
// Source of the means: NVIDIA, CUDA C++ Programming Guide, "Thread Block Clusters" and "Distributed Shared Memory".
#pragma once

#include <cstdint>

#include "packed_counters.cuh"
#include "step/device.h"
#include "whole_vectors.cuh"

#ifndef __SIMT__
#include <cooperative_groups.h>
#endif

namespace counting {

#ifndef __SIMT__  // CUDA on the CPU has no clusters
namespace {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CLUSTER_OF(blocks)
#else
#define CLUSTER_OF(blocks) __cluster_dims__(blocks)
#endif

/// What a block shares with its cluster.
struct FewWords {
  /// Counters of 16 bits, those of values 2 * i and 2 * i + 1 in word i; then the marks of the block's part of the
  /// output, two positions in each word.
  alignas(16) unsigned words[word_values / 2];
  unsigned totals[few_words_blocks];  ///< keys of the slices of all blocks
  unsigned warp_sums[32];
  /// One key of each block's share, which is not counted in `words`: otherwise a counter could overflow there.
  int aside[few_words_blocks];

  unsigned sums[8][few_words_threads / 2];  ///< of the second half of the blocks, for the threads of the first half

  static constexpr int slice = word_values / few_words_blocks;  // counters
  static_assert(slice == 8 * few_words_threads / 2, "a thread of the first half has a vector of counters");
  using Counters = PackedCounters<word_values>;

  /// Adds n to the counter of a value, if `counted`; see PackedCounters::add.
  __device__ void add(unsigned value, unsigned n, bool counted) {
    atomicAdd(&words[counted ? Counters::word(value) : threadIdx.x % 32], counted ? n * Counters::one(value) : 0);
  }

  /// Counts a vector's keys, but adds those that are hot to `hits`.
  template <HotKeys hot_keys>
  __device__ void count(const uint4& vector, int skipped, unsigned flip, const Hot& hot, unsigned (&hits)[2]) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned value = key_of<std::uint16_t>(vector, k) ^ flip;
      bool counted = k >= skipped;
      if constexpr (hot_keys == HotKeys::some) {
        const bool is_first = counted & (value == hot.counters[0]), is_second = counted & (value == hot.counters[1]);
        hits[0] += is_first, hits[1] += is_second;
        counted = counted & !is_first & !is_second;
      }
      add(value, 1, counted);
    }
  }
};

/// Sorts the keys. One cluster; dynamic shared memory: sizeof(FewWords).
__global__ void CLUSTER_OF(few_words_blocks) __launch_bounds__(few_words_threads)
    sort_few_words(WholeVectors keys, unsigned flip) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ uint4 shared_memory[];
  FewWords& own = *reinterpret_cast<FewWords*>(shared_memory);
  const auto cluster = cooperative_groups::this_cluster();
  const int rank = int(cluster.block_rank()), t = threadIdx.x, lane = t % 32;
  const int begin = rank * keys.share, end = min(begin + keys.share, (keys.end + 7) / 8);
  // PHASE 1: load the block's keys, and clear its counters while they are on their way. The vectors of a warp are
  // neighbours, because equal keys often are, too.
  const int first_vector = begin + t / 32 * 32 * keys.rows + lane;
  uint4 vectors[vectors_per_thread];
#pragma unroll
  for (int i = 0; i < vectors_per_thread; ++i) {
    const int v = first_vector + 32 * i;
    if (i < keys.rows && v < end && keys.has_all_of(v)) vectors[i] = reinterpret_cast<const uint4*>(keys.base)[v];
  }
  uint4* const quads = reinterpret_cast<uint4*>(own.words);
#pragma unroll
  for (int i = 0; i < word_values / 8 / few_words_threads; ++i) quads[t + i * few_words_threads] = uint4{};
  if (t == 0) own.aside[rank] = -1;
  __syncthreads();  // a thread adds to words that others have cleared
  // PHASE 2: count.
  const bool has_aside = t == 0 && begin < end && keys.has_all_of(begin);
  if (has_aside) own.aside[rank] = int((vectors[0].x & 0xffff) ^ flip);
  Hot hot;
#pragma unroll
  for (int i = 0; i < vectors_per_thread; ++i) {
    const int v = first_vector + 32 * i;
    if (i >= keys.rows || __all_sync(~0u, v >= end)) break;
    const bool whole = v < end && keys.has_all_of(v);
    hot.update(whole ? (vectors[i].x >> 16) ^ flip : Hot::none);
    unsigned hits[2] = {};
    const int skipped = has_aside && i == 0 ? 1 : 0;
    if (whole) {
      if (hot.any()) {
        own.count<HotKeys::some>(vectors[i], skipped, flip, hot, hits);
      } else {
        own.count<HotKeys::none>(vectors[i], skipped, flip, hot, hits);
      }
    } else if (v < end) {
      for (int k = 8 * v; k < 8 * v + 8; ++k) {
        if (keys.has(k)) own.add(keys.base[k] ^ flip, 1, true);
      }
    }
    for (int h = 0; h < 2; ++h) {
      const unsigned all_hits = __reduce_add_sync(~0u, hits[h]);
      if (lane == 0 && all_hits != 0) own.add(hot.counters[h], all_hits, true);
    }
  }
  cluster.sync();  // a thread reads words to which all threads of another block have added
  // PHASE 3: add up the slice of this block, eight neighbouring counters per thread, and scan it. The threads of the
  // first half read the counters of half of the blocks, the others those of the other half.
  const int half = t / (few_words_threads / 2),
            first_counter = rank * FewWords::slice + t % (few_words_threads / 2) * 8;
  const unsigned word = FewWords::Counters::word(first_counter);
  unsigned counts[8] = {};
#pragma unroll
  for (int i = 0; i < few_words_blocks / 2; ++i) {
    const int other = (rank + i) % (few_words_blocks / 2) + half * (few_words_blocks / 2);
    const uint4 quad = cluster.map_shared_rank(quads, other)[word / 4];
    // The words of a quad are those of neighbouring counters, but in another order.
    const unsigned pairs[4] = {quad.x, quad.y, quad.z, quad.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) counts[2 * k] += pairs[k] & 0xffff, counts[2 * k + 1] += pairs[k] >> 16;
  }
  if (half != 0) {
#pragma unroll
    for (int k = 0; k < 8; ++k) own.sums[k][t % (few_words_threads / 2)] = counts[k];
  }
  if (t < few_words_blocks && t != rank) own.aside[t] = *cluster.map_shared_rank(&own.aside[t], t);
  __syncthreads();  // a thread reads elements of own.sums and own.aside that others have written
  if (half == 0) {
    unsigned sorted[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) counts[k] += own.sums[k][t];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int from = 0; from < 4; ++from) {
        if ((k ^ word % 4) == from) sorted[2 * k] = counts[2 * from], sorted[2 * k + 1] = counts[2 * from + 1];
      }
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) counts[k] = sorted[k];
#pragma unroll
    for (int other = 0; other < few_words_blocks; ++other) {
      const int aside = own.aside[other] - first_counter;
      if (aside < 0 || aside >= 8) continue;
#pragma unroll
      for (int k = 0; k < 8; ++k) counts[k] += aside == k;
    }
  } else {
#pragma unroll
    for (int k = 0; k < 8; ++k) counts[k] = 0;
  }
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += counts[k];
  unsigned inclusive = sum;
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned left = __shfl_up_sync(~0u, inclusive, distance);
    if (lane >= distance) inclusive += left;
  }
  if (lane == 31) own.warp_sums[t / 32] = inclusive;
  __syncthreads();  // a warp adds up elements of own.warp_sums that others have written
  const unsigned warp_sum = own.warp_sums[lane];
  const unsigned before = __reduce_add_sync(~0u, lane < t / 32 ? warp_sum : 0);
  const unsigned total = __reduce_add_sync(~0u, warp_sum);
  if (t < few_words_blocks) cluster.map_shared_rank(own.totals, t)[rank] = total;
  cluster.sync();  // a thread reads own.totals, which other blocks have written, and clears words that they have read
  // PHASE 4: mark where the runs begin.
#pragma unroll
  for (int i = 0; i < word_values / 8 / few_words_threads; ++i) quads[t + i * few_words_threads] = uint4{};
  const unsigned earlier = __reduce_add_sync(~0u, lane < rank ? own.totals[lane % few_words_blocks] : 0);
  unsigned position = keys.first + earlier + before + inclusive - sum;
  const unsigned part = 8 * keys.share;  // positions of the output that a block writes
  cluster.sync();                        // a thread marks places that another block has cleared
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const unsigned run_end = position + counts[k];
    // A run that goes on in the next block's part has a mark there, too.
    for (unsigned p = position; p < run_end; p = (p / part + 1) * part) {
      reinterpret_cast<std::uint16_t*>(cluster.map_shared_rank(own.words, p / part))[p % part] =
          std::uint16_t(first_counter + k);
    }
    position = run_end;
  }
  cluster.sync();  // a thread reads marks that other blocks have made; no block needs the others any more
  // PHASE 5: each key is the last mark up to its place, and no mark is less than one before it.
  unsigned largest = 0;
  const int first_own = first_vector - begin;
#pragma unroll
  for (int i = 0; i < vectors_per_thread; ++i) {
    if (i >= keys.rows) break;
    const uint4 marks = quads[first_own + 32 * i];
    largest = __vmaxu2(__vmaxu2(largest, __vmaxu2(marks.x, marks.y)), __vmaxu2(marks.z, marks.w));
  }
  largest = __reduce_max_sync(~0u, max(largest & 0xffff, largest >> 16));
  if (lane == 0) own.warp_sums[t / 32] = largest;
  __syncthreads();  // a warp reads elements of own.warp_sums that others have written
  unsigned carry = __reduce_max_sync(~0u, lane < t / 32 ? own.warp_sums[lane] : 0);
#pragma unroll
  for (int i = 0; i < vectors_per_thread; ++i) {
    const int v = first_vector + 32 * i;
    if (i >= keys.rows || __all_sync(~0u, v >= end)) break;
    const uint4 marks = quads[first_own + 32 * i];
    unsigned words[4] = {marks.x, marks.y, marks.z, marks.w};
    unsigned last = __vmaxu2(__vmaxu2(words[0], words[1]), __vmaxu2(words[2], words[3]));
    last = max(last & 0xffff, last >> 16);
    for (int distance = 1; distance < 32; distance *= 2) {
      const unsigned left = __shfl_up_sync(~0u, last, distance);
      if (lane >= distance) last = max(last, left);
    }
    unsigned left = __shfl_up_sync(~0u, last, 1);
    left = lane == 0 ? carry : max(left, carry);
    carry = max(carry, __shfl_sync(~0u, last, 31));
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const unsigned low = max(words[w] & 0xffff, left), high = max(words[w] >> 16, low);
      words[w] = (low | high << 16) ^ (flip | flip << 16);
      left = high;
    }
    if (v >= end) continue;
    if (keys.has_all_of(v)) {
      reinterpret_cast<uint4*>(keys.base)[v] = uint4{words[0], words[1], words[2], words[3]};
    } else {
      for (int k = 0; k < 8; ++k) {
        if (keys.has(8 * v + k)) keys.base[8 * v + k] = std::uint16_t(words[k / 2] >> k % 2 * 16);
      }
    }
  }
#else
  (void)keys, (void)flip;
#endif
}

/// Whether a cluster fits on the device in use, and lets it have its shared memory there. Remembers the answer, because
/// the calls take time. Errors: CudaError.
[[maybe_unused]] bool has_cluster_for_few_words() {
  thread_local int asked_of = -1;
  thread_local bool fits = false;
  const lab::Device& device = lab::Device::current();
  if (asked_of == device.id) return fits;
  int clusters = 0;
  if (lab::device_attribute(cudaDevAttrClusterLaunch) != 0 && device.fits<FewWords>()) {
    CUDA_CHECK(cudaFuncSetAttribute(sort_few_words, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CUDA_CHECK(cudaFuncSetAttribute(sort_few_words, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(FewWords)));
    cudaLaunchConfig_t config = {};
    config.gridDim = few_words_blocks, config.blockDim = few_words_threads, config.dynamicSmemBytes = sizeof(FewWords);
    CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, sort_few_words, &config));
  }
  asked_of = device.id, fits = clusters > 0;
  return fits;
}

#undef CLUSTER_OF

}  // namespace
#endif

/// Queues the sort. Returns false, and does nothing, if the keys are too many, or the device has no such clusters.
[[maybe_unused]] static bool sort_in_one_cluster(lab::Span<std::uint16_t> keys, unsigned flip, cudaStream_t stream) {
#ifndef __SIMT__
  if (keys.n > std::int64_t{8} * few_words_share * few_words_blocks) return false;
  const WholeVectors vectors(keys.data, keys.n);
  if (vectors.share > few_words_share || !has_cluster_for_few_words()) return false;
  sort_few_words<<<few_words_blocks, few_words_threads, sizeof(FewWords), stream>>>(vectors, flip);
  CUDA_CHECK(cudaGetLastError());
  return true;
#else
  (void)keys, (void)flip, (void)stream;
  return false;
#endif
}

}  // namespace counting

// What each block of few_words.cuh does in its phases, and what it shares with the other blocks of its cluster. The
// barriers between phases are in the kernel, those within a phase are here. The functions are inlined, because a thread
// keeps its keys and its counters in registers from one phase to another.
#pragma once

#include <cstdint>

#include "packed_counters.cuh"
#include "whole_vectors.cuh"

#ifndef __SIMT__  // CUDA on the CPU has no clusters
#include <cooperative_groups.h>

namespace counting {
namespace {

/// What a block shares with its cluster.
struct FewWords {
  /// Counters of 16 bits, those of values 2 * i and 2 * i + 1 in word i; then the marks of the block's part of the
  /// output, two positions in each word.
  alignas(16) unsigned words[word_values / 2];
  unsigned totals[few_words_blocks];  ///< keys of the slices of all blocks
  unsigned warp_sums[32];
  /// One key of each block's share, which is not counted in `words`: otherwise a counter could overflow there.
  int aside[few_words_blocks];

  static constexpr int half_threads = few_words_threads / 2;
  unsigned sums[8][half_threads];  ///< of the second half of the blocks, for the threads of the first half

  static constexpr int slice = word_values / few_words_blocks;  // counters
  static_assert(slice == 8 * half_threads, "a thread of the first half has a vector of counters");
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// Eight neighbouring counters, and how many keys come before theirs in the block's slice of all counters.
struct FewWordsSlice {
  int first;  ///< counter
  unsigned word;
  unsigned counts[8] = {};
  unsigned before = 0;

  /// Adds a block's counters. The words of a quad are those of neighbouring counters, but in another order.
  __device__ __forceinline__ void add(const uint4& quad) {
    const unsigned pairs[4] = {quad.x, quad.y, quad.z, quad.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) counts[2 * k] += pairs[k] & 0xffff, counts[2 * k + 1] += pairs[k] >> 16;
  }

  /// Puts the counters in order.
  __device__ __forceinline__ void put_in_order() {
    unsigned sorted[8];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int from = 0; from < 4; ++from) {
        if ((k ^ word % 4) == from) sorted[2 * k] = counts[2 * from], sorted[2 * k + 1] = counts[2 * from + 1];
      }
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) counts[k] = sorted[k];
  }
};

/// A block at work.
struct FewWordsBlock : FewWords {
  using Counters = PackedCounters<word_values>;
  using Cluster = cooperative_groups::cluster_group;

  __device__ __forceinline__ uint4* quads() { return reinterpret_cast<uint4*>(words); }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < word_values / 8 / few_words_threads; ++i)
      quads()[threadIdx.x + i * few_words_threads] = uint4{};
  }

  // --- counting the block's keys ---

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

  /// Counts the block's keys, apart from the one that it sets aside.
  __device__ __forceinline__ void count_all(const WholeVectors& keys, const FewWordsShare& share,
                                            const uint4 (&vectors)[vectors_per_thread], unsigned flip) {
    const bool has_aside = threadIdx.x == 0 && share.begin < share.end && keys.has_all_of(share.begin);
    if (has_aside) aside[share.rank] = int((vectors[0].x & 0xffff) ^ flip);
    Hot hot;
#pragma unroll
    for (int i = 0; i < vectors_per_thread; ++i) {
      const int v = share.first + 32 * i;
      if (i >= keys.rows || __all_sync(~0u, v >= share.end)) break;
      const bool whole = v < share.end && keys.has_all_of(v);
      hot.update(whole ? (vectors[i].x >> 16) ^ flip : Hot::none);
      unsigned hits[2] = {};
      const int skipped = has_aside && i == 0 ? 1 : 0;
      if (whole) {
        if (hot.any()) {
          count<HotKeys::some>(vectors[i], skipped, flip, hot, hits);
        } else {
          count<HotKeys::none>(vectors[i], skipped, flip, hot, hits);
        }
      } else if (v < share.end) {
        for (int k = 8 * v; k < 8 * v + 8; ++k) {
          if (keys.has(k)) add(keys.base[k] ^ flip, 1, true);
        }
      }
      for (int h = 0; h < 2; ++h) {
        const unsigned all_hits = __reduce_add_sync(~0u, hits[h]);
        if (threadIdx.x % 32 == 0 && all_hits != 0) add(hot.counters[h], all_hits, true);
      }
    }
  }

  // --- adding up the block's slice of all counters ---

  /// The counters of all blocks, added up: eight for each thread of the first half, none for the others. The threads of
  /// the first half read the counters of half of the blocks, the others those of the other half.
  __device__ __forceinline__ FewWordsSlice add_up_slice(const Cluster& cluster, int rank) {
    const int t = threadIdx.x, half = t / half_threads, first_counter = rank * slice + t % half_threads * 8;
    FewWordsSlice own = {first_counter, Counters::word(first_counter)};
#pragma unroll
    for (int i = 0; i < few_words_blocks / 2; ++i) {
      const int other = (rank + i) % (few_words_blocks / 2) + half * (few_words_blocks / 2);
      own.add(cluster.map_shared_rank(quads(), other)[own.word / 4]);
    }
    if (half != 0) {
#pragma unroll
      for (int k = 0; k < 8; ++k) sums[k][t % half_threads] = own.counts[k];
    }
    if (t < few_words_blocks && t != rank) aside[t] = *cluster.map_shared_rank(&aside[t], t);
    __syncthreads();  // a thread reads elements of `sums` and `aside` that others have written
    if (half == 0) {
      complete(own);
    } else {
#pragma unroll
      for (int k = 0; k < 8; ++k) own.counts[k] = 0;
    }
    return own;
  }

  /// Adds what the second half of the block has read, and the keys that were set aside.
  __device__ __forceinline__ void complete(FewWordsSlice& own) const {
#pragma unroll
    for (int k = 0; k < 8; ++k) own.counts[k] += sums[k][threadIdx.x];
    own.put_in_order();
#pragma unroll
    for (int other = 0; other < few_words_blocks; ++other) {
      const int counter = aside[other] - own.first;
      if (counter < 0 || counter >= 8) continue;
#pragma unroll
      for (int k = 0; k < 8; ++k) own.counts[k] += counter == k;
    }
  }

  /// Scans the block's slice, whose total all blocks get in `totals`.
  __device__ __forceinline__ void scan(const Cluster& cluster, int rank, FewWordsSlice& own) {
    const int t = threadIdx.x, lane = t % 32;
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += own.counts[k];
    unsigned inclusive = sum;
    for (int distance = 1; distance < 32; distance *= 2) {
      const unsigned left = __shfl_up_sync(~0u, inclusive, distance);
      if (lane >= distance) inclusive += left;
    }
    if (lane == 31) warp_sums[t / 32] = inclusive;
    __syncthreads();  // a warp adds up elements of warp_sums that others have written
    const unsigned warp_sum = warp_sums[lane];
    own.before = __reduce_add_sync(~0u, lane < t / 32 ? warp_sum : 0) + inclusive - sum;
    const unsigned total = __reduce_add_sync(~0u, warp_sum);
    if (t < few_words_blocks) cluster.map_shared_rank(totals, t)[rank] = total;
  }

  // --- from runs to keys ---

  /// Keys of the slices of the blocks before this one.
  __device__ __forceinline__ unsigned earlier_keys(int rank) const {
    const int lane = threadIdx.x % 32;
    return __reduce_add_sync(~0u, lane < rank ? totals[lane % few_words_blocks] : 0);
  }

  /// Marks where the runs of a thread's counters begin, the first of them at `position`. `part`: positions of the output
  /// that a block writes.
  __device__ __forceinline__ void mark_runs(const Cluster& cluster, const FewWordsSlice& own, unsigned position,
                                            unsigned part) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned run_end = position + own.counts[k];
      // A run that goes on in the next block's part has a mark there, too.
      for (unsigned p = position; p < run_end; p = (p / part + 1) * part) {
        reinterpret_cast<std::uint16_t*>(cluster.map_shared_rank(words, p / part))[p % part] =
            std::uint16_t(own.first + k);
      }
      position = run_end;
    }
  }

  /// The largest mark of the warps before the thread's own.
  __device__ __forceinline__ unsigned largest_before(const WholeVectors& keys, const FewWordsShare& share) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned largest = 0;
#pragma unroll
    for (int i = 0; i < vectors_per_thread; ++i) {
      if (i >= keys.rows) break;
      const uint4 marks = quads()[share.first - share.begin + 32 * i];
      largest = __vmaxu2(__vmaxu2(largest, __vmaxu2(marks.x, marks.y)), __vmaxu2(marks.z, marks.w));
    }
    largest = __reduce_max_sync(~0u, max(largest & 0xffff, largest >> 16));
    if (lane == 0) warp_sums[warp] = largest;
    __syncthreads();  // a warp reads elements of warp_sums that others have written
    return __reduce_max_sync(~0u, lane < warp ? warp_sums[lane] : 0);
  }

  /// Replaces each mark in the vectors of a warp, one per lane, by the last one up to its place. `carry`: the last mark
  /// before them; then the last mark in them.
  __device__ static __forceinline__ void spread(unsigned (&marks)[4], unsigned& carry) {
    const int lane = threadIdx.x % 32;
    unsigned last = __vmaxu2(__vmaxu2(marks[0], marks[1]), __vmaxu2(marks[2], marks[3]));
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
      const unsigned low = max(marks[w] & 0xffff, left), high = max(marks[w] >> 16, low);
      marks[w] = low | high << 16;
      left = high;
    }
  }

  /// Writes the block's part of the sorted keys.
  __device__ __forceinline__ void write(const WholeVectors& keys, const FewWordsShare& share, unsigned flip) {
    unsigned carry = largest_before(keys, share);
#pragma unroll
    for (int i = 0; i < vectors_per_thread; ++i) {
      const int v = share.first + 32 * i;
      if (i >= keys.rows || __all_sync(~0u, v >= share.end)) break;
      const uint4 marks = quads()[v - share.begin];
      unsigned sorted[4] = {marks.x, marks.y, marks.z, marks.w};
      spread(sorted, carry);
#pragma unroll
      for (int w = 0; w < 4; ++w) sorted[w] ^= flip | flip << 16;
      if (v >= share.end) continue;
      if (keys.has_all_of(v)) {
        reinterpret_cast<uint4*>(keys.base)[v] = uint4{sorted[0], sorted[1], sorted[2], sorted[3]};
      } else {
        for (int k = 0; k < 8; ++k) {
          if (keys.has(8 * v + k)) keys.base[8 * v + k] = std::uint16_t(sorted[k / 2] >> k % 2 * 16);
        }
      }
    }
  }
};

#endif
}  // namespace
}  // namespace counting
#endif

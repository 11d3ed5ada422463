// The network in registers, and between the lanes of a warp. Steps 04 and 05 call it.
//
// A thread holds `items` words in an array that the compiler keeps in registers. It can do so only if it knows every
// index: an array with an index that is computed at run time is put into local memory, which is as far away as global
// memory. Therefore strides and runs are template parameters, and one stage calls the next by `if constexpr`.
// Here the words of a thread are blocked: thread t has the words at positions t * items, t * items + 1, ...
// tile_network.cuh has two more arrangements.
// Source of both networks: Batcher's paper, see bitonic.h.
#pragma once

#include "compare_exchange.cuh"

namespace bitonic {

inline constexpr unsigned all_lanes = 0xffffffffu;

// --- in registers ---

template <class Word>
__device__ void compare_exchange(Word& low, Word& high) {
  const Word a = low, b = high;
  low = b < a ? b : a;
  high = b < a ? a : b;
}

/// The mirror stage of a run of all words.
template <int items, class Word>
__device__ void mirror_registers(Word (&words)[items]) {
#pragma unroll
  for (int i = 0; i < items / 2; ++i) compare_exchange(words[i], words[items - 1 - i]);
}

/// Half-cleaners with the strides `stride`, stride / 2, ..., 1, which merge each bitonic sequence of 2 * stride words.
template <int stride, int items, class Word>
__device__ void bitonic_merge_registers(Word (&words)[items]) {
  if constexpr (stride > 0) {
#pragma unroll
    for (int pair = 0; pair < items / 2; ++pair) {
      const int low = pair / stride * 2 * stride + pair % stride;
      compare_exchange(words[low], words[low + stride]);
    }
    bitonic_merge_registers<stride / 2>(words);
  }
}

/// Merges the sorted halves of the `run` words at first, first + step, ... by odd-even merging: merges the words with
/// even numbers, merges those with odd numbers, and then compares each odd one with its right neighbour.
template <int first, int run, int step, int items, class Word>
__device__ void merge_odd_even(Word (&words)[items]) {
  if constexpr (run == 2) {
    compare_exchange(words[first], words[first + step]);
  } else {
    merge_odd_even<first, run / 2, 2 * step>(words);
    merge_odd_even<first + step, run / 2, 2 * step>(words);
#pragma unroll
    for (int i = 1; i + 1 < run; i += 2) compare_exchange(words[first + i * step], words[first + (i + 1) * step]);
  }
}

/// Sorts `run` words from `first` on. Where all words are in registers, odd-even merging beats the bitonic network: 16
/// words take 63 comparators instead of 80, 32 words 191 instead of 240.
template <int first, int run, int items, class Word>
__device__ void sort_registers(Word (&words)[items]) {
  if constexpr (run > 1) {
    sort_registers<first, run / 2>(words);
    sort_registers<first + run / 2, run / 2>(words);
    merge_odd_even<first, run, 1>(words);
  }
}

// --- between lanes ---

/// What a lane keeps of a comparator that it shares with another: the larger word if it is `upper`, the lane with the
/// higher number, else the smaller.
template <class Word>
__device__ Word keep(Word own, Word other, bool upper) {
  return (own < other) == upper ? other : own;
}

/// The mirror stage of runs that `lanes` lanes share, blocked: word i meets the last word but i of the mirror lane.
template <int lanes, int items, class Word>
__device__ void mirror_lanes(Word (&words)[items]) {
  const bool upper = (threadIdx.x & (lanes / 2)) != 0;
#pragma unroll
  for (int i = 0; i < items / 2; ++i) {
    const int j = items - 1 - i;
    const Word other_i = __shfl_xor_sync(all_lanes, words[j], lanes - 1);
    const Word other_j = __shfl_xor_sync(all_lanes, words[i], lanes - 1);
    words[i] = keep(words[i], other_i, upper);
    words[j] = keep(words[j], other_j, upper);
  }
}

/// Half-cleaners in which word i meets word i of a lane `stride`, stride / 2, ..., 1 lanes away.
template <int stride, int items, class Word>
__device__ void bitonic_merge_lanes(Word (&words)[items]) {
  if constexpr (stride > 0) {
    const bool upper = (threadIdx.x & stride) != 0;
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const Word other = __shfl_xor_sync(all_lanes, words[i], stride);
      words[i] = keep(words[i], other, upper);
    }
    bitonic_merge_lanes<stride / 2>(words);
  }
}

/// Sorts the words of each group of `lanes` lanes. Before: in any arrangement. After: blocked.
template <int lanes, int items, class Word>
__device__ void sort_lanes(Word (&words)[items]) {
  if constexpr (lanes == 1) {
    sort_registers<0, items>(words);
  } else {
    sort_lanes<lanes / 2>(words);
    mirror_lanes<lanes>(words);
    bitonic_merge_lanes<lanes / 4>(words);
    bitonic_merge_registers<items / 2>(words);
  }
}

}  // namespace bitonic

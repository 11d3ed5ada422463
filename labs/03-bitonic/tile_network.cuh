// The network between threads that share their words: some lanes of a warp, or a whole block.
//
// A thread has `items` words at a time, at positions that suit the stages to come:
//   blocked: `items` neighbours. Stages with the shortest strides then run in registers.
//   columns: words as far apart as possible. Stages with the longest strides of a run then run in registers.
//   striped: words 32 apart, so that neighbouring lanes have neighbours. This is how memory is read and written best.
//            (CUB calls this warp-striped, and columns of a whole tile striped.)
// From one arrangement to another, the words go through shared memory, with one access to write and one to read.
// Therefore short runs, whose merge needs few stages between lanes, are merged by shuffles. Longer ones start as
// columns, where one exchange through shared memory serves several stages.
#pragma once

#include "network.cuh"

namespace bitonic {

/// Runs that at most this many lanes share are merged by shuffles, longer ones as columns. A stage between lanes takes
/// a comparison and a selection for each word, and a stage in registers takes half as much. But with fewer than 32
/// words per thread, the columns of short runs conflict in their banks.
template <int items>
inline constexpr int shuffled_lanes = items == 32 ? 2 : 16;

/// The words of `threads` neighbouring threads in shared memory. There is an unused word after each row of the banks, so
/// that the first words of neighbouring threads are in different banks.
template <class Word_, int items_, int threads_>
struct Tile {
  using Word = Word_;
  static constexpr int items = items_, threads = threads_, size = threads * items;
  static constexpr int row_of_banks = 128 / int(sizeof(Word));  ///< words

  /// Where a position lies. Strides are powers of two, so padded(first + i * stride) is padded(first) + padded(i * stride)
  /// for each first < stride: a thread computes one address, and all others are at constant distances from it.
  static __device__ constexpr int padded(int position) { return position + position / row_of_banks; }

  Word words[size + size / row_of_banks];

  __device__ Word* at(int position) { return words + padded(position); }
};

/// Waits for the `threads` threads that share words, which are part of a warp, or all threads of the block.
template <int threads>
__device__ void synchronize() {
  if constexpr (threads <= 32) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// The first position of thread t's striped words: item i is at that position + 32 * i.
template <int items>
__device__ int striped_position(int t) {
  return t / 32 * 32 * items + t % 32;
}

/// Writes the thread's blocked words.
template <class Tile>
__device__ void write_blocked(Tile& tile, const typename Tile::Word (&words)[Tile::items], int t) {
  auto* const block = tile.at(t * Tile::items);
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) block[Tile::padded(i)] = words[i];
}

/// Merges the sorted halves of each run of `run` words. Before and after: blocked. `t`: the thread's index in the tile.
template <int run, class Tile>
__device__ void merge_as_columns(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  constexpr int items = Tile::items, threads = run / items, stride = threads;
  static_assert(stride / items <= 32, "the stages between columns and blocked words must stay within a warp");
  write_blocked(tile, words, t);
  synchronize<threads>();  // a thread reads words of `tile`, as columns, that others have written as blocked ones
  const int first = t / threads * run;
  auto* const low = tile.at(first + t % threads);
  auto* const high = tile.at(first + stride - 1 - t % threads);  // mirrors `low`
#pragma unroll
  for (int i = 0; i < items; ++i) words[i] = (i < items / 2 ? low : high)[Tile::padded(i * stride)];
  mirror_registers(words);
  bitonic_merge_registers<items / 4>(words);
#pragma unroll
  for (int i = 0; i < items; ++i) (i < items / 2 ? low : high)[Tile::padded(i * stride)] = words[i];
  synchronize<threads>();  // a thread reads words of `tile`, as blocked ones, that others have written as columns
  const auto* const block = tile.at(t * items);
#pragma unroll
  for (int i = 0; i < items; ++i) words[i] = block[Tile::padded(i)];
  bitonic_merge_lanes<stride / items / 2>(words);
  bitonic_merge_registers<(stride < items ? stride : items) / 2>(words);
}

/// Sorts the words of each group of `threads` threads. Before: in any arrangement. After: blocked.
template <int threads, class Tile>
__device__ void sort_group(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  if constexpr (threads <= shuffled_lanes<Tile::items>) {
    sort_lanes<threads>(words);
  } else {
    sort_group<threads / 2>(tile, words, t);
    merge_as_columns<threads * Tile::items>(tile, words, t);
  }
}

/// Reads the thread's striped words.
template <class Tile>
__device__ void read_striped(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  const auto* const first = tile.at(striped_position<Tile::items>(t));
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) words[i] = first[Tile::padded(32 * i)];
}

/// Merges each run of 2 * stride * threads words that is a bitonic sequence, by half-cleaners with the strides
/// stride * threads, ..., 1. Before: columns, each thread with the words `threads` apart. After: striped. A barrier is
/// needed before the tile is written again, because other threads may still be reading it.
template <int stride, class Tile>
__device__ void merge_tile(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  constexpr int threads = Tile::threads;
  bitonic_merge_registers<stride>(words);
  auto* const column = tile.at(t);
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) column[Tile::padded(i * threads)] = words[i];
  __syncthreads();  // read_striped() reads words of `tile` that other threads have written as columns
  read_striped(tile, words, t);
  bitonic_merge_registers<threads / 2 / 32>(words);
  bitonic_merge_lanes<16>(words);
}

}  // namespace bitonic

// The network between threads that share their words: some lanes of a warp, or a whole block.
//
// A thread has `items` words at a time, at positions that suit the stages to come:
//   blocks:  items neighbours. Here the shortest strides are stages in registers.
//   columns: words as far apart as possible. Here the longest strides of a run are stages in registers.
//   rows:    words 32 apart, so that neighbouring lanes have neighbours. This is how memory is read and written best.
// From one arrangement to another, the words go through shared memory, one access to write and one to read. So short
// runs, whose merge needs few stages between lanes, are merged by shuffles; longer ones start as columns, where one trip
// serves several stages.
#pragma once

#include <cstdint>

#include "network.cuh"

namespace bitonic {

/// Runs that at most so many lanes share are merged by shuffles, longer ones as columns. A stage between lanes takes a
/// comparison and a selection for each word, one in registers half as much. But with fewer than 32 words per thread, the
/// columns of short runs meet in the same banks.
template <int items>
inline constexpr int shuffled_lanes = items == 32   ? 2
                                      : items == 24 ? 4
                                                    : 16;

/// The words of `threads` neighbouring threads in shared memory. Between some words there are unused ones, so that the
/// blocks of neighbouring threads begin in different banks.
template <class Word_, int items_, int threads_>
struct Tile {
  using Word = Word_;
  static constexpr int items = items_, threads = threads_, size = threads * items;

  /// Where a position lies. With 24 words per thread, four blocks end where 128 bytes end, and 4 or 5 words are unused.
  /// Otherwise one word is unused after each 128 bytes.
  static __device__ constexpr int padded(int position) {
    return items % 3 == 0 ? position + position / 96 * 9 / 2 : position + position / (128 / int(sizeof(Word)));
  }

  Word words[size + (items % 3 == 0 ? size / 96 * 9 / 2 + (size == 96) : size * int(sizeof(Word)) / 128)];

  __device__ Word* at(int position) { return words + padded(position); }
};

/// Words of a tile that are `stride` apart, the first of them at position `first`. A thread computes as few addresses
/// as possible: from these to the others, the distances are constants.
template <int stride, class Tile>
struct Column {
  static constexpr int addresses = Tile::items % 3 == 0 ? 3 : 1;
  typename Tile::Word* words[addresses];

  __device__ Column(Tile& tile, int first) {
#pragma unroll
    for (int i = 0; i < addresses; ++i) words[i] = tile.at(first + i * stride);
  }

  __device__ typename Tile::Word& operator[](int i) const {
    return words[i % addresses][Tile::padded(i / addresses * addresses * stride)];
  }
};

/// Waits for the `threads` threads that share words: part of a warp, or all threads of the block.
template <int threads>
__device__ void synchronize() {
  if constexpr (threads <= 32) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// The first position of thread t's rows: item i is at that position + 32 * i.
template <int items>
__device__ int row_position(int t) {
  return t / 32 * 32 * items + t % 32;
}

/// Writes the thread's words as blocks.
template <class Tile>
__device__ void write_blocks(Tile& tile, const typename Tile::Word (&words)[Tile::items], int t) {
  auto* const block = tile.at(t * Tile::items);
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) block[Tile::padded(i)] = words[i];
}

/// Merges the sorted halves of each run of `run` words. Before and after: blocks. t: the thread's number in the tile.
template <int run, class Tile>
__device__ void merge_as_columns(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  constexpr int items = Tile::items, threads = run / items, stride = threads;
  constexpr int rest = items % 3 == 0 ? 3 * stride : stride;  // runs that the columns leave
  static_assert(rest / items <= 32, "the stages between columns and blocks must stay within a warp");
  write_blocks(tile, words, t);
  synchronize<threads>();  // reads words that other threads have written
  const int first = t / threads * run;
  const Column<stride, Tile> low(tile, first + t % threads);
  const Column<stride, Tile> high(tile, first + stride - 1 - t % threads);  // mirrors `low`
#pragma unroll
  for (int i = 0; i < items; ++i) words[i] = (i < items / 2 ? low : high)[i];
  mirror_registers(words);
  clean_registers<items / 4>(words);
#pragma unroll
  for (int i = 0; i < items; ++i) (i < items / 2 ? low : high)[i] = words[i];
  synchronize<threads>();  // reads words that other threads have written
  const auto* const block = tile.at(t * items);
#pragma unroll
  for (int i = 0; i < items; ++i) words[i] = block[Tile::padded(i)];
  clean_lanes<rest / items / 2>(words);
  finish_registers<(rest < items ? rest : items) / 2>(words);
}

/// Sorts the words of each group of `threads` threads. Before: in any arrangement. After: blocks.
template <int threads, class Tile>
__device__ void sort_blocks(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  if constexpr (threads <= shuffled_lanes<Tile::items>) {
    sort_lanes<threads>(words);
  } else {
    sort_blocks<threads / 2>(tile, words, t);
    merge_as_columns<threads * Tile::items>(tile, words, t);
  }
}

/// Reads the thread's rows.
template <class Tile>
__device__ void read_rows(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  const auto* const row = tile.at(row_position<Tile::items>(t));
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) words[i] = row[Tile::padded(32 * i)];
}

}  // namespace bitonic

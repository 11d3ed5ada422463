// The network between threads that share their words: some lanes of a warp, or a whole block.
//
// A thread has `items` words at a time, at positions that suit the stages to come:
//   blocks:  items neighbours. Here the shortest strides are stages in registers.
//   columns: words as far apart as possible. Here the longest strides of a run are stages in registers.
//   rows:    words 32 apart, so that neighbouring lanes have neighbours. This is how memory is read and written best.
// From one arrangement to another, the words go through shared memory, one access to write and one to read. A stage by
// shuffles costs nearly as much. So short runs, whose merge needs few of them, are merged by shuffles; longer ones
// start as columns, where one trip serves several stages.
#pragma once

#include <cstdint>

#include "network.cuh"

namespace bitonic {

/// Runs that at most so many lanes share are merged by shuffles, longer ones as columns.
inline constexpr int shuffled_lanes = 16;

/// Where a position of a tile lies in shared memory: one word in each 128 bytes is unused, so that the blocks of
/// neighbouring threads begin in different banks. In all uses below, padded(a + b) is padded(a) + padded(b): a thread
/// computes one address, and the rest are constants.
template <class Word>
__device__ constexpr int padded(int position) {
  return position + position / (128 / int(sizeof(Word)));
}

/// The words of `threads` neighbouring threads in shared memory.
template <class Word_, int items_, int threads_>
struct Tile {
  using Word = Word_;
  static constexpr int items = items_, threads = threads_, size = threads * items;

  Word words[size + size * int(sizeof(Word)) / 128];

  __device__ Word* at(int position) { return words + padded<Word>(position); }
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
  using Word = typename Tile::Word;
  Word* const block = tile.at(t * Tile::items);
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) block[padded<Word>(i)] = words[i];
}

/// Merges the sorted halves of each run of `run` words. Before and after: blocks. t: the thread's number in the tile.
template <int run, class Tile>
__device__ void merge_as_columns(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  using Word = typename Tile::Word;
  constexpr int items = Tile::items, threads = run / items, stride = threads;
  static_assert(stride / items <= 32, "the stages between columns and blocks must stay within a warp");
  write_blocks(tile, words, t);
  synchronize<threads>();  // reads words that other threads have written
  const int first = t / threads * run;
  Word* const low = tile.at(first + t % threads);
  Word* const high = tile.at(first + stride - 1 - t % threads);  // mirrors `low`
#pragma unroll
  for (int i = 0; i < items; ++i) words[i] = (i < items / 2 ? low : high)[padded<Word>(i * stride)];
  mirror_registers<items>(words);
  clean_registers<items / 4>(words);
#pragma unroll
  for (int i = 0; i < items; ++i) (i < items / 2 ? low : high)[padded<Word>(i * stride)] = words[i];
  synchronize<threads>();  // reads words that other threads have written
  const Word* const block = tile.at(t * items);
#pragma unroll
  for (int i = 0; i < items; ++i) words[i] = block[padded<Word>(i)];
  clean_lanes<stride / items / 2>(words);
  clean_registers<items / 2>(words);
}

/// Sorts the words of each group of `threads` threads. Before: in any arrangement. After: blocks.
template <int threads, class Tile>
__device__ void sort_blocks(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  if constexpr (threads <= shuffled_lanes) {
    sort_lanes<threads>(words);
  } else {
    sort_blocks<threads / 2>(tile, words, t);
    merge_as_columns<threads * Tile::items>(tile, words, t);
  }
}

/// Reads the thread's rows.
template <class Tile>
__device__ void read_rows(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  using Word = typename Tile::Word;
  const Word* const row = tile.at(row_position<Tile::items>(t));
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) words[i] = row[padded<Word>(32 * i)];
}

}  // namespace bitonic

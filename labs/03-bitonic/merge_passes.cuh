// What a thread does in one pass over memory for the merges of sorted runs. Step 04 makes kernels of these functions,
// so that the end of a launch separates two passes. Step 05 calls them for a segment that is longer than a tile: there,
// one block makes all passes, and a barrier separates them.
//
// `Words` is a template argument: words in device memory, such as those of words.cuh. It has a type Word, load(i),
// which returns a sentinel for a position past the end, and store(i, word), which does nothing there.
#pragma once

#include "tile_network.cuh"

namespace bitonic {

inline constexpr int strided_items = 32;  ///< words of a thread in a strided pass: 2^5, for five stages

/// Five stages of a merge, for words that meet only each other. Word i of the thread is at the position low + i *
/// stride if i < 16, and at high + i * stride otherwise. With `mirrored`, the first stage is the mirror stage, in which
/// word i meets word 31 - i.
template <bool mirrored, class Words, class Index>
__device__ void run_five_stages(const Words& all, Index low, Index high, Index stride) {
  constexpr int items = strided_items;
  typename Words::Word words[items];
#pragma unroll
  for (int i = 0; i < items; ++i) words[i] = all.load((i < items / 2 ? low : high) + i * stride);
  if constexpr (mirrored) {
    mirror_registers(words);
    bitonic_merge_registers<items / 4>(words);
  } else {
    bitonic_merge_registers<items / 2>(words);
  }
#pragma unroll
  for (int i = 0; i < items; ++i) all.store((i < items / 2 ? low : high) + i * stride, words[i]);
}

/// The last stages of a merge, those within a tile. `columns`: the words from position t of the tile on; `striped`:
/// from striped_position(t) on. As after merge_tile(), a barrier must follow before the tile is used again.
template <class Tile, class Words>
__device__ void merge_tile_in_memory(Tile& tile, const Words& columns, const Words& striped, int t) {
  typename Tile::Word words[Tile::items];
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) words[i] = columns.load(i * Tile::threads);
  merge_tile<Tile::items / 2>(tile, words, t);
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) striped.store(32 * i, words[i]);
}

}  // namespace bitonic

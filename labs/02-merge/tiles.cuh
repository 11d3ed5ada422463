// Tiles of steps 02 and 03: moving them between global and shared memory, and sorting them. Step 02 teaches that sort,
// and step 03 starts with it.
#pragma once

#include <cstdint>

#include "levels.cuh"

namespace merge_sort {

/// Loads from[first], ..., from[first + count - 1] into shared memory, from `tile[position]` on. Neighbouring threads
/// read neighbouring items: thread t loads the items t, t + blockDim.x, ... All threads of the block call it. It
/// contains no barrier.
template <class Key, class Value>
__device__ inline void load_items(Items<Key, Value> tile, int position, Items<Key, Value> from, std::int64_t first,
                                  int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) copy_item(tile, position + i, from, first + i);
}

/// Stores the first `count` items of a tile to to[first], ..., in the same way.
template <class Key, class Value>
__device__ inline void store_items(Items<Key, Value> to, std::int64_t first, Items<Key, Value> tile, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) copy_item(to, first + i, tile, i);
}

/// Sorts each run of `tile_keys` items of from[0, n) separately and writes it to the same positions of `to`, which
/// may be the same memory. `before` is as in merge_sort.h. Defined in 02_block.cu. Launch shape: any number of blocks,
/// 1 to 1024 threads per block.
template <class Key, class Value, class Before>
void sort_tiles(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, Before before, lab::LaunchShape shape,
                cudaStream_t stream);

}  // namespace merge_sort

/// Compiles sort_tiles for every type that merge_sort.h lists. Used once, at the end of 02_block.cu.
#define MERGE_SORT_INSTANTIATE_TILES(sort_tiles)                                                                   \
  template void sort_tiles(Keys<std::uint32_t>, Keys<std::uint32_t>, std::int64_t, lab::Order, lab::LaunchShape,   \
                           cudaStream_t);                                                                          \
  template void sort_tiles(Keys<std::int32_t>, Keys<std::int32_t>, std::int64_t, lab::Order, lab::LaunchShape,     \
                           cudaStream_t);                                                                          \
  template void sort_tiles(Keys<std::uint64_t>, Keys<std::uint64_t>, std::int64_t, lab::Order, lab::LaunchShape,   \
                           cudaStream_t);                                                                          \
  template void sort_tiles(Keys<float>, Keys<float>, std::int64_t, lab::Order, lab::LaunchShape, cudaStream_t);    \
  template void sort_tiles(Keys<std::uint32_t>, Keys<std::uint32_t>, std::int64_t, ByLowByte, lab::LaunchShape,    \
                           cudaStream_t);                                                                          \
  template void sort_tiles(Items<std::uint32_t, std::uint32_t>, Items<std::uint32_t, std::uint32_t>, std::int64_t, \
                           lab::Order, lab::LaunchShape, cudaStream_t);                                            \
  template void sort_tiles(Items<std::uint32_t, std::uint32_t>, Items<std::uint32_t, std::uint32_t>, std::int64_t, \
                           ByLowByte, lab::LaunchShape, cudaStream_t)

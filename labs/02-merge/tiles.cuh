// What step 02 teaches first, and step 03 begins with: sorted tiles.
#pragma once

#include "items.cuh"

namespace merge_sort {

/// Sorts each run of `tile_keys` items of from[0 .. n) by itself and writes it to the same places of `to`; the two may
/// be the same memory. `before` as in merge_sort.h. Written in 02_block.cu. Shape: any blocks, 1 to 1024 threads.
/// Cost: one pass over memory.
template <class Key, class Value, class Before>
void sort_tiles(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, Before before, lab::LaunchShape shape,
                cudaStream_t stream);

}  // namespace merge_sort

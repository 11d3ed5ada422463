// Moves a tile between global memory and shared memory. Steps 02 and 03 share these functions.
//
// All threads of the block call load_tile() and store_tile(). Neighbouring threads access neighbouring positions, so
// that every access is coalesced: thread t copies the items t, t + blockDim.x, ... of the tile. Neither function
// contains a barrier.
#pragma once

#include <cstdint>

#include "compare_exchange.cuh"

namespace bitonic {

/// The number of keys in the tile that starts at `first`. The last tile of n keys may be short.
__device__ inline int tile_count(std::int64_t first, std::int64_t n) {
  const std::int64_t rest = n - first;
  return rest < tile_keys ? int(rest) : tile_keys;
}

/// Loads keys[first], ..., keys[first + count - 1], and their values if there are any, into shared memory.
template <class Key, class Value>
__device__ inline void load_tile(Key* tile, Value* tile_values, lab::Span<Key> keys, const Value* values,
                                 std::int64_t first, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    tile[i] = keys.data[first + i];
    if constexpr (has_values<Value>) tile_values[i] = values[first + i];
  }
}

/// Stores the first `count` items of a tile where load_tile() found them.
template <class Key, class Value>
__device__ inline void store_tile(lab::Span<Key> keys, Value* values, std::int64_t first, int count, const Key* tile,
                                  const Value* tile_values) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    keys.data[first + i] = tile[i];
    if constexpr (has_values<Value>) values[first + i] = tile_values[i];
  }
}

}  // namespace bitonic

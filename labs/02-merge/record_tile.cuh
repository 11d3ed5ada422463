// The tiles of step 05: how large they are, where they are in shared memory, and how they are loaded and stored.
#pragma once

#include <algorithm>
#include <cstddef>

#include "items.cuh"
#include "step/async_copy.h"

namespace merge_sort {

/// A block of `threads_per_block` threads, and the tile that it works on. `max_items`: per thread, an odd number.
template <class TheKey, class TheValue, class TheBefore, int threads_per_block, int max_items>
struct RecordShape {
  using Key = TheKey;
  using Value = TheValue;
  using Before = TheBefore;
  /// True if a network may sort the keys, although it is not stable: equal keys are indistinguishable, except for -0
  /// and +0.
  static constexpr bool by_network = !has_values<Value> && lab::is_order<Before>;
  static constexpr int threads = threads_per_block;
  /// For 1024 threads per multiprocessor, which is as many as fit if each has 64 registers.
  static constexpr int blocks_per_multiprocessor = 1024 / threads;
  /// Items per thread: `max_items` for keys of up to 4 bytes that a network sorts, at most 17 for all others. Odd, so
  /// that 32 threads that each access the k-th of their own items access different banks.
  static constexpr int items = by_network && sizeof(Key) <= 4 ? max_items : std::min(max_items, 17);
  static constexpr int tile = threads * items;  ///< items per tile, at most
  static constexpr std::size_t key_bytes = tile * sizeof(Key);
  static constexpr std::size_t shared_bytes = key_bytes + (has_values<Value> ? tile * sizeof(Value) : 0);
};

template <class Shape>
using ItemsOf = Items<typename Shape::Key, typename Shape::Value>;

/// The tile, in the block's dynamic shared memory, which may be larger than 48 KiB.
template <class Shape>
__device__ inline ItemsOf<Shape> tile_in_shared_memory() {
  extern __shared__ uint4 shared_memory[];
  char* const bytes = reinterpret_cast<char*>(shared_memory);
  return {reinterpret_cast<typename Shape::Key*>(bytes),
          reinterpret_cast<typename Shape::Value*>(bytes + Shape::key_bytes)};
}

/// The items of one thread. They stay in registers because all loops over them are unrolled.
template <class Shape>
struct OwnItems {
  typename Shape::Key keys[Shape::items];
  typename Shape::Value values[has_values<typename Shape::Value> ? Shape::items : 1];

  __device__ ItemsOf<Shape> items() { return {keys, values}; }
};

/// The items from position i on.
template <class Key, class Value, class Index>
__device__ inline Items<Key, Value> items_from(Items<Key, Value> items, Index i) {
  if constexpr (has_values<Value>) return {items.keys + i, items.values + i};
  return {items.keys + i, nullptr};
}

/// Begins to copy from[0], ..., from[count - 1] to to[0], to[step], to[2 * step], ... in shared memory. Neighbouring
/// threads copy neighbouring items. All threads of the block call it, and then lab::wait_for_copies().
template <class Shape, int step = 1>
__device__ inline void begin_to_load(ItemsOf<Shape> to, ItemsOf<Shape> from, int count) {
#pragma unroll 4
  for (int i = threadIdx.x; i < count; i += Shape::threads) {
    lab::begin_copy(&to.keys[i * step], &from.keys[i]);
    if constexpr (has_values<typename Shape::Value>) lab::begin_copy(&to.values[i * step], &from.values[i]);
  }
}

/// Stores the tile's first `count` items to to[0], to[1], ...
template <class Shape>
__device__ inline void store_tile(ItemsOf<Shape> to, ItemsOf<Shape> tile, int count) {
#pragma unroll 8
  for (int i = threadIdx.x; i < count; i += Shape::threads) copy_item(to, i, tile, i);
}

}  // namespace merge_sort

// The items that a thread of step 04 keeps in registers, and the functions that move a tile between registers, shared
// memory and global memory.
#pragma once

#include "levels.cuh"

namespace merge_sort {

/// Threads per block of step 04.
inline constexpr int path_threads_per_block = 256;

/// Items of a tile per thread. Odd, so that 32 threads that each access the k-th of their own 4-byte keys access 32
/// different banks.
template <class Key>
inline constexpr int items_per_thread = sizeof(Key) > 4 ? 11 : 17;

/// Items per tile of step 04.
template <class Key>
inline constexpr int path_tile = path_threads_per_block * items_per_thread<Key>;

/// The items of one thread: consecutive items of a tile, from position threadIdx.x * items_per_thread on. Every loop
/// over them has a constant length and is unrolled: an array can be kept in registers only if all its indexes are
/// constants.
template <class Key, class Value>
struct ThreadItems {
  Key keys[items_per_thread<Key>] = {};
  Value values[has_values<Value> ? items_per_thread<Key> : 1] = {};

  __device__ Items<Key, Value> items() { return {keys, values}; }
};

/// Two neighbouring runs in a tile: a is [first, middle), b is [middle, end). A thread merges the items of their output
/// from position `diagonal` on. Positions of the output are counted from its own beginning, which is `first` in the
/// tile. merge_to_registers() accepts a `diagonal` beyond the end of the output. The runs must end within the tile's
/// items.
struct TileRuns {
  int first, middle, end;
  int diagonal;
};

/// Reads the thread's items from a tile of `count` items.
template <class Key, class Value>
__device__ inline void tile_to_registers(ThreadItems<Key, Value>& own, Items<Key, Value> tile, int count) {
  const int first = threadIdx.x * items_per_thread<Key>;
#pragma unroll
  for (int k = 0; k < items_per_thread<Key>; ++k) {
    if (first + k < count) copy_item(own.items(), k, tile, first + k);
  }
}

/// Writes the thread's items to their positions in a tile of `count` items.
template <class Key, class Value>
__device__ inline void registers_to_tile(Items<Key, Value> tile, ThreadItems<Key, Value>& own, int count) {
  const int first = threadIdx.x * items_per_thread<Key>;
#pragma unroll
  for (int k = 0; k < items_per_thread<Key>; ++k) {
    if (first + k < count) copy_item(tile, first + k, own.items(), k);
  }
}

/// Sorts the first `count` of the thread's items by odd-even transposition. The sort is stable because it exchanges
/// only neighbours, and the items stay in registers because all indexes are constants.
template <class Key, class Value, class Before>
__device__ inline void sort_in_registers(ThreadItems<Key, Value>& own, int count, Before before) {
#pragma unroll
  for (int phase = 0; phase < items_per_thread<Key>; ++phase) {
#pragma unroll
    for (int i = phase % 2; i + 1 < items_per_thread<Key>; i += 2) {
      if (i + 1 >= count || !before(own.keys[i + 1], own.keys[i])) continue;
      const Key key = own.keys[i];
      own.keys[i] = own.keys[i + 1];
      own.keys[i + 1] = key;
      if constexpr (has_values<Value>) {
        const Value value = own.values[i];
        own.values[i] = own.values[i + 1];
        own.values[i + 1] = value;
      }
    }
  }
}

/// Calls f(i) once for each position i of a tile of `count` items. Neighbouring threads take neighbouring positions, so
/// that accesses to global memory are coalesced.
template <class Key, class F>
__device__ inline void for_each_position(int count, F f) {
#pragma unroll
  for (int k = 0; k < items_per_thread<Key>; ++k) {
    const int i = threadIdx.x + k * path_threads_per_block;
    if (i < count) f(i);
  }
}

/// Loads from[first], ..., from[first + count - 1] into shared memory. Contains no barrier.
template <class Key, class Value>
__device__ inline void load_tile(Items<Key, Value> tile, Items<Key, Value> from, std::int64_t first, int count) {
  for_each_position<Key>(count, [&](int i) { copy_item(tile, i, from, first + i); });
}

/// Loads the parts of two runs that make up a tile of `count` items: first a_count items from position a on, then the
/// others from position b on. Contains no barrier.
template <class Key, class Value>
__device__ inline void load_runs(Items<Key, Value> tile, Items<Key, Value> from, std::int64_t a, int a_count,
                                 std::int64_t b, int count) {
  for_each_position<Key>(count, [&](int i) { copy_item(tile, i, from, i < a_count ? a + i : b + (i - a_count)); });
}

/// Stores a tile of `count` items to to[first], ..., to[first + count - 1]. Contains no barrier.
template <class Key, class Value>
__device__ inline void store_tile(Items<Key, Value> to, std::int64_t first, Items<Key, Value> tile, int count) {
  for_each_position<Key>(count, [&](int i) { copy_item(to, first + i, tile, i); });
}

}  // namespace merge_sort

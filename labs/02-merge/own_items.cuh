// What step 04 keeps in registers: a thread's own items of a tile, and their way between the tile and memory.
#pragma once

#include "items.cuh"

namespace merge_sort {

/// Threads a block of step 04.
inline constexpr int path_threads = 256;

/// Items of a tile that belong to one thread. Odd, so that 32 threads that each touch the next of their own keys of 4
/// bytes touch 32 different banks.
template <class Key>
inline constexpr int own_count = sizeof(Key) > 4 ? 11 : 17;

template <class Key>
inline constexpr int path_tile = path_threads * own_count<Key>;

/// The thread's own items: the successive ones of a tile from place threadIdx.x * own_count on. All loops over them
/// have a constant length and are unrolled: an array lies in registers only if all its indexes are constants.
template <class Key, class Value>
struct OwnItems {
  Key keys[own_count<Key>] = {};
  Value values[has_values<Value> ? own_count<Key> : 1] = {};

  __device__ Items<Key, Value> items() { return {keys, values}; }
};

/// Takes the thread's own items out of a tile of `count` items.
template <class Key, class Value>
__device__ inline void take_own(OwnItems<Key, Value>& own, Items<Key, Value> tile, int count) {
  const int first = threadIdx.x * own_count<Key>;
#pragma unroll
  for (int k = 0; k < own_count<Key>; ++k) {
    if (first + k < count) copy_item(own.items(), k, tile, first + k);
  }
}

/// Puts them there.
template <class Key, class Value>
__device__ inline void put_own(Items<Key, Value> tile, OwnItems<Key, Value>& own, int count) {
  const int first = threadIdx.x * own_count<Key>;
#pragma unroll
  for (int k = 0; k < own_count<Key>; ++k) {
    if (first + k < count) copy_item(tile, first + k, own.items(), k);
  }
}

/// Sorts the thread's own items, the first `count` of them, by odd-even transposition: only neighbours are exchanged,
/// so it is stable, and all indexes are constants, so that the items stay in registers.
template <class Key, class Value, class Before>
__device__ inline void sort_own(OwnItems<Key, Value>& own, int count, Before before) {
#pragma unroll
  for (int phase = 0; phase < own_count<Key>; ++phase) {
#pragma unroll
    for (int i = phase % 2; i + 1 < own_count<Key>; i += 2) {
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

/// Calls f(i) once for each place i of a tile of `count` items, neighbouring threads taking neighbouring places: the
/// way between a tile and global memory.
template <class Key, class F>
__device__ inline void for_tile(int count, F f) {
#pragma unroll
  for (int k = 0; k < own_count<Key>; ++k) {
    const int i = threadIdx.x + k * path_threads;
    if (i < count) f(i);
  }
}

}  // namespace merge_sort

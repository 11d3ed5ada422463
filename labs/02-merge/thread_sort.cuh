// How a thread of step 05 sorts its own items before any are merged.
//
// A sorting network compares positions that do not depend on the keys, so that all items stay in registers. Batcher's
// odd-even merge sort has few comparators, about n/4 (log2 n)^2, but it exchanges keys that are far apart, so it is not
// stable. That would be visible in keys with values, with a comparison other than the order of the keys, and in a
// thread that holds a -0, which equals +0. There, neighbours are exchanged instead, in n phases of n/2 comparators.
// Source: K. E. Batcher, "Sorting networks and their applications", AFIPS 1968.
#pragma once

#include <cstring>
#include <type_traits>

#include "record_tile.cuh"

namespace merge_sort {

namespace detail {

/// The sentinel: a key that no other key comes after.
template <lab::Order order, class Key>
__device__ inline Key last_key(InOrder<order>, Key) {
  return lab::last_key<Key>(order);
}
template <class Key>
__device__ inline Key last_key(InEitherOrder before, Key) {
  return lab::last_key<Key>(before.order);
}

/// One stage of the network: the comparators of keys that are `distance` apart, in runs of 2 * `run` keys.
template <int run, int distance, class Shape>
__device__ inline void network_stage(OwnItems<Shape>& own, typename Shape::Before before) {
  constexpr int first = distance == run ? 0 : distance;
#pragma unroll
  for (int i = first; i + distance < Shape::items; ++i) {
    const bool compared = (i - first) / distance % 2 == 0 && i / (2 * run) == (i + distance) / (2 * run);
    if (!compared) continue;
    const typename Shape::Key a = own.keys[i], b = own.keys[i + distance];
    const bool exchange = before(b, a);
    own.keys[i] = exchange ? b : a;
    own.keys[i + distance] = exchange ? a : b;
  }
  if constexpr (distance > 1) network_stage<run, distance / 2>(own, before);
}

/// Merges runs of `run` keys, then of 2 * `run`, and so on.
template <int run, class Shape>
__device__ inline void network(OwnItems<Shape>& own, typename Shape::Before before) {
  network_stage<run, run>(own, before);
  if constexpr (2 * run < Shape::items) network<2 * run>(own, before);
}

/// Exchanges the items i and i + 1, i + 2 and i + 3, ... among the first `count`, if they are in the wrong order.
template <int first, class Shape>
__device__ inline void exchange_pairs(OwnItems<Shape>& own, int count, typename Shape::Before before) {
#pragma unroll
  for (int i = first; i + 1 < Shape::items; i += 2) {
    if (i + 1 >= count || !before(own.keys[i + 1], own.keys[i])) continue;
    const auto key = own.keys[i];
    own.keys[i] = own.keys[i + 1];
    own.keys[i + 1] = key;
    if constexpr (has_values<typename Shape::Value>) {
      const auto value = own.values[i];
      own.values[i] = own.values[i + 1];
      own.values[i + 1] = value;
    }
  }
}

/// Sorts the first `count` items by odd-even transposition: stable, in `items` phases, rounded up to an even number.
template <class Shape>
__device__ inline void exchange_neighbours(OwnItems<Shape>& own, int count, typename Shape::Before before) {
#pragma unroll 1  // the body already has two phases, in which all indexes are constants
  for (int phase = 0; phase < Shape::items; phase += 2) {
    exchange_pairs<0>(own, count, before);
    exchange_pairs<1>(own, count, before);
  }
}

/// True if a key is -0, which equals +0.
template <class Shape>
__device__ inline bool has_minus_zero(const OwnItems<Shape>& own) {
  using Key = typename Shape::Key;
  bool found = false;
  if constexpr (!std::is_integral_v<Key>) {
    constexpr auto minus_zero = lab::Bits<Key>(1) << (8 * sizeof(Key) - 1);
#pragma unroll
    for (int k = 0; k < Shape::items; ++k) {
      lab::Bits<Key> bits;
      std::memcpy(&bits, &own.keys[k], sizeof bits);
      found |= bits == minus_zero;
    }
  }
  return found;
}

}  // namespace detail

/// Loads the thread's items of a tile of `count` items into registers, and sorts them.
template <class Shape, class Key, class Value>
__device__ inline void load_and_sort(OwnItems<Shape>& own, Items<Key, Value> tile, int count,
                                     typename Shape::Before before) {
  const int first = threadIdx.x * Shape::items;
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    // A network needs a key in every position. Those past the end hold a sentinel, which no key comes after.
    if constexpr (Shape::by_network) own.keys[k] = detail::last_key(before, Key{});
    if (first + k >= count) continue;
    own.keys[k] = tile.keys[first + k];
    if constexpr (has_values<Value>) own.values[k] = tile.values[first + k];
  }
  if constexpr (Shape::by_network) {
    if (!detail::has_minus_zero(own)) return detail::network<1>(own, before);
  }
  detail::exchange_neighbours(own, count - first, before);
}

}  // namespace merge_sort

// How a thread of step 05 sorts its own items before any are merged.
//
// A sorting network compares positions that do not depend on the keys, so all items stay in registers. Batcher's odd-even
// merge sort has few comparators, about n/4 (log2 n)^2, but it exchanges keys that are far apart, so it is not stable.
// That would be visible in keys with values, with a comparison other than the order of the keys, and in a thread that
// holds a -0, which equals +0. There, neighbours are exchanged instead, in n phases of n/2 comparators.
// Source: K. E. Batcher, "Sorting networks and their applications", AFIPS 1968.
#pragma once

#include <cmath>
#include <type_traits>

#include "record_tile.cuh"

namespace merge_sort {

/// A comparator: exchanges the items i and j if the key of j must come before that of i.
template <class Shape, class Before>
__device__ inline void compare_exchange(OwnItems<Shape>& own, int i, int j, Before before) {
  const auto a = own.keys[i], b = own.keys[j];
  const bool exchange = before(b, a);
  own.keys[i] = exchange ? b : a;
  own.keys[j] = exchange ? a : b;
  if constexpr (has_values<typename Shape::Value>) {
    const auto a_value = own.values[i], b_value = own.values[j];
    own.values[i] = exchange ? b_value : a_value;
    own.values[j] = exchange ? a_value : b_value;
  }
}

/// Merges runs of `run` keys, then of 2 * `run`, and so on. A stage has the comparators of keys that are `distance`
/// apart, and the next one those of half that distance.
template <int run, int distance, class Shape, class Before>
__device__ inline void sort_by_network(OwnItems<Shape>& own, Before before) {
  constexpr int first = distance == run ? 0 : distance;
#pragma unroll
  for (int i = first; i + distance < Shape::items; ++i) {
    const bool compared = (i - first) / distance % 2 == 0 && i / (2 * run) == (i + distance) / (2 * run);
    if (compared) compare_exchange(own, i, i + distance, before);
  }
  if constexpr (distance > 1) {
    sort_by_network<run, distance / 2>(own, before);
  } else if constexpr (2 * run < Shape::items) {
    sort_by_network<2 * run, 2 * run>(own, before);
  }
}

/// Sorts the first `count` items by odd-even transposition: stable, in `items` phases, rounded up to an even number.
template <class Shape, class Before>
__device__ inline void exchange_neighbours(OwnItems<Shape>& own, int count, Before before) {
#pragma unroll 1  // the body already has two phases, in which all indexes are constants
  for (int phase = 0; phase < Shape::items; phase += 2) {
#pragma unroll
    for (int i = 0; i + 1 < Shape::items; i += 2) {
      if (i + 1 < count) compare_exchange(own, i, i + 1, before);
    }
#pragma unroll
    for (int i = 1; i + 1 < Shape::items; i += 2) {
      if (i + 1 < count) compare_exchange(own, i, i + 1, before);
    }
  }
}

/// Reads the thread's items of a tile of `count` items into registers, and sorts them.
template <class Shape, class Before>
__device__ inline void read_and_sort(OwnItems<Shape>& own, ItemsOf<Shape> tile, int count, Before before) {
  using Key = typename Shape::Key;
  const int first = threadIdx.x * Shape::items;
  bool has_minus_zero = false;
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    // A network needs a key in every position. Those past the end hold a sentinel, which no key comes after.
    if constexpr (Shape::by_network) own.keys[k] = lab::last_key<Key>(before.order);
    if (first + k >= count) continue;
    copy_item(own.items(), k, tile, first + k);
    if constexpr (!std::is_integral_v<Key>) has_minus_zero |= own.keys[k] == 0 && std::signbit(own.keys[k]);
  }
  if constexpr (Shape::by_network) {
    if (!has_minus_zero) return sort_by_network<1, 1>(own, before);
  }
  exchange_neighbours(own, count - first, before);
}

}  // namespace merge_sort

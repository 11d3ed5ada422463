// What step 01 teaches and the later steps call: putting two keys in order, with the values that belong to them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "bitonic.h"

namespace bitonic {

/// Stands for the values where there are none.
struct NoValue {};

template <class Value>
inline constexpr bool has_values = !std::is_same_v<Value, NoValue>;

/// The lower place of comparator `pair` in a stage whose partners lie `stride` apart (a power of two): the
/// `pair`-th number, from 0, in which the bit `stride` is not set.
__host__ __device__ inline std::int64_t lower_place(std::int64_t pair, std::int64_t stride) {
  return 2 * pair - (pair & (stride - 1));
}
__host__ __device__ inline int lower_place(int pair, int stride) { return 2 * pair - (pair & (stride - 1)); }

/// Puts keys[low] and keys[high] in order, and their values with them. Both places are written whether they change
/// or not: no branch, so the lanes of a warp stay together.
template <lab::Order order, class Key, class Value, class Index>
__device__ inline void compare_exchange(Key* keys, Value* values, Index low, Index high) {
  const Key a = keys[low], b = keys[high];
  keys[low] = lab::earlier<order>(a, b);
  keys[high] = lab::later<order>(a, b);
  if constexpr (has_values<Value>) {
    const bool swap = lab::before(b, a, order);
    const Value of_a = values[low], of_b = values[high];
    values[low] = swap ? of_b : of_a;
    values[high] = swap ? of_a : of_b;
  }
}

}  // namespace bitonic

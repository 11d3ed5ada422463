// Puts two keys, and the values that belong to them, in order. Step 01 teaches it; the later steps call it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "bitonic.h"

namespace bitonic {

/// The value type of keys without values.
struct NoValue {};

template <class Value>
inline constexpr bool has_values = !std::is_same_v<Value, NoValue>;

/// The lower position of comparator `pair` in a stage whose partners are `stride` positions apart (a power of two): the
/// `pair`-th number, counted from 0, in which the bit `stride` is not set.
__host__ __device__ inline std::int64_t lower_position(std::int64_t pair, std::int64_t stride) {
  return 2 * pair - (pair & (stride - 1));
}
__host__ __device__ inline int lower_position(int pair, int stride) { return 2 * pair - (pair & (stride - 1)); }

/// Puts keys[low] and keys[high], and their values, in order. Writes both positions whether or not they change: without
/// a branch, the lanes of a warp do not diverge.
template <lab::Order order, class Key, class Value, class Index>
__device__ inline void compare_exchange(Key* keys, Value* values, Index low, Index high) {
  const Key a = keys[low], b = keys[high];
  keys[low] = lab::earlier<order>(a, b);
  keys[high] = lab::later<order>(a, b);
  if constexpr (has_values<Value>) {
    const bool swap = lab::before(b, a, order);
    const Value value_of_a = values[low], value_of_b = values[high];
    values[low] = swap ? value_of_b : value_of_a;
    values[high] = swap ? value_of_a : value_of_b;
  }
}

}  // namespace bitonic

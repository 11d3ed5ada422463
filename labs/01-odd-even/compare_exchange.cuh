// What step 01 teaches and the later steps call: putting two neighbours in order.
#pragma once

#include "odd_even.h"

namespace odd_even {

/// Puts two keys in order. Both are written whether they change or not: no branch, so the lanes of a warp stay
/// together. The order is a template parameter: no thread has to ask for it in every phase.
template <lab::Order order, class Key>
__device__ inline void compare_exchange(Key& first, Key& second) {
  const Key a = first, b = second;
  first = lab::earlier<order>(a, b);
  second = lab::later<order>(a, b);
}

}  // namespace odd_even

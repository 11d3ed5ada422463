// Puts two neighbours in order, as steps 00 and 01 do themselves. The later steps call it.
#pragma once

#include "odd_even.h"

namespace odd_even {

/// Puts two keys in order. Writes both whether or not they change: without a branch, the lanes of a warp do not
/// diverge. The order is a template parameter, so no thread has to test it in every phase.
template <lab::Order order, class Key>
__device__ inline void compare_exchange(Key& first, Key& second) {
  const Key a = first, b = second;
  first = lab::earlier<order>(a, b);
  second = lab::later<order>(a, b);
}

}  // namespace odd_even

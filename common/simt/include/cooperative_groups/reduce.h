// Reductions over a tile or over coalesced threads.
#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

#define SIMT_COMBINATION(name, combined)              \
  template <class T>                                  \
  struct name {                                       \
    T operator()(T a, T b) const { return combined; } \
  };
SIMT_COMBINATION(plus, a + b)
SIMT_COMBINATION(less, b < a ? b : a)     // the minimum
SIMT_COMBINATION(greater, a < b ? b : a)  // the maximum
SIMT_COMBINATION(bit_and, a& b)
SIMT_COMBINATION(bit_or, a | b)
SIMT_COMBINATION(bit_xor, a ^ b)
#undef SIMT_COMBINATION

/// Combines the values of all threads of the group; every thread gets the result. `combine` is associative and
/// commutative.
template <unsigned Size, class Parent, class T, class Combine>
T reduce(const thread_block_tile<Size, Parent>& tile, T value, Combine&& combine,
         simt::Site site = simt::Site::here()) {
  constexpr unsigned lanes = Size < 32 ? Size : 32;
  const detail::tile_of_lanes<lanes> in_warp(0, 1);
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    value = combine(value, in_warp.shfl_xor(value, distance, site));
  }
  if constexpr (Size > 32) {  // each warp has its part
    const T part = value;
    value = tile.shfl(part, 0);
    for (unsigned rank = 32; rank < Size; rank += 32) value = combine(value, tile.shfl(part, int(rank)));
  }
  return value;
}
template <class T, class Combine>
T reduce(const coalesced_group& group, T value, Combine&& combine, simt::Site site = simt::Site::here()) {
  T result = group.shfl(value, 0, site);
  for (unsigned rank = 1; rank < group.size(); ++rank) result = combine(result, group.shfl(value, rank, site));
  return result;
}

}  // namespace cooperative_groups

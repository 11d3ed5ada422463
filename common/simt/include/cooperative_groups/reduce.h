// Reductions over a tile or over coalesced threads.
#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
/// The minimum.
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
/// The maximum.
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

/// Combines the values of all threads of the group; every thread gets the result. `combine` is associative and
/// commutative.
template <unsigned Size, class Parent, class T, class Combine>
T reduce(const thread_block_tile<Size, Parent>& tile, T value, Combine&& combine,
         simt::Site site = simt::Site::here()) {
  for (unsigned distance = Size / 2; distance > 0; distance /= 2) {
    value = combine(value, tile.shfl_xor(value, distance, site));
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

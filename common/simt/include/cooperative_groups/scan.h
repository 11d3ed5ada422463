// Prefix sums, and other scans, over a tile or over coalesced threads.
#pragma once

#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

namespace detail {

/// The value of the thread `delta` ranks below. CUDA has no such shuffle for tiles of several warps.
template <class Group, class T>
T from_below(const Group& group, T value, unsigned delta, simt::Site site) {
  return group.shfl_up(value, delta, site);
}
template <unsigned Size, class Parent, class T>
T from_below(const thread_block_tile<Size, Parent>& tile, T value, unsigned delta, simt::Site site) {
  if constexpr (Size > 32) {
    return tile.shfl(value, int(tile.thread_rank() < delta ? tile.thread_rank() : tile.thread_rank() - delta));
  } else {
    return tile.shfl_up(value, delta, site);
  }
}

}  // namespace detail

/// Each thread gets what `combine` makes of the values of its rank and of all lower ranks. `combine` is associative.
template <class Group, class T, class Combine>
T inclusive_scan(const Group& group, T value, Combine&& combine, simt::Site site = simt::Site::here()) {
  for (unsigned distance = 1; distance < group.num_threads(); distance *= 2) {
    const T lower = detail::from_below(group, value, distance, site);
    if (group.thread_rank() >= distance) value = combine(lower, value);
  }
  return value;
}
template <class Group, class T>
T inclusive_scan(const Group& group, T value, simt::Site site = simt::Site::here()) {
  return inclusive_scan(group, value, plus<T>(), site);
}

/// The same of all lower ranks only. Rank 0 gets T().
template <class Group, class T, class Combine>
T exclusive_scan(const Group& group, T value, Combine&& combine, simt::Site site = simt::Site::here()) {
  const T lower = detail::from_below(group, inclusive_scan(group, value, combine, site), 1, site);
  return group.thread_rank() == 0 ? T() : lower;
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value, simt::Site site = simt::Site::here()) {
  return exclusive_scan(group, value, plus<T>(), site);
}

}  // namespace cooperative_groups

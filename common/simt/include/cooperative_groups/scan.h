// Prefix sums, and other scans, over a tile or over coalesced threads.
#pragma once

#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

/// Each thread gets what `combine` makes of the values of its rank and of all lower ranks. `combine` is associative.
template <class Group, class T, class Combine>
T inclusive_scan(const Group& group, T value, Combine&& combine, simt::Site site = simt::Site::here()) {
  for (unsigned distance = 1; distance < group.num_threads(); distance *= 2) {
    const T lower = group.shfl_up(value, distance, site);
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
  const T lower = group.shfl_up(inclusive_scan(group, value, combine, site), 1, site);
  return group.thread_rank() == 0 ? T() : lower;
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value, simt::Site site = simt::Site::here()) {
  return exclusive_scan(group, value, plus<T>(), site);
}

}  // namespace cooperative_groups

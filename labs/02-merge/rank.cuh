// Ranks in a sorted run, by binary search: what step 02 merges with, and step 03 after it.
#pragma once

namespace merge_sort {

/// How many keys of the sorted run[0 .. n) stand strictly before `key`: the lower bound. Reads at most
/// log2(n) + 1 keys.
template <class Index, class Key, class Before>
__device__ inline Index lower_rank(const Key* run, Index n, Key key, Before before) {
  Index low = 0, high = n;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (before(run[middle], key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// How many keys of the sorted run[0 .. n) stand before `key` or are equal to it: the upper bound.
template <class Index, class Key, class Before>
__device__ inline Index upper_rank(const Key* run, Index n, Key key, Before before) {
  Index low = 0, high = n;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (before(key, run[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace merge_sort

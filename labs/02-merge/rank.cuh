// Ranks in a sorted run, by binary search, and merging two runs by ranks. Steps 02 and 03 use them.
#pragma once

#include "items.cuh"

namespace merge_sort {

/// The number of keys in the sorted run[0, n) that come strictly before `key`: the lower bound. It has the type of n.
/// Reads at most log2(n) + 1 keys.
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

/// The number of keys in the sorted run[0, n) that come before `key` or are equal to it: the upper bound.
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

/// A number of items of each of the two runs of a merge.
struct Counts {
  int a;
  int b;
};

/// Merges in shared memory: `loaded` holds count.a items of run a from index 0 on and count.b items of run b from index
/// b_first on. Copies the first placed.a <= count.a and placed.b <= count.b of them to their positions in `merged`. The
/// position of an item is its index in its own run plus its rank among all loaded items of the other run. All threads
/// of the block call it. It contains no barrier.
template <class Key, class Value, class Before>
__device__ inline void place_by_ranks(Items<Key, Value> merged, Items<Key, Value> loaded, int b_first, Counts count,
                                      Counts placed, Before before) {
  const Key* const a = loaded.keys;
  const Key* const b = loaded.keys + b_first;
  for (int i = threadIdx.x; i < placed.a; i += blockDim.x) {
    copy_item(merged, i + lower_rank(b, count.b, a[i], before), loaded, i);
  }
  for (int i = threadIdx.x; i < placed.b; i += blockDim.x) {
    copy_item(merged, i + upper_rank(a, count.a, b[i], before), loaded, b_first + i);
  }
}

}  // namespace merge_sort

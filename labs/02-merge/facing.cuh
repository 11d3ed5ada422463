// Two runs that face each other in shared memory, which step 05 merges.
//
// The first run is stored forwards, the second backwards right behind it. Their next keys are at the two ends, and what
// is not merged yet is always between them. When one run is used up, its position is at the other run's last key, and no
// key of that run comes after it: a merge need ask only whether the first run is used up, for the sake of equal keys.
#pragma once

#include "record_tile.cuh"

namespace merge_sort {

/// Two runs that face each other: the first is at [first, middle), its first key at `first`; the second is at
/// [middle, end), its first key at end - 1. A thread merges the items from `diagonal` on.
struct Facing {
  int first, middle, end;
  int diagonal;
};

/// The number of items of the first run among the first `runs.diagonal` of the merge: merge_path of step 04, with the
/// second run stored backwards.
template <class Key, class Before>
__device__ inline int facing_path(const Key* keys, Facing runs, Before before) {
  const Key* const a = keys + runs.first;
  const Key* const b = keys + runs.end - runs.diagonal;  // b[middle]: the key that precedes the diagonal
  int low = max(runs.diagonal - (runs.end - runs.middle), 0), high = min(runs.diagonal, runs.middle - runs.first);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (before(b[middle], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Writes the first `count` of the thread's items to to[0], to[step], to[2 * step], ...
template <int step, class Shape, class Key, class Value>
__device__ inline void write_items(Items<Key, Value> to, OwnItems<Shape>& own, int count) {
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    if (k < count) copy_item(to, k * step, own.items(), k);
  }
}

/// Writes the thread's items to their positions in the run [first, end): `diagonal` items of it come before them.
template <class Shape, class Key, class Value>
__device__ inline void write_own(Items<Key, Value> tile, OwnItems<Shape>& own, int first, int end, int diagonal,
                                 bool backwards) {
  const int count = end - first - diagonal;
  if (backwards) {
    write_items<-1>(items_from(tile, end - 1 - diagonal), own, count);
  } else {
    write_items<1>(items_from(tile, first + diagonal), own, count);
  }
}

/// A barrier for `threads` neighbouring threads.
__device__ inline void sync_threads(int threads) {
  if (threads <= 32) {
    __syncwarp();  // a thread merges items that other lanes have written, and overwrites what they have read
  } else {
    __syncthreads();  // the same for other threads of the block
  }
}

}  // namespace merge_sort

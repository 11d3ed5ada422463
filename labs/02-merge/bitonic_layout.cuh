// The bitonic layout of two runs in shared memory, which step 05 merges.
//
// The first run is stored forwards, and the second one backwards right behind it. Together they are a bitonic sequence,
// whose keys ascend and then descend. The next keys of the two runs are at its two ends, and what is not merged yet is
// always between them. When one run is used up, its position is at the other run's last key, and no key of that run
// comes after it. The last key is therefore a sentinel, and the merge need not test for the end of a run. Only because
// of equal keys must it test whether the first run is used up.
// Source: R. Sedgewick, "Algorithms in C", 3rd edition, 1997, section 8.2.
#pragma once

#include "partition_point.cuh"
#include "record_tile.cuh"

namespace merge_sort {

/// Two runs in bitonic layout: a is at [first, middle), with its first key at `first`, and b is at [middle, end), with
/// its first key at end - 1. A thread merges the items of their output from `diagonal` on.
struct BitonicRuns {
  int first, middle, end;
  int diagonal;
};

/// How many of the first runs.diagonal items of the merge come from a.
template <class Key, class Before>
__device__ inline int bitonic_co_rank(const Key* keys, BitonicRuns runs, Before before) {
  const auto a_key_at = [=](int i) { return keys[runs.first + i]; };
  const auto b_key_before = [=](int j) { return keys[runs.end - j]; };
  return MergePath{runs.middle - runs.first, a_key_at, runs.end - runs.middle, b_key_before}.co_rank(runs.diagonal,
                                                                                                     before);
}

/// Which half of the layout a run is: the first is stored forwards, the second backwards.
enum class Half { first, second };

/// A run at [first, end) of a tile. A thread has its items from `diagonal` on.
struct OutputRun {
  int first, end;
  int diagonal;
};

/// Writes the first `count` of the thread's items to to[0], to[step], to[2 * step], ...
template <int step, class Shape, class Key, class Value>
__device__ inline void write_items(Items<Key, Value> to, OwnItems<Shape>& own, int count) {
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    if (k < count) copy_item(to, k * step, own.items(), k);
  }
}

/// Writes the thread's items to their positions in the run.
template <class Shape, class Key, class Value>
__device__ inline void write_own(Items<Key, Value> tile, OwnItems<Shape>& own, OutputRun run, Half half) {
  const int count = run.end - run.first - run.diagonal;
  if (half == Half::second) {
    write_items<-1>(items_from(tile, run.end - 1 - run.diagonal), own, count);
  } else {
    write_items<1>(items_from(tile, run.first + run.diagonal), own, count);
  }
}

/// Waits for at least the `threads` neighbours that share items: the warp, or all threads of the block, which must then
/// all call it.
__device__ inline void synchronize(int threads) {
  if (threads <= 32) {
    __syncwarp();  // a lane merges items of the tile that other lanes have written, or overwrites those they have read
  } else {
    __syncthreads();  // the same for other threads of the block
  }
}

}  // namespace merge_sort

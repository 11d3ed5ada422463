// The bitonic layout of two runs in shared memory, which step 05 merges.
//
// The first run is stored forwards, and the second one backwards right behind it. Together they are a bitonic sequence,
// whose keys ascend and then descend. The next keys of the two runs are at its two ends, and what is not merged yet is
// always between them. When one run is used up, its position is at the other run's last key, and no key of that run
// comes after it. The last key is therefore a sentinel, and the merge need not test for the end of a run. Only because
// of equal keys must it test whether the first run is used up.
// Source: R. Sedgewick, "Algorithms in C", 3rd edition, 1997, section 8.2.
#pragma once

#include "record_tile.cuh"

namespace merge_sort {

/// A run at [first, end) of a tile. The thread's items, which it holds or is to merge, begin `diagonal` items after its
/// start.
struct OutputRun {
  int first, end;
  int diagonal;

  __device__ int left() const { return end - first - diagonal; }
};

/// How many of the output's first `diagonal` items come from a: the co-rank of step 04. The output takes the place of
/// its two runs: a at [first, middle), with its first key at `first`, and b at [middle, end), with its first key at
/// end - 1.
template <class Key, class Before>
__device__ inline int bitonic_co_rank(const Key* keys, OutputRun output, int middle, Before before) {
  int low = max(output.diagonal - (output.end - middle), 0), high = min(output.diagonal, middle - output.first);
  while (low < high) {
    const int probe = (low + high) / 2;
    if (before(keys[output.end - (output.diagonal - probe)], keys[output.first + probe])) {
      high = probe;
    } else {
      low = probe + 1;
    }
  }
  return low;
}

/// Which half of the layout a run is: the first is stored forwards, the second backwards.
enum class Half { first, second };

/// Writes the first `count` of the thread's items to to[0], to[step], to[2 * step], ...
template <int step, class Shape>
__device__ inline void write_items(ItemsOf<Shape> to, OwnItems<Shape>& own, int count) {
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    if (k < count) copy_item(to, k * step, own.items(), k);
  }
}

/// Writes the thread's items to their positions in the run.
template <class Shape>
__device__ inline void write_own(ItemsOf<Shape> tile, OwnItems<Shape>& own, OutputRun run, Half half) {
  if (half == Half::second) {
    write_items<-1>(items_from(tile, run.end - 1 - run.diagonal), own, run.left());
  } else {
    write_items<1>(items_from(tile, run.first + run.diagonal), own, run.left());
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

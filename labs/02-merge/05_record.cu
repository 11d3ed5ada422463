// Step 05: the record.
//
// Idea: each level of step 04 reads and writes all keys in global memory. Here a pass merges four runs instead of two:
// two levels in shared memory for one trip through global memory. The tiles at the start are four times as long, and a
// thread sorts twice as many keys in registers, by a network.
// New since step 04: a cut divides four runs (find_cuts). Two runs in shared memory face each other: the first is
// stored forwards, the second backwards behind it, so that what is not merged yet is between their next keys. A merge
// need ask only whether the first run is used up, for the sake of equal keys. Copies to shared memory do not pass
// through registers, so that many of them are under way at a time. Few keys do not fill the GPU, and launches and
// searches take most of the time: then a pass merges two runs, and its blocks find their cuts themselves.
// Cost: 1 + ceil(log4(n / tile)) reads and writes of every key, log2 for few; a tile has 16,896 integers of 4 bytes, 8704
// of anything else, 4608 of few items. Temporary memory: a copy of the keys and values, and 16 bytes per 4335 items.
// Limits: 256 threads per block if the user chooses. The file is long because a record is made of several ideas.
// Lines: 71 to write, 199 given.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "facing.cuh"
#include "instantiate.cuh"
#include "own_sort.cuh"
#include "record_tile.cuh"
#include "step/launch_shape.h"
#include "wide_pass.cuh"

namespace merge_sort {
namespace {

// --- merging in shared memory ---

/// Merges the thread's next items; a and b are the positions of the first of them in the two runs. If fewer are left,
/// what the others are does not matter.
template <class Shape, class Key, class Value>
__device__ void merge_facing(OwnItems<Shape>& own, Items<Key, Value> tile, Facing runs, int a, int b,
                             typename Shape::Before before) {
  // Your code: as merge_serially of step 04, but the next key of b is before the last one, not behind it. Which
  // ends of runs must you still ask for, so that equal keys keep their order? Read nothing if nothing is left.
  (void)own, (void)tile, (void)runs, (void)a, (void)b, (void)before;
}

/// Merges the thread's items of two runs that face each other.
template <class Shape, class Key, class Value>
__device__ void merge_own(OwnItems<Shape>& own, Items<Key, Value> tile, Facing runs, typename Shape::Before before) {
  const int count = runs.end - runs.first;
  if (runs.diagonal >= count) return;
  const int from_a = facing_path(tile.keys, runs, before);
  merge_facing(own, tile, runs, runs.first + from_a, runs.end - 1 - (runs.diagonal - from_a), before);
}

// --- the tiles at the start ---

/// Merges the sorted items of single threads until the tile holds all `count` items in order.
template <class Shape, class Key, class Value>
__device__ void merge_threads(Items<Key, Value> tile, OwnItems<Shape>& own, int count, typename Shape::Before before) {
  const int t = threadIdx.x;
  const auto position = [=](int thread) { return min(thread * Shape::items, count); };
  for (int run = 1; run < Shape::threads && position(run) < count; run *= 2) {  // threads per run
    // Your code: write_own() the thread's items, so that the runs of `run` threads face each other in pairs. Then
    // merge_own(). Which barriers are needed? sync_threads(threads) is a barrier for so many neighbours.
    (void)tile, (void)own, (void)before, (void)position, (void)t;
  }
  write_own(tile, own, 0, count, t * Shape::items, false);
}

/// Each block sorts the tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <class Shape, class Key, class Value>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    sort_record_tiles(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, typename Shape::Before before) {
  const auto tile = tile_in_shared_memory<Shape>();
  for (std::int64_t first = std::int64_t(blockIdx.x) * Shape::tile; first < n;
       first += std::int64_t(gridDim.x) * Shape::tile) {
    const int count = int(min(n - first, std::int64_t(Shape::tile)));
    begin_copies<false, Shape>(tile, items_from(from, first), count);
    wait_for_copies();
    __syncthreads();  // a thread takes items that other threads have loaded
    OwnItems<Shape> own;
    take_and_sort(own, tile, count, before);
    merge_threads(tile, own, count, before);
    __syncthreads();  // the store reads what other threads have written
    store_items<Shape>(items_from(to, first), tile, count);
    __syncthreads();  // Redundant today: each thread reloads what it stored. Keeps the kernel correct if that changes.
  }
}

// --- cuts of four runs ---

/// Finds, for each tile, how many items of each of the four runs come before it: the `rank` items that come first in the
/// merge are to be divided. Four lanes search for a tile, one for each run, whose interval [low, high] holds the answer.
/// A lane reads its probe, the key in the middle of its interval, and finds out from the other probes how many items of
/// the merge come before it. At most fewer than `rank`: the probe is among those that come first. At least `rank`: it is
/// not. Either narrows the interval.
template <class Index, class Key, class Before>
__global__ void find_cuts(const Key* from, WidePass<4> pass, Cut<4>* cuts, Before before) {
  const int own_run = threadIdx.x % 4, per_block = blockDim.x / 4;
  for (std::int64_t first_cut = std::int64_t(blockIdx.x) * per_block; first_cut < pass.tiles;
       first_cut += std::int64_t(gridDim.x) * per_block) {
    // Lanes without a cut search for the last one, too: all lanes of a warp take part in every shuffle.
    const std::int64_t own_cut = first_cut + threadIdx.x / 4, i = min(own_cut, pass.tiles - 1);
    const OutputTile tile(pass, i);
    const std::int64_t first = pass.run_first(tile.merge, 0), own_first = pass.run_first(tile.merge, own_run);
    const Index rank = Index(tile.first - first), all = Index(pass.run_first(tile.merge, 4) - first);
    const Index count = Index(pass.run_first(tile.merge, own_run + 1) - own_first);
    Index low = max(rank - (all - count), Index(0)), high = min(rank, count);
    while (__any_sync(all_lanes, low < high)) {
      const Index middle = low + (high - low) / 2;
      const Key key = low < high ? from[own_first + middle] : Key{};
      // Your code: the least and the largest number of items that can come before this lane's key, summed over all
      // runs. Of its own run, exactly `middle` items do. For another run, get its interval and its key by
      // shuffles (__shfl_sync(all_lanes, x, run, 4)): does its key come before this one? Of equal keys, that of the
      // first run does. Then narrow the interval: low becomes middle + 1, or high becomes middle.
      (void)key, (void)middle, (void)before;
      break;
    }
    if (own_cut == i) cuts[i].taken[own_run] = std::uint32_t(low);
  }
}

// --- a pass ---

/// Merges the parts in the tile, level by level. All threads of the block call it.
template <int width, class Shape, class Key, class Value>
__device__ void merge_parts(Items<Key, Value> tile, const int* first, typename Shape::Before before) {
#pragma unroll
  for (int apart = 1; apart < width; apart *= 2) {  // parts per run
    // Your code: which merge of this level does the thread work on, from which diagonal on? The threads of a merge
    // begin with its first item, so that the last of them may have fewer items than the others. merge_own() and
    // write_own(): backwards if the result is the second of two runs. Where do barriers have to be?
    (void)tile, (void)first, (void)before;
  }
}

/// Each block merges the tiles blockIdx.x, blockIdx.x + gridDim.x, ... of the output of one pass. If a merge has two
/// runs, two warps of the block search for its cuts.
template <class Shape, int width, class Key, class Value>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    merge_wide(Items<Key, Value> from, Items<Key, Value> to, WidePass<width> pass, const Cut<width>* cuts,
               typename Shape::Before before) {
  __shared__ Parts<width> parts;
  const auto tile = tile_in_shared_memory<Shape>();
  for (std::int64_t number = blockIdx.x; number < pass.tiles; number += gridDim.x) {
    const OutputTile output(pass, number);
    const Cut<width>* ends = cuts + number;
    if constexpr (width == 2) ends = find_both_cuts(from.keys, pass, output, before);
    if (threadIdx.x == 0) parts.find(pass, output, ends);
    __syncthreads();  // all threads load the parts
#pragma unroll
    for (int r = 0; r < width; ++r) {
      const int count = parts.first[r + 1] - parts.first[r];
      const auto part = items_from(from, parts.from[r]);
      if (r % 2 == 0) {
        begin_copies<false, Shape>(items_from(tile, parts.first[r]), part, count);
      } else {
        begin_copies<true, Shape>(items_from(tile, parts.first[r + 1] - 1), part, count);
      }
    }
    wait_for_copies();
    __syncthreads();  // a thread merges items that other threads have loaded
    merge_parts<width, Shape>(tile, parts.first, before);
    store_items<Shape>(items_from(to, output.first), tile, output.count);
    __syncthreads();  // Redundant today: nobody reads the parts here. Keeps the kernel correct if that changes.
  }
}

// --- the host's part ---

/// Sorts with tiles of SortShape, then merges `width` runs at a time with tiles of MergeShape.
template <int width, class SortShape, class MergeShape, class Key, class Value, class Before>
void sort_with(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  const int largest_tile = (MergeShape::threads - (width / 2 - 1)) * MergeShape::items;
  std::int64_t passes = 0, most_cuts = 0;
  for (std::int64_t run = SortShape::tile; run < n; run *= width, ++passes) {
    if (width == 4) most_cuts = std::max(most_cuts, WidePass<width>(n, run, largest_tile).tiles);
  }
  const bool in_place = passes % 2 == 0;  // so that the last pass writes the caller's array
  Scratch<Key, Value> scratch(in_place ? 0 : n, stream);
  const lab::DeviceArray<Cut<width>> cuts(most_cuts, stream);
  // Your code: the launches, as in sort_by_levels(): sort_record_tiles, then merge_wide for runs of SortShape::tile,
  // width * SortShape::tile, ... items, after find_cuts `if constexpr` width is 4. Which array do the tiles go to? If
  // in_place, scratch has no memory yet: if there are passes, it gets a new Scratch after the first launch.
  (void)before, (void)shape, (void)scratch;
  NOT_WRITTEN("step 05");
}

/// Chooses tiles that fit into the device's shared memory, and how many runs to merge at a time.
template <class Key, class Value, class Before>
void sort(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  using Large = RecordShape<Key, Value, Before, 512>;
  using Medium = RecordShape<Key, Value, Before, 256>;
  using Quick = RecordShape<Key, Value, Before, 512, 9>;
  using QuickMerge = RecordShape<Key, Value, Before, 128, 9>;
  static_assert(Medium::shared_bytes <= 48 * 1024 && Quick::shared_bytes <= 48 * 1024, "every GPU has so much");
  if (lab::threads_or(shape, Medium::threads) != Medium::threads) {
    throw lab::Unsupported("this step has 256 threads per block: choose --threads 256 or leave it out");
  }
  lab::blocks_or(shape, 1, 1);  // refuses impossible numbers
  if (n < 2) return;
  const bool free = shape.blocks == 0 && shape.threads == 0, large = shape.threads == 0 && fits<Large>();
  if (free && few(n, 4096)) return sort_with<2, Quick, QuickMerge>(items, n, before, shape, stream);
  if (free && few(n, 65536) && large) return sort_with<2, Large, Medium>(items, n, before, shape, stream);
  if (large && n > Medium::tile) return sort_with<4, Large, Medium>(items, n, before, shape, stream);
  sort_with<4, Medium, Medium>(items, n, before, shape, stream);
}

}  // namespace

template <class Key, class Before>
void sort_record(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  with_comparison(before, [&](auto comparison) { sort(items_of(keys), keys.n, comparison, shape, stream); });
}

template <class Key, class Value, class Before>
void sort_record(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                 cudaStream_t stream) {
  with_comparison(before, [&](auto comparison) { sort(items_of(keys, values), keys.n, comparison, shape, stream); });
}

MERGE_SORT_INSTANTIATE(sort_record);

}  // namespace merge_sort

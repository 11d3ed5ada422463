// Step 05: the record.
//
// Idea: each level of step 04 reads and writes all keys in global memory. Here a pass is a four-way merge, which is two
// levels in shared memory for one round trip through global memory. The tiles at the start are nearly four times as
// long, and a thread sorts twice as many keys in registers, with a sorting network.
// New since step 04: a partition point has four co-ranks (find_co_ranks). Two runs in shared memory are in bitonic
// layout, the first forwards and the second backwards behind it, so that each ends with a sentinel. Copies to shared
// memory bypass the registers, and with many of them in flight their latencies overlap. Where the keys are too
// few to fill the GPU, a pass is a two-way merge, whose blocks find their co-ranks themselves (methods.cuh chooses). On a
// GPU with thread block clusters, up to eight tiles stay in shared memory until they are sorted (cluster.cuh).
// Phases: 1 to 4 sort the tiles. In each pass after that, 5 finds the co-ranks, and 6 to 9 merge.
// Limits: if the user chooses the number of threads per block, it must be 256.
// The file is long because a record is made of several ideas.
// Lines: 77 to write, 220 given.
#include <cstdint>
#include <limits>
#include <utility>

#include "bitonic_layout.cuh"
#include "cluster.cuh"
#include "co_ranks.cuh"
#include "instantiate.cuh"
#include "methods.cuh"
#include "record_tile.cuh"
#include "step/early_launch.h"
#include "step/launch_shape.h"
#include "thread_sort.cuh"

namespace merge_sort {
namespace {

/// Merges the thread's next items. `a` and `b` are the positions of the first of them in the two runs. If fewer items
/// are left than a thread has, the rest of its registers may hold anything.
template <class Shape, class Key, class Value>
__device__ void merge_from_both_ends(OwnItems<Shape>& own, Items<Key, Value> tile, BitonicRuns runs, int a, int b,
                                     typename Shape::Before before) {
  // Your code: as merge_serially of step 04, but b is stored backwards, so its next key is to the left of the last
  // one. For which run must you still test whether it is used up, so that equal keys keep their order? Read nothing
  // outside [runs.first, runs.end), even when no item is left: limit the positions with min() and max(). A condition
  // around the read of a key costs registers.
  (void)own, (void)tile, (void)runs, (void)a, (void)b, (void)before;
}

/// Merges the thread's items of two runs in bitonic layout.
template <class Shape, class Key, class Value>
__device__ void merge_own(OwnItems<Shape>& own, Items<Key, Value> tile, BitonicRuns runs,
                          typename Shape::Before before) {
  if (runs.diagonal >= runs.end - runs.first) return;
  const int from_a = bitonic_co_rank(tile.keys, runs, before);
  merge_from_both_ends(own, tile, runs, runs.first + from_a, runs.end - 1 - (runs.diagonal - from_a), before);
}

// --- the tiles at the start ---

/// Merges the sorted items of single threads until the tile holds all `count` items in order.
template <class Shape, class Key, class Value>
__device__ void merge_threads(Items<Key, Value> tile, OwnItems<Shape>& own, int count, typename Shape::Before before) {
  const int t = threadIdx.x;
  const auto position = [=](int thread) { return min(thread * Shape::items, count); };
  for (int run = 1; run < Shape::threads && position(run) < count; run *= 2) {  // threads per run
    // Your code: write_own() the thread's items so that every two runs, of `run` threads each, are in bitonic layout.
    // Then merge_own(). Which barriers are needed? synchronize(threads) is a barrier for `threads` neighbours.
    (void)tile, (void)own, (void)before, (void)position, (void)t;
  }
  write_own(tile, own, {0, count, t * Shape::items}, Half::first);
}

/// Each block sorts the tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <class Shape, class Key, class Value>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    sort_record_tiles(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, typename Shape::Before before) {
  const auto tile = tile_in_shared_memory<Shape>();
  lab::let_next_kernel_begin();  // which waits until this one has ended
  for (std::int64_t first = std::int64_t(blockIdx.x) * Shape::tile; first < n;
       first += std::int64_t(gridDim.x) * Shape::tile) {
    const int count = int(min(n - first, std::int64_t(Shape::tile)));
    // PHASE 1: load into shared memory, because neighbouring threads read neighbouring items, but each thread sorts
    // consecutive items.
    begin_copies<1, Shape>(tile, items_from(from, first), count);
    wait_for_copies();
    __syncthreads();  // a thread sorts items that other threads have loaded into `tile`
    // PHASE 2: each thread sorts its items in registers, where a comparison needs no memory.
    OwnItems<Shape> own;
    load_and_sort(own, tile, count, before);
    // PHASE 3: merge the threads' runs level by level. In shared memory, a level costs no round trip to global memory.
    merge_threads(tile, own, count, before);
    __syncthreads();  // the store reads items that other threads have written to `tile`
    // PHASE 4: store, in the same order as in phase 1.
    store_items<Shape>(items_from(to, first), tile, count);
    __syncthreads();  // not needed as long as each thread overwrites only items of `tile` that it has stored itself
  }
}

// --- the co-ranks of four runs ---

/// Bounds on how many items of another run come before this lane's probe. That run's co-rank is in [low, high].
/// `its_probe_comes_before`: whether its probe, the item in the middle, comes before this lane's.
template <class Index>
__device__ Bounds<Index> bounds_in_other_run(Index low, Index high, bool its_probe_comes_before) {
  // Your code: there are three cases. A run whose interval is a single number has no probe.
  (void)its_probe_comes_before;
  return {low, high};  // delete this line, too
}

/// Finds the co-ranks of each tile: how many items of each of the four runs come before it, `rank` in all. Four lanes
/// search, one per run, and each has an interval [low, high] that contains the answer. A lane reads its probe, the key
/// in the middle of the interval. From the other probes it finds bounds on how many items of the merge come before its
/// own. If even the upper bound is less than `rank`, the probe is among the items that come before the tile. If the
/// lower bound is `rank` or more, it is not. Either result narrows the interval.
template <class Index, class Key, class Before>
__global__ void find_co_ranks(const Key* from, KWayPass<4> pass, CoRanks<4>* co_ranks, Before before) {
  const int own_run = threadIdx.x % 4, per_block = blockDim.x / 4;
  lab::let_next_kernel_begin();  // which waits until this one has ended
  for (std::int64_t block_first = std::int64_t(blockIdx.x) * per_block; block_first < pass.tiles;
       block_first += std::int64_t(gridDim.x) * per_block) {
    // PHASE 5: search for the co-ranks, in a separate launch, so that the searches of all tiles wait for memory at the
    // same time. Lanes without a tile search for the last one, because all lanes of a warp take part in every shuffle.
    const std::int64_t own_tile = block_first + threadIdx.x / 4, i = min(own_tile, pass.tiles - 1);
    auto [own_first, rank, low, high] = CoRankSearch<Index>(pass, OutputTile(pass, i), own_run);
    while (__any_sync(all_lanes, low < high)) {
      const Index middle = low + (high - low) / 2;
      const Key key = low < high ? from[own_first + middle] : Key{};
      // Your code: the least and the largest number of items that can come before this lane's probe, summed over all
      // runs. Exactly `middle` items of the lane's own run do. For another run, get its interval and its probe with
      // shuffles (__shfl_sync(all_lanes, x, run, 4)): does its probe come before this one? Of two equal keys, the one
      // from the run with the smaller number comes first. Then narrow the interval: low becomes middle + 1, or high
      // becomes middle.
      (void)key, (void)middle, (void)before, (void)bounds_in_other_run<Index>;
      break;  // delete this line, too
    }
    if (own_tile == i) co_ranks[i].of_run[own_run] = std::uint32_t(low);
  }
}

/// Merges the parts in the tile, level by level. All threads of the block call it. When it returns, each of them may
/// read the whole tile.
template <int ways, class Shape, class Key, class Value>
__device__ void merge_parts(Items<Key, Value> tile, const int* first, typename Shape::Before before) {
#pragma unroll
  for (int apart = 1; apart < ways; apart *= 2) {  // parts per run
    // Your code: which merge of this level does the thread work on, and from which diagonal on? The threads of a merge
    // divide its items from the first one on, so the last thread may have fewer than the others. Then merge_own() and
    // write_own(). To which half of the bitonic layout of the next level? Where are barriers needed?
    (void)tile, (void)first, (void)before;
  }
}

/// Each block merges the tiles blockIdx.x, blockIdx.x + gridDim.x, ... of the output of one pass. If a merge has two
/// runs, two warps of the block search for its co-ranks.
template <class Shape, int ways, class Key, class Value>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    merge_k_ways(Items<Key, Value> from, Items<Key, Value> to, KWayPass<ways> pass, const CoRanks<ways>* co_ranks,
                 typename Shape::Before before) {
  __shared__ Parts<ways> parts;
  const auto tile = tile_in_shared_memory<Shape>();
  lab::wait_for_earlier_kernels();
  lab::let_next_kernel_begin();
  for (std::int64_t index = blockIdx.x; index < pass.tiles; index += gridDim.x) {
    // PHASE 6: locate the parts of the runs that the tile is made of. One thread is enough for these few sums.
    const OutputTile output(pass, index);
    const CoRanks<ways>* own_and_next = co_ranks + index;
    if constexpr (ways == 2) own_and_next = find_both_co_ranks(from.keys, pass, output, before);
    if (threadIdx.x == 0) parts.locate(pass, output, own_and_next);
    __syncthreads();  // all threads read `parts`, which thread 0 has written
    // PHASE 7: load all parts at the same time, to wait only once.
    begin_to_load<Shape>(tile, from, parts);
    wait_for_copies();
    __syncthreads();  // a thread merges items that other threads have loaded into `tile`
    // PHASE 8: merge. A four-way merge takes two levels here, but only one round trip through global memory.
    merge_parts<ways, Shape>(tile, parts.first, before);
    // PHASE 9: store. Neighbouring threads store neighbouring items. No barrier is needed first, because merge_parts()
    // ends with one.
    store_items<Shape>(items_from(to, output.first), tile, output.count);
    __syncthreads();  // not needed as long as no thread reads `parts` after merge_parts()
  }
}

// --- few keys, in a cluster ---

/// What the kernel of cluster.cuh does with a tile.
struct Core {
  /// Sorts a tile of `count` items. A barrier is needed afterwards.
  template <class Shape, class Key, class Value>
  __device__ static void sort_tile(Items<Key, Value> tile, int count, typename Shape::Before before) {
    OwnItems<Shape> items;
    load_and_sort(items, tile, count, before);
    merge_threads(tile, items, count, before);
  }

  /// Merges the thread's items of two runs in bitonic layout.
  template <class Shape, class Key, class Value>
  __device__ static void merge_items(OwnItems<Shape>& items, Items<Key, Value> tile, BitonicRuns runs,
                                     typename Shape::Before before) {
    merge_own(items, tile, runs, before);
  }
};

// --- the host's part ---

/// Sorts tiles, then merges as many runs at a time as the method says.
template <Method method, class Key, class Value, class Before>
void sort_by(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  constexpr int ways = row_of(method).ways;
  using Sort = SortShape<method, Key, Value, Before>;
  using Merge = MergeShape<method, Key, Value, Before>;
  // Each merge of a level rounds up its number of threads, so the first level, of ways / 2 merges, may need ways / 2 -
  // 1 more threads than one merge would.
  const int max_tile = (Merge::threads - (ways / 2 - 1)) * Merge::items;
  const auto [passes, max_tiles] = count_passes<ways>(n, Sort::tile, max_tile);
  const bool in_place = passes % 2 == 0;  // so that the last pass writes the caller's array
  Scratch<Key, Value> scratch(in_place ? 0 : n, stream);
  const lab::DeviceArray<CoRanks<ways>> co_ranks(ways == 4 ? max_tiles : 0, stream);
  // Your code: the launches, as in sort_by_levels(). First sort_record_tiles. Then merge_k_ways for runs of Sort::tile,
  // ways * Sort::tile, ... items, after find_co_ranks `if constexpr` ways is 4. merge_k_ways waits for earlier kernels
  // itself, so you may launch it early (lab::early_launch). Which array do the tiles go to? If in_place, scratch has no
  // memory yet. If there are passes, assign a new Scratch to it after the first launch.
  (void)before, (void)shape, (void)scratch;
}

template <class Key, class Value, class Before>
void sort(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  if (lab::threads_or(shape, threads_to_choose) != threads_to_choose) {
    throw lab::Unsupported("this step has 256 threads per block: choose --threads 256 or leave it out");
  }
  lab::blocks_or(shape, 1, 1);  // refuses impossible numbers
  if (n < 2) return;
  using Few = SortShape<Method::few_keys, Key, Value, Before>;
  // Your code: call sort_in_cluster<Core, Few>(items, n, before, shape, stream). If it returns true, return, because it
  // sorts the keys. When all of this file is written, delete the next line.
  NOT_WRITTEN("step 05");
  const Method method = choose_method<Key, Value, Before>(n, shape);
  with_method(method, [&](auto constant) { sort_by<constant.value>(items, n, before, shape, stream); });
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

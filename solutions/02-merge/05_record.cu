// Step 05: the record.
//
// Idea: each level of step 04 reads and writes all keys in global memory. Here a pass merges four runs, which is two
// levels in shared memory for one round trip through global memory. Where the keys are too few to fill the GPU, latency
// counts, and the same kernel merges two runs: its blocks find their partition points themselves, which saves a launch.
// New since step 04: larger tiles, and a sorting network in registers. The bitonic layout, in which both runs end with
// a sentinel. Copies that bypass the registers. A kernel begins while the one in front of it ends.
// Phases: 1 to 4 sort the tiles. In each pass, 5 finds the partition points, and 6 to 8 merge.
//- Cost: 1 + ceil(log_w(n / tile)) reads and writes of every key, if w runs are merged. For w = 4, a tile has 16,768
//- keys of 4 bytes without values or 8640 other items; for w = 2, 16,896 or 8704; if there are few, 8704 or 4352.
//- Memory: a copy of the keys and values, and for w = 4, 32 bytes per 8384 or per 4320 of these items.
// Limits: if the user chooses the number of threads per block, it must be 256.
#include <cstdint>
#include <utility>

#include "bitonic_layout.cuh"
#include "instantiate.cuh"
#include "k_way_pass.cuh"
#include "step/early_launch.h"
#include "step/launch_shape.h"
#include "thread_sort.cuh"

namespace merge_sort {
namespace {

/// Merges the thread's items of `output` into registers. The tile has two runs there in bitonic layout: a at
/// [output.first, middle), and b backwards at [middle, output.end). Registers without an item may hold anything.
template <class Shape, class Before>
__device__ void merge_own(OwnItems<Shape>& own, ItemsOf<Shape> tile, OutputRun output, int middle, Before before) {
  if (output.left() <= 0) return;
  // begin solution
  //~ // Your code: as merge_serially of step 04, but b is stored backwards, and only one run needs a test for its end.
  const int from_a = bitonic_co_rank(tile.keys, output, middle, before);
  int a = output.first + from_a, b = output.end - 1 - (output.diagonal - from_a);
  auto a_key = tile.keys[a], b_key = tile.keys[b];
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    // If a is used up, a_key is the last key of b, which must not go before equal keys of b. If b is used up, b_key is
    // the last key of a, which does not come before any other key of a.
    const bool take_b = a >= middle || before(b_key, a_key);
    own.keys[k] = take_b ? b_key : a_key;
    if constexpr (has_values<typename Shape::Value>) {
      if (k < output.left()) own.values[k] = tile.values[take_b ? b : a];
    }
    // A thread without items left goes on, but reads nothing outside the two runs. One read for both saves registers.
    if (take_b) b = max(b - 1, output.first);
    if (!take_b) a = min(a + 1, output.end - 1);
    const auto next = tile.keys[take_b ? b : a];
    if (take_b) b_key = next;
    if (!take_b) a_key = next;
  }
  // end solution
}

/// Sorts tiles of `size` items. Each block sorts the tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    sort_record_tiles(ItemsOf<Shape> from, ItemsOf<Shape> to, std::int64_t n, int size, typename Shape::Before before) {
  const auto tile = tile_in_shared_memory<Shape>();
  lab::let_next_kernel_begin();  // which waits until this one has ended
  for (std::int64_t begin = std::int64_t(blockIdx.x) * size; begin < n; begin += std::int64_t(gridDim.x) * size) {
    const int count = int(min(n - begin, std::int64_t(size)));
    // PHASE 1: load into shared memory. Neighbouring threads load neighbouring items, but each sorts consecutive ones.
    begin_to_load<Shape>(tile, items_from(from, begin), count);
    lab::wait_for_copies();
    __syncthreads();  // a thread sorts items that other threads have loaded into `tile`
    // PHASE 2: each thread sorts its items in registers, where a comparison needs no memory.
    OwnItems<Shape> own;
    read_and_sort(own, tile, count, before);
    // PHASE 3: merge the threads' runs level by level. In shared memory, a level costs no round trip to global memory.
    const int t = threadIdx.x;
    const auto position = [=](int thread) { return min(thread * Shape::items, count); };
    for (int run = 1; run < Shape::threads && position(run) < count; run *= 2) {  // threads per run
      // begin solution
      //~ // Your code: write_own() every two runs in bitonic layout, and merge_own(). Which barriers are needed?
      const int first = t & -run, pair = t & -(2 * run);  // the first threads of the run and of the pair of runs
      const OutputRun own_run{position(first), position(first + run), (t - first) * Shape::items};
      write_own(tile, own, own_run, first == pair ? Half::first : Half::second);
      synchronize(2 * run);
      const OutputRun output{position(pair), position(pair + 2 * run), (t - pair) * Shape::items};
      merge_own(own, tile, output, position(pair + run), before);
      synchronize(2 * run);
      // end solution
    }
    write_own(tile, own, {0, count, t * Shape::items}, Half::first);
    __syncthreads();  // the store reads items that other threads have written to `tile`
    // PHASE 4: store, in the same order as in phase 1.
    store_tile<Shape>(items_from(to, begin), tile, count);
    __syncthreads();  // not needed as long as each thread overwrites only items of `tile` that it has stored itself
  }
}

/// Finds the partition points of all tiles, if a merge has four runs. Four lanes search for each, one per run, with an
/// interval [low, high] that contains the run's co-rank. A lane reads its probe, the key in the middle. From the other
/// probes it finds out how many items of the merge come before its own, at least and at most. `rank` items come before
/// the tile. If at most rank - 1 come before the probe, the probe does, too. If at least `rank` do, it does not.
/// Source: P. J. Varman and others, "Merging multiple lists on hierarchical-memory multiprocessors", 1991.
template <class Key, class Before>
__global__ void find_partition_points(const Key* from, KWayPass<4> pass, PartitionPoint<4>* points, Before before) {
  const int own_run = threadIdx.x % 4, per_block = blockDim.x / 4;
  lab::wait_for_earlier_kernels();
  lab::let_next_kernel_begin();
  const std::int64_t stride = std::int64_t(gridDim.x) * per_block;
  for (std::int64_t first = std::int64_t(blockIdx.x) * per_block; first < pass.tiles; first += stride) {
    // PHASE 5: search, in a separate launch, so that the searches of all tiles wait for memory at the same time. Lanes
    // without a tile search for the last one, because all lanes of a warp take part in every shuffle.
    const std::int64_t own_tile = first + threadIdx.x / 4, tile = min(own_tile, pass.tiles - 1);
    const std::int64_t rank = tile * pass.tile - pass.run_first(tile, 0), run_first = pass.run_first(tile, own_run);
    std::int64_t low = 0, high = pass.run_first(tile, own_run + 1) - run_first;
    // begin solution
    //~ low = min(high, rank);  // Your code, in place of this line: until low == high, shuffle intervals and probes.
    while (__any_sync(all_lanes, low < high)) {
      const std::int64_t middle = low + (high - low) / 2;
      const auto key = low < high ? from[run_first + middle] : Key{};
      std::int64_t fewest = middle, most = middle;  // items before the probe; in its own run, there are `middle`
#pragma unroll
      for (int run = 0; run < 4; ++run) {
        const auto run_low = __shfl_sync(all_lanes, low, run, 4), run_high = __shfl_sync(all_lanes, high, run, 4);
        const std::int64_t run_middle = run_low + (run_high - run_low) / 2;
        const auto probe = __shfl_sync(all_lanes, key, run, 4);
        if (run == own_run) continue;
        const bool comes_before = run < own_run ? !before(key, probe) : before(probe, key);
        const bool is_known = run_low == run_high;  // and then there is no probe
        fewest += comes_before && !is_known ? run_middle + 1 : run_low;
        most += comes_before || is_known ? run_high : run_middle;
      }
      if (low < high && most < rank) low = middle + 1;
      if (low < high && fewest >= rank) high = middle;
    }
    // end solution
    if (own_tile == tile) points[tile].position[own_run] = run_first + low;
  }
}

/// Each block merges the tiles blockIdx.x, blockIdx.x + gridDim.x, ... of the output of one pass. `points`: those of
/// all tiles, if a merge has four runs.
template <int ways, class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    merge_k_ways(ItemsOf<Shape> from, ItemsOf<Shape> to, KWayPass<ways> pass, const PartitionPoint<ways>* points,
                 typename Shape::Before before) {
  __shared__ PartitionPoint<ways> own_points[2];
  __shared__ int first[ways + 1];
  const auto tile = tile_in_shared_memory<Shape>();
  lab::wait_for_earlier_kernels();
  lab::let_next_kernel_begin();
  for (std::int64_t index = blockIdx.x; index < pass.tiles; index += gridDim.x) {
    // PHASE 5: get the partition points. For two runs, they are found only now, which saves a launch.
    get_points(own_points, points, from.keys, pass, index, before);
    __syncthreads();  // all threads read `own_points`, which a few wrote, and overwrite what others stored from `tile`
    // PHASE 6: load all parts of the runs that the tile is made of at the same time, to wait only once.
    begin_to_load_parts<Shape>(tile, first, from, own_points);
    lab::wait_for_copies();
    __syncthreads();  // a thread merges items that other threads have loaded into `tile`, and reads `first`
    // PHASE 7: merge. A four-way merge takes two levels here, but only one round trip through global memory.
#pragma unroll
    for (int apart = 1; apart < ways; apart *= 2) {  // parts per run; part r is at [first[r], first[r + 1])
      // begin solution
      //~ // Your code: which items of which merge of this level are the thread's? merge_own(), then write_own().
      const int needed = (first[2 * apart] - first[0] + Shape::items - 1) / Shape::items;  // threads of the first merge
      const bool in_second = 2 * apart < ways && int(threadIdx.x) >= needed;
      const int part = in_second ? 2 * apart : 0, thread = threadIdx.x - (in_second ? needed : 0);
      const OutputRun output{first[part], first[part + 2 * apart], thread * Shape::items};
      OwnItems<Shape> own;
      merge_own(own, tile, output, first[part + apart], before);
      __syncthreads();  // the next write overwrites items of `tile` that other threads may still be reading
      write_own(tile, own, output, in_second ? Half::second : Half::first);
      __syncthreads();  // the next level, or the store, reads items that other threads have written to `tile`
      // end solution
    }
    // PHASE 8: store, neighbouring items by neighbouring threads.
    store_tile<Shape>(items_from(to, index * pass.tile), tile, first[ways]);
  }
}

/// Sorts tiles in blocks of shape Sort, then merges `ways` runs at a time in blocks of shape Merge.
template <int ways, class Sort, class Merge, class Before>
void sort_by(ItemsOf<Sort> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  using Key = typename Sort::Key;
  // The first of two levels has two merges. Each rounds up its number of threads, so one thread more may be needed. A
  // tile is a multiple of 32 items, so that it begins where a sector of memory does.
  constexpr int tile = (Merge::threads - (ways / 2 - 1)) * Merge::items / 32 * 32;
  constexpr int first_run = Sort::tile / tile * tile;
  static_assert(first_run / tile <= 2, "KWayPass needs a power of two");
  const bool in_place = passes_for(n, first_run, ways) % 2 == 0;  // so that the last pass writes the caller's array
  Scratch<Key, typename Sort::Value> scratch(in_place ? 0 : n, stream);
  const lab::DeviceArray<PartitionPoint<ways>> points(ways == 4 ? (n + tile - 1) / tile : 0, stream);
  // begin solution
  //~ NOT_WRITTEN("step 05");  // Your code: sort_record_tiles; for each pass find_partition_points, then merge_k_ways.
  auto from = in_place ? items : scratch.items();
  lab::allow_shared_memory<sort_record_tiles<Sort>>(Sort::shared_bytes, lab::Device::current());
  const unsigned blocks = lab::blocks_or(shape, n, first_run);
  sort_record_tiles<Sort><<<blocks, Sort::threads, Sort::shared_bytes, stream>>>(items, from, n, first_run, before);
  CUDA_CHECK(cudaGetLastError());
  if (in_place && first_run < n) scratch = decltype(scratch)(n, stream);  // only now, while the GPU is already at work
  auto to = in_place ? scratch.items() : items;
  for (std::int64_t run = first_run; run < n; run *= ways) {
    const KWayPass<ways> pass(n, run, tile);
    if constexpr (ways == 4) {
      const unsigned find_blocks = lab::blocks_or(shape, pass.tiles, search_threads / 4);
      const auto early = lab::early_launch<find_partition_points<Key, Before>>(find_blocks, search_threads, 0, stream);
      CUDA_CHECK(
          cudaLaunchKernelEx(&early, find_partition_points<Key, Before>, from.keys, pass, points.data(), before));
    }
    const unsigned merge_blocks = lab::blocks_or(shape, pass.tiles, 1);
    const auto early =
        lab::early_launch<merge_k_ways<ways, Merge>>(merge_blocks, Merge::threads, Merge::shared_bytes, stream);
    CUDA_CHECK(cudaLaunchKernelEx(&early, merge_k_ways<ways, Merge>, from, to, pass, points.data(), before));
    std::swap(from, to);
  }
  // end solution
}

template <class Key, class Value, class Before>
void sort(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  using Small = RecordShape<Key, Value, Before, 256, 17>;
  using Medium = RecordShape<Key, Value, Before, 512, 17>;
  using Large = RecordShape<Key, Value, Before, 512, 33>;
  using Merge = RecordShape<Key, Value, Before, 256, 33>;
  if (lab::threads_or(shape, 256) != 256) {
    throw lab::Unsupported("this step has 256 threads per block: choose --threads 256 or leave it out");
  }
  lab::blocks_or(shape, 1, 1);  // refuses impossible numbers
  if (n < 2) return;
  const lab::Device& device = lab::Device::current();
  const bool is_large = shape.threads == 0 && device.shared_bytes_per_block >= int(Large::shared_bytes);
  // With few keys, a pass takes as long as its longest block. With very few, small tiles occupy more multiprocessors. A
  // grid that the user chooses may have many tiles per block, so then, if large tiles may be used, merges are four-way.
  const std::int64_t multiprocessors = shape.blocks == 0 ? device.multiprocessors : 0;
  if (!is_large || n <= 8192 * multiprocessors) {
    // If the number of passes is odd, the first launch waits for scratch memory. Larger tiles save a pass then.
    const bool waits = is_large && passes_for(n, Small::tile, 2) % 2 == 1;
    if (waits) return sort_by<2, Medium, Small>(items, n, before, shape, stream);
    return sort_by<2, Small, Small>(items, n, before, shape, stream);
  }
  if (n <= 65536 * multiprocessors) return sort_by<2, Large, Merge>(items, n, before, shape, stream);
  sort_by<4, Large, Merge>(items, n, before, shape, stream);
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

// Step 04: merge path.
//
// Idea: cut the output, not the input. Of the first d keys of a merge some come from a, the others from b. A binary
// search along a diagonal of the grid that a and b span finds how many come from a: the co-rank of d. Two such
// partition points bound a part of the output and the parts of both inputs that belong to it. Each block merges one
// tile of the output, and within the tile each thread merges the same number of keys, one after another, in registers.
// New since step 03: all pieces have the same size, whatever the keys are. Within a piece, a thread searches once per 17
// keys, whereas ranks take a search for every key. The tiles at the start are sorted in the same way: each thread sorts
// 17 keys in registers, then 2, 4, ..., 256 threads merge theirs.
// Limits: 256 threads per block. Each level still reads and writes all keys only to double the length of the runs.
// This file has over 125 lines because it teaches the merge path at three scales: threads of a tile, blocks, the array.
#include <cstdint>

#include "instantiate.cuh"
#include "step/launch_shape.h"
#include "thread_items.cuh"

namespace merge_sort {
namespace {

/// The co-rank: the number of keys that come from a among the first `diagonal` keys of the merge of a[0, a_count) and
/// b[0, b_count). Index is int within a tile and std::int64_t in the whole array.
template <class Index, class Key, class Before>
__device__ Index merge_path(const Key* a, Index a_count, const Key* b, Index b_count, Index diagonal, Before before) {
  Index low = 0;
  // Your code: the answer is between low and high, the fewest and the most keys that can come from a. (They are not
  // always 0 and `diagonal`: how many keys do a and b have?) Halve this range: if more than `middle` keys come from
  // a, then a[middle] goes before b[diagonal - 1 - middle]. What if the two are equal?
  return low;
}

/// Merges the first items_per_thread items of what is left of both runs: tile[a, a_end) and tile[b, b_end). If there
/// are fewer, merges all of them. `from_a`: how many items of a come before the thread's.
template <class Key, class Value, class Before>
__device__ void merge_serially(ThreadItems<Key, Value>& own, Items<Key, Value> tile, TileRuns runs, int from_a,
                               Before before) {
  const int a_end = runs.middle, b_end = runs.end;
  int a = runs.first + from_a, b = runs.middle + (runs.diagonal - from_a);
  // Your code: fill own.keys[0], own.keys[1], ... as in step 01, but keep the next key of each run in a register, so
  // that each item costs one read of a key. Read nothing beyond the end of a run. Give the loop a constant length
  // and unroll it: an array is kept in registers only if all its indexes are known at compile time.
  (void)own, (void)tile, (void)before, (void)a, (void)b, (void)a_end, (void)b_end;
}

/// Merges two runs of the tile to the thread's registers: the items of the output from runs.diagonal on.
template <class Key, class Value, class Before>
__device__ void merge_to_registers(ThreadItems<Key, Value>& own, Items<Key, Value> tile, TileRuns runs, Before before) {
  runs.diagonal = min(runs.diagonal, runs.end - runs.first);
  const int from_a = merge_path(tile.keys + runs.first, runs.middle - runs.first, tile.keys + runs.middle,
                                runs.end - runs.middle, runs.diagonal, before);
  merge_serially(own, tile, runs, from_a, before);
}

/// Merges the sorted items of single threads until the tile holds all `count` items in order. All threads of the block
/// call it.
template <class Key, class Value, class Before>
__device__ void merge_threads(ThreadItems<Key, Value>& own, Items<Key, Value> tile, int count, Before before) {
  // Your code: merge the runs of 1, 2, 4, ..., 128 threads: registers_to_tile(), then merge_to_registers(). At the end
  // the tile holds the sorted items. Where are barriers needed?
}

/// Each block sorts the tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <class Key, class Value, class Before>
__global__ void __launch_bounds__(path_threads_per_block)
    sort_tiles(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, Before before) {
  constexpr int tile_keys = path_tile<Key>;
  __shared__ Key keys[tile_keys];
  __shared__ Value values[has_values<Value> ? tile_keys : 1];
  const Items<Key, Value> tile{keys, values};
  const int t = threadIdx.x;
  for (std::int64_t first = std::int64_t(blockIdx.x) * tile_keys; first < n;
       first += std::int64_t(gridDim.x) * tile_keys) {
    const int count = int(min(n - first, std::int64_t(tile_keys)));
    load_tile(tile, from, first, count);
    __syncthreads();  // tile_to_registers() reads items that other threads have loaded into `tile`
    ThreadItems<Key, Value> own;
    tile_to_registers(own, tile, count);
    sort_in_registers(own, count - t * items_per_thread<Key>, before);
    merge_threads(own, tile, count, before);
    store_tile(to, first, tile, count);
    __syncthreads();  // not needed as long as each thread overwrites only items of `tile` that it has stored itself
  }
}

/// Finds the position in the array where the part of a begins for each tile of the output. This is a separate launch so
/// that the searches of all tiles run at the same time. In the next kernel, 256 threads would wait for one search.
template <class Key, class Before>
__global__ void find_partition_points(const Key* from, Level<path_tile<Key>> level, std::int64_t* points,
                                      Before before) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < level.parts; i += step) {
    const Merge merge = level.merge_of(i);
    points[i] = merge.first + merge_path(from + merge.first, merge.middle - merge.first, from + merge.middle,
                                         merge.end - merge.middle, i * path_tile<Key> - merge.first, before);
  }
}

/// Each block merges the tiles blockIdx.x, blockIdx.x + gridDim.x, ... of the output of one level.
template <class Key, class Value, class Before>
__global__ void __launch_bounds__(path_threads_per_block)
    merge_tiles(Items<Key, Value> from, Items<Key, Value> to, Level<path_tile<Key>> level, const std::int64_t* points,
                Before before) {
  constexpr int tile_keys = path_tile<Key>;
  __shared__ Key keys[tile_keys];
  __shared__ Value values[has_values<Value> ? tile_keys : 1];
  const Items<Key, Value> tile{keys, values};
  const int t = threadIdx.x;
  for (std::int64_t index = blockIdx.x; index < level.parts; index += gridDim.x) {
    const Merge merge = level.merge_of(index);
    const std::int64_t output = index * tile_keys;
    const int count = int(min(merge.end - output, std::int64_t(tile_keys)));
    // Your code: which items of a, and of b, does this tile need? points[index] and points[index + 1] answer this,
    // except for the last tile of a merge. load_runs(), merge_to_registers(), registers_to_tile(), store_tile(). Where
    // are barriers needed?
    (void)tile, (void)t, (void)count;
  }
}

template <class Key, class Value, class Before>
void sort(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  constexpr int threads_per_block = path_threads_per_block;
  if (lab::threads_or(shape, threads_per_block) != threads_per_block) {
    throw lab::Unsupported("step 04 supports 256 threads per block only");
  }
  const std::int64_t tiles = (n + path_tile<Key> - 1) / path_tile<Key>;
  const unsigned find_blocks = lab::blocks_or(shape, tiles, threads_per_block);
  const unsigned tile_blocks = lab::blocks_or(shape, tiles, 1);
  if (n < 2) return;
  const lab::DeviceArray<std::int64_t> points(tiles, stream);
  // Your code: sort_by_levels(), as in step 03, with the kernels of this file. sort_tiles is one of them here, and
  // `before` is already a comparison. Check each launch.
  (void)items, (void)before, (void)find_blocks, (void)tile_blocks;
  NOT_WRITTEN("step 04");
}

}  // namespace

template <class Key, class Before>
void sort_path(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  with_comparison(before, [&](auto comparison) { sort(items_of(keys), keys.n, comparison, shape, stream); });
}

template <class Key, class Value, class Before>
void sort_path(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
               cudaStream_t stream) {
  with_comparison(before, [&](auto comparison) { sort(items_of(keys, values), keys.n, comparison, shape, stream); });
}

MERGE_SORT_INSTANTIATE(sort_path);

}  // namespace merge_sort

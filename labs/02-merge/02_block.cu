// Step 02: one block per merge.
//
// Idea: where does a key go in the merge of two runs? After the keys before it in its own run, whose number is its
// index there, and after the keys of the other run that come before it, which a binary search counts. No key has to
// wait for another: each thread places its own.
// New since step 01: all threads of a block share a merge, in shared memory. Tiles of 2048 keys are sorted there, level
// by level, in one pass over global memory. Longer runs are streamed: the block loads the next keys of both runs,
// merges them, and stores the keys whose position no later key can change. The next round continues with the rest.
// Stability: a key of the first run goes before equal keys of the second. Its rank therefore counts only the keys
// strictly before it (lower rank), and the rank of a key of the second run also counts the equal ones (upper rank).
// Limits: a level has as many blocks as pairs of runs. In the last level, only one multiprocessor works.
// This file has over 125 lines because it teaches two kernels, one for tiles and one for longer runs.
#include <cstdint>

#include "instantiate.cuh"
#include "rank.cuh"
#include "step/launch_shape.h"
#include "tiles.cuh"

namespace merge_sort {
namespace {

constexpr int default_threads_per_block = 512;
constexpr int chunk_keys = tile_keys / 2;  // keys of each run in shared memory at a time, at most

/// Sorts `count` items in shared memory, level by level from one buffer to the other. All threads of the block call it,
/// after a barrier. Returns the buffer that holds the result, which any thread may then read.
template <class Key, class Value, class Before>
__device__ Items<Key, Value> sort_in_shared(Items<Key, Value> from, Items<Key, Value> to, int count, Before before) {
  // Your code: for runs of 1, 2, 4, ... keys, until one run holds all `count` keys: copy_item() each item to its
  // position in the merge of its run with the neighbouring one. lower_rank() or upper_rank() counts the keys of the
  // other run that go before it. The last pair of runs may be short, and its second run empty. Thread t places the
  // items t, t + blockDim.x, ... Then swap `from` and `to`, using a third variable, because std::swap is a host
  // function. Where is a barrier needed?
  return from;
}

/// Each block sorts the tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <class Key, class Value, class Before>
__global__ void sort_tiles_kernel(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, Before before) {
  __shared__ Key keys[2][tile_keys];
  __shared__ Value values[2][has_values<Value> ? tile_keys : 1];
  const Items<Key, Value> tile{keys[0], values[0]}, other{keys[1], values[1]};
  for (std::int64_t first = std::int64_t(blockIdx.x) * tile_keys; first < n;
       first += std::int64_t(gridDim.x) * tile_keys) {
    const int count = int(min(n - first, std::int64_t(tile_keys)));
    load_items(tile, 0, from, first, count);
    __syncthreads();  // the first level reads items that other threads have loaded into `tile`
    const Items<Key, Value> sorted = sort_in_shared(tile, other, count, before);
    store_items(to, first, sorted, count);
    __syncthreads();  // not needed as long as each thread overwrites only items of `tile` that it has stored itself
  }
}

/// One level, `pairs` merges: each block merges two neighbouring runs of `run` keys. The last pair may be short.
template <class Key, class Value, class Before>
__global__ void merge_level(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, std::int64_t pairs,
                            std::int64_t run, Before before) {
  __shared__ Key keys[2][tile_keys];
  __shared__ Value values[2][has_values<Value> ? tile_keys : 1];
  const Items<Key, Value> loaded{keys[0], values[0]}, merged{keys[1], values[1]};
  const Key* const a_keys = keys[0];
  const Key* const b_keys = keys[0] + chunk_keys;
  for (std::int64_t pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
    std::int64_t a = 2 * run * pair;               // the first items of the two runs that are not merged yet,
    std::int64_t b = min(a + run, n), output = a;  // and the position where the next merged item goes
    const std::int64_t a_end = b, b_end = min(b + run, n);
    while (a < a_end || b < b_end) {
      const Counts count{int(min(a_end - a, std::int64_t(chunk_keys))), int(min(b_end - b, std::int64_t(chunk_keys)))};
      load_items(loaded, 0, from, a, count.a);
      load_items(loaded, chunk_keys, from, b, count.b);
      __syncthreads();  // ranks are counted among keys that other threads have stored in `loaded`
      Counts placed = count;
      // Your code: how many of the loaded keys of a, and of b, have a position that no later key can change? All of
      // them, if the other run has no more keys to load. Otherwise it depends on the last loaded key of the other
      // run. (A run that is used up has a count of 0.) Then place_by_ranks() those keys in `merged`.
      (void)a_keys, (void)b_keys, (void)merged;
      __syncthreads();  // the store reads items that other threads have placed in `merged`, and a load changes `loaded`
      store_items(to, output, merged, placed.a + placed.b);
      a += placed.a;
      b += placed.b;
      output += placed.a + placed.b;
    }
  }
}

template <class Key, class Value, class Before>
void sort(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  const auto sort_all_tiles = [&](auto from, auto to) { sort_tiles(from, to, n, before, shape, stream); };
  const auto merge = [&](auto from, auto to, std::int64_t run, auto comparison) {
    const std::int64_t pairs = (n + 2 * run - 1) / (2 * run);
    const unsigned blocks = lab::blocks_or(shape, pairs, 1);
    merge_level<<<blocks, threads_per_block, 0, stream>>>(from, to, n, pairs, run, comparison);
    CUDA_CHECK(cudaGetLastError());
  };
  sort_by_levels<tile_keys>(items, n, before, stream, sort_all_tiles, merge);
}

}  // namespace

template <class Key, class Value, class Before>
void sort_tiles(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, Before before, lab::LaunchShape shape,
                cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  const unsigned blocks = lab::blocks_or(shape, n, tile_keys);
  if (n == 0) return;
  // Your code: launch sort_tiles_kernel with the comparison that with_comparison(before, ...) supplies (as in sort
  // above), and check the launch.
  (void)blocks, (void)threads_per_block;
  NOT_WRITTEN("step 02");
}

template <class Key, class Before>
void sort_block(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  sort(items_of(keys), keys.n, before, shape, stream);
}

template <class Key, class Value, class Before>
void sort_block(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                cudaStream_t stream) {
  sort(items_of(keys, values), keys.n, before, shape, stream);
}

MERGE_SORT_INSTANTIATE(sort_block);
MERGE_SORT_INSTANTIATE_TILES(sort_tiles);

}  // namespace merge_sort

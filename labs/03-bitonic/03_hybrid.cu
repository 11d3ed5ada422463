// Step 03: sorted tiles, then global stages.
//
// Idea: in most stages of the network the partners are close together. Stages whose comparators stay within a tile run
// in shared memory, many stages per read and write of every key. Only the stages with distant partners go through
// global memory.
// New since step 02, whose sorted tiles this step starts from: a merge of runs longer than a tile. Each of its first
// stages, with partners a tile or more apart, is a launch. All remaining stages, with partners inside a tile, share one
// launch. The step sorts any n without scratch memory.
// Limits: there are still O(log^2 n) passes over memory.
#include <cstdint>

#include "step/launch_shape.h"
#include "tile.cuh"

namespace bitonic {
namespace {

constexpr int default_threads_per_block = tile_keys / 2;  // one comparator per thread of merge_in_tiles

/// Runs one stage in global memory: `pairs` comparators whose partners are `stride` positions apart or, if `mirrored`,
/// mirror images of each other in a run of 2 * stride keys.
template <lab::Order order, bool mirrored, class Key, class Value>
__global__ void run_global_stage(lab::Span<Key> keys, Value* values, std::int64_t pairs, std::int64_t stride) {
  // Your code: like run_stage of step 01, with the comparators of step 02. Skip those whose partner is not below
  // keys.n.
}

/// Runs the last stages of a merge, those with partners inside a tile, on each tile in shared memory. Each block takes
/// the tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <lab::Order order, class Key, class Value>
__global__ void merge_in_tiles(lab::Span<Key> keys, Value* values) {
  __shared__ Key tile[tile_keys];
  __shared__ Value tile_values[has_values<Value> ? tile_keys : 1];
  for (std::int64_t first = std::int64_t(blockIdx.x) * tile_keys; first < keys.n;
       first += std::int64_t(gridDim.x) * tile_keys) {
    const int count = tile_count(first, keys.n);
    // Your code: load_tile(), the stages with strides tile_keys / 2, ..., 2, 1, store_tile(), and the barriers.
    (void)tile, (void)tile_values, (void)count;
  }
}

/// Merges sorted tiles into one sorted array.
template <lab::Order order, class Key, class Value>
void merge_all(lab::Span<Key> keys, Value* values, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  // Your code: for runs of 2, 4, ... tiles, until one run holds all keys: the mirror stage, the stages with strides
  // of a tile or more, then merge_in_tiles. How many comparators does a global stage have if n is not a power of two?
  // Check each launch.
  (void)threads_per_block;
  NOT_WRITTEN("step 03");
}

template <class Key, class Value>
void merge_all(lab::Span<Key> keys, Value* values, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  if (order == lab::Order::ascending) {
    merge_all<lab::Order::ascending>(keys, values, shape, stream);
  } else {
    merge_all<lab::Order::descending>(keys, values, shape, stream);
  }
}

}  // namespace

template <class Key>
void sort_hybrid(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort_tiles(keys, order, shape, stream);
  merge_all(keys, static_cast<NoValue*>(nullptr), order, shape, stream);
}

template <class Key, class Value>
void sort_hybrid(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream) {
  sort_tiles(keys, values, order, shape, stream);
  merge_all(keys, values.data, order, shape, stream);
}

template void sort_hybrid(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_hybrid(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_hybrid(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_hybrid(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_hybrid(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                          cudaStream_t);

}  // namespace bitonic

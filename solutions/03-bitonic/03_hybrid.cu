// Step 03: sorted tiles, then global stages.
//
// Idea: in most stages of the network the partners are close together. Stages whose comparators stay within a tile run
// in shared memory, many stages per read and write of every key. Only the stages with distant partners go through
// global memory.
// New since step 02, whose sorted tiles this step starts from: a merge of runs longer than a tile. Each of its first
// stages, with partners a tile or more apart, is a launch. All remaining stages, with partners inside a tile, share one
// launch. The step sorts any n without scratch memory.
//- Cost: 1 + m + m (m + 1) / 2 reads and writes of every key, and as many launches, where m is log2(n / tile_keys),
//- rounded up. (Step 01: log2 n (log2 n + 1) / 2. For n = 2^20, 66 instead of 210.)
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
  // begin solution
  //~ // Your code: like run_stage of step 01, with the comparators of step 02. Skip those whose partner is not below
  //~ // keys.n.
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t t = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; t < pairs; t += step) {
    const std::int64_t i = lower_position(t, stride);
    const std::int64_t partner = mirrored ? i ^ (2 * stride - 1) : i + stride;
    if (partner < keys.n) compare_exchange<order>(keys.data, values, i, partner);
  }
  // end solution
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
    // begin solution
    //~ // Your code: load_tile(), the stages with strides tile_keys / 2, ..., 2, 1, store_tile(), and the barriers.
    //~ (void)tile, (void)tile_values, (void)count;
    load_tile(tile, tile_values, keys, values, first, count);
    __syncthreads();  // the first stage reads keys that other threads have loaded into `tile`
    for (int stride = tile_keys / 2; stride > 0; stride /= 2) {
      for (int t = threadIdx.x; t < tile_keys / 2; t += blockDim.x) {
        const int i = lower_position(t, stride), partner = i + stride;
        if (partner < count) compare_exchange<order>(tile, tile_values, i, partner);
      }
      __syncthreads();  // the next stage, or the store, reads keys of `tile` that other threads have just written
    }
    store_tile(keys, values, first, count, tile, tile_values);
    __syncthreads();  // not needed as long as each thread overwrites only keys of `tile` that it has stored itself
    // end solution
  }
}

/// Merges sorted tiles into one sorted array.
template <lab::Order order, class Key, class Value>
void merge_all(lab::Span<Key> keys, Value* values, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  // begin solution
  //~ // Your code: for runs of 2, 4, ... tiles, until one run holds all keys: the mirror stage, the stages with strides
  //~ // of a tile or more, then merge_in_tiles. How many comparators does a global stage have if n is not a power of two?
  //~ // Check each launch.
  //~ (void)threads_per_block;
  //~ NOT_WRITTEN("step 03");
  const unsigned tile_blocks = lab::blocks_or(shape, keys.n, tile_keys);
  for (std::int64_t run = 2 * tile_keys; run / 2 < keys.n; run *= 2) {
    // Counts whole runs. If n cuts the last one short, the kernel skips the comparators that reach beyond n.
    const std::int64_t pairs = (keys.n + run - 1) / run * (run / 2);
    const unsigned blocks = lab::blocks_or(shape, pairs, threads_per_block);
    run_global_stage<order, true><<<blocks, threads_per_block, 0, stream>>>(keys, values, pairs, run / 2);
    CUDA_CHECK(cudaGetLastError());
    for (std::int64_t stride = run / 4; stride >= tile_keys; stride /= 2) {
      run_global_stage<order, false><<<blocks, threads_per_block, 0, stream>>>(keys, values, pairs, stride);
      CUDA_CHECK(cudaGetLastError());
    }
    merge_in_tiles<order><<<tile_blocks, threads_per_block, 0, stream>>>(keys, values);
    CUDA_CHECK(cudaGetLastError());
  }
  // end solution
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

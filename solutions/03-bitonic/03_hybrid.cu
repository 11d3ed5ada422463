// Step 03: tiles, then global stages.
//
// Idea: most stages of the network have partners close together. Those that fit a tile run in shared memory, many
// stages for one read and one write of every key; only the stages with far partners go through global memory.
// New since step 02, whose tiles are the start: a merge of runs longer than a tile. Its first stages, with partners a
// tile or more apart, are one launch each; all others, with partners inside a tile, are one launch together.
// Cost: with m = log2(n / tile) rounded up, 1 + m + m (m + 1) / 2 reads and writes of every key, and as many launches
// (step 01: log2 n (log2 n + 1) / 2; for n = 2^20, 66 instead of 210).
// Limits: any n, nothing allocated; still O(log^2 n) trips through memory.
#include <algorithm>
#include <cstdint>

#include "compare_exchange.cuh"
#include "step/launch_shape.h"

namespace bitonic {
namespace {

constexpr int default_threads = tile_keys / 2;  // one comparator a thread of merge_in_tiles

/// One stage through global memory: `pairs` comparators with partners `stride` apart or, when `mirrored`, at mirrored
/// places of a run of 2 * stride keys.
template <lab::Order order, bool mirrored, class Key, class Value>
__global__ void run_global_stage(lab::Span<Key> keys, Value* values, std::int64_t pairs, std::int64_t stride) {
  // begin solution
  //~ // Your code: as run_stage of step 01, with the comparators of step 02. Skip those whose partner is not below keys.n.
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t t = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; t < pairs; t += step) {
    const std::int64_t i = lower_place(t, stride);
    const std::int64_t partner = mirrored ? i ^ (2 * stride - 1) : i + stride;
    if (partner < keys.n) compare_exchange<order>(keys.data, values, i, partner);
  }
  // end solution
}

/// The last stages of a merge, those with partners less than a tile apart, on each tile in shared memory.
template <lab::Order order, class Key, class Value>
__global__ void merge_in_tiles(lab::Span<Key> keys, Value* values) {
  __shared__ Key tile[tile_keys];
  __shared__ Value tile_values[has_values<Value> ? tile_keys : 1];
  for (std::int64_t first = std::int64_t(blockIdx.x) * tile_keys; first < keys.n;
       first += std::int64_t(gridDim.x) * tile_keys) {
    const std::int64_t rest = keys.n - first;
    const int count = rest < tile_keys ? int(rest) : tile_keys;
    // begin solution
    //~ // Your code: load the tile, run the stages with strides tile_keys / 2, .., 2, 1 on it, store it.
    //~ (void)tile, (void)tile_values, (void)count;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      tile[i] = keys.data[first + i];
      if constexpr (has_values<Value>) tile_values[i] = values[first + i];
    }
    __syncthreads();  // the first stage reads keys that other threads have loaded
    for (int stride = tile_keys / 2; stride > 0; stride /= 2) {
      for (int t = threadIdx.x; t < tile_keys / 2; t += blockDim.x) {
        const int i = lower_place(t, stride), partner = i + stride;
        if (partner < count) compare_exchange<order>(tile, tile_values, i, partner);
      }
      __syncthreads();  // the next stage, or the store, reads keys that other threads have just written
    }
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      keys.data[first + i] = tile[i];
      if constexpr (has_values<Value>) values[first + i] = tile_values[i];
    }
    __syncthreads();  // not needed as long as who stores a place also loads it; here for the day when that changes
    // end solution
  }
}

/// Merges sorted tiles into one sorted array.
template <lab::Order order, class Key, class Value>
void merge_all(lab::Span<Key> keys, Value* values, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  // begin solution
  //~ // Your code: for runs of 2, 4, .. tiles, until one run holds all keys: the mirrored stage, the stages with
  //~ // strides of a tile or more, then merge_in_tiles. How many comparators does a global stage have when n is no
  //~ // power of two? Check each launch.
  //~ (void)threads;
  //~ NOT_WRITTEN("step 03");
  const unsigned tile_blocks = lab::blocks_or(shape, keys.n, tile_keys);
  for (std::int64_t run = 2 * tile_keys; run / 2 < keys.n; run *= 2) {
    // Comparators are counted in whole runs: a run that n cuts short keeps its places, and the kernel skips them.
    const std::int64_t pairs = (keys.n + run - 1) / run * (run / 2);
    const unsigned blocks = lab::blocks_or(shape, pairs, threads);
    run_global_stage<order, true><<<blocks, threads, 0, stream>>>(keys, values, pairs, run / 2);
    CUDA_CHECK(cudaGetLastError());
    for (std::int64_t stride = run / 4; stride >= tile_keys; stride /= 2) {
      run_global_stage<order, false><<<blocks, threads, 0, stream>>>(keys, values, pairs, stride);
      CUDA_CHECK(cudaGetLastError());
    }
    merge_in_tiles<order><<<tile_blocks, threads, 0, stream>>>(keys, values);
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

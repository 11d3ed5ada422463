// Step 02: a tile in shared memory.
//
// Idea: a block loads a tile once, runs all stages on it in shared memory, and stores it once. Between two stages it
// needs only __syncthreads(), not a new launch.
// New since step 01: shared memory and its barriers, values that travel with their keys, the order as a template
// parameter, and a network whose comparators all point one way. The first stage of each merge pairs i with its mirror
// image i ^ (run - 1), which reads the second run backwards. Positions past the end of the input then act as keys that
// are already in place, so their comparators can be skipped, and any n works without padding.
//- Cost: one read and one write of every key. A tile of 1024 keys takes 55 stages and 57 barriers, of which the last,
//- after the store, is for safety: 56 are enough. It needs 4 KiB of shared memory, or 8 KiB if its keys have 8 bytes, or
//- 4 bytes and a value of 4 bytes.
// Limits: each tile is sorted separately.
#include <cstdint>

#include "step/launch_shape.h"
#include "tile.cuh"

namespace bitonic {
namespace {

constexpr int default_threads_per_block = tile_keys / 2;  // one comparator per thread

/// Sorts the first `count` keys of a tile in shared memory. All threads of the block call it.
template <lab::Order order, class Key, class Value>
__device__ void sort_in_shared(Key* keys, Value* values, int count) {
  // begin solution
  //~ // Your code: for runs of 2, 4, ... keys, until one run holds all `count` keys:
  //~ //   first stage: position i in the lower half of each run, partner i ^ (run - 1);
  //~ //   further stages: stride = run / 4, run / 8, ..., 1, partner i + stride.
  //~ // Thread t runs comparators t, t + blockDim.x, ... of the tile_keys / 2 comparators of a stage. lower_position()
  //~ // returns i, and compare_exchange() does the rest. Skip a comparator whose partner is not below `count`.
  //~ // Which barrier does each stage need, and why?
  for (int run = 2; run / 2 < count; run *= 2) {
    for (int t = threadIdx.x; t < tile_keys / 2; t += blockDim.x) {
      const int i = lower_position(t, run / 2), partner = i ^ (run - 1);
      if (partner < count) compare_exchange<order>(keys, values, i, partner);
    }
    __syncthreads();  // the next stage compares elements of `keys` that other threads have just written
    for (int stride = run / 4; stride > 0; stride /= 2) {
      for (int t = threadIdx.x; t < tile_keys / 2; t += blockDim.x) {
        const int i = lower_position(t, stride), partner = i + stride;
        if (partner < count) compare_exchange<order>(keys, values, i, partner);
      }
      __syncthreads();  // the next stage, or the store, reads elements of `keys` that other threads have just written
    }
  }
  // end solution
}

/// Each block sorts the tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <lab::Order order, class Key, class Value>
__global__ void sort_tiles_kernel(lab::Span<Key> keys, Value* values) {
  __shared__ Key tile[tile_keys];
  __shared__ Value tile_values[has_values<Value> ? tile_keys : 1];
  for (std::int64_t first = std::int64_t(blockIdx.x) * tile_keys; first < keys.n;
       first += std::int64_t(gridDim.x) * tile_keys) {
    const int count = tile_count(first, keys.n);
    // begin solution
    //~ // Your code: load_tile(), sort_in_shared(), store_tile(). Put a barrier wherever a thread reads keys of the tile
    //~ // that another has written.
    //~ (void)tile, (void)tile_values, (void)count;
    load_tile(tile, tile_values, keys, values, first, count);
    __syncthreads();  // the first stage reads keys that other threads have loaded into `tile`
    sort_in_shared<order>(tile, tile_values, count);
    store_tile(keys, values, first, count, tile, tile_values);
    __syncthreads();  // not needed as long as each thread overwrites only keys of `tile` that it has stored itself
    // end solution
  }
}

template <class Key, class Value>
void launch(lab::Span<Key> keys, Value* values, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  const unsigned blocks = lab::blocks_or(shape, keys.n, tile_keys);
  if (keys.n < 2) return;
  // begin solution
  //~ // Your code: launch sort_tiles_kernel for the requested order, and check the launch.
  //~ (void)blocks, (void)threads_per_block;
  //~ NOT_WRITTEN("step 02");
  if (order == lab::Order::ascending) {
    sort_tiles_kernel<lab::Order::ascending><<<blocks, threads_per_block, 0, stream>>>(keys, values);
  } else {
    sort_tiles_kernel<lab::Order::descending><<<blocks, threads_per_block, 0, stream>>>(keys, values);
  }
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

}  // namespace

template <class Key>
void sort_tiles(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  launch(keys, static_cast<NoValue*>(nullptr), order, shape, stream);
}

template <class Key, class Value>
void sort_tiles(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                cudaStream_t stream) {
  launch(keys, values.data, order, shape, stream);
}

template void sort_tiles(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_tiles(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_tiles(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_tiles(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_tiles(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                         cudaStream_t);

}  // namespace bitonic

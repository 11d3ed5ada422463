// Step 02: one block a merge.
//
// Idea: where does a key stand in the merge of two runs? After the keys before it in its own run, as many as its index
// says, and after those of the other run that come before it, as many as a binary search says. No key has to wait for
// another one: each thread places its own.
// New since step 01: all threads of a block share a merge, in shared memory. Tiles of 2048 keys are sorted there, level
// by level, for one trip through global memory. Longer runs are streamed: the block loads the next keys of both runs,
// merges them, stores those whose place no key still to come can change, and drops them.
// Stability: a key of the first run goes before equal keys of the second. So it counts the keys strictly before it
// (lower rank), and a key of the second run also those equal to it (upper rank).
// Cost: 1 + ceil(log2(n / 2048)) reads and writes of every key, and up to one more read a merge for keys loaded twice;
// two barriers a chunk of 1024 to 2048 keys.
// Limits: a level has as many blocks as pairs of runs. In the last one a single multiprocessor works.
#include <cstdint>
#include <utility>

#include "rank.cuh"
#include "step/launch_shape.h"
#include "tiles.cuh"

namespace merge_sort {
namespace {

constexpr int default_threads = 512;
constexpr int chunk_keys = tile_keys / 2;  // keys of one run that are in shared memory at a time

/// Sorts `count` items in shared memory, level by level from one buffer to the other; returns the one they end in.
/// All threads of the block call it.
template <class Key, class Value, class Before>
__device__ Items<Key, Value> sort_in_shared(Items<Key, Value> from, Items<Key, Value> to, int count, Before before) {
  // begin solution
  //~ // Your code: for runs of 1, 2, 4, .. keys, until one run holds all `count`: copy_item() each item to its place in
  //~ // the merge of its run with the neighbouring one; lower_rank() or upper_rank() counts the keys of the other run
  //~ // that go before it. Thread t places items t, t + blockDim.x, .. Then exchange `from` and `to`. Where must a
  //~ // barrier be?
  for (int run = 1; run < count; run *= 2) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const int first = i & -(2 * run);  // `run` is a power of two
      const int middle = min(first + run, count), end = min(first + 2 * run, count);
      const Key key = from.keys[i];
      const int place = i < middle ? i + lower_rank(from.keys + middle, end - middle, key, before)
                                   : i - (middle - first) + upper_rank(from.keys + first, middle - first, key, before);
      copy_item(to, place, from, i);
    }
    __syncthreads();  // the next level reads what other threads have placed, and overwrites what they were reading
    const Items<Key, Value> sorted = to;
    to = from;
    from = sorted;
  }
  // end solution
  return from;
}

/// Each block sorts tiles blockIdx.x, blockIdx.x + gridDim.x, ..
template <class Key, class Value, class Before>
__global__ void sort_tiles_kernel(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, Before before) {
  __shared__ Key keys[2][tile_keys];
  __shared__ Value values[2][has_values<Value> ? tile_keys : 1];
  const Items<Key, Value> tile{keys[0], values[0]}, other{keys[1], values[1]};
  for (std::int64_t first = std::int64_t(blockIdx.x) * tile_keys; first < n;
       first += std::int64_t(gridDim.x) * tile_keys) {
    const int count = int(min(n - first, std::int64_t(tile_keys)));
    for (int i = threadIdx.x; i < count; i += blockDim.x) copy_item(tile, i, from, first + i);
    __syncthreads();  // the first level reads what other threads have loaded
    const Items<Key, Value> sorted = sort_in_shared(tile, other, count, before);
    for (int i = threadIdx.x; i < count; i += blockDim.x) copy_item(to, first + i, sorted, i);
    __syncthreads();  // not needed as long as who stores a place also loads it; here for the day when that changes
  }
}

/// One level, `pairs` merges: each block merges two neighbouring runs of `run` keys, the last of which n may cut short.
template <class Key, class Value, class Before>
__global__ void merge_level(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, std::int64_t pairs,
                            std::int64_t run, Before before) {
  __shared__ Key keys[2][tile_keys];
  __shared__ Value values[2][has_values<Value> ? tile_keys : 1];
  const Items<Key, Value> loaded{keys[0], values[0]}, merged{keys[1], values[1]};
  const Key* const a_keys = keys[0];
  const Key* const b_keys = keys[0] + chunk_keys;
  for (std::int64_t pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
    std::int64_t a = 2 * run * pair;  // the first items that are not merged yet, and where they will go
    std::int64_t b = min(a + run, n), out = a;
    const std::int64_t a_end = b, b_end = min(b + run, n);
    while (a < a_end || b < b_end) {
      const int a_count = int(min(a_end - a, std::int64_t(chunk_keys)));
      const int b_count = int(min(b_end - b, std::int64_t(chunk_keys)));
      for (int i = threadIdx.x; i < a_count; i += blockDim.x) copy_item(loaded, i, from, a + i);
      for (int i = threadIdx.x; i < b_count; i += blockDim.x) copy_item(loaded, chunk_keys + i, from, b + i);
      __syncthreads();  // ranks are counted among keys that other threads have loaded
      int a_final = a_count, b_final = b_count;
      // begin solution
      //~ // Your code: how many of the loaded keys of a, and of b, have a place that no key still to come can change?
      //~ // All of them, if the other run has no more to come; if not, the last loaded key of the other run tells.
      //~ // Then copy_item() those from `loaded` to their places in `merged`; the keys of b begin at chunk_keys.
      //~ (void)a_keys, (void)b_keys, (void)merged;
      // An item of a waits if keys of b to come may be before it; one of b also if keys of a to come may be equal to
      // it.
      if (b + b_count < b_end) a_final = upper_rank(a_keys, a_count, b_keys[b_count - 1], before);
      if (a + a_count < a_end) b_final = lower_rank(b_keys, b_count, a_keys[a_count - 1], before);
      for (int i = threadIdx.x; i < a_final; i += blockDim.x) {
        copy_item(merged, i + lower_rank(b_keys, b_count, a_keys[i], before), loaded, i);
      }
      for (int i = threadIdx.x; i < b_final; i += blockDim.x) {
        copy_item(merged, i + upper_rank(a_keys, a_count, b_keys[i], before), loaded, chunk_keys + i);
      }
      // end solution
      __syncthreads();  // the store reads what other threads have placed; the next load overwrites what they have read
      for (int i = threadIdx.x; i < a_final + b_final; i += blockDim.x) copy_item(to, out + i, merged, i);
      a += a_final;
      b += b_final;
      out += a_final + b_final;
    }
  }
}

template <class Key, class Value, class Before>
void sort(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const Scratch<Key, Value> scratch(n, stream);
  Items<Key, Value> from = items, to = scratch.items();
  // The tiles go where an odd or even number of levels, each to the other array, ends in the caller's.
  if (merge_levels(n, tile_keys) % 2 == 1) std::swap(from, to);
  sort_tiles(items, from, n, before, shape, stream);
  for (std::int64_t run = tile_keys; run < n; run *= 2) {
    const std::int64_t pairs = (n + 2 * run - 1) / (2 * run);
    const unsigned blocks = lab::blocks_or(shape, pairs, 1);
    with_comparison(before, [&](auto comparison) {
      merge_level<<<blocks, threads, 0, stream>>>(from, to, n, pairs, run, comparison);
    });
    CUDA_CHECK(cudaGetLastError());
    std::swap(from, to);
  }
}

}  // namespace

template <class Key, class Value, class Before>
void sort_tiles(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, Before before, lab::LaunchShape shape,
                cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = lab::blocks_or(shape, n, tile_keys);
  if (n == 0) return;
  // begin solution
  //~ // Your code: launch sort_tiles_kernel, with the comparison that with_comparison(before, ..) gives (as in sort
  //~ // above), and check the launch.
  //~ (void)blocks, (void)threads;
  //~ NOT_WRITTEN("step 02");
  with_comparison(before,
                  [&](auto comparison) { sort_tiles_kernel<<<blocks, threads, 0, stream>>>(from, to, n, comparison); });
  CUDA_CHECK(cudaGetLastError());
  // end solution
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

using Pairs = Items<std::uint32_t, std::uint32_t>;
template void sort_tiles(Keys<std::uint32_t>, Keys<std::uint32_t>, std::int64_t, lab::Order, lab::LaunchShape,
                         cudaStream_t);
template void sort_tiles(Keys<std::int32_t>, Keys<std::int32_t>, std::int64_t, lab::Order, lab::LaunchShape,
                         cudaStream_t);
template void sort_tiles(Keys<std::uint64_t>, Keys<std::uint64_t>, std::int64_t, lab::Order, lab::LaunchShape,
                         cudaStream_t);
template void sort_tiles(Keys<float>, Keys<float>, std::int64_t, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_tiles(Keys<std::uint32_t>, Keys<std::uint32_t>, std::int64_t, ByLowByte, lab::LaunchShape,
                         cudaStream_t);
template void sort_tiles(Pairs, Pairs, std::int64_t, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_tiles(Pairs, Pairs, std::int64_t, ByLowByte, lab::LaunchShape, cudaStream_t);
template void sort_block(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_block(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_block(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_block(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_block(lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape, cudaStream_t);
template void sort_block(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                         cudaStream_t);
template void sort_block(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape, cudaStream_t);

}  // namespace merge_sort

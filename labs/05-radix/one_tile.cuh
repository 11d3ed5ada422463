// Keys that fit into one block of step 05: small arrays, and buckets that bucket_sort.cuh leaves behind. All passes
// take place in shared memory; they are those of the step, by the same functions.
#pragma once

#include "buckets.cuh"
#include "tile.cuh"

namespace radix {
namespace {

/// Puts the thread's keys and values at their positions in shared memory. This is for the step's file to define.
template <bool in_order, class Tile, class Key>
__device__ void place_items(Tile& tile, const Items<Tile>& items, int count, Coding<Key> coding, int pass);

/// Sorts the codes of one block, of which there are `count`, by their lowest `passes` bytes.
template <class Tile, class Key>
__device__ void sort_items(Tile& tile, Items<Tile>& items, int count, Coding<Key> coding, int passes) {
  for (int pass = 0; pass < passes; ++pass) {
    count_digits(tile, items, coding, pass);
    __syncthreads();  // a thread adds up counters of all warps
    find_places(tile, [](unsigned) {});
    __syncthreads();  // a lane draws positions from counters that other warps have written
    place_items<true>(tile, items, count, coding, pass);
    __syncthreads();  // a thread takes keys that others have put in place
    items.take(tile);
  }
}

/// Stores the items as keys.
template <class Tile, class Key, class Value>
__device__ void store_items(const Items<Tile>& items, int count, Coding<Key> coding, Pairs<lab::Bits<Key>, Value> to) {
#pragma unroll
  for (int row = 0; row < Tile::items; ++row) {
    const int i = items.first + 32 * row;
    if (row >= items.rows || i >= count) break;
    to.keys[i] = coding.decode(items.codes[row]);
    if constexpr (has_values<Value>) to.values[i] = items.values[row];
  }
}

/// Sorts keys that fit into one tile.
template <class Tile, class Key, class Value>
__global__ void __launch_bounds__(Tile::Shape::threads)
    sort_one_tile(Pairs<lab::Bits<Key>, Value> keys, int n, Coding<Key> coding) {
  auto& tile = tile_in_shared_memory<Tile>();
  Items<Tile> items((n + Tile::Shape::threads - 1) / Tile::Shape::threads);
  items.load({keys.keys, keys.values}, n);
  items.encode(coding, n);
  sort_items(tile, items, n, coding, int(sizeof(Key)));
  store_items(items, n, coding, keys);
}

/// Sorts the buckets that `heavy` lists, by those bytes of their codes that are not the same in the whole bucket.
/// `coded` is the coding of keys that are codes already.
template <class Tile, class Key>
__global__ void __launch_bounds__(Tile::Shape::threads)
    sort_heavy_buckets(std::uint32_t* keys, Coding<std::uint32_t> coded, Coding<Key> coding, int bucket_bits,
                       const unsigned* ends, const BucketPlan* plan, const unsigned* heavy) {
  auto& tile = tile_in_shared_memory<Tile>();
  for (unsigned i = blockIdx.x; i < plan->heavy; i += gridDim.x) {
    const unsigned bucket = heavy[i], first = bucket == 0 ? 0 : ends[bucket - 1];
    const int count = int(ends[bucket] - first);
    Items<Tile> items((count + Tile::Shape::threads - 1) / Tile::Shape::threads);
    items.load({keys + first, nullptr}, count);
    sort_items(tile, items, count, coded, (32 - bucket_bits + 7) / 8);
    store_items(items, count, coding, Pairs<std::uint32_t, NoValue>{keys + first, nullptr});
    __syncthreads();  // the next bucket's counters overwrite this one's, and its keys this one's
  }
}

/// Queues sort_one_tile.
template <class Tile, class Key, class Value>
void sort_one(Pairs<lab::Bits<Key>, Value> keys, std::int64_t n, Coding<Key> coding, cudaStream_t stream) {
  allow_shared_memory(sort_one_tile<Tile, Key, Value>, sizeof(Tile));
  sort_one_tile<Tile><<<1, Tile::Shape::threads, sizeof(Tile), stream>>>(keys, int(n), coding);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace
}  // namespace radix

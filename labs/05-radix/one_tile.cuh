// Keys that fit into one block of step 05: small arrays, and buckets that bucket_sort.cuh leaves behind. All passes
// take place in shared memory; they are those of the step, by the same functions.
#pragma once

#include "bucket_sort.cuh"
#include "tile.cuh"

namespace radix {
namespace {

/// Puts the thread's keys and values at their positions in shared memory. This is for the step's file to define.
template <class Tile, class Coding>
__device__ void place_items(Tile& tile, const Items<Tile>& items, Coding coding, int pass);

/// Sorts the codes of one block by their lowest `passes` bytes.
template <class Tile, class Key>
__device__ void sort_items(Tile& tile, Items<Tile>& items, Coding<Key> coding, int passes) {
  for (int pass = 0; pass < passes; ++pass) {
    count_digits(tile, items, coding, pass);
    __syncthreads();  // a thread adds up counters of all warps
    find_places(tile, [](unsigned) {});
    __syncthreads();  // a lane draws positions from counters that other warps have written
    place_items(tile, items, coding, pass);
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
  sort_items(tile, items, coding, int(sizeof(Key)));
  store_items(items, n, coding, keys);
}

/// A tile that holds the largest bucket.
template <class Shape>
using BucketTile = Tile<TileShape<Shape::threads, Shape::items, Shape::blocks_per_multiprocessor>, std::uint32_t,
                        std::uint32_t, NoValue>;

/// Sorts the `count` codes at `from`, as detail::sort_bucket does, by the lowest `bits` bits. Slower, but for any codes:
/// by passes in shared memory, which may be the same as the bucket's.
template <class Tile, class From, class Key>
__device__ void sort_heavy_bucket(const From* from, std::uint32_t highest, std::uint32_t* to, int count, int bits,
                                  Coding<std::uint32_t> coded, Coding<Key> coding) {
  __syncthreads();  // the tile takes the place of the bucket, at which others may still look
  auto& tile = tile_in_shared_memory<Tile>();
  Items<Tile> items((count + Tile::Shape::threads - 1) / Tile::Shape::threads);
#pragma unroll
  for (int row = 0; row < Tile::items; ++row) {
    const int i = items.first + 32 * row;
    items.codes[row] = i < count ? from[i] | highest : ~0u;
  }
  sort_items(tile, items, coded, (bits + 7) / 8);
  store_items(items, count, coding, Pairs<std::uint32_t, NoValue>{to, nullptr});
}

/// Queues sort_one_tile.
template <class Tile, class Key, class Value>
void sort_one(Pairs<lab::Bits<Key>, Value> keys, std::int64_t n, Coding<Key> coding, const Device& device,
              cudaStream_t stream) {
  allow_shared_memory<sort_one_tile<Tile, Key, Value>>(sizeof(Tile), device);
  sort_one_tile<Tile><<<1, Tile::Shape::threads, sizeof(Tile), stream>>>(keys, int(n), coding);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace
}  // namespace radix

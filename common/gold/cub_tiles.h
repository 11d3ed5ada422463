// A kernel that sorts tiles with CUB's block and warp primitives: for tiles and segments of one short length, this is what
// a user of CUB would write instead of calling its segmented sort.
#pragma once

#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_store.cuh>
#include <limits>
#include <type_traits>

#include "gold/cub.h"

namespace gold {

/// The type of the values of keys without values.
using NoValue = cub::NullType;

/// Arrays in device memory; without values, `values` is not used.
template <class Key, class Value>
struct Items {
  Key* keys;
  Value* values = nullptr;
};

template <class Key>
struct Before {
  bool descending;
  __device__ bool operator()(Key a, Key b) const { return descending ? b < a : a < b; }
};

/// The threads of a block that sort a tile together, and how they load and store it.
template <int tile, int its_threads>
struct GroupOfBlock {
  static constexpr int threads = its_threads, per_block = 1, items = tile / threads;
  template <class T>
  using Load = cub::BlockLoad<T, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
  template <class T>
  using Store = cub::BlockStore<T, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
  static __device__ void wait() { __syncthreads(); }
};

/// The same for lanes of a warp; a block has several such groups.
template <int tile, int lanes>
struct GroupOfWarp {
  static constexpr int threads = lanes, per_block = 128 / lanes, items = tile / lanes;
  template <class T>
  using Load = cub::WarpLoad<T, items, cub::WARP_LOAD_TRANSPOSE, lanes>;
  template <class T>
  using Store = cub::WarpStore<T, items, cub::WARP_STORE_TRANSPOSE, lanes>;
  static __device__ void wait() { __syncwarp(); }
};

/// The order is an argument of a merge sort's call.
template <class CubSort, class Group>
struct ByMerging : Group {
  using Memory = typename CubSort::TempStorage;
  template <class Key, class... Values>
  static __device__ void sort(Memory& memory, bool descending, Key& keys, Values&... values) {
    CubSort(memory).Sort(keys, values..., Before<std::remove_extent_t<Key>>{descending});
  }
};

template <class Key, class Value, int tile, int lanes>
using MergeOfWarp = ByMerging<cub::WarpMergeSort<Key, tile / lanes, lanes, Value>, GroupOfWarp<tile, lanes>>;
template <class Key, class Value, int tile, int threads>
using MergeOfBlock = ByMerging<cub::BlockMergeSort<Key, threads, tile / threads, Value>, GroupOfBlock<tile, threads>>;

template <class Key, class Value, int tile, int threads>
struct RadixOfBlock : GroupOfBlock<tile, threads> {
  using CubSort = cub::BlockRadixSort<Key, threads, tile / threads, Value>;
  using Memory = typename CubSort::TempStorage;
  template <class... Arrays>
  static __device__ void sort(Memory& memory, bool descending, Arrays&... arrays) {
    descending ? CubSort(memory).SortDescending(arrays...) : CubSort(memory).Sort(arrays...);
  }
};

/// Each group sorts the tile of its number. Only the last tile may have fewer keys: it is filled up with `last`, which no
/// key follows.
template <class Group, class Key, class Value>
__global__ void __launch_bounds__(Group::threads* Group::per_block)
    sort_tiles(Items<const Key, const Value> in, Items<Key, Value> out, std::int64_t n, Key last, bool descending) {
  using LoadKeys = typename Group::template Load<Key>;
  using StoreKeys = typename Group::template Store<Key>;
  constexpr int tile = Group::threads * Group::items;
  constexpr bool has_values = !std::is_same_v<Value, NoValue>;
  using ValueOrKey = std::conditional_t<has_values, Value, Key>;
  using LoadValues = typename Group::template Load<ValueOrKey>;
  using StoreValues = typename Group::template Store<ValueOrKey>;
  __shared__ union {
    typename LoadKeys::TempStorage load;
    typename LoadValues::TempStorage load_values;
    typename Group::Memory sort;
    typename StoreKeys::TempStorage store;
    typename StoreValues::TempStorage store_values;
  } memories[Group::per_block];
  auto& memory = memories[threadIdx.x / Group::threads];
  const std::int64_t begin = (std::int64_t{blockIdx.x} * Group::per_block + threadIdx.x / Group::threads) * tile;
  const int count = begin + tile <= n ? tile : begin < n ? static_cast<int>(n - begin) : 0;

  Key keys[Group::items];
  [[maybe_unused]] ValueOrKey values[Group::items];
  count == tile ? LoadKeys(memory.load).Load(in.keys + begin, keys)
                : LoadKeys(memory.load).Load(in.keys + begin, keys, count, last);
  Group::wait();  // each part reuses the memory of the one before
  if constexpr (has_values) {
    LoadValues(memory.load_values).Load(in.values + begin, values, count);
    Group::wait();
    Group::sort(memory.sort, descending, keys, values);
  } else {
    Group::sort(memory.sort, descending, keys);
  }
  Group::wait();
  count == tile ? StoreKeys(memory.store).Store(out.keys + begin, keys)
                : StoreKeys(memory.store).Store(out.keys + begin, keys, count);
  if constexpr (has_values) {
    Group::wait();
    StoreValues(memory.store_values).Store(out.values + begin, values, count);
  }
}

/// Queues the sort of n keys by tiles. `in` and `out` may be the same arrays.
template <class Group, class Key, class Value>
void queue_tiles(Items<const Key, const Value> in, Items<Key, Value> out, std::int64_t n, Order order,
                 cudaStream_t stream) {
  if (n == 0) return;
  using Limits = std::numeric_limits<Key>;
  const bool descending = order == Order::descending;
  const Key largest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const Key smallest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  constexpr int threads = Group::threads * Group::per_block;
  constexpr std::int64_t keys_per_block = std::int64_t{threads} * Group::items;
  const auto blocks = static_cast<unsigned>((n + keys_per_block - 1) / keys_per_block);
  sort_tiles<Group><<<blocks, threads, 0, stream>>>(in, out, n, descending ? smallest : largest, descending);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace gold

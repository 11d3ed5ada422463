// The tiles of step 05: how large they are, where they are in shared memory, and how they are loaded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "items.cuh"
#include "step/device_attribute.h"

#ifndef __SIMT__
#include <cuda_pipeline.h>
#endif

namespace merge_sort {

/// True if `Before` is the order of all keys, in which different integers are never equal.
template <class Before>
inline constexpr bool is_order_of_keys = false;
template <lab::Order order>
inline constexpr bool is_order_of_keys<InOrder<order>> = true;
template <>
inline constexpr bool is_order_of_keys<InEitherOrder> = true;

/// Items per thread, at most, where an item takes more registers than a key of 4 bytes: longer keys, values, and keys
/// that a network does not sort.
inline constexpr int max_items_with_more = 17;

/// A block of `threads_per_block` threads, and the tile that it works on. `max_items`: per thread, an odd number.
template <class TheKey, class TheValue, class TheBefore, int threads_per_block, int max_items>
struct RecordShape {
  using Key = TheKey;
  using Value = TheValue;
  using Before = TheBefore;
  /// True if a network may sort the keys, although it is not stable: equal keys are indistinguishable, except for -0
  /// and +0.
  static constexpr bool by_network = !has_values<Value> && is_order_of_keys<Before>;
  static constexpr int threads = threads_per_block;
  /// For 1024 threads per multiprocessor, which is as many as fit if each has 64 registers.
  static constexpr int blocks_per_multiprocessor = 1024 / threads;
  /// Items per thread. Odd, so that 32 threads that each access the k-th of their own items access different banks.
  static constexpr int items = by_network && sizeof(Key) <= 4 ? max_items : std::min(max_items, max_items_with_more);
  static constexpr int tile = threads * items;  ///< items per tile
  static constexpr std::size_t key_bytes = tile * sizeof(Key);
  static constexpr std::size_t shared_bytes = key_bytes + (has_values<Value> ? tile * sizeof(Value) : 0);
  /// Whether a kernel must opt in to this much shared memory (smem) per block, with opt_in_to_shared_memory().
  static constexpr bool needs_smem_opt_in = shared_bytes > 48 * 1024;
};

/// A tile in the block's dynamic shared memory, which may be larger than 48 KiB. `index`: which of the block's tiles.
template <class Shape>
__device__ inline auto tile_in_shared_memory(int index = 0) {
  extern __shared__ uint4 shared_memory[];
  char* const bytes = reinterpret_cast<char*>(shared_memory) + index * Shape::shared_bytes;
  return Items<typename Shape::Key, typename Shape::Value>{
      reinterpret_cast<typename Shape::Key*>(bytes),
      reinterpret_cast<typename Shape::Value*>(bytes + Shape::key_bytes)};
}

/// The items of one thread. They stay in registers because all loops over them are unrolled.
template <class Shape>
struct OwnItems {
  typename Shape::Key keys[Shape::items];
  typename Shape::Value values[has_values<typename Shape::Value> ? Shape::items : 1];

  __device__ Items<typename Shape::Key, typename Shape::Value> items() { return {keys, values}; }
};

/// *to = *from, from global to shared memory, bypassing the registers. A thread can therefore have many copies under
/// way at a time, which hides their latency. It must call wait_for_copies() before any thread reads what it has copied.
template <class T>
__device__ inline void begin_copy(T* to, const T* from) {
#ifndef __SIMT__
  __pipeline_memcpy_async(to, from, sizeof(T));  // on GPUs before compute capability 8.0 an ordinary copy
#else
  *to = *from;
#endif
}

/// Waits for all copies that this thread has begun.
__device__ inline void wait_for_copies() {
#ifndef __SIMT__
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

/// Begins to copy from[0], ..., from[count - 1] to to[0], to[step], to[2 * step], ... Neighbouring threads copy
/// neighbouring items. All threads of the block call it.
template <int step, class Shape, class Key, class Value>
__device__ inline void begin_copies(Items<Key, Value> to, Items<Key, Value> from, int count) {
#pragma unroll 4
  for (int i = threadIdx.x; i < count; i += Shape::threads) {
    begin_copy(&to.keys[i * step], &from.keys[i]);
    if constexpr (has_values<Value>) begin_copy(&to.values[i * step], &from.values[i]);
  }
}

/// The items from position i on.
template <class Key, class Value, class Index>
__device__ inline Items<Key, Value> items_from(Items<Key, Value> items, Index i) {
  if constexpr (has_values<Value>) return {items.keys + i, items.values + i};
  return {items.keys + i, nullptr};
}

/// Stores the tile's first `count` items to to[0], to[1], ...
template <class Shape, class Key, class Value>
__device__ inline void store_items(Items<Key, Value> to, Items<Key, Value> tile, int count) {
#pragma unroll 8
  for (int i = threadIdx.x; i < count; i += Shape::threads) copy_item(to, i, tile, i);
}

/// True if the device has enough shared memory for a block of this shape.
template <class Shape>
bool fits() {
  return lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >= int(Shape::shared_bytes);
}

/// Lets a kernel be launched with the shared memory of a shape, which may be more than the 48 KiB of every GPU.
template <class Shape, class Kernel>
void opt_in_to_shared_memory(Kernel* kernel) {
  if constexpr (Shape::needs_smem_opt_in) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(Shape::shared_bytes)));
  }
}

}  // namespace merge_sort

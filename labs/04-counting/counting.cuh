// What the steps of lab 04 share: atomics on 64-bit counters, the grid-stride loop, reading sixteen bytes at once,
// scratch memory that the device may not have, and shared memory beyond 48 KiB.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "counting.h"
#include "step/device_array.h"
#include "step/device_attribute.h"
#include "step/launch_shape.h"

namespace counting {

/// What a scan adds up.
using Values = lab::Span<const std::uint64_t>;

/// Keys that one block may count, at most: its counters have 32 bits.
inline constexpr std::int64_t max_keys_per_block = std::int64_t{1} << 31;

/// Adds `count` to *counter indivisibly and returns the old value. CUDA's atomics take
/// `unsigned long long`, which has the same 64 bits as uint64_t but is a different type.
__device__ inline std::uint64_t atomic_add(std::uint64_t* counter, std::uint64_t count) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(counter), static_cast<unsigned long long>(count));
}

/// The counter whose run contains `position`: the v with sums[v] <= position < sums[v + 1]. A binary search among
/// the counters from `v` to below `end` finds it; v + 1 is the partition point, the first counter with a sum above
/// `position`. Requires sums[v] <= position < sums[end]. To search all counters of bytes, pass 0 and byte_values.
template <class Index>
__device__ inline Index counter_of(const std::uint64_t* sums, std::uint64_t position, Index v, Index end) {
  while (end - v > 1) {
    const Index middle = v + (end - v) / 2;
    if (sums[middle] <= position) {
      v = middle;
    } else {
      end = middle;
    }
  }
  return v;
}

/// How many of n items are in the tile that begins at item `first`: `tile`, or fewer in the last one.
__device__ inline int items_in_tile(std::int64_t n, std::int64_t first, std::int64_t tile) {
  return int(n - first < tile ? n - first : tile);
}

/// The grid-stride loop of step 01: calls f(i) for every i below n, each in one thread of the grid.
template <class F>
__device__ inline void for_each_index(std::int64_t n, F f) {
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

/// Adds a block's counters to those in global memory. In step 02 you write this yourself. Step 04 may call it.
__device__ inline void add_block_counts(const unsigned* block_counts, std::uint64_t* counts, int size) {
  for (int v = threadIdx.x; v < size; v += blockDim.x) {
    if (block_counts[v] != 0) atomic_add(&counts[v], block_counts[v]);
  }
}

/// n keys as vectors of 16 bytes, each of which a thread reads or writes with one instruction. Vectors begin at
/// addresses divisible by 16. The few keys before the first vector and after the last one are the edges.
template <class Key>
struct Vectors {
  static constexpr int keys_per_vector = 16 / sizeof(Key);
  std::int64_t first;  ///< index of the first vector's first key
  std::int64_t count;  ///< number of vectors
  std::int64_t edges;  ///< number of keys outside the vectors

  Vectors(const Key* data, std::int64_t n) {
    const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % 16 / sizeof(Key));
    first = std::min(n, (keys_per_vector - misaligned) % keys_per_vector);
    count = (n - first) / keys_per_vector;
    edges = n - count * keys_per_vector;
  }

  /// The first vector.
  template <class Data>
  __device__ auto* in(Data* keys) const {
    return reinterpret_cast<std::conditional_t<std::is_const_v<Data>, const uint4, uint4>*>(keys + first);
  }

  /// The index of edge e, 0 <= e < edges.
  __host__ __device__ std::int64_t edge(std::int64_t e) const { return e < first ? e : e + count * keys_per_vector; }
};

/// Key i of a vector, i < Vectors<Key>::keys_per_vector.
template <class Key>
__device__ inline Key key_of(const uint4& vector, int i) {
  const unsigned words[] = {vector.x, vector.y, vector.z, vector.w};
  constexpr int keys_per_word = 4 / sizeof(Key);
  return Key(words[i / keys_per_word] >> i % keys_per_word * (8 * sizeof(Key)) % 32);
}

/// The vector of the bytes f(0) ... f(15).
template <class F>
__device__ inline uint4 vector_of_bytes(F f) {
  const auto word = [&](int i) { return f(i) | f(i + 1) << 8 | f(i + 2) << 16 | f(i + 3) << 24; };
  return {word(0), word(4), word(8), word(12)};
}

/// Calls f(key) for every key, each in one thread of the grid. A thread reads a vector at a time.
template <class Key, class F>
__device__ inline void for_each_key(const Key* keys, const Vectors<Key>& vectors, F f) {
  const uint4* const all = vectors.in(keys);
  for_each_index(vectors.count, [&](std::int64_t j) {
    const uint4 vector = all[j];
#pragma unroll
    for (int i = 0; i < Vectors<Key>::keys_per_vector; ++i) f(key_of<Key>(vector, i));
  });
  for_each_index(vectors.edges, [&](std::int64_t e) { f(keys[vectors.edge(e)]); });
}

/// The user's number of blocks, if there is one. Otherwise enough persistent blocks to fill every streaming
/// multiprocessor (SM) with 2048 threads, or fewer if a thread would get less than `items_per_thread` of the `items`.
inline unsigned resident_blocks_or(lab::LaunchShape shape, int threads, std::int64_t items, int items_per_thread) {
  const int multiprocessors = lab::device_attribute(cudaDevAttrMultiProcessorCount);
  const unsigned blocks = lab::blocks_or(shape, items, std::int64_t(threads) * items_per_thread);
  return shape.blocks ? blocks : std::min(blocks, unsigned(multiprocessors * (2048 / threads)));
}

/// n values of T. Throws Unsupported, which says `what` they are, if the device does not have enough free memory.
template <class T>
lab::DeviceArray<T> scratch(std::int64_t n, const char* what, cudaStream_t stream) {
  try {
    return {n, stream};
  } catch (const lab::CudaError& error) {
    if (error.code != cudaErrorMemoryAllocation) throw;
    cudaGetLastError();  // clears the error, which is handled here
    throw lab::Unsupported(std::to_string(n) + " " + what + " need " + std::to_string((n * sizeof(T)) >> 20) +
                           " MiB, which the device does not have free");
  }
}

/// Allows a kernel more dynamic shared memory than the 48 KiB that every kernel may use. Throws Unsupported if the
/// device has less than that.
template <class Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes) {
  if (bytes <= 48 * 1024) return;
  const int available = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (bytes > std::size_t(available)) {
    throw lab::Unsupported("this launch shape needs " + std::to_string(bytes) +
                           " bytes of shared memory per block, but the device has " + std::to_string(available) +
                           ": choose fewer threads per block");
  }
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
}

}  // namespace counting

// What the steps of lab 04 share: counters, reading sixteen bytes at a time, scratch memory that may not be there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "counting.h"
#include "step/device_array.h"
#include "step/launch_shape.h"

namespace counting {

/// *counter += count, as one step that no other thread can get into; gives back what stood there before.
/// CUDA's atomics know `unsigned long long`, which has the 64 bits of uint64_t under another name.
__device__ inline std::uint64_t atomic_add(std::uint64_t* counter, std::uint64_t count) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(counter), static_cast<unsigned long long>(count));
}

/// The counter whose run holds place `place`: the v with sums[v] <= place < sums[v + 1], found by halving among the
/// counters from `v` to below `end`. sums[end] must lie above `place`, sums[v] not.
template <class Index>
__device__ inline Index counter_of(const std::uint64_t* sums, std::uint64_t place, Index v, Index end) {
  while (end - v > 1) {
    const Index middle = v + (end - v) / 2;
    if (sums[middle] <= place) {
      v = middle;
    } else {
      end = middle;
    }
  }
  return v;
}

/// n keys as vectors of 16 bytes, which one thread reads or writes at once: full bandwidth with fewer requests. Vectors
/// begin at addresses that 16 divides; the few keys before the first and behind the last vector are the edges.
template <class Key>
struct Vectors {
  static constexpr int keys = 16 / sizeof(Key);  ///< in a vector
  std::int64_t first;                            ///< the key that the first vector begins with
  std::int64_t count;                            ///< of vectors
  std::int64_t edges;

  Vectors(const Key* data, std::int64_t n) {
    const auto misplaced = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % 16 / sizeof(Key));
    first = std::min(n, (keys - misplaced) % keys);
    count = (n - first) / keys;
    edges = n - count * keys;
  }

  /// The place of edge e, 0 <= e < edges.
  __host__ __device__ std::int64_t edge(std::int64_t e) const { return e < first ? e : e + count * keys; }
};

/// Key number i of a vector, i < Vectors<Key>::keys.
template <class Key>
__device__ inline Key key_of(const uint4& vector, int i) {
  const unsigned words[] = {vector.x, vector.y, vector.z, vector.w};
  constexpr int keys_a_word = 4 / sizeof(Key);
  return Key(words[i / keys_a_word] >> i % keys_a_word * (8 * sizeof(Key)) % 32);
}

/// Calls f(key) for every key, each by one thread of the grid; a thread has a vector at a time.
template <class Key, class F>
__device__ inline void for_each_key(const Key* keys, const Vectors<Key>& vectors, F f) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const uint4* const all = reinterpret_cast<const uint4*>(keys + vectors.first);
  for (std::int64_t j = thread; j < vectors.count; j += step) {
    const uint4 vector = all[j];
#pragma unroll
    for (int i = 0; i < Vectors<Key>::keys; ++i) f(key_of<Key>(vector, i));
  }
  for (std::int64_t e = thread; e < vectors.edges; e += step) f(keys[vectors.edge(e)]);
}

/// Enough blocks to give each thread of the device work, `each` blocks a multiprocessor; fewer where each block would
/// get less than `items_a_block` of the `items`. Or what the user asked for.
inline unsigned resident_blocks_or(lab::LaunchShape shape, int each, std::int64_t items, std::int64_t items_a_block) {
  int device = 0, multiprocessors = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const unsigned blocks = lab::blocks_or(shape, items, items_a_block);
  return shape.blocks ? blocks : std::min(blocks, unsigned(multiprocessors * each));
}

/// n values of T; Unsupported, with `what` they are for, where the device has not so much memory left.
template <class T>
lab::DeviceArray<T> scratch(std::int64_t n, const char* what, cudaStream_t stream) {
  try {
    return {n, stream};
  } catch (const lab::CudaError& error) {
    if (error.code != cudaErrorMemoryAllocation) throw;
    cudaGetLastError();  // it has been dealt with
    throw lab::Unsupported(std::to_string(n) + " " + what + " need " + std::to_string((n * sizeof(T)) >> 20) +
                           " MiB, which the device does not have free");
  }
}

}  // namespace counting

// What the two files of step 04 share: the range of the keys, and which counter a key has in it.
#pragma once

#include <cstdint>
#include <string>

#include "counting.cuh"

namespace counting {

/// Smallest and largest of the keys' ordered_bits: unsigned numbers in the order of the keys, whatever their type.
struct Range {
  std::uint32_t smallest = ~0u;
  std::uint32_t largest = 0;

  /// Counters for all values of the range.
  std::uint64_t counters() const { return std::uint64_t{largest} - smallest + 1; }
};

/// The range of the keys, at least one, on the host: waits for the stream. Written in 04_range.cu.
template <class Key>
Range range_of(lab::Span<const Key> keys, lab::LaunchShape shape, cudaStream_t stream);

/// Throws Unsupported if the range has more values than step 04 has counters.
inline void refuse_large(Range range) {
  if (range.counters() <= largest_range) return;
  throw lab::Unsupported("the keys' range needs " + std::to_string(range.counters()) + " counters (" +
                         std::to_string(range.counters() * sizeof(std::uint64_t) >> 20) +
                         " MiB); this step has at most " + std::to_string(largest_range) +
                         ": sort these keys with another lab's step");
}

/// A key's counter: its distance from the key that comes first. Counters stand in the order of the output, ascending or
/// descending.
template <class Key>
struct Counter {
  Range range;
  lab::Order order;

  __device__ std::uint32_t of(Key key) const {
    const std::uint32_t bits = lab::ordered_bits(key);
    return order == lab::Order::ascending ? bits - range.smallest : range.largest - bits;
  }
  /// The key that the counter belongs to.
  __device__ Key key(std::uint32_t counter) const {
    const std::uint32_t bits = order == lab::Order::ascending ? range.smallest + counter : range.largest - counter;
    return lab::from_ordered_bits<Key>(lab::Bits<Key>(bits));
  }
};

/// Writes the sorted keys, as step 03 does, for keys of any type: the key of counter v to the places sums[v] .. sums[v
/// + 1] - 1.
template <class Key>
__global__ void place_range(Key* keys, Vectors<Key> vectors, Counter<Key> counter, const std::uint64_t* sums,
                            std::int64_t counters) {
  constexpr int keys_a_word = 4 / sizeof(Key);
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  uint4* const all = reinterpret_cast<uint4*>(keys + vectors.first);
  for (std::int64_t j = thread; j < vectors.count; j += step) {
    std::uint64_t p = vectors.first + j * Vectors<Key>::keys;
    std::int64_t v = counter_of(sums, p, std::int64_t{0}, counters);
    unsigned words[4] = {};
#pragma unroll
    for (int i = 0; i < Vectors<Key>::keys; ++i, ++p) {
      if (sums[v + 1] <= p) v = counter_of(sums, p, v + 1, counters);
      words[i / keys_a_word] |= unsigned(counter.key(std::uint32_t(v))) << i % keys_a_word * (8 * sizeof(Key)) % 32;
    }
    const uint4 vector = {words[0], words[1], words[2], words[3]};
    all[j] = vector;
  }
  for (std::int64_t e = thread; e < vectors.edges; e += step) {
    const std::int64_t p = vectors.edge(e);
    keys[p] = counter.key(std::uint32_t(counter_of(sums, std::uint64_t(p), std::int64_t{0}, counters)));
  }
}

/// Lets a kernel have more than the 48 KiB of dynamic shared memory that every kernel may have. Unsupported where the
/// device has less.
template <class Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes) {
  if (bytes <= 48 * 1024) return;
  int device = 0, most = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  if (bytes > std::size_t(most)) {
    throw lab::Unsupported("this launch shape needs " + std::to_string(bytes) +
                           " bytes of shared memory a block; the " + "device has " + std::to_string(most) +
                           ": ask for fewer threads");
  }
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
}

}  // namespace counting

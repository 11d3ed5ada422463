// What steps 04 and 05 share: the range of the keys, the counter that a key has in it, and what step 04 uses but does
// not teach.
#pragma once

#include <cstdint>
#include <string>

#include "counting.cuh"

namespace counting {

/// Smallest and largest of the keys' ordered_bits: unsigned numbers in the order of the keys, whatever the key type.
struct Range {
  std::uint32_t smallest = ~0u;
  std::uint32_t largest = 0;

  /// The number of values in the range, which is the number of counters it needs.
  __host__ __device__ std::uint64_t size() const { return std::uint64_t{largest} - smallest + 1; }
};

/// Throws Unsupported if the range has more values than the steps have counters.
inline void refuse_large(Range range) {
  if (range.size() <= max_range) return;
  throw lab::Unsupported("the keys' range needs " + std::to_string(range.size()) + " counters (" +
                         std::to_string(range.size() * sizeof(std::uint64_t) >> 20) + " MiB); this step has at most " +
                         std::to_string(max_range) + ": sort these keys with a step of another lab");
}

/// The counters of a range. They are in the order of the output, ascending or descending: a key's counter is its
/// distance from the key that comes first.
template <class Key>
struct Counters {
  Range range;
  lab::Order order;

  __host__ __device__ int size() const { return int(range.size()); }

  __device__ std::uint32_t index(Key key) const {
    const std::uint32_t bits = lab::ordered_bits(key);
    return order == lab::Order::ascending ? bits - range.smallest : range.largest - bits;
  }

  /// The key whose counter has this index.
  __device__ Key key(std::uint32_t index) const {
    const std::uint32_t bits = order == lab::Order::ascending ? range.smallest + index : range.largest - index;
    return lab::from_ordered_bits<Key>(lab::Bits<Key>(bits));
  }
};

/// True if blocks should count in shared memory: if the counters fit there and cannot overflow, and a block has more
/// keys to count than counters to add up.
template <class Key>
bool count_in_shared(const Counters<Key>& counters, std::int64_t n, unsigned blocks) {
  constexpr int max_shared_counters = 8192;  // 32 KiB of a block's shared memory
  const std::int64_t keys_per_block = n / blocks;
  return counters.size() <= max_shared_counters && keys_per_block < max_keys_per_block &&
         keys_per_block >= counters.size();
}

/// Writes the sorted keys, as step 03 does, for keys of any type: the key of counter v to positions sums[v] ...
/// sums[v + 1] - 1.
template <class Key>
__global__ void place_range(Key* keys, Vectors<Key> vectors, Counters<Key> counters, const std::uint64_t* sums) {
  constexpr int keys_per_word = 4 / sizeof(Key);
  const std::int64_t size = counters.size();
  uint4* const all = vectors.in(keys);
  for_each_index(vectors.count, [&](std::int64_t j) {
    std::uint64_t p = vectors.first + j * Vectors<Key>::keys_per_vector;
    std::int64_t v = counter_of(sums, p, std::int64_t{0}, size);
    unsigned words[4] = {};
#pragma unroll
    for (int i = 0; i < Vectors<Key>::keys_per_vector; ++i, ++p) {
      if (sums[v + 1] <= p) v = counter_of(sums, p, v + 1, size);
      words[i / keys_per_word] |= unsigned(counters.key(std::uint32_t(v)))
                                  << i % keys_per_word * (8 * sizeof(Key)) % 32;
    }
    const uint4 vector = {words[0], words[1], words[2], words[3]};
    all[j] = vector;
  });
  for_each_index(vectors.edges, [&](std::int64_t e) {
    const std::int64_t p = vectors.edge(e);
    keys[p] = counters.key(std::uint32_t(counter_of(sums, std::uint64_t(p), std::int64_t{0}, size)));
  });
}

/// Queues the reduction: writes smallest and largest of the keys' ordered_bits to `range`, in device memory. Defined in
/// 04_range.cu.
template <class Key>
void queue_reduction(lab::Span<const Key> keys, std::uint32_t* range, lab::LaunchShape shape, cudaStream_t stream);

/// Sorts keys that all lie in `range`. Defined in 04_range.cu.
template <class Key>
void sort_within(Range range, lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// The range of the keys, of which there is at least one, on the host. Waits for the stream.
template <class Key>
Range range_of(lab::Span<const Key> keys, lab::LaunchShape shape, cudaStream_t stream) {
  const lab::DeviceArray<std::uint32_t> ends = scratch<std::uint32_t>(2, "ends of the range", stream);
  queue_reduction(keys, ends.data(), shape, stream);
  std::uint32_t range[2];
  CUDA_CHECK(cudaMemcpyAsync(range, ends.data(), sizeof range, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return {range[0], range[1]};
}

template <class Key>
void sort_declared_range(lab::Span<Key> keys, Key low, Key high, lab::Order order, lab::LaunchShape shape,
                         cudaStream_t stream) {
  lab::blocks_or(shape, lab::threads_or(shape, 1), 1);  // throws if the shape is impossible
  const std::string declared = "the declared range " + std::to_string(low) + " ... " + std::to_string(high);
  if (lab::less(high, low)) throw lab::Unsupported(declared + " is empty");
  if (keys.n == 0) return;
  const Range allowed = {lab::ordered_bits(low), lab::ordered_bits(high)};
  // A key outside would be counted, and would write, outside the counters, so the keys are examined first.
  const Range actual = range_of(lab::Span<const Key>{keys.data, keys.n}, shape, stream);
  if (actual.smallest < allowed.smallest || actual.largest > allowed.largest) {
    const std::uint32_t outside = actual.smallest < allowed.smallest ? actual.smallest : actual.largest;
    throw lab::Unsupported("key " + std::to_string(lab::from_ordered_bits<Key>(lab::Bits<Key>(outside))) +
                           " is outside " + declared + "; nothing was sorted");
  }
  sort_within(allowed, keys, order, shape, stream);
}

}  // namespace counting

/// Defines what 04_range.cu promises for keys of three types.
#define INSTANTIATE_FOR_INTEGERS(First, Second, Third)                                                    \
  template void sort_range(lab::Span<First>, lab::Order, lab::LaunchShape, cudaStream_t);                 \
  template void sort_range(lab::Span<Second>, lab::Order, lab::LaunchShape, cudaStream_t);                \
  template void sort_range(lab::Span<Third>, lab::Order, lab::LaunchShape, cudaStream_t);                 \
  template void sort_within(Range, lab::Span<First>, lab::Order, lab::LaunchShape, cudaStream_t);         \
  template void sort_within(Range, lab::Span<Second>, lab::Order, lab::LaunchShape, cudaStream_t);        \
  template void sort_within(Range, lab::Span<Third>, lab::Order, lab::LaunchShape, cudaStream_t);         \
  template void queue_reduction(lab::Span<const First>, std::uint32_t*, lab::LaunchShape, cudaStream_t);  \
  template void queue_reduction(lab::Span<const Second>, std::uint32_t*, lab::LaunchShape, cudaStream_t); \
  template void queue_reduction(lab::Span<const Third>, std::uint32_t*, lab::LaunchShape, cudaStream_t)

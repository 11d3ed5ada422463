// cub::DeviceSegmentedSort for keys of one type: GOLD_KEY, and GOLD_VALUE if they have values (meson.build defines
// both).
#include <cub/device/device_segmented_sort.cuh>
#include <limits>

#include "gold/cub_memory.h"

namespace gold {
namespace {

__global__ void write_offsets(int* offsets, std::int64_t segments, std::int64_t length, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i <= segments) offsets[i] = static_cast<int>(i * length < n ? i * length : n);
}

struct Segments {
  std::int64_t count;
  const int* begins;  ///< count + 1 offsets; segment i ends where segment i + 1 begins
};

// The offsets are an argument of CUB's, not part of its work: the warm-up run writes them, and they stay while n and
// the length do. 32 bits are what CUB reads fastest.
Segments segments_of(std::int64_t n, std::int64_t length, cudaStream_t stream) {
  if (n > std::numeric_limits<int>::max()) {
    throw lab::Unsupported("CUB's segmented sort is timed with 32-bit offsets, for n below 2^31");
  }
  static Scratch scratch;
  static std::int64_t last_n = -1, last_length = -1;
  const std::int64_t count = (n + length - 1) / length;
  int* const begins = reinterpret_cast<int*>(scratch.at_least((count + 1) * std::int64_t{sizeof(int)}));
  if (n != last_n || length != last_length) {
    constexpr int threads = 256;
    write_offsets<<<static_cast<unsigned>(count / threads + 1), threads, 0, stream>>>(begins, count, length, n);
    CUDA_CHECK(cudaGetLastError());
    last_n = n;
    last_length = length;
  }
  return {count, begins};
}

}  // namespace

template <class Key>
void segmented(Span<Key> keys, std::int64_t length, Order order, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  const auto [count, begins] = segments_of(keys.n, length, stream);
  cub::DoubleBuffer<Key> buffer(keys.data, second_array<Key>(keys.n));
  with_temporary([&, count = count, begins = begins](void* memory, std::size_t& bytes) {
    using Sort = cub::DeviceSegmentedSort;
    return order == Order::ascending
               ? Sort::SortKeys(memory, bytes, buffer, keys.n, count, begins, begins + 1, stream)
               : Sort::SortKeysDescending(memory, bytes, buffer, keys.n, count, begins, begins + 1, stream);
  });
  bring_home(buffer, keys, stream);
}

template <class Key, class Value>
void segmented(Span<Key> keys, Span<Value> values, std::int64_t length, Order order, LaunchShape shape,
               cudaStream_t stream) {
  require_default_shape(shape);
  static_assert(sizeof(Key) == sizeof(Value), "keys and values share the second array");
  const auto [count, begins] = segments_of(keys.n, length, stream);
  Key* const second = second_array<Key>(2 * keys.n);
  cub::DoubleBuffer<Key> key_buffer(keys.data, second);
  cub::DoubleBuffer<Value> value_buffer(values.data, second + keys.n);
  with_temporary([&, count = count, begins = begins](void* memory, std::size_t& bytes) {
    using Sort = cub::DeviceSegmentedSort;
    return order == Order::ascending
               ? Sort::SortPairs(memory, bytes, key_buffer, value_buffer, keys.n, count, begins, begins + 1, stream)
               : Sort::SortPairsDescending(memory, bytes, key_buffer, value_buffer, keys.n, count, begins, begins + 1,
                                           stream);
  });
  bring_home(key_buffer, keys, stream);
  bring_home(value_buffer, values, stream);
}

#ifdef GOLD_VALUE
template void segmented(Span<GOLD_KEY>, Span<GOLD_VALUE>, std::int64_t, Order, LaunchShape, cudaStream_t);
#else
template void segmented(Span<GOLD_KEY>, std::int64_t, Order, LaunchShape, cudaStream_t);
#endif

}  // namespace gold

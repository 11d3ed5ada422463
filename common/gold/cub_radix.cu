// cub::DeviceRadixSort for keys of one type: GOLD_KEY, and GOLD_VALUE if they have values (meson.build defines both).
#include <cub/device/device_radix_sort.cuh>

#include "gold/cub_memory.h"

namespace gold {

template <class Key>
void radix(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  cub::DoubleBuffer<Key> buffer(keys.data, second_array<Key>(keys.n));
  with_temporary([&](void* memory, std::size_t& bytes) {
    constexpr int bits = 8 * sizeof(Key);
    return order == Order::ascending
               ? cub::DeviceRadixSort::SortKeys(memory, bytes, buffer, keys.n, 0, bits, stream)
               : cub::DeviceRadixSort::SortKeysDescending(memory, bytes, buffer, keys.n, 0, bits, stream);
  });
  bring_home(buffer, keys, stream);
}

template <class Key, class Value>
void radix(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  static_assert(sizeof(Key) == sizeof(Value), "keys and values share the second array");
  Key* const second = second_array<Key>(2 * keys.n);
  cub::DoubleBuffer<Key> key_buffer(keys.data, second);
  cub::DoubleBuffer<Value> value_buffer(values.data, second + keys.n);
  with_temporary([&](void* memory, std::size_t& bytes) {
    constexpr int bits = 8 * sizeof(Key);
    using Sort = cub::DeviceRadixSort;
    return order == Order::ascending
               ? Sort::SortPairs(memory, bytes, key_buffer, value_buffer, keys.n, 0, bits, stream)
               : Sort::SortPairsDescending(memory, bytes, key_buffer, value_buffer, keys.n, 0, bits, stream);
  });
  bring_home(key_buffer, keys, stream);
  bring_home(value_buffer, values, stream);
}

#ifdef GOLD_HOST
// Its memory is not kept, unlike that of the others: the case limits it.
void radix_with_copies(lab::HostSpan<std::uint32_t> keys, lab::HostSpan<std::uint32_t>, Order order,
                       std::int64_t device_bytes, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  const auto sort = [&](void* memory, std::size_t& bytes, cub::DoubleBuffer<std::uint32_t>& buffer) {
    return order == Order::ascending
               ? cub::DeviceRadixSort::SortKeys(memory, bytes, buffer, keys.n, 0, 32, stream)
               : cub::DeviceRadixSort::SortKeysDescending(memory, bytes, buffer, keys.n, 0, 32, stream);
  };
  cub::DoubleBuffer<std::uint32_t> buffer(nullptr, nullptr);
  std::size_t bytes = 0;
  CUDA_CHECK(sort(nullptr, bytes, buffer));
  const std::int64_t key_bytes = keys.n * std::int64_t{sizeof(std::uint32_t)};
  const std::int64_t rounding = 1 << 16;  // of three arrays
  if (device_bytes != 0 && 2 * key_bytes + std::int64_t(bytes) + rounding > device_bytes) {
    throw lab::Unsupported("the keys do not fit on the device");
  }
  try {
    const lab::DeviceArray<std::uint32_t> first(keys.n, stream), second(keys.n, stream);
    const lab::DeviceArray<char> memory(std::int64_t(bytes) + 1, stream);
    buffer = {first.data(), second.data()};
    CUDA_CHECK(cudaMemcpyAsync(first.data(), keys.data, key_bytes, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(sort(memory.data(), bytes, buffer));
    CUDA_CHECK(cudaMemcpyAsync(keys.data, buffer.Current(), key_bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
  } catch (const lab::CudaError& error) {
    if (error.code != cudaErrorMemoryAllocation) throw;
    cudaGetLastError();
    throw lab::Unsupported("the keys do not fit on the device");
  }
}
#endif

#ifdef GOLD_VALUE
template void radix(Span<GOLD_KEY>, Span<GOLD_VALUE>, Order, LaunchShape, cudaStream_t);
#else
template void radix(Span<GOLD_KEY>, Order, LaunchShape, cudaStream_t);
#endif

}  // namespace gold

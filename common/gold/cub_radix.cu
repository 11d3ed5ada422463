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

#ifdef GOLD_VALUE
template void radix(Span<GOLD_KEY>, Span<GOLD_VALUE>, Order, LaunchShape, cudaStream_t);
#else
template void radix(Span<GOLD_KEY>, Order, LaunchShape, cudaStream_t);
#endif

}  // namespace gold

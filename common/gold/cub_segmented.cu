// cub::DeviceSegmentedSort for keys of one type: GOLD_KEY, and GOLD_VALUE if they have values (meson.build defines
// both).
#include <cub/device/device_segmented_sort.cuh>

#include "gold/cub_memory.h"

namespace gold {

template <class Key>
void segmented(Span<Key> keys, std::int64_t length, Order order, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  const auto [count, begins] = equal_segments_of(keys.n, length, stream);
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
  const auto [count, begins] = equal_segments_of(keys.n, length, stream);
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

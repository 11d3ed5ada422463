// libcusort's radix sort (github.com/IlyaGrebnov/libcusort) behind the interface of a step. It is called as CUB is: with
// two arrays, between which it sorts back and forth, and with memory that is allocated before a time is taken.
#include "libcusort.h"

#include <libcusort.cuh>

#include "gold/cub_memory.h"

namespace {

using lab::LaunchShape;
using lab::Order;
using lab::Span;
using RadixSort = cusort::DeviceRadixSort;

template <class Key>
void sort(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  gold::require_default_shape(shape);
  cusort::DoubleBuffer<Key> buffer(keys.data, gold::second_array<Key>(keys.n));
  gold::with_temporary([&](void* memory, std::size_t& bytes) {
    constexpr int bits = 8 * sizeof(Key);
    return order == Order::ascending ? RadixSort::SortKeys(memory, bytes, buffer, keys.n, 0, bits, stream)
                                     : RadixSort::SortKeysDescending(memory, bytes, buffer, keys.n, 0, bits, stream);
  });
  gold::bring_home(buffer, keys, stream);
}

void sort_pairs(Span<std::uint32_t> keys, Span<std::uint32_t> values, Order order, LaunchShape shape,
                cudaStream_t stream) {
  gold::require_default_shape(shape);
  std::uint32_t* const second = gold::second_array<std::uint32_t>(2 * keys.n);
  cusort::DoubleBuffer<std::uint32_t> key_buffer(keys.data, second), value_buffer(values.data, second + keys.n);
  gold::with_temporary([&](void* memory, std::size_t& bytes) {
    return order == Order::ascending
               ? RadixSort::SortPairs(memory, bytes, key_buffer, value_buffer, keys.n, 0, 32, stream)
               : RadixSort::SortPairsDescending(memory, bytes, key_buffer, value_buffer, keys.n, 0, 32, stream);
  });
  gold::bring_home(key_buffer, keys, stream);
  gold::bring_home(value_buffer, values, stream);
}

constexpr lab::Step steps[] = {{.number = 1,
                                .name = "radix",
                                .idea = "cusort::DeviceRadixSort",
                                .stable = true,
                                .function = lab::Sort{.u8 = sort<std::uint8_t>,
                                                      .u16 = sort<std::uint16_t>,
                                                      .u32 = sort<std::uint32_t>,
                                                      .u64 = sort<std::uint64_t>,
                                                      .i32 = sort<std::int32_t>,
                                                      .i64 = sort<std::int64_t>,
                                                      .f32 = sort<float>,
                                                      .f64 = sort<double>,
                                                      .pairs = sort_pairs}}};

}  // namespace

std::span<const lab::Step> libcusort::table() { return steps; }

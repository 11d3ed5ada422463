// DeviceRadixSort (CUB, "Device-wide Primitives"): least significant digit first.
#pragma once

#include <utility>

#include "../detail/one_thread.cuh"
#include "../detail/radix_bits.cuh"

namespace cub {

namespace detail {

/// Copies pairs to the places that one digit of their keys gives them.
template <class Key, class From, class To>
void sort_by_digit(const From& from, const To& to, std::size_t count, const BitRange& range, int bit) {
  constexpr int most_bits = 8;
  std::size_t places[1 << most_bits] = {};
  for (std::size_t i = 0; i < count; ++i) ++places[range.digit(Key(from.keys[i]), bit, most_bits)];
  std::size_t before = 0;
  for (std::size_t& place : places) {
    const std::size_t of_digit = place;
    place = before;
    before += of_digit;
  }
  for (std::size_t i = 0; i < count; ++i) to.copy(places[range.digit(Key(from.keys[i]), bit, most_bits)]++, from, i);
}

/// The scratch pairs may be where the input is.
struct RadixSort {
  template <class Key, class Value>
  static void sort(const Pairs<const Key*, const Value*>& in, const Pairs<Key*, Value*>& out,
                   const Pairs<Key*, Value*>& scratch, std::size_t count, const BitRange& range) {
    if (range.begin >= range.end) return out.copy_all(in, count);
    sort_by_digit<Key>(in, out, count, range, range.begin);
    Pairs<Key*, Value*> from = out, to = scratch;
    for (int bit = range.begin + 8; bit < range.end; bit += 8) {
      sort_by_digit<Key>(from, to, count, range, bit);
      std::swap(from, to);
    }
    if (from.keys != out.keys) out.copy_all(from, count);
  }
};

/// The kernel gets pointers one by one, so that a message can say which of them is to host memory.
template <class Key, class Value>
cudaError_t radix_sort(const Call& call, const Pairs<const Key*, const Value*>& in, const Pairs<Key*, Value*>& out,
                       std::size_t count, const BitRange& range) {
  const auto body = [](auto& keys, auto& to, auto& values, auto& values_to, auto& n, auto& bits, auto& scratch) {
    RadixSort::sort<Key, Value>({keys, values}, {to, values_to}, pairs_in<Key, Value>(scratch, n), n, bits);
  };
  return call.run(bytes_of_pairs<Key, Value>(count), body, in.keys, out.keys, in.values, out.values, count, range,
                  call.storage);
}
/// The result is in the buffers that were not current before.
template <class Key, class Value>
cudaError_t radix_sort(const Call& call, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values, std::size_t count,
                       const BitRange& range) {
  const auto body = [](auto& in, auto& out, auto& of_in, auto& of_out, auto& n, auto& bits) {
    RadixSort::sort<Key, Value>({in, of_in}, {out, of_out}, {in, of_in}, n, bits);
  };
  const cudaError_t error =
      call.run(0, body, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(), count, range);
  if (call.storage != nullptr && error == cudaSuccess) {
    keys.selector ^= 1;
    values.selector ^= 1;
  }
  return error;
}

}  // namespace detail

/// Each first needs to be called without temporary storage; see detail::Call for the errors. The sorts are stable. Keys
/// are integers or floating-point numbers; bits from begin_bit up to end_bit decide. Input and output do not overlap.
struct DeviceRadixSort {
  template <class Key, class Count>
  static cudaError_t SortKeys(void* storage, std::size_t& bytes, const Key* keys_in, Key* keys_out, Count count,
                              int begin_bit = 0, int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr,
                              detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceRadixSort::SortKeys", storage, bytes, stream, site};
    return detail::radix_sort<Key, NullType>(call, {keys_in, nullptr}, {keys_out, nullptr}, std::size_t(count),
                                             {begin_bit, end_bit, false});
  }
  template <class Key, class Count>
  static cudaError_t SortKeys(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys, Count count,
                              int begin_bit = 0, int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr,
                              detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceRadixSort::SortKeys", storage, bytes, stream, site};
    DoubleBuffer<NullType> values;
    return detail::radix_sort(call, keys, values, std::size_t(count), {begin_bit, end_bit, false});
  }
  template <class Key, class Count>
  static cudaError_t SortKeysDescending(void* storage, std::size_t& bytes, const Key* keys_in, Key* keys_out,
                                        Count count, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                                        cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceRadixSort::SortKeysDescending", storage, bytes, stream, site};
    return detail::radix_sort<Key, NullType>(call, {keys_in, nullptr}, {keys_out, nullptr}, std::size_t(count),
                                             {begin_bit, end_bit, true});
  }
  template <class Key, class Count>
  static cudaError_t SortKeysDescending(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys, Count count,
                                        int begin_bit = 0, int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr,
                                        detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceRadixSort::SortKeysDescending", storage, bytes, stream, site};
    DoubleBuffer<NullType> values;
    return detail::radix_sort(call, keys, values, std::size_t(count), {begin_bit, end_bit, true});
  }
  template <class Key, class Value, class Count>
  static cudaError_t SortPairs(void* storage, std::size_t& bytes, const Key* keys_in, Key* keys_out,
                               const Value* values_in, Value* values_out, Count count, int begin_bit = 0,
                               int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr,
                               detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceRadixSort::SortPairs", storage, bytes, stream, site};
    return detail::radix_sort<Key, Value>(call, {keys_in, values_in}, {keys_out, values_out}, std::size_t(count),
                                          {begin_bit, end_bit, false});
  }
  template <class Key, class Value, class Count>
  static cudaError_t SortPairs(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values,
                               Count count, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                               cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceRadixSort::SortPairs", storage, bytes, stream, site};
    return detail::radix_sort(call, keys, values, std::size_t(count), {begin_bit, end_bit, false});
  }
  template <class Key, class Value, class Count>
  static cudaError_t SortPairsDescending(void* storage, std::size_t& bytes, const Key* keys_in, Key* keys_out,
                                         const Value* values_in, Value* values_out, Count count, int begin_bit = 0,
                                         int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr,
                                         detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceRadixSort::SortPairsDescending", storage, bytes, stream, site};
    return detail::radix_sort<Key, Value>(call, {keys_in, values_in}, {keys_out, values_out}, std::size_t(count),
                                          {begin_bit, end_bit, true});
  }
  template <class Key, class Value, class Count>
  static cudaError_t SortPairsDescending(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys,
                                         DoubleBuffer<Value>& values, Count count, int begin_bit = 0,
                                         int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr,
                                         detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceRadixSort::SortPairsDescending", storage, bytes, stream, site};
    return detail::radix_sort(call, keys, values, std::size_t(count), {begin_bit, end_bit, true});
  }
};

}  // namespace cub

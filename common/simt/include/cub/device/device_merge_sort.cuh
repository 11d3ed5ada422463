// DeviceMergeSort (CUB, "Device-wide Primitives").
#pragma once

#include "../detail/one_thread.cuh"

namespace cub {

namespace detail {

/// Merges the runs [first, middle) and [middle, end).
template <class From, class To, class Less>
void merge_runs(const From& from, const To& to, std::size_t first, std::size_t middle, std::size_t end, Less& less) {
  std::size_t left = first, right = middle;
  for (std::size_t i = first; i < end; ++i) {
    const bool is_left = right == end || (left < middle && !less(from.keys[right], from.keys[left]));
    to.copy(i, from, is_left ? left++ : right++);
  }
}
template <class From, class To, class Less>
void merge_all(const From& from, const To& to, std::size_t count, std::size_t run, Less& less) {
  for (std::size_t first = 0; first < count; first += 2 * run) {
    merge_runs(from, to, first, std::min(first + run, count), std::min(first + 2 * run, count), less);
  }
}

/// Doubles sorted runs, between the data and the scratch pairs.
template <class Data, class Scratch, class Less>
void merge_by_runs(const Data& data, const Scratch& scratch, std::size_t count, Less& less) {
  for (std::size_t run = 1; run < count; run *= 4) {
    merge_all(data, scratch, count, run, less);
    merge_all(scratch, data, count, 2 * run, less);
  }
}

/// Copies `in` first, unless it is a nullptr.
template <class In, class Keys, class Values, class Less>
cudaError_t merge_sort(const Call& call, const In& in, const Pairs<Keys, Values>& data, std::size_t count, Less less) {
  using Key = ValueOf<Keys>;
  using Value = ValueOf<Values>;
  const auto body = [](auto& own_in, auto& keys, auto& values, auto& n, auto& compare, auto& scratch) {
    const Pairs<Keys, Values> own_data{keys, values};
    if constexpr (!std::is_same_v<In, std::nullptr_t>) own_data.copy_all(own_in, n);
    merge_by_runs(own_data, pairs_in<Key, Value>(scratch, n), n, compare);
  };
  return call.run(bytes_of_pairs<Key, Value>(count), body, in, data.keys, data.values, count, less, call.storage);
}

}  // namespace detail

/// Each first needs to be called without temporary storage; see detail::Call for the errors. All sorts are stable.
struct DeviceMergeSort {
  template <class Keys, class Count, class Less>
  static cudaError_t SortKeys(void* storage, std::size_t& bytes, Keys keys, Count count, Less less,
                              cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceMergeSort::SortKeys", storage, bytes, stream, site};
    NullType* const none = nullptr;
    return detail::merge_sort(call, nullptr, detail::Pairs{keys, none}, std::size_t(count), less);
  }
  template <class Keys, class Values, class Count, class Less>
  static cudaError_t SortPairs(void* storage, std::size_t& bytes, Keys keys, Values values, Count count, Less less,
                               cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceMergeSort::SortPairs", storage, bytes, stream, site};
    return detail::merge_sort(call, nullptr, detail::Pairs{keys, values}, std::size_t(count), less);
  }
  template <class KeysIn, class Keys, class Count, class Less>
  static cudaError_t SortKeysCopy(void* storage, std::size_t& bytes, KeysIn keys_in, Keys keys, Count count, Less less,
                                  cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceMergeSort::SortKeysCopy", storage, bytes, stream, site};
    NullType* const none = nullptr;
    return detail::merge_sort(call, detail::Pairs{keys_in, none}, detail::Pairs{keys, none}, std::size_t(count), less);
  }
  template <class KeysIn, class ValuesIn, class Keys, class Values, class Count, class Less>
  static cudaError_t SortPairsCopy(void* storage, std::size_t& bytes, KeysIn keys_in, ValuesIn values_in, Keys keys,
                                   Values values, Count count, Less less, cudaStream_t stream = nullptr,
                                   detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceMergeSort::SortPairsCopy", storage, bytes, stream, site};
    return detail::merge_sort(call, detail::Pairs{keys_in, values_in}, detail::Pairs{keys, values}, std::size_t(count),
                              less);
  }
  template <class Keys, class Count, class Less>
  static cudaError_t StableSortKeys(void* storage, std::size_t& bytes, Keys keys, Count count, Less less,
                                    cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceMergeSort::StableSortKeys", storage, bytes, stream, site};
    NullType* const none = nullptr;
    return detail::merge_sort(call, nullptr, detail::Pairs{keys, none}, std::size_t(count), less);
  }
  template <class Keys, class Values, class Count, class Less>
  static cudaError_t StableSortPairs(void* storage, std::size_t& bytes, Keys keys, Values values, Count count,
                                     Less less, cudaStream_t stream = nullptr,
                                     detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceMergeSort::StableSortPairs", storage, bytes, stream, site};
    return detail::merge_sort(call, nullptr, detail::Pairs{keys, values}, std::size_t(count), less);
  }
  template <class KeysIn, class Keys, class Count, class Less>
  static cudaError_t StableSortKeysCopy(void* storage, std::size_t& bytes, KeysIn keys_in, Keys keys, Count count,
                                        Less less, cudaStream_t stream = nullptr,
                                        detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceMergeSort::StableSortKeysCopy", storage, bytes, stream, site};
    NullType* const none = nullptr;
    return detail::merge_sort(call, detail::Pairs{keys_in, none}, detail::Pairs{keys, none}, std::size_t(count), less);
  }
};

}  // namespace cub

// DeviceMerge (CUB, "Device-wide Primitives").
#pragma once

#include <cstdint>

#include "../detail/one_thread.cuh"

namespace cub {

namespace detail {

/// Of equal keys, those of the first input come first.
struct MergeBoth {
  template <class First, class Second, class Out, class Less>
  void operator()(First& first, std::size_t& count1, Second& second, std::size_t& count2, Out& out, Less& less) const {
    std::size_t i = 0, j = 0;
    while (i < count1 || j < count2) {
      if (j == count2 || (i < count1 && !less(second.key(j), first.key(i)))) {
        out.copy(i + j, first, i);
        ++i;
      } else {
        out.copy(i + j, second, j);
        ++j;
      }
    }
  }
};

}  // namespace detail

/// Each first needs to be called without temporary storage; see detail::Call for the errors.
struct DeviceMerge {
  template <class Keys1, class Keys2, class Keys, class Less = detail::Less>
  static cudaError_t MergeKeys(void* storage, std::size_t& bytes, Keys1 keys1, std::int64_t count1, Keys2 keys2,
                               std::int64_t count2, Keys keys, Less less = {}, cudaStream_t stream = nullptr,
                               detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceMerge::MergeKeys", storage, bytes, stream, site};
    NullType* const none = nullptr;
    return call.run(0, detail::MergeBoth(), detail::Pairs{keys1, none}, std::size_t(count1), detail::Pairs{keys2, none},
                    std::size_t(count2), detail::Pairs{keys, none}, less);
  }
  template <class Keys1, class Values1, class Keys2, class Values2, class Keys, class Values, class Less = detail::Less>
  static cudaError_t MergePairs(void* storage, std::size_t& bytes, Keys1 keys1, Values1 values1, std::int64_t count1,
                                Keys2 keys2, Values2 values2, std::int64_t count2, Keys keys, Values values,
                                Less less = {}, cudaStream_t stream = nullptr,
                                detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceMerge::MergePairs", storage, bytes, stream, site};
    return call.run(0, detail::MergeBoth(), detail::Pairs{keys1, values1}, std::size_t(count1),
                    detail::Pairs{keys2, values2}, std::size_t(count2), detail::Pairs{keys, values}, less);
  }
};

}  // namespace cub

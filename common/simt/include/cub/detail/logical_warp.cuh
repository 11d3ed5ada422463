// What the algorithms of a warp have in common.
#pragma once

#include <cstring>
#include <type_traits>

#include "../util_ptx.cuh"

namespace cub::detail {

/// Size consecutive lanes of a warp.
template <int Size>
struct LogicalWarp {
  static_assert(Size >= 1 && Size <= 32, "a logical warp has 1 to 32 threads");

  static int lane() { return int(LaneId()) % Size; }
  static int first_lane() { return int(LaneId()) / Size * Size; }
  /// Its lanes that exist: the last warp of a block may be short.
  static int count() {
    const int behind = int(blockDim.x * blockDim.y * blockDim.z) - int(WarpId()) * 32 - first_lane();
    return min(Size, min(behind, 32 - first_lane()));
  }
  static unsigned mask() { return (0xffffffffu >> (32 - count())) << first_lane(); }

  /// The value of another of its lanes. Each lane calls it.
  template <class T>
  static T from(const T& value, int lane, simt::Site site) {
    unsigned long long words[(sizeof(T) + 7) / 8] = {};
    std::memcpy(words, static_cast<const void*>(&value), sizeof value);
    for (unsigned long long& word : words) word = __shfl_sync(mask(), word, first_lane() + lane, 32, site);
    T result = value;
    std::memcpy(static_cast<void*>(&result), words, sizeof result);
    return result;
  }
  /// Bit i is the predicate of lane i.
  static unsigned ballot(bool predicate, simt::Site site) {
    return __ballot_sync(mask(), predicate, site) >> first_lane();
  }
};

/// a + b in the type of the values.
template <class T>
struct Plus {
  T operator()(const T& a, const T& b) const { return T(a + b); }
};

}  // namespace cub::detail

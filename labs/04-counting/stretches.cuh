// What step 05 uses but does not teach: a warp's stretch of the keys and a pass's digit.
#pragma once

#include <bit>
#include <cstdint>

#include "range.cuh"

namespace counting {

/// The digit of a key's counter index that a pass sorts by.
template <class Key>
struct Digit {
  static constexpr int bits = 8;
  static constexpr int values = 1 << bits;
  Counters<Key> counters;
  int shift;

  __device__ unsigned extract(Key key) const { return counters.index(key) >> shift & (values - 1); }
};

/// The number of passes that a range needs: one per digit.
inline int passes_of(Range range) {
  constexpr int bits = Digit<std::uint32_t>::bits;
  return std::max(1, (int(std::bit_width(range.size() - 1)) + bits - 1) / bits);
}

/// A warp of the grid: its lanes, its number among all warps, and its stretch of the keys, begin ... end - 1.
struct Warp {
  int lane, lanes;  ///< this thread's lane; the number of lanes, which may be below 32 in a block's last warp
  unsigned mask;    ///< one bit per lane of the warp
  std::int64_t number, begin, end;

  __device__ Warp(std::int64_t n, std::int64_t keys_per_warp) {
    const int first = threadIdx.x / 32 * 32, warps_per_block = (blockDim.x + 31) / 32;
    lane = threadIdx.x - first;
    lanes = min(32, int(blockDim.x) - first);
    mask = ~0u >> (32 - lanes);
    number = std::int64_t(blockIdx.x) * warps_per_block + threadIdx.x / 32;
    begin = min(n, number * keys_per_warp);
    end = min(n, begin + keys_per_warp);
  }
};

/// Keys and their values, in the caller's arrays or in scratch.
template <class Key, class Value>
struct Pairs {
  Key* keys;
  Value* values;
};

}  // namespace counting

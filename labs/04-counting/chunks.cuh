// What step 05 uses but does not teach: a warp's chunk of the keys and a pass's digit.
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

/// How n keys are divided into chunks, one for each warp of the grid. All chunks but the last ones have equal length.
struct Chunks {
  std::int64_t n;      ///< number of keys
  std::int64_t warps;  ///< number of chunks, empty ones included
  std::int64_t keys_per_warp;

  Chunks(std::int64_t n, std::int64_t warps) : n(n), warps(warps), keys_per_warp((n + warps - 1) / warps) {
    if (keys_per_warp >= max_keys_per_block) throw lab::Unsupported("too many keys per warp: choose more blocks");
  }
};

/// A warp of the grid: its lanes, its index among all warps, and its chunk of the keys, begin ... end - 1.
struct Warp {
  int lane, lanes;  ///< this thread's lane; the number of lanes, which may be below 32 in a block's last warp
  unsigned mask;    ///< one bit per lane of the warp
  std::int64_t index, begin, end;

  __device__ explicit Warp(const Chunks& chunks) {
    const int first = threadIdx.x / 32 * 32, warps_per_block = (blockDim.x + 31) / 32;
    lane = threadIdx.x - first;
    lanes = min(32, int(blockDim.x) - first);
    mask = ~0u >> (32 - lanes);
    index = std::int64_t(blockIdx.x) * warps_per_block + threadIdx.x / 32;
    begin = min(chunks.n, index * chunks.keys_per_warp);
    end = min(chunks.n, begin + chunks.keys_per_warp);
  }
};

/// Keys and their values, in the caller's arrays or in scratch.
template <class Key, class Value>
struct Pairs {
  Key* keys;
  Value* values;
};

}  // namespace counting

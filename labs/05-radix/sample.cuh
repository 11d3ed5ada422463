// Sampling: step 06 looks at a few keys before it decides how to treat all of them.
#pragma once

#include <cstdint>

namespace radix {

inline constexpr int samples_per_thread = 4;

/// A number that looks random. Source: the end of MurmurHash3 by A. Appleby.
__device__ inline unsigned hash(unsigned index) {
  index = (index ^ index >> 16) * 0x85ebca6bu;
  index = (index ^ index >> 13) * 0xc2b2ae35u;
  return index ^ index >> 16;
}

/// The position of a sample among n keys, n below 2^32. Samples at regular distances could take a pattern of the keys
/// for skew.
__device__ inline std::int64_t sample_position(unsigned index, std::int64_t n) {
  return std::int64_t(hash(index)) * n >> 32;
}

}  // namespace radix

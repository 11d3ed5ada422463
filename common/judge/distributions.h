// The distributions of keys: what each position of an input holds. A key depends only on the seed and its position, so
// every core can generate its own part and no state is kept.
#pragma once

#include <cstdint>
#include <span>

#include "judge/inputs.h"
#include "judge/random.h"

namespace lab {

/// Independent streams of random numbers from one seed. Some distributions need two.
enum class Stream : std::uint64_t { first, second };

/// A position of an input, and what the key there may depend on.
struct Position {
  std::uint64_t seed;
  std::uint64_t i;
  std::uint64_t n;
  int bits;  ///< of a key

  std::uint64_t random(Stream stream) const { return random(stream, i); }
  std::uint64_t random(Stream stream, std::uint64_t at) const {
    return random_at(seed + (std::uint64_t(stream) << 63), at);
  }
};

struct Distribution {
  InputFacts facts;
  /// A 64-bit fraction of the key type's range. The inverse of ordered_bits turns it into a key, so "sorted" means the
  /// same for every type. Null for `extremes`, which picks bit patterns.
  std::uint64_t (*level)(const Position&);
  /// The number that a float is, where that is not a share of the range of its bit patterns; else null.
  double (*number)(const Position&) = nullptr;
  bool has_zeros = false;  ///< one key in 64 is replaced by zero, which floats have two of
};

std::span<const Distribution> distributions();

}  // namespace lab

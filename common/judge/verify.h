// The gold standard on the host, and the comparison of a step's output with it.
#pragma once

#include <cstdint>
#include <string>

#include "step/keys.h"

namespace lab {

/// Sorts n keys (and their values, unless null) as std::stable_sort does by ordered_bits, in host memory, on all cores.
/// With tile != 0 each run of `tile` keys is sorted by itself, the last run may be short.
void gold_sort(KeyType type, Order order, std::int64_t n, std::int64_t tile, void* keys, std::uint32_t* values);

/// What a step was asked to do, as far as its output depends on it.
struct Promise {
  KeyType type;
  Order order;
  std::int64_t n;
  std::int64_t tile;  ///< 0: the whole array
  bool stable;
};

/// Compares `keys` and `values` (null unless pairs) with the output of gold_sort for the same input. Gives an empty
/// text when the output is right, else one that names the first wrong index and shows its neighbours.
/// Stable: every bit must be equal. Not stable: -0 and +0 may change places, and so may values of equal keys, but no
/// key, sign or value may be lost or made up, and every value must stay with its key. Values are 0 to n - 1, each once.
std::string compare(const Promise& promise, const void* gold_keys, const std::uint32_t* gold_values, const void* keys,
                    const std::uint32_t* values);

}  // namespace lab

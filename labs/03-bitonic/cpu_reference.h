// The same network on one CPU core, to read beside the kernels and to compare with. Not a fast sort: it does all the
// network's work, n log2 n (log2 n + 1) / 4 comparators, one after another.
#pragma once

#include <cstdint>
#include <utility>

#include "step/keys.h"

namespace bitonic {

/// Sorts keys[0 .. n) in place, any n, with the mirrored network of step 02: all comparators put the key that comes
/// first at the lower place, and those that would reach past n are left out.
template <class Key>
void sort_on_cpu(Key* keys, std::int64_t n, lab::Order order) {
  const auto compare_exchange = [&](std::int64_t low, std::int64_t high) {
    if (high < n && lab::before(keys[high], keys[low], order)) std::swap(keys[low], keys[high]);
  };
  for (std::int64_t run = 2; run / 2 < n; run *= 2) {
    for (std::int64_t first = 0; first < n; first += run) {
      for (std::int64_t i = first; i < first + run / 2; ++i) compare_exchange(i, i ^ (run - 1));
    }
    for (std::int64_t stride = run / 4; stride > 0; stride /= 2) {
      for (std::int64_t first = 0; first < n; first += 2 * stride) {
        for (std::int64_t i = first; i < first + stride; ++i) compare_exchange(i, i + stride);
      }
    }
  }
}

}  // namespace bitonic

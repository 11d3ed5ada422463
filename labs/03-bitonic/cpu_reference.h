// The network on one CPU core, to read next to the kernels and to compare with. It is not a fast sort: it runs all n
// log2 n (log2 n + 1) / 4 comparators of the network, one after another.
#pragma once

#include <cstdint>
#include <utility>

#include "step/keys.h"

namespace bitonic {

/// Sorts keys[0, n) in place, any n, with the mirrored network of step 02: every comparator puts the key that comes
/// first at the lower position, and those that would reach beyond n are skipped.
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

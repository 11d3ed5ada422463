// Merge sort on one CPU core, to read next to the kernels and to compare with. It is bottom-up like the kernels,
// without recursion, and the two arrays swap roles after every level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace merge_sort {

/// Sorts keys[0, n) in place, any n, stable. `before` returns true if its first argument must come strictly before
/// its second. Needs memory for n more keys.
template <class Key, class Before>
void sort_on_cpu(Key* keys, std::int64_t n, Before before) {
  std::vector<Key> scratch(n);
  Key* from = keys;
  Key* to = scratch.data();
  for (std::int64_t run = 1; run < n; run *= 2) {
    for (std::int64_t first = 0; first < n; first += 2 * run) {
      const std::int64_t middle = std::min(first + run, n), end = std::min(first + 2 * run, n);
      std::int64_t a = first, b = middle;
      for (std::int64_t i = first; i < end; ++i) {
        // Of two equal keys, the one in a goes first, because run a came first.
        const bool take_b = a == middle || (b < end && before(from[b], from[a]));
        to[i] = take_b ? from[b++] : from[a++];
      }
    }
    std::swap(from, to);
  }
  if (from != keys) std::copy(from, from + n, keys);
}

}  // namespace merge_sort

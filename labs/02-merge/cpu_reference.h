// Merge sort on one CPU core, to read beside the kernels and to compare with: bottom-up, as the kernels are, so there
// is no recursion and the two arrays swap after every level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace merge_sort {

/// Sorts keys[0 .. n) in place, any n, stable. `before` is true when its first argument must stand strictly before its
/// second. n more keys of memory.
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
        // Equal keys come from a, the run that stood first.
        const bool take_b = a == middle || (b < end && before(from[b], from[a]));
        to[i] = take_b ? from[b++] : from[a++];
      }
    }
    std::swap(from, to);
  }
  if (from != keys) std::copy(from, from + n, keys);
}

}  // namespace merge_sort

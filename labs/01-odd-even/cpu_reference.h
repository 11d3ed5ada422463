// Bubble sort and odd-even transposition sort on one CPU core, to read next to the kernels and to count their work.
// Both make the same exchanges, but only the second can make many of them at the same time.
#pragma once

#include <cstdint>
#include <utility>

#include "step/keys.h"

namespace odd_even {

struct Work {
  std::int64_t comparisons = 0;
  std::int64_t exchanges = 0;
  std::int64_t steps = 0;  ///< in time: all comparisons of one can be made together
};

/// Compares two neighbours and exchanges them if the second must come first. Counts both.
template <class Key>
void compare_exchange(Key& first, Key& second, lab::Order order, Work& work) {
  ++work.comparisons;
  if (!lab::before(second, first, order)) return;
  std::swap(first, second);
  ++work.exchanges;
}

/// Sorts keys[0, n) in place, stable: each round carries the last of the remaining keys to its final position. Within
/// a round, each comparison needs the result of the previous one, and each round begins when the previous one has
/// ended. Therefore n (n - 1) / 2 comparisons take as many steps.
template <class Key>
Work bubble_sort(Key* keys, std::int64_t n, lab::Order order) {
  Work work;
  for (std::int64_t end = n - 1; end > 0; --end) {
    for (std::int64_t i = 0; i < end; ++i) compare_exchange(keys[i], keys[i + 1], order, work);
  }
  work.steps = work.comparisons;
  return work;
}

/// Sorts keys[0, n) in place, stable: n phases, alternately on the pairs that begin at an even and at an odd
/// position. No two comparisons of a phase share a key, so a phase is one step, and n (n - 1) / 2 comparisons take n
/// steps.
template <class Key>
Work odd_even_sort(Key* keys, std::int64_t n, lab::Order order) {
  Work work;
  for (std::int64_t phase = 0; phase < n; ++phase) {
    for (std::int64_t i = phase % 2; i + 1 < n; i += 2) compare_exchange(keys[i], keys[i + 1], order, work);
    ++work.steps;
  }
  return work;
}

}  // namespace odd_even

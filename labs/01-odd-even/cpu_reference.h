// Bubble sort and odd-even transposition sort on one CPU core, to read beside the kernels and to count: the two do the
// same exchanges, but only the second does many of them at once.
#pragma once

#include <cstdint>
#include <utility>

#include "step/keys.h"

namespace odd_even {

struct Work {
  std::int64_t comparisons = 0;
  std::int64_t exchanges = 0;
  std::int64_t steps = 0;  ///< that must follow one another; within a step all comparisons could be done at once
};

/// Compares two neighbours and exchanges them if the second must stand first; counts both.
template <class Key>
void compare_exchange(Key& first, Key& second, lab::Order order, Work& work) {
  ++work.comparisons;
  if (!lab::before(second, first, order)) return;
  std::swap(first, second);
  ++work.exchanges;
}

/// Sorts keys[0 .. n) in place, stable: each round carries the last of the keys not yet in place to its place. Within a
/// round each comparison needs the result of the one before, and here the rounds follow one another as well, so each
/// comparison is a step: n (n - 1) / 2 of both.
template <class Key>
Work bubble_sort(Key* keys, std::int64_t n, lab::Order order) {
  Work work;
  for (std::int64_t end = n - 1; end > 0; --end) {
    for (std::int64_t i = 0; i < end; ++i) compare_exchange(keys[i], keys[i + 1], order, work);
  }
  work.steps = work.comparisons;
  return work;
}

/// Sorts keys[0 .. n) in place, stable: n phases, in turn on the pairs that begin at an even and at an odd place. No
/// two comparisons of a phase share a key, so a phase is one step: n (n - 1) / 2 comparisons in n steps.
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

// Counting sort on one CPU core, to read next to the kernels and to compare them with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "step/keys.h"

namespace counting {

/// Sorts n integers in place, and the values that belong to them; `values` may be null. Stable. Uses one counter for
/// each value from the smallest key to the largest, so it is meant for keys that lie close together.
template <class Key, class Value = std::uint32_t>
void sort_on_cpu(Key* keys, std::int64_t n, lab::Order order, Value* values = nullptr) {
  if (n == 0) return;
  const auto [smallest, largest] = std::minmax_element(keys, keys + n);
  const std::uint64_t low = lab::ordered_bits(*smallest), high = lab::ordered_bits(*largest);
  const auto counter_of = [low, high, order](Key key) {
    return order == lab::Order::ascending ? lab::ordered_bits(key) - low : high - lab::ordered_bits(key);
  };

  std::vector<std::int64_t> positions(high - low + 1);
  for (std::int64_t i = 0; i < n; ++i) ++positions[counter_of(keys[i])];  // histogram
  std::int64_t before = 0;
  for (std::int64_t& position : positions) {  // exclusive scan
    const std::int64_t own = position;
    position = before;
    before += own;
  }
  const std::vector<Key> from(keys, keys + n);  // placing
  const std::vector<Value> values_from(values, values ? values + n : values);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t position = positions[counter_of(from[i])]++;
    keys[position] = from[i];
    if (values) values[position] = values_from[i];
  }
}

}  // namespace counting

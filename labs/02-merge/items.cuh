// What all steps are written with: keys together with their values, the scratch they move to and from, and comparisons.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "merge_sort.h"
#include "step/device_array.h"

namespace merge_sort {

/// Stands for the values where there are none.
struct NoValue {};

template <class Value>
inline constexpr bool has_values = !std::is_same_v<Value, NoValue>;

/// Keys, and the values that belong to them; `values` is unused where there are none. A view: it owns nothing.
template <class Key, class Value>
struct Items {
  Key* keys;
  Value* values;
};

template <class Key>
using Keys = Items<Key, NoValue>;

template <class Key>
Keys<Key> items_of(lab::Span<Key> keys) {
  return {keys.data, nullptr};
}
template <class Key, class Value>
Items<Key, Value> items_of(lab::Span<Key> keys, lab::Span<Value> values) {
  return {keys.data, values.data};
}

/// to[i] = from[j], key and value.
template <class Key, class Value, class ToIndex, class FromIndex>
__device__ inline void copy_item(Items<Key, Value> to, ToIndex i, Items<Key, Value> from, FromIndex j) {
  to.keys[i] = from.keys[j];
  if constexpr (has_values<Value>) to.values[i] = from.values[j];
}

/// The second buffer: n items of scratch.
template <class Key, class Value>
class Scratch {
 public:
  Scratch(std::int64_t n, cudaStream_t stream) : keys_(n, stream), values_(has_values<Value> ? n : 0, stream) {}
  Items<Key, Value> items() const { return {keys_.data(), values_.data()}; }

 private:
  lab::DeviceArray<Key> keys_;
  lab::DeviceArray<Value> values_;
};

/// Levels of merging, each of which doubles the runs, until runs of `run` keys have become one of n.
inline int merge_levels(std::int64_t n, std::int64_t run) {
  int levels = 0;
  for (; run < n; run *= 2) ++levels;
  return levels;
}

/// The two runs that one merge makes one: a = [first, middle) and b = [middle, end). The last merge of a level may be
/// short, its b even empty.
struct Merge {
  std::int64_t first;
  std::int64_t middle;
  std::int64_t end;
};

/// The merge that part `index` of n items belongs to, if a part has `part` items and a run `run` parts, a power of two.
__device__ inline Merge merge_at(std::int64_t index, std::int64_t run, std::int64_t part, std::int64_t n) {
  const std::int64_t first = (index & -(2 * run)) * part;
  return {first, min(first + run * part, n), min(first + 2 * run * part, n)};
}

/// A lab::Order as a comparison, known when the kernel is compiled.
template <lab::Order order>
struct InOrder {
  template <class Key>
  LAB_HOST_DEVICE bool operator()(Key a, Key b) const {
    return lab::before(a, b, order);
  }
};

/// Calls f(comparison) with `before` itself, or with the comparison that a lab::Order stands for.
template <class Before, class F>
void with_comparison(Before before, F&& f) {
  if constexpr (std::is_same_v<Before, lab::Order>) {
    if (before == lab::Order::ascending) {
      f(InOrder<lab::Order::ascending>{});
    } else {
      f(InOrder<lab::Order::descending>{});
    }
  } else {
    f(before);
  }
}

}  // namespace merge_sort

// Shared by all steps: keys together with their values, and scratch memory for them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "merge_sort.h"
#include "step/comparison.h"
#include "step/device_array.h"

namespace merge_sort {

using lab::with_comparison;

/// The value type of keys without values.
struct NoValue {};

template <class Value>
inline constexpr bool has_values = !std::is_same_v<Value, NoValue>;

/// Keys and the values that belong to them. `values` is unused if Value is NoValue. This is a view, which owns nothing.
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

/// The second buffer: scratch memory for n items.
template <class Key, class Value>
class Scratch {
 public:
  Scratch(std::int64_t n, cudaStream_t stream) : keys_(n, stream), values_(has_values<Value> ? n : 0, stream) {}
  Items<Key, Value> items() const { return {keys_.data(), values_.data()}; }

 private:
  lab::DeviceArray<Key> keys_;
  lab::DeviceArray<Value> values_;
};

}  // namespace merge_sort

// Shared by all steps: keys together with their values, scratch memory, comparisons, and the levels of a merge sort.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "merge_sort.h"
#include "step/device_array.h"

namespace merge_sort {

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

/// Copies n items to the start of another array.
template <class Key, class Value>
void copy_items(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(to.keys, from.keys, n * sizeof(Key), cudaMemcpyDeviceToDevice, stream));
  if constexpr (has_values<Value>) {
    CUDA_CHECK(cudaMemcpyAsync(to.values, from.values, n * sizeof(Value), cudaMemcpyDeviceToDevice, stream));
  }
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

/// The number of levels that merge runs of `run` keys into one run of n keys. Each level doubles the length of the
/// runs.
inline int merge_levels(std::int64_t n, std::int64_t run) {
  int levels = 0;
  for (; run < n; run *= 2) ++levels;
  return levels;
}

/// The two runs of one merge: a = [first, middle) and b = [middle, end). In the last merge of a level, a may be short,
/// and b may be short or empty.
struct Merge {
  std::int64_t first;
  std::int64_t middle;
  std::int64_t end;
};

/// A level that merges the runs of n items in pairs. Its output is divided into parts of `part` items. A run is as long
/// as `parts_per_run` of them (a power of two).
template <int part>
struct Level {
  std::int64_t n, parts_per_run, parts;

  Level(std::int64_t all, std::int64_t run) : n(all), parts_per_run(run / part), parts((n + part - 1) / part) {}

  /// The merge to which the part with this index belongs.
  __device__ Merge merge_of(std::int64_t index) const {
    const std::int64_t first = (index & -(2 * parts_per_run)) * part, run = parts_per_run * part;
    return {first, min(first + run, n), min(first + 2 * run, n)};
  }
};

/// A lab::Order as a comparison that is known at compile time.
template <lab::Order order>
struct InOrder {
  template <class Key>
  LAB_HOST_DEVICE bool operator()(Key a, Key b) const {
    return lab::before(a, b, order);
  }
};

/// The same on a CPU, where the order is known only at run time: to compile each kernel for both orders would take twice
/// as long.
struct InEitherOrder {
  lab::Order order;

  template <class Key>
  LAB_HOST_DEVICE bool operator()(Key a, Key b) const {
    return lab::before(a, b, order);
  }
};

/// Calls f(comparison): the comparison is `before` itself or, if `before` is a lab::Order, the InOrder for it.
template <class Before, class F>
void with_comparison(Before before, F&& f) {
  if constexpr (!std::is_same_v<Before, lab::Order>) {
    f(before);
  } else {
#ifdef __SIMT__
    f(InEitherOrder{before});
#else
    if (before == lab::Order::ascending) {
      f(InOrder<lab::Order::ascending>{});
    } else {
      f(InOrder<lab::Order::descending>{});
    }
#endif
  }
}

/// Sorts `items` in place, tiles first, as steps 02 to 04 do. Calls sort_tiles(from, to), which sorts each tile of
/// `tile` items, then merge_level(from, to, run, comparison) for runs of `run` = tile, 2 * tile, ... items. Swaps the
/// buffers after each level.
template <int tile, class Key, class Value, class Before, class SortTiles, class MergeLevel>
void sort_by_levels(Items<Key, Value> items, std::int64_t n, Before before, cudaStream_t stream, SortTiles sort_tiles,
                    MergeLevel merge_level) {
  const Scratch<Key, Value> scratch(n, stream);
  Items<Key, Value> from = items, to = scratch.items();
  if (merge_levels(n, tile) % 2 == 1) std::swap(from, to);  // so that the last level writes the caller's array
  sort_tiles(items, from);
  for (std::int64_t run = tile; run < n; run *= 2) {
    with_comparison(before, [&](auto comparison) { merge_level(from, to, run, comparison); });
    std::swap(from, to);
  }
}

}  // namespace merge_sort

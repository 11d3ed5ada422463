// The levels of a merge sort that merges two runs at a time, as steps 01 to 04 do.
#pragma once

#include <cstdint>
#include <utility>

#include "items.cuh"

namespace merge_sort {

/// Copies n items to the start of another array.
template <class Key, class Value>
void copy_items(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(to.keys, from.keys, n * sizeof(Key), cudaMemcpyDeviceToDevice, stream));
  if constexpr (has_values<Value>) {
    CUDA_CHECK(cudaMemcpyAsync(to.values, from.values, n * sizeof(Value), cudaMemcpyDeviceToDevice, stream));
  }
}

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

/// A level that merges the runs of n items in pairs. In Level<part>(n, run), each run has `run` items, and the last may
/// have fewer. The output is divided into `parts` parts of `part` items. A run is as long as `parts_per_run` of them (a
/// power of two).
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

// The methods of step 05: how many runs a merge takes and how large the tiles are, and which method suits how many
// keys.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "record_tile.cuh"
#include "step/device_attribute.h"
#include "step/launch_shape.h"

namespace merge_sort {

enum class Method { few_keys, two_way, four_way, four_way_small_tiles };

/// A method, and when it is chosen.
struct MethodRow {
  Method method;
  int ways;             ///< runs per merge
  int sort_threads;     ///< per block that sorts a tile
  int merge_threads;    ///< per block that merges a tile
  int max_items;        ///< per thread
  bool auto_shape;      ///< only if the user leaves the launch shape to the step
  bool large_tiles;     ///< only if large tiles are possible and needed
  int max_keys_per_sm;  ///< threshold: for at most this number of keys per multiprocessor
};

inline constexpr int no_threshold = std::numeric_limits<int>::max();

/// With few keys, a pass takes as long as its longest block and its launches. Two-way merges, whose blocks find their
/// co-ranks themselves, have the lower latency, and small tiles occupy more multiprocessors. With many keys, four-way
/// merges are faster because they need half as many passes.
// clang-format off: a table.
inline constexpr MethodRow methods[] = {
    //                         ways  threads   items  auto   large  threshold
    {Method::few_keys,             2, 512, 128,  9,   true,  false, 4096},
    {Method::two_way,              2, 512, 256, 33,   true,  true,  65536},
    {Method::four_way,             4, 512, 256, 33,   false, true,  no_threshold},
    {Method::four_way_small_tiles, 4, 256, 256, 33,   false, false, no_threshold},
};
// clang-format on

/// A CPU has fewer methods, because each takes a second to compile.
#ifdef __SIMT__
inline constexpr bool has_all_methods = false;
#else
inline constexpr bool has_all_methods = true;
#endif

constexpr MethodRow row_of(Method method) { return methods[int(method)]; }

template <Method method, class Key, class Value, class Before>
using SortShape = RecordShape<Key, Value, Before, row_of(method).sort_threads, row_of(method).max_items>;
template <Method method, class Key, class Value, class Before>
using MergeShape = RecordShape<Key, Value, Before, row_of(method).merge_threads, row_of(method).max_items>;

/// Threads per block if the user chooses them.
inline constexpr int threads_to_choose = row_of(Method::four_way_small_tiles).sort_threads;

/// The method of the first row whose conditions are met by n keys and a launch shape, on the device in use.
template <class Key, class Value, class Before>
Method choose_method(std::int64_t n, lab::LaunchShape shape) {
  using Small = SortShape<Method::four_way_small_tiles, Key, Value, Before>;
  using Large = SortShape<Method::four_way, Key, Value, Before>;
  static_assert(!Small::needs_smem_opt_in, "every GPU has enough shared memory");
  const bool auto_shape = shape.blocks == 0 && shape.threads == 0;
  const bool large_tiles = shape.threads == 0 && fits<Large>() && n > Small::tile;  // possible, and needed
  const std::int64_t multiprocessors = lab::device_attribute(cudaDevAttrMultiProcessorCount);
  for (const MethodRow& row : methods) {
    if (row.method == Method::two_way && !has_all_methods) continue;
    if (row.auto_shape && !auto_shape) continue;
    if (row.large_tiles && !large_tiles) continue;
    if (n <= row.max_keys_per_sm * multiprocessors) return row.method;
  }
  return Method::four_way_small_tiles;
}

/// Calls f(constant), whose `value` is the method, known at compile time.
template <class F>
void with_method(Method method, F&& f) {
  switch (method) {
    case Method::few_keys:
      return f(std::integral_constant<Method, Method::few_keys>{});
    case Method::two_way:
      if constexpr (has_all_methods) return f(std::integral_constant<Method, Method::two_way>{});
      return;
    case Method::four_way:
      return f(std::integral_constant<Method, Method::four_way>{});
    case Method::four_way_small_tiles:
      return f(std::integral_constant<Method, Method::four_way_small_tiles>{});
  }
}

}  // namespace merge_sort

// A pass of step 05, which merges two or four runs at a time: which parts of which runs a tile of the output is made of.
#pragma once

#include <cstdint>

#include "record_tile.cuh"

namespace merge_sort {

inline constexpr unsigned all_lanes = 0xffffffff;
/// Threads per block of the search for the partition points of four runs. Four of them search for each.
inline constexpr int search_threads = 128;

/// The number of passes that turn runs of `run` items into one run of n items, if each merges `ways` runs at a time.
inline int passes_for(std::int64_t n, std::int64_t run, int ways) {
  int passes = 0;
  for (; run < n; run *= ways) ++passes;
  return passes;
}

/// A pass over n items in sorted runs, of which each merge takes `ways`, or what is left. The output is divided into
/// tiles of `tile` items. A run is as long as tiles_per_run of them, a power of two; the last run may be shorter.
template <int ways>
struct KWayPass {
  std::int64_t n, tiles_per_run, tiles;
  int tile;

  KWayPass(std::int64_t all, std::int64_t run, int tile_items)
      : n(all), tiles_per_run(run / tile_items), tiles((all + tile_items - 1) / tile_items), tile(tile_items) {}

  /// The first item of run r of the merge that the tile with this index belongs to, or n if there is no such run. For r
  /// = ways, the end of its last run.
  __host__ __device__ std::int64_t run_first(std::int64_t index, int r) const {
    const std::int64_t first = ((index & -(ways * tiles_per_run)) + r * tiles_per_run) * tile;
    return first < n ? first : n;
  }
};

/// Where a position in the output divides the runs of its merge: the items of run r before position[r], in the whole
/// array, come before it.
template <int ways>
struct PartitionPoint {
  std::int64_t position[ways];
};

/// Gets the partition points of a tile and of the next one, or the ends of the runs if there is no next one in this
/// merge. With four runs, `all` has the points of all tiles, which find_partition_points has found. A barrier must
/// follow.
template <class Key, class Before>
__device__ inline void get_points(PartitionPoint<4>* own, const PartitionPoint<4>* all, const Key*,
                                  const KWayPass<4>& pass, std::int64_t index, Before) {
  const int next = threadIdx.x / 4, r = threadIdx.x % 4;
  if (next >= 2) return;
  const bool is_end = pass.run_first(index, 4) <= (index + next) * pass.tile;
  own[next].position[r] = is_end ? pass.run_first(index, r + 1) : all[index + next].position[r];
}

/// The same for two runs, whose points are found here. A warp of the block searches for each. In each round its lanes
/// try 32 positions that divide the interval into equal parts, so the search waits for memory a fifth as often as one
/// that halves the interval.
template <class Key, class Before>
__device__ inline void get_points(PartitionPoint<2>* own, const PartitionPoint<2>*, const Key* from,
                                  const KWayPass<2>& pass, std::int64_t index, Before before) {
  const int next = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (next >= 2) return;
  const std::int64_t a = pass.run_first(index, 0), b = pass.run_first(index, 1), end = pass.run_first(index, 2);
  const std::int64_t diagonal = min((index + next) * pass.tile, end) - a;
  std::int64_t low = max(diagonal - (end - b), std::int64_t(0)), high = min(diagonal, b - a);
  while (low < high) {
    const std::int64_t apart = (high - low) / 32 + 1, i = low + lane * apart;
    const bool comes_from_a = i < high && !before(from[b + diagonal - 1 - i], from[a + i]);
    // These are always the lowest lanes, and the answer lies beyond their positions.
    const int lanes = __popc(__ballot_sync(all_lanes, comes_from_a));
    high = min(high, low + lanes * apart);
    if (lanes > 0) low += (lanes - 1) * apart + 1;
  }
  if (lane == 0) own[next] = {{a + low, b + diagonal - low}};
}

/// Begins to load the parts of the runs between two partition points into the tile, in bitonic layout: every other part
/// is stored backwards. first[r] becomes the first position of part r in the tile, and first[ways] the number of items.
/// All threads of the block call it.
template <class Shape, int ways>
__device__ inline void begin_to_load_parts(ItemsOf<Shape> tile, int* first, ItemsOf<Shape> from,
                                           const PartitionPoint<ways>* points) {
  int begin = 0;
#pragma unroll
  for (int r = 0; r < ways; ++r) {
    const int count = int(points[1].position[r] - points[0].position[r]);
    const auto part = items_from(from, points[0].position[r]);
    if (r % 2 == 0) begin_to_load<Shape>(items_from(tile, begin), part, count);
    if (r % 2 == 1) begin_to_load<Shape, -1>(items_from(tile, begin + count - 1), part, count);
    if (threadIdx.x == 0) first[r] = begin, first[r + 1] = begin + count;
    begin += count;
  }
}

}  // namespace merge_sort

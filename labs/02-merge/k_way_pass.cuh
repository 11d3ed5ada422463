// A pass of k-way merges, which step 05 makes with k = 2 and k = 4. These types say which runs and which tiles belong
// to which merge, and which parts of the runs a tile is made of.
#pragma once

#include <algorithm>
#include <cstdint>

#include "record_tile.cuh"

namespace merge_sort {

/// A pass over n items in runs of `run`, of which the last may be short. A merge takes `ways` of them, or what is left.
template <int ways>
struct KWayPass {
  std::int64_t n;
  std::int64_t run;
  std::int64_t tiles_per_merge;
  std::int64_t tiles;  ///< of all merges
  int tile;            ///< items per tile of the output; the last one of a merge may have fewer

  /// Divides the output of each merge evenly into tiles of at most `max_tile` items.
  KWayPass(std::int64_t all, std::int64_t items_per_run, int max_tile) : n(all), run(items_per_run) {
    const std::int64_t merge = std::min(ways * run, n);  // items of the first merge, which no other exceeds
    tiles_per_merge = (merge + max_tile - 1) / max_tile;
    tile = int((merge + tiles_per_merge - 1) / tiles_per_merge);
    tiles = n / (ways * run) * tiles_per_merge + (n % (ways * run) + tile - 1) / tile;
  }

  /// The first item of run r of a merge, or n if there is no such run. For r = ways, the end of its last run.
  __host__ __device__ std::int64_t run_first(std::int64_t merge, int r) const {
    const std::int64_t first = (merge * ways + r) * run;
    return first < n ? first : n;
  }
};

/// How many passes it takes to merge runs of `run` items into one, and the number of tiles of the pass that has the
/// most.
struct PassCounts {
  std::int64_t passes, max_tiles;
};

template <int ways>
PassCounts count_passes(std::int64_t n, std::int64_t run, int max_tile) {
  PassCounts counts{0, 0};
  for (; run < n; run *= ways, ++counts.passes) {
    counts.max_tiles = std::max(counts.max_tiles, KWayPass<ways>(n, run, max_tile).tiles);
  }
  return counts;
}

/// Where the tile with this index is in the output: its items are [first, first + count).
struct OutputTile {
  std::int64_t merge, first;
  int count;
  bool last;  ///< of its merge

  template <int ways>
  __device__ OutputTile(const KWayPass<ways>& pass, std::int64_t index) {
    // 32 bits are enough for the number of tiles, and a 64-bit division takes several times as long.
    merge = std::uint32_t(index) / std::uint32_t(pass.tiles_per_merge);
    const std::int64_t end = pass.run_first(merge, ways);
    first = min(pass.run_first(merge, 0) + (index - merge * pass.tiles_per_merge) * pass.tile, end);
    count = int(min(end - first, std::int64_t(pass.tile)));
    last = first + count == end;
  }
};

/// The partition point where a tile begins: how many items of each run come before it in the output of the merge. 32
/// bits are enough for runs of fewer than 2^32 items.
template <int ways>
struct CoRanks {
  std::uint32_t of_run[ways];
};

/// The parts of the runs that a tile is made of: where they are in global memory, and, once loaded, in the tile.
template <int ways>
struct Parts {
  std::int64_t from[ways];
  int first[ways + 1];

  /// `co_ranks`: those of this tile and of the next one, which are not read if this tile is the last of its merge.
  __device__ void locate(const KWayPass<ways>& pass, const OutputTile& tile, const CoRanks<ways>* co_ranks) {
    first[0] = 0;
    for (int r = 0; r < ways; ++r) {
      const std::int64_t run = pass.run_first(tile.merge, r);
      from[r] = run + co_ranks[0].of_run[r];
      const std::int64_t end = tile.last ? pass.run_first(tile.merge, r + 1) : run + co_ranks[1].of_run[r];
      first[r + 1] = first[r] + int(end - from[r]);
    }
  }
};

/// Begins to copy the parts of the runs into the tile, in bitonic layout: every other part is stored backwards. All
/// threads of the block call it.
template <class Shape, int ways, class Key, class Value>
__device__ void begin_to_load(Items<Key, Value> tile, Items<Key, Value> from, const Parts<ways>& parts) {
#pragma unroll
  for (int r = 0; r < ways; ++r) {
    const int count = parts.first[r + 1] - parts.first[r];
    const auto part = items_from(from, parts.from[r]);
    if (r % 2 == 0) {
      begin_copies<1, Shape>(items_from(tile, parts.first[r]), part, count);
    } else {
      begin_copies<-1, Shape>(items_from(tile, parts.first[r + 1] - 1), part, count);
    }
  }
}

}  // namespace merge_sort

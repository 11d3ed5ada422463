// One pass of step 05, in which each merge has four runs: which runs, and which tiles, belong to which merge.
#pragma once

#include <algorithm>
#include <cstdint>

#include "items.cuh"

namespace merge_sort {

/// Runs per merge: two levels of a merge sort in one pass over memory.
inline constexpr int width_levels = 2, width = 1 << width_levels;

/// n items in runs of `run`, of which the last may be short. A merge takes `width` of them, or what is left.
struct WidePass {
  std::int64_t n;
  std::int64_t run;
  std::int64_t tiles_per_merge;
  std::int64_t tiles;  ///< of all merges
  int tile;            ///< items per tile of the output; the last one of a merge may have fewer

  /// Divides the output of each merge evenly into tiles of at most `largest_tile` items.
  WidePass(std::int64_t all, std::int64_t items_per_run, int largest_tile) : n(all), run(items_per_run) {
    const std::int64_t most = std::min(width * run, n);
    tiles_per_merge = (most + largest_tile - 1) / largest_tile;
    tile = int((most + tiles_per_merge - 1) / tiles_per_merge);
    tiles = n / (width * run) * tiles_per_merge + (n % (width * run) + tile - 1) / tile;
  }

  /// The first item of run r of a merge, n if there is no such run; r = width: the end of its last run.
  __host__ __device__ std::int64_t run_first(std::int64_t merge, int r) const {
    const std::int64_t first = (merge * width + r) * run;
    return first < n ? first : n;
  }
};

/// Where the tile with this number is in the output: its items are [first, first + count).
struct OutputTile {
  std::int64_t merge, first;
  int count;
  bool last;  ///< of its merge

  __device__ OutputTile(const WidePass& pass, std::int64_t number) : merge(number / pass.tiles_per_merge) {
    const std::int64_t end = pass.run_first(merge, width);
    first = min(pass.run_first(merge, 0) + number % pass.tiles_per_merge * pass.tile, end);
    count = int(min(end - first, std::int64_t(pass.tile)));
    last = first + count == end;
  }
};

/// For each tile, how many items of each run come before it in the output of the merge: 32 bits are enough for runs of
/// fewer than 2^32 items.
struct Cut {
  std::uint32_t taken[width];
};

/// The parts of the runs that a tile is made of: where they are in global memory, and, once loaded, in the tile.
struct Parts {
  std::int64_t from[width];
  int first[width + 1];

  __device__ void find(const WidePass& pass, const OutputTile& tile, const Cut* cut) {
    first[0] = 0;
    for (int r = 0; r < width; ++r) {
      const std::int64_t run = pass.run_first(tile.merge, r);
      from[r] = run + cut[0].taken[r];
      const std::int64_t end = tile.last ? pass.run_first(tile.merge, r + 1) : run + cut[1].taken[r];
      first[r + 1] = first[r] + int(end - from[r]);
    }
  }
};

// --- the search for a cut, by several lanes of a warp ---

inline constexpr unsigned all_lanes = 0xffffffff;
/// Lanes per run: each reads one key of it at a time. More probes save rounds, but a round compares all with all.
inline constexpr int probes = 1;
/// Lanes that search for one cut.
inline constexpr int lanes_per_cut = width * probes;
/// Threads per block of the search.
inline constexpr int find_threads = 128;

/// x of a lane, by its number among those that search for the same cut.
template <class T>
__device__ inline T from_lane(T x, int lane) {
  return __shfl_sync(all_lanes, x, lane, lanes_per_cut);
}

/// Where the probe with this number is in the interval [low, high): each in the middle of one of `probes` equal parts.
template <class Index>
__device__ inline Index probe_position(Index low, Index high, int probe) {
  return low + Index(std::int64_t(high - low) * (2 * probe + 1) / (2 * probes));
}

/// Combines x of all lanes of a run by f, such as a maximum; all of them receive the result.
template <class Index, class F>
__device__ inline Index over_run(Index x, F f) {
  for (int apart = 1; apart < probes; apart *= 2) x = f(x, __shfl_xor_sync(all_lanes, x, apart));
  return x;
}

}  // namespace merge_sort

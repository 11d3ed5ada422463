// One pass of step 05, in which each merge has two or four runs: which runs, and which tiles, belong to which merge, and
// the searches for cuts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "items.cuh"

namespace merge_sort {

/// n items in runs of `run`, of which the last may be short. A merge takes `width` of them, or what is left.
template <int width>
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

  template <int width>
  __device__ OutputTile(const WidePass<width>& pass, std::int64_t number) {
    // There are fewer than 2^32 tiles, and a division of 64 bits takes several times as long.
    merge = std::uint32_t(number) / std::uint32_t(pass.tiles_per_merge);
    const std::int64_t end = pass.run_first(merge, width);
    first = min(pass.run_first(merge, 0) + (number - merge * pass.tiles_per_merge) * pass.tile, end);
    count = int(min(end - first, std::int64_t(pass.tile)));
    last = first + count == end;
  }
};

/// For each tile, how many items of each run come before it in the output of the merge: 32 bits are enough for runs of
/// fewer than 2^32 items.
template <int width>
struct Cut {
  std::uint32_t taken[width];
};

/// The parts of the runs that a tile is made of: where they are in global memory, and, once loaded, in the tile.
template <int width>
struct Parts {
  std::int64_t from[width];
  int first[width + 1];

  __device__ void find(const WidePass<width>& pass, const OutputTile& tile, const Cut<width>* cut) {
    first[0] = 0;
    for (int r = 0; r < width; ++r) {
      const std::int64_t run = pass.run_first(tile.merge, r);
      from[r] = run + cut[0].taken[r];
      const std::int64_t end = tile.last ? pass.run_first(tile.merge, r + 1) : run + cut[1].taken[r];
      first[r + 1] = first[r] + int(end - from[r]);
    }
  }
};

// --- the searches for cuts, by several lanes of a warp ---

inline constexpr unsigned all_lanes = 0xffffffff;
/// Threads per block of the search for cuts of four runs.
inline constexpr int find_threads = 128;

/// The number of items of a among the first `diagonal` of the merge of a and b: merge_path of step 04 by a whole warp.
/// In each round 32 lanes try positions that divide what is left into equal parts.
template <class Key, class Before>
__device__ inline std::int64_t warp_path(const Key* a, std::int64_t a_count, const Key* b, std::int64_t b_count,
                                         std::int64_t diagonal, Before before) {
  const int lane = threadIdx.x % 32;
  std::int64_t low = max(diagonal - b_count, std::int64_t(0)), high = min(diagonal, a_count);
  while (low < high) {
    const std::int64_t apart = (high - low) / 32 + 1, position = low + lane * apart;
    const bool taken = position < high && !before(b[diagonal - 1 - position], a[position]);
    // These are always the lowest lanes, and the answer lies beyond their positions.
    const int lanes = __popc(__ballot_sync(all_lanes, taken));
    high = min(high, low + lanes * apart);
    if (lanes > 0) low += (lanes - 1) * apart + 1;
  }
  return low;
}

/// The cuts at both ends of a tile, in shared memory. A warp of the block searches for each. All threads call it.
template <class Key, class Before>
__device__ inline const Cut<2>* find_both_cuts(const Key* from, const WidePass<2>& pass, const OutputTile& tile,
                                               Before before) {
  __shared__ Cut<2> cuts[2];
  if (const int end = threadIdx.x / 32; end < 2) {
    const std::int64_t first = pass.run_first(tile.merge, 0), middle = pass.run_first(tile.merge, 1);
    const std::int64_t diagonal = tile.first - first + end * tile.count;
    const std::int64_t a = warp_path(from + first, middle - first, from + middle,
                                     pass.run_first(tile.merge, 2) - middle, diagonal, before);
    cuts[end] = {{std::uint32_t(a), std::uint32_t(diagonal - a)}};
  }
  __syncthreads();  // another thread reads the cuts
  return cuts;
}

}  // namespace merge_sort

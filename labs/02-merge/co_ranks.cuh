// The search for the co-ranks of step 05, by several lanes of a warp: where it begins for four runs, and the whole
// search for two.
#pragma once

#include <cstdint>

#include "k_way_pass.cuh"

namespace merge_sort {

inline constexpr unsigned all_lanes = 0xffffffff;
/// Threads per block of the search for the co-ranks of four runs.
inline constexpr int search_threads = 128;

/// At least `min` and at most `max` items.
template <class Index>
struct Bounds {
  Index min, max;

  __device__ void operator+=(Bounds other) { min += other.min, max += other.max; }
};

/// Where the search for the co-rank of one of four runs begins: it is in [low, high], and all four add up to `rank`.
template <class Index>
struct CoRankSearch {
  std::int64_t own_first;  ///< the run's first item
  Index rank, low, high;

  __device__ CoRankSearch(const KWayPass<4>& pass, const OutputTile& tile, int own_run)
      : own_first(pass.run_first(tile.merge, own_run)) {
    const std::int64_t first = pass.run_first(tile.merge, 0);
    const Index all = Index(pass.run_first(tile.merge, 4) - first);
    const Index count = Index(pass.run_first(tile.merge, own_run + 1) - own_first);
    rank = Index(tile.first - first);
    low = max(rank - (all - count), Index(0));
    high = min(rank, count);
  }
};

/// The number of items of a among the first `diagonal` of the merge of a and b: merge_path of step 04 by a whole warp.
/// In each round, 32 lanes try positions that divide the interval into equal parts, so that a search waits for memory a
/// fifth as often as one that halves the interval. a(i) and b(i) are the keys, wherever they are.
template <class Index, class A, class B, class Before>
__device__ inline Index warp_co_rank(A a, Index a_count, B b, Index b_count, Index diagonal, Before before) {
  const int lane = threadIdx.x % 32;
  Index low = max(diagonal - b_count, Index(0)), high = min(diagonal, a_count);
  while (low < high) {
    const Index apart = (high - low) / 32 + 1, position = low + lane * apart;
    const bool taken = position < high && !before(b(diagonal - 1 - position), a(position));
    // These are always the lowest lanes, and the answer lies beyond their positions.
    const int lanes = __popc(__ballot_sync(all_lanes, taken));
    high = min(high, low + lanes * apart);
    if (lanes > 0) low += (lanes - 1) * apart + 1;
  }
  return low;
}

/// The co-ranks of both ends of a tile, in shared memory. A warp of the block searches for each. All threads call it.
template <class Key, class Before>
__device__ inline const CoRanks<2>* find_both_co_ranks(const Key* from, const KWayPass<2>& pass, const OutputTile& tile,
                                                       Before before) {
  __shared__ CoRanks<2> co_ranks[2];
  if (const int end = threadIdx.x / 32; end < 2) {
    const std::int64_t first = pass.run_first(tile.merge, 0), middle = pass.run_first(tile.merge, 1);
    const std::int64_t diagonal = tile.first - first + end * tile.count;
    const auto keys_from = [=](std::int64_t run) { return [=](std::int64_t i) { return from[run + i]; }; };
    const std::int64_t a = warp_co_rank(keys_from(first), middle - first, keys_from(middle),
                                        pass.run_first(tile.merge, 2) - middle, diagonal, before);
    co_ranks[end] = {{std::uint32_t(a), std::uint32_t(diagonal - a)}};
  }
  __syncthreads();  // the caller reads `co_ranks`, which two warps have written
  return co_ranks;
}

}  // namespace merge_sort

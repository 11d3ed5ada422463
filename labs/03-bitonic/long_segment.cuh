// One block sorts a segment that is too long for one tile, as step 04 sorts a whole array: tiles first, then merges in
// global memory. Between two passes the block waits at a barrier, where step 04 launches the next kernel.
#pragma once

#include "merge_passes.cuh"
#include "segment.cuh"

namespace bitonic {

/// The tiles of a segment that is longer than one are sorted as segments of the class before the last.
using LongClass = SegmentClass<classes - 2>;
using LongTile = LongClass::SegmentTile;

/// Words in device memory, as merge_passes.cuh describes them.
struct SegmentWords {
  using Word = std::uint32_t;
  Word* keys;
  int n;

  __device__ SegmentWords from(int first) const { return {keys + first, n - first}; }

  template <class Index>
  __device__ Word load(Index i) const {
    return i < n ? keys[i] : ~0u;
  }

  template <class Index>
  __device__ void store(Index i, Word word) const {
    if (i < n) keys[i] = word;
  }
};

/// Sorts each tile of a segment.
template <class Sort>
__device__ void sort_long_tiles(LongTile& tile, SegmentKeys keys, Segment segment) {
  for (int at = 0; at < segment.length; at += LongTile::size) {
    const int left = segment.length - at;
    const Segment piece = {segment.begin + at, left < LongTile::size ? left : LongTile::size};
    Sort::template sort<LongClass>(&tile, keys, piece);
    __syncthreads();  // the next piece overwrites `tile`, and the merges read words of keys.to that others have stored
  }
}

/// Merges the sorted tiles of a segment.
template <class Sort>
__device__ void merge_long_tiles(LongTile& tile, SegmentWords all) {
  const int t = threadIdx.x;
  for (std::int64_t run = 2 * LongTile::size; run / 2 < all.n; run *= 2) {
    std::int64_t stride = run / strided_items;
    Sort::template run_strided_stages<true>(all, stride);
    __syncthreads();  // the next pass reads words of `all` that other threads have stored
    while (stride > LongTile::size) {
      stride /= strided_items;
      Sort::template run_strided_stages<false>(all, stride);
      __syncthreads();  // the next pass reads words of `all` that other threads have stored
    }
    for (int at = 0; at < all.n; at += LongTile::size) {
      merge_tile_in_memory(tile, all.from(at + t), all.from(at + striped_position<LongTile::items>(t)), t);
      __syncthreads();  // the next words overwrite those in `tile`, and the next pass reads `all`
    }
  }
}

/// Sorts segments that are longer than those of all other classes.
template <class Sort, class Segments>
__global__ void __launch_bounds__(segment_threads) sort_long_segments(SegmentKeys keys, Segments segments) {
  __shared__ LongTile tile;
  for (int i = blockIdx.x; i < segments.count(); i += gridDim.x) {
    const Segment segment = segments[i];
    sort_long_tiles<Sort>(tile, keys, segment);
    merge_long_tiles<Sort>(tile, {keys.to + segment.begin, segment.length});
  }
}

}  // namespace bitonic

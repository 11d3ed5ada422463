// Sorts a segment that is too long for one tile, by one block, as step 04 sorts a whole array: tiles first, then merges
// in global memory. Between two trips of the block there is a barrier, where step 04 launches the next kernel.
#pragma once

#include <cstdint>

#include "segment.cuh"

namespace bitonic {

/// A tile of a segment that is longer than one.
using LongTile = Class<classes - 2>::SegmentTile;

/// Five stages of a merge into runs of 32 * stride words, as the strided trips of 04_record.cu, by one block.
template <bool mirrored>
__device__ void run_long_stages(std::uint32_t* keys, int n, std::int64_t stride) {
  constexpr int items = LongTile::items;
  for (std::int64_t t = threadIdx.x;; t += segment_threads) {
    const std::int64_t column = t & (stride - 1), run = (t - column) * items;
    if (run >= n) return;
    const std::int64_t low = run + column, high = mirrored ? run + stride - 1 - column : low;
    std::uint32_t words[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const std::int64_t at = (i < items / 2 ? low : high) + i * stride;
      words[i] = at < n ? keys[at] : ~0u;
    }
    if constexpr (mirrored) mirror_registers(words);
    clean_registers<mirrored ? items / 4 : items / 2>(words);
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const std::int64_t at = (i < items / 2 ? low : high) + i * stride;
      if (at < n) keys[at] = words[i];
    }
  }
}

/// The stages of a merge within a tile, as in clean_each_tile of 04_record.cu.
__device__ inline void clean_long_tile(LongTile& tile, std::uint32_t* keys, int n) {
  constexpr int items = LongTile::items;
  std::uint32_t words[items];
  const int t = threadIdx.x;
#pragma unroll
  for (int i = 0; i < items; ++i) words[i] = i * segment_threads < n - t ? keys[t + i * segment_threads] : ~0u;
  clean_registers<items / 2>(words);
#pragma unroll
  for (int i = 0; i < items; ++i) tile.at(t)[LongTile::padded(i * segment_threads)] = words[i];
  __syncthreads();  // a thread reads rows that others have written as columns
  read_rows(tile, words, t);
  __syncthreads();  // the next tile's words overwrite these
  clean_registers<segment_threads / 2 / 32>(words);
  clean_lanes<16>(words);
  const int first = row_position<items>(t);
#pragma unroll
  for (int i = 0; i < items; ++i) {
    if (32 * i < n - first) keys[first + 32 * i] = words[i];
  }
}

/// Sorts a segment that is longer than a tile: tiles first, then merges in global memory. All threads of the block call
/// it.
__device__ inline void sort_long_segment(LongTile& tile, SegmentKeys keys, Segment segment) {
  const auto rest = [&](int at) { return segment.length - at < LongTile::size ? segment.length - at : LongTile::size; };
  for (int at = 0; at < segment.length; at += LongTile::size) {
    const Segment piece = {segment.begin + at, rest(at)};
    std::uint32_t words[LongTile::items];
    load_segment<LongTile>(keys, piece, words, threadIdx.x);
    sort_blocks<segment_threads>(tile, words, threadIdx.x);
    write_blocks(tile, words, threadIdx.x);
    __syncthreads();  // a thread stores words that others have written
    store_segment<segment_threads>(keys, piece, tile, threadIdx.x);
    __syncthreads();  // the next tile overwrites this one, and the merges read what others have stored
  }
  std::uint32_t* const sorted = keys.to + segment.begin;
  for (std::int64_t run = 2 * LongTile::size; run / 2 < segment.length; run *= 2) {
    std::int64_t stride = run / LongTile::items;
    run_long_stages<true>(sorted, segment.length, stride);
    __syncthreads();  // a thread reads what others have stored
    while (stride > LongTile::size) {
      stride /= LongTile::items;
      run_long_stages<false>(sorted, segment.length, stride);
      __syncthreads();  // a thread reads what others have stored
    }
    for (int at = 0; at < segment.length; at += LongTile::size) clean_long_tile(tile, sorted + at, rest(at));
    __syncthreads();  // a thread reads what others have stored
  }
}

}  // namespace bitonic

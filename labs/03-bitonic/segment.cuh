// Sorts a segment, a small array that is part of a larger one. segments.cuh does so for many of them at once.
//
// A segment of up to 4096 keys is sorted by as many threads as its length requires, 4 to 128 threads with up to 32
// words each, in registers, by shuffles and as columns (tile_network.cuh), so that its keys are read once and written
// once. Blocks of 128 threads sort 32 segments of 32 keys, or one of 4096. The numbers of threads and of words are
// template parameters, for the compiler must know all indices. So segments are divided into classes by their length.
// Between two powers of two there is a class with 24 words per thread: without it, a segment of 1025 keys would cost as
// much as one of 2048.
#pragma once

#include <cstdint>

#include "tile_network.cuh"

namespace bitonic {

inline constexpr int segment_threads = 128;                 ///< per block
inline constexpr int segment_blocks = 8;                    ///< at a time on a multiprocessor
inline constexpr int classes = 15, longest_segment = 4096;  ///< the last class: longer segments

/// The length of the longest segment of a class but the last: 32, 64, then 96, 128, 192, 256, ..., 3072, 4096.
__host__ __device__ constexpr int longest_of(int number) {
  return number < 2 ? 32 << number : (3 + number % 2) << (number / 2 + 4);
}
static_assert(longest_of(classes - 2) == longest_segment);

/// The class of a segment's length.
__host__ __device__ inline int class_of(int length) {
  int number = 0;
  while (number < classes - 1 && longest_of(number) < length) ++number;
  return number;
}

/// The threads that sort a segment of a class, and the words of each.
template <int number>
struct Class {
  static constexpr int size = longest_of(number), items = number < 2 ? size / 4 : 24 + number % 2 * 8;
  static constexpr int threads = size / items, per_block = segment_threads / threads;
  using SegmentTile = Tile<std::uint32_t, items, threads>;
};

/// Where a segment is. Empty: a group of threads without a segment.
struct Segment {
  int begin = 0, length = 0;
};

struct SegmentKeys {
  const std::uint32_t* from;
  std::uint32_t* to;
};

/// Loads a segment, in any arrangement; words past its end come after all others. t: the thread's number in the group.
template <class SegmentTile>
__device__ void load_segment(SegmentKeys keys, Segment segment, std::uint32_t (&words)[SegmentTile::items], int t) {
  const std::uint32_t* const from = keys.from + segment.begin + t;
  const uint4* const vectors = reinterpret_cast<const uint4*>(keys.from + segment.begin);
  const bool full =
      segment.length == SegmentTile::size && reinterpret_cast<std::uintptr_t>(vectors) % sizeof(uint4) == 0;
  if (__all_sync(all_lanes, full)) {  // needs no comparisons
#pragma unroll
    for (int i = 0; i < SegmentTile::items / 4; ++i) {
      const uint4 vector = vectors[t + i * SegmentTile::threads];
      words[4 * i] = vector.x, words[4 * i + 1] = vector.y, words[4 * i + 2] = vector.z, words[4 * i + 3] = vector.w;
    }
  } else {
    const int left = segment.length - t;
#pragma unroll
    for (int i = 0; i < SegmentTile::items; ++i) {
      words[i] = i * SegmentTile::threads < left ? from[i * SegmentTile::threads] : ~0u;
    }
  }
}

/// Stores a segment that is sorted in shared memory: as rows, with neighbouring lanes at neighbouring keys. `threads`
/// threads call it.
template <int threads, class SegmentTile>
__device__ void store_segment(SegmentKeys keys, Segment segment, SegmentTile& tile, int t) {
  constexpr int rows = SegmentTile::size / threads;
  const Column<threads, SegmentTile> from(tile, t);
  std::uint32_t* const to = keys.to + segment.begin + t;
  if (segment.length == SegmentTile::size) {
#pragma unroll
    for (int i = 0; i < rows; ++i) to[i * threads] = from[i];
  } else {
    const int left = segment.length - t;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      if (i * threads < left) to[i * threads] = from[i];
    }
  }
}

/// The segment of the thread's group, if the block sorts segments from number `first` on.
template <class Class, class Segments>
__device__ Segment own_segment(const Segments& segments, int count, unsigned first) {
  const unsigned i = first + threadIdx.x / Class::threads;
  return i < unsigned(count) ? segments[int(i)] : Segment{};
}

/// Sorts a segment for each of the block's groups of threads. Before and after, no thread uses the tiles.
template <class Class>
__device__ void sort_short_segments(typename Class::SegmentTile* tiles, SegmentKeys keys, Segment own) {
  using SegmentTile = typename Class::SegmentTile;
  constexpr int threads = Class::threads;
  const int group = int(threadIdx.x) / threads, t = int(threadIdx.x) % threads;
  std::uint32_t words[SegmentTile::items];
  load_segment<SegmentTile>(keys, own, words, t);
  sort_blocks<threads>(tiles[group], words, t);
  write_blocks(tiles[group], words, t);
  if constexpr (threads < 32) {  // the whole warp stores the segments of its groups, one after the other
    __syncwarp();                // a thread stores words that others have written
    const int lane = int(threadIdx.x) % 32, first_group = group - lane / threads;
#pragma unroll
    for (int i = 0; i < 32 / threads; ++i) {
      const Segment segment = {__shfl_sync(all_lanes, own.begin, i * threads),
                               __shfl_sync(all_lanes, own.length, i * threads)};
      store_segment<32>(keys, segment, tiles[first_group + i], lane);
    }
  } else {
    synchronize<threads>();  // a thread stores words that others have written
    store_segment<threads>(keys, own, tiles[group], t);
  }
}

}  // namespace bitonic

// Many small arrays at once: each segment of the keys is sorted separately. sort_segments of step 04 calls it.
//
// A segment of up to 4096 keys is sorted by as many threads as its length requires, 4 to 128 threads with up to 32 words
// each, in registers, by shuffles and as columns (tile_network.cuh), so that its keys are read once and written once.
// Blocks of 128 threads sort 32 segments of 32 keys, or one of 4096. The number of threads is a template parameter, for
// the compiler must know all indices. So segments are divided into classes by their length.
// - If all segments have the same length, the host chooses the class.
// - If not, a first kernel writes a list of the segments of each class, in no particular order. Then one launch works
//   through all lists.
// A longer segment is sorted by one block, stage by stage in global memory, which is correct but slow.
#pragma once

#include <cstdint>

#include "step/device_array.h"
#include "tile_network.cuh"

namespace bitonic {

inline constexpr int segment_threads = 128;                ///< per block
inline constexpr int segment_blocks = 8;                   ///< at a time on a multiprocessor
inline constexpr int classes = 9, longest_segment = 4096;  ///< the last class: longer segments
inline constexpr int list_threads = 256,
                     list_segments = 8;  ///< per block and per thread, of the kernel that writes lists

/// The class of a segment's length: 0 for up to 32 keys, 1 for up to 64, ..., 7 for up to 4096, 8 for more.
__host__ __device__ inline int class_of(int length) {
  int number = 0;
  for (int most = 32; most < length && number + 1 < classes; most *= 2) ++number;
  return number;
}

/// The threads that sort a segment of a class.
template <int number>
struct Class {
  static constexpr int threads = number <= 2 ? 4 : 4 << (number - 2), items = number <= 2 ? 8 << number : 32;
  static constexpr int per_block = segment_threads / threads;
  using SegmentTile = Tile<std::uint32_t, items, threads>;
};
static_assert(Class<7>::SegmentTile::size == longest_segment);

/// Where a segment is. Empty: a group of threads without a segment.
struct Segment {
  int begin = 0, length = 0;
};

/// Segments of equal length; the last one may be shorter.
struct EqualSegments {
  int length, n, number;

  __device__ int count() const { return number; }
  __device__ Segment operator[](int i) const { return {i * length, n - i * length < length ? n - i * length : length}; }
};

/// The segments of a list.
struct ListedSegments {
  const int *begins, *list, *number;

  __device__ int count() const { return *number; }
  __device__ Segment operator[](int i) const {
    const int begin = begins[list[i]];
    return {begin, begins[list[i] + 1] - begin};
  }
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
  const std::uint32_t* const from = tile.at(t);
  std::uint32_t* const to = keys.to + segment.begin + t;
  if (segment.length == SegmentTile::size) {
#pragma unroll
    for (int i = 0; i < rows; ++i) to[i * threads] = from[padded<std::uint32_t>(i * threads)];
  } else {
    const int left = segment.length - t;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      if (i * threads < left) to[i * threads] = from[padded<std::uint32_t>(i * threads)];
    }
  }
}

/// Sorts as many segments as the block has groups of threads, from number `first` on. Before and after, no thread uses
/// the tiles.
template <class Class, class Segments>
__device__ void sort_short_segments(typename Class::SegmentTile* tiles, SegmentKeys keys, Segments segments,
                                    int first) {
  using SegmentTile = typename Class::SegmentTile;
  constexpr int threads = Class::threads;
  const int group = int(threadIdx.x) / threads, t = int(threadIdx.x) % threads;
  const Segment own = first + group < segments.count() ? segments[first + group] : Segment{};
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

/// Sorts a segment of any length in global memory. All threads of the block call it.
__device__ inline void sort_long_segment(SegmentKeys keys, Segment segment) {
  std::uint32_t* const words = keys.to + segment.begin;
  for (int i = threadIdx.x; i < segment.length; i += segment_threads) words[i] = keys.from[segment.begin + i];
  for (std::int64_t run = 2; run / 2 < segment.length; run *= 2) {
    for (std::int64_t stride = run / 2; stride > 0; stride /= 2) {
      __syncthreads();  // reads words that other threads have written
      for (std::int64_t pair = threadIdx.x;; pair += segment_threads) {
        const std::int64_t low = lower_position(pair, stride);
        const std::int64_t high = stride == run / 2 ? low ^ (run - 1) : low + stride;
        if (low >= segment.length) break;
        if (high < segment.length) compare_exchange(words[low], words[high]);
      }
    }
  }
}

/// Sorts segments of equal length, which belong to the class.
template <class Class>
__global__ void __launch_bounds__(segment_threads) sort_segments_of_class(SegmentKeys keys, EqualSegments segments) {
  __shared__ typename Class::SegmentTile tiles[Class::per_block];
  for (int first = blockIdx.x * Class::per_block; first < segments.count(); first += gridDim.x * Class::per_block) {
    sort_short_segments<Class>(tiles, keys, segments, first);
    __syncthreads();  // the next segments overwrite these
  }
}

/// Sorts segments of equal length that are longer than those of all other classes.
static __global__ void __launch_bounds__(segment_threads) sort_long_segments(SegmentKeys keys, EqualSegments segments) {
  for (int i = blockIdx.x; i < segments.count(); i += gridDim.x) sort_long_segment(keys, segments[i]);
}

/// The lists of all classes: how many segments each has, and their numbers.
struct SegmentLists {
  int* counts;
  int* numbers;
  std::int64_t firsts[classes + 1];  ///< where the list of each class begins in `numbers`, and the end of the last one

  SegmentLists(int segments, std::int64_t n) : counts(nullptr), numbers(nullptr), firsts() {
    for (int c = 0; c < classes; ++c) {  // a list has room for all segments, or as many of the class as n keys can form
      const std::int64_t shortest = c == 0 ? 1 : (16 << c) + 1;
      firsts[c + 1] = firsts[c] + (n / shortest < segments ? n / shortest : segments);
    }
  }

  __device__ ListedSegments list(const int* begins, int c) const { return {begins, numbers + firsts[c], counts + c}; }
};

/// Writes the number of each segment into the list of its class. The lanes of a warp with the same class draw their
/// places together.
static __global__ void __launch_bounds__(list_threads)
    list_segments_by_class(const int* begins, int segments, SegmentLists lists) {
  __shared__ int counts[classes], firsts[classes];
  const int first = blockIdx.x * list_threads * list_segments + threadIdx.x, lane = int(threadIdx.x) % 32;
  if (threadIdx.x < classes) counts[threadIdx.x] = 0;
  __syncthreads();  // a thread counts in counters that others have cleared
  int own[list_segments], places[list_segments];
#pragma unroll
  for (int i = 0; i < list_segments; ++i) {
    const int s = first + i * list_threads, length = s < segments ? begins[s + 1] - begins[s] : 0;
    own[i] = length > 0 ? class_of(length) : classes;
  }
#pragma unroll
  for (int i = 0; i < list_segments; ++i) {
    const unsigned equal = __match_any_sync(all_lanes, own[i]);
    const int leader = __ffs(int(equal)) - 1;
    int place = 0;
    if (own[i] < classes && lane == leader) place = atomicAdd(&counts[own[i]], __popc(equal));
    places[i] = __shfl_sync(all_lanes, place, leader) + __popc(equal & ((1u << lane) - 1));
  }
  __syncthreads();  // a thread reads what all have counted
  if (threadIdx.x < classes) firsts[threadIdx.x] = atomicAdd(&lists.counts[threadIdx.x], counts[threadIdx.x]);
  __syncthreads();  // a thread reads where the block's part of a list begins
#pragma unroll
  for (int i = 0; i < list_segments; ++i) {
    if (own[i] == classes) continue;
    lists.numbers[lists.firsts[own[i]] + firsts[own[i]] + places[i]] = first + i * list_threads;
  }
}

/// Sorts the segments of lists `number`, number - 1, ..., 0. `turn`: of those that this launch takes, counted over all
/// lists; the blocks take them in turn.
template <int number>
__device__ void sort_listed(char* shared, SegmentKeys keys, const int* begins, const SegmentLists& lists, int turn) {
  using Class = Class<number>;
  const ListedSegments segments = lists.list(begins, number);
  const int turns = (segments.count() + Class::per_block - 1) / Class::per_block;
  for (; turn < turns; turn += gridDim.x) {
    auto* const tiles = reinterpret_cast<typename Class::SegmentTile*>(shared);
    sort_short_segments<Class>(tiles, keys, segments, turn * Class::per_block);
    __syncthreads();  // the next segments overwrite these
  }
  if constexpr (number > 0) sort_listed<number - 1>(shared, keys, begins, lists, turn - turns);
}

/// Sorts the segments of all lists, the longest first.
static __global__ void __launch_bounds__(segment_threads, segment_blocks)
    sort_listed_segments(SegmentKeys keys, const int* begins, SegmentLists lists) {
  __shared__ alignas(16) char shared[sizeof(Class<7>::SegmentTile)];
  const ListedSegments longer = lists.list(begins, classes - 1);
  for (int i = blockIdx.x; i < longer.count(); i += gridDim.x) sort_long_segment(keys, longer[i]);
  sort_listed<classes - 2>(shared, keys, begins, lists, blockIdx.x);
}

}  // namespace bitonic

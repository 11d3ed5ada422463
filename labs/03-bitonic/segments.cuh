// Many small arrays at once: each segment of the keys is sorted separately. Step 04 launches these kernels.
//
// Segments are sorted by classes of their length (segment.cuh; long_segment.cuh for those that are longer than a tile).
// - If all segments have the same length, the host chooses the class.
// - If not, a first kernel writes a list of the segments of each class, in no particular order. Then one launch sorts
//   the segments that are longer than a tile, and another one works through all other lists.
#pragma once

#include <cstdint>

#include "long_segment.cuh"
#include "segment.cuh"

namespace bitonic {

inline constexpr int list_threads = 256,
                     list_segments = 8;  ///< per block and per thread, of the kernel that writes lists

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

/// Sorts segments of equal length, which belong to the class.
template <class Class>
__global__ void __launch_bounds__(segment_threads) sort_segments_of_class(SegmentKeys keys, EqualSegments segments) {
  __shared__ typename Class::SegmentTile tiles[Class::per_block];
  for (int first = blockIdx.x * Class::per_block; first < segments.count(); first += gridDim.x * Class::per_block) {
    sort_short_segments<Class>(tiles, keys, segments, first);
    __syncthreads();  // the next segments overwrite these
  }
}

/// Sorts segments that are longer than those of all other classes.
template <class Segments>
__global__ void __launch_bounds__(segment_threads) sort_long_segments(SegmentKeys keys, Segments segments) {
  __shared__ LongTile tile;
  for (int i = blockIdx.x; i < segments.count(); i += gridDim.x) sort_long_segment(tile, keys, segments[i]);
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

  __host__ __device__ ListedSegments list(const int* begins, int c) const {
    return {begins, numbers + firsts[c], counts + c};
  }
};

/// Writes the number of each segment into the list of its class. The lanes of a warp with the same class reserve their
/// places with one atomic.
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

/// Sorts the segments of lists `number`, number - 1, ..., 0. One turn sorts as many segments as a block holds at a
/// time. `turn`: the block's next one, counted from the beginning of this list.
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

/// Sorts the segments of all lists but the last, the longest first.
static __global__ void __launch_bounds__(segment_threads, segment_blocks)
    sort_listed_segments(SegmentKeys keys, const int* begins, SegmentLists lists) {
  __shared__ alignas(16) char shared[sizeof(Class<7>::SegmentTile)];
  sort_listed<classes - 2>(shared, keys, begins, lists, blockIdx.x);
}

}  // namespace bitonic

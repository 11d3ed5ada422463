// Lists of segments of different lengths, one for each class.
//
// One kernel counts the segments of each class, and another one writes each segment into the list of its class, in no
// particular order. Scratch memory: 8 bytes per segment, for its begin and its length, and 80 bytes for counters.
#pragma once

#include "segment.cuh"

namespace bitonic {

inline constexpr int list_threads = 256;  ///< per block of the kernels that make lists
inline constexpr int list_segments = 2;   ///< per thread of these kernels

/// The lists of all classes in one array, the longest segments first.
struct SegmentLists {
  int* counts;       ///< per class: the number of its segments
  int* listed;       ///< per class: how many of them are in the list
  unsigned* claims;  ///< of the work queue: items claimed so far, not counting each block's first
  Segment* segments;

  static constexpr int counters = 2 * classes + 1;

  /// How many elements of `memory` the lists of `segments` segments need.
  static std::int64_t needed(int segments) { return std::int64_t(segments) + (counters + 1) / 2; }

  /// The counters in `memory` must be set to 0.
  explicit SegmentLists(Segment* memory)
      : counts(reinterpret_cast<int*>(memory)),
        listed(counts + classes),
        claims(reinterpret_cast<unsigned*>(listed + classes)),
        segments(memory + (counters + 1) / 2) {}

  __host__ __device__ ListedSegments long_segments() const { return {segments, counts + classes - 1}; }
};

/// The classes of the segments that one thread looks at, and their ranks among those of the block. A warp's lanes with
/// the same class reserve their ranks with one atomic. `counts` holds zeros, and after the next barrier the number of
/// the block's segments of each class.
struct ClassifiedSegments {
  Segment segments[list_segments];
  int class_index[list_segments], rank[list_segments];

  __device__ ClassifiedSegments(const int* begins, int count, int* counts) {
    const int first = blockIdx.x * list_threads * list_segments + threadIdx.x, lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < list_segments; ++i) {
      const int s = first + i * list_threads;
      if (s < count) segments[i] = {begins[s], begins[s + 1] - begins[s]};
      class_index[i] = segments[i].length > 0 ? class_of(segments[i].length) : classes;
    }
#pragma unroll
    for (int i = 0; i < list_segments; ++i) {
      const unsigned equal = __match_any_sync(all_lanes, class_index[i]);
      const int leader = __ffs(int(equal)) - 1;
      int first_rank = 0;
      if (class_index[i] < classes && lane == leader) first_rank = atomicAdd(&counts[class_index[i]], __popc(equal));
      rank[i] = __shfl_sync(all_lanes, first_rank, leader) + __popc(equal & ((1u << lane) - 1));
    }
  }
};

/// Counts the segments of each class. Each block looks at list_threads * list_segments segments.
static __global__ void __launch_bounds__(list_threads)
    count_segments(const int* begins, int count, SegmentLists lists) {
  __shared__ int counts[classes];
  if (threadIdx.x < classes) counts[threadIdx.x] = 0;
  __syncthreads();  // a thread adds to elements of `counts` that other threads have cleared
  const ClassifiedSegments own(begins, count, counts);
  __syncthreads();  // a thread reads elements of `counts` to which other threads have added
  if (threadIdx.x < classes && counts[threadIdx.x] > 0) {
    atomicAdd(&lists.counts[threadIdx.x], counts[threadIdx.x]);
  }
}

/// Writes each segment into the list of its class. Each block looks at list_threads * list_segments segments.
static __global__ void __launch_bounds__(list_threads)
    list_segments_by_class(const int* begins, int count, SegmentLists lists) {
  __shared__ int counts[classes], firsts[classes];
  if (threadIdx.x < classes) counts[threadIdx.x] = 0;
  __syncthreads();  // a thread adds to elements of `counts` that other threads have cleared
  const ClassifiedSegments own(begins, count, counts);
  __syncthreads();  // a thread reads elements of `counts` to which other threads have added
  if (threadIdx.x < classes) {
    int first = atomicAdd(&lists.listed[threadIdx.x], counts[threadIdx.x]);
    for (int longer = threadIdx.x + 1; longer < classes; ++longer) first += lists.counts[longer];
    firsts[threadIdx.x] = first;
  }
  __syncthreads();  // a thread reads elements of `firsts` that other threads have written
#pragma unroll
  for (int i = 0; i < list_segments; ++i) {
    const int index = own.class_index[i];
    if (index < classes) lists.segments[firsts[index] + own.rank[i]] = own.segments[i];
  }
}

}  // namespace bitonic

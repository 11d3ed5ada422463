// Many small arrays at once: each segment of the keys is sorted separately. Step 04 launches these kernels.
//
// Segments are sorted by classes of their length (segment.cuh; long_segment.cuh for those that are longer than a tile).
// - If all segments have the same length, the host chooses the class.
// - If not, one kernel counts the segments of each class, and another one writes a list of each class, in no particular
//   order. Then one launch sorts the segments that are longer than a tile, and another one works through all other
//   lists. Scratch memory: 8 bytes per segment, which is where it begins and how long it is, and 128 bytes for counters.
#pragma once

#include <cstdint>

#include "long_segment.cuh"
#include "segment.cuh"

namespace bitonic {

inline constexpr int list_threads = 256,
                     list_segments = 2;  ///< per block and per thread, of the kernels that make lists

/// Segments of equal length; the last one may be shorter.
struct EqualSegments {
  int length, n, number;

  __device__ int count() const { return number; }
  __device__ Segment operator[](int i) const { return {i * length, n - i * length < length ? n - i * length : length}; }
};

/// The segments of a list.
struct ListedSegments {
  const Segment* list;
  const int* number;

  __device__ int count() const { return *number; }
  __device__ Segment operator[](int i) const { return list[i]; }
};

/// Sorts segments of equal length, which belong to the class.
template <class Class>
__global__ void __launch_bounds__(segment_threads) sort_segments_of_class(SegmentKeys keys, EqualSegments segments) {
  __shared__ typename Class::SegmentTile tiles[Class::per_block];
  for (int first = blockIdx.x * Class::per_block; first < segments.count(); first += gridDim.x * Class::per_block) {
    sort_short_segments<Class>(tiles, keys, own_segment<Class>(segments, segments.count(), first));
    __syncthreads();  // the next segments overwrite these
  }
}

/// Sorts segments that are longer than those of all other classes.
template <class Segments>
__global__ void __launch_bounds__(segment_threads) sort_long_segments(SegmentKeys keys, Segments segments) {
  __shared__ LongTile tile;
  for (int i = blockIdx.x; i < segments.count(); i += gridDim.x) sort_long_segment(tile, keys, segments[i]);
}

/// The lists of all classes, one after the other, the longest segments first.
struct SegmentLists {
  int* counts;          ///< per class: its segments
  int* listed;          ///< per class: how many of them are in the list
  unsigned* next_turn;  ///< of the blocks that sort: how many turns they have taken beyond their first
  Segment* segments;

  static constexpr int counters = 2 * classes + 1;

  /// How much memory the lists of so many segments need.
  static std::int64_t needed(int number) { return std::int64_t(number) + (counters + 1) / 2; }

  /// The counters in `memory` must be set to 0.
  explicit SegmentLists(Segment* memory)
      : counts(reinterpret_cast<int*>(memory)),
        listed(counts + classes),
        next_turn(reinterpret_cast<unsigned*>(listed + classes)),
        segments(memory + (counters + 1) / 2) {}

  __host__ __device__ ListedSegments longest() const { return {segments, counts + classes - 1}; }
};

/// The classes of the segments that one thread looks at, and their places among those of the block. A warp's lanes with
/// the same class reserve their places with one atomic. `counts`: zeros; after the next barrier, the block's segments
/// of each class.
struct Classified {
  Segment segments[list_segments];
  int own[list_segments], places[list_segments];

  __device__ Classified(const int* begins, int number, int* counts) {
    const int first = blockIdx.x * list_threads * list_segments + threadIdx.x, lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < list_segments; ++i) {
      const int s = first + i * list_threads;
      if (s < number) segments[i] = {begins[s], begins[s + 1] - begins[s]};
      own[i] = segments[i].length > 0 ? class_of(segments[i].length) : classes;
    }
#pragma unroll
    for (int i = 0; i < list_segments; ++i) {
      const unsigned equal = __match_any_sync(all_lanes, own[i]);
      const int leader = __ffs(int(equal)) - 1;
      int place = 0;
      if (own[i] < classes && lane == leader) place = atomicAdd(&counts[own[i]], __popc(equal));
      places[i] = __shfl_sync(all_lanes, place, leader) + __popc(equal & ((1u << lane) - 1));
    }
  }
};

/// Counts the segments of each class.
static __global__ void __launch_bounds__(list_threads)
    count_segments(const int* begins, int segments, SegmentLists lists) {
  __shared__ int counts[classes];
  if (threadIdx.x < classes) counts[threadIdx.x] = 0;
  __syncthreads();  // a thread counts in counters that others have cleared
  const Classified own(begins, segments, counts);
  __syncthreads();  // a thread reads what all have counted
  if (threadIdx.x < classes && counts[threadIdx.x] > 0) {
    atomicAdd(&lists.counts[threadIdx.x], counts[threadIdx.x]);
  }
}

/// Writes each segment into the list of its class.
static __global__ void __launch_bounds__(list_threads)
    list_segments_by_class(const int* begins, int segments, SegmentLists lists) {
  __shared__ int counts[classes], firsts[classes];
  if (threadIdx.x < classes) counts[threadIdx.x] = 0;
  __syncthreads();  // a thread counts in counters that others have cleared
  const Classified own(begins, segments, counts);
  __syncthreads();  // a thread reads what all have counted
  if (threadIdx.x < classes) {
    int first = atomicAdd(&lists.listed[threadIdx.x], counts[threadIdx.x]);
    for (int longer = threadIdx.x + 1; longer < classes; ++longer) first += lists.counts[longer];
    firsts[threadIdx.x] = first;
  }
  __syncthreads();  // a thread reads where the block's part of a list begins
#pragma unroll
  for (int i = 0; i < list_segments; ++i) {
    if (own.own[i] < classes) lists.segments[firsts[own.own[i]] + own.places[i]] = own.segments[i];
  }
}

/// The turns of a block. In each, it sorts as many segments of a class as it holds at a time. The first turn is the
/// block's number; then each block takes the next turn that none has taken.
struct Turns {
  unsigned turn, taken;
  unsigned* shared;  ///< two numbers: one is read while the next is written
  int which;

  __device__ explicit Turns(unsigned* shared_numbers) : turn(blockIdx.x), taken(0), shared(shared_numbers), which(0) {}

  /// Takes the next turn. It is known only after the barrier in go_on().
  __device__ void take(unsigned* next_turn) {
    if (threadIdx.x == 0) taken = gridDim.x + atomicAdd(next_turn, 1u);
  }

  __device__ void go_on() {
    if (threadIdx.x == 0) shared[which] = taken;
    __syncthreads();  // a thread reads what the first one has written, and the next segments overwrite these
    turn = shared[which];
    which ^= 1;
  }
};

/// Sorts the segments of the classes `number`, number - 1, ..., 0. first_turn, first: those of the class's list.
template <int number>
__device__ __forceinline__ void sort_listed(char* shared, SegmentKeys keys, const SegmentLists& lists, Turns& turns,
                                            unsigned first_turn, int first) {
  using Class = Class<number>;
  const Segment* const segments = lists.segments + first;
  const int count = lists.counts[number];
  const unsigned end_turn = first_turn + (count + Class::per_block - 1) / Class::per_block;
  auto* const tiles = reinterpret_cast<typename Class::SegmentTile*>(shared);
  while (turns.turn < end_turn) {
    turns.take(lists.next_turn);
    const unsigned first_of_turn = (turns.turn - first_turn) * Class::per_block;
    sort_short_segments<Class>(tiles, keys, own_segment<Class>(segments, count, first_of_turn));
    turns.go_on();
  }
  if constexpr (number > 0) sort_listed<number - 1>(shared, keys, lists, turns, end_turn, first + count);
}

/// Sorts the segments of all lists but the first, the longest first.
static __global__ void __launch_bounds__(segment_threads, segment_blocks)
    sort_listed_segments(SegmentKeys keys, SegmentLists lists) {
  __shared__ alignas(16) char shared[sizeof(LongTile)];
  __shared__ unsigned numbers[2];
  Turns turns(numbers);
  sort_listed<classes - 2>(shared, keys, lists, turns, 0, lists.counts[classes - 1]);
}

}  // namespace bitonic

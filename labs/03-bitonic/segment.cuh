// A segment is a small array that is part of a larger one. This header says what step 05 needs to know about it.
//
// A segment of up to 4096 keys is sorted by as many threads as its length requires, a group of 4 to 128 threads with up
// to 32 words each. The numbers of threads and of words are template parameters, because the compiler must know all
// indexes of arrays in registers. Therefore segments are divided into classes by their length. The limits of the
// classes are powers of two. A segment of 1025 keys costs as much as one of 2048.
//
// The kernels that are given call the step's code through a template argument, `Sort`, with two static functions that
// all threads of the block call:
//
// Sort::sort<Class>(tiles, keys, own): each group of Class::threads threads sorts its own segment, which may be empty,
//   from keys.from to keys.to. tiles[i] is shared memory for group i, which no thread is using at the call. A barrier
//   must follow before it is used again.
// Sort::run_strided_stages<mirrored>(all, stride): five stages of the merges into runs of 32 * stride words. `all` are
//   the words of a segment that is longer than a tile (long_segment.cuh).
#pragma once

#include "tile_network.cuh"

namespace bitonic {

inline constexpr int segment_threads = 128;  ///< per block
inline constexpr int classes = 9;            ///< the last one is for all segments of more than 4096 keys

/// The length of the longest segment of each class but the last.
__host__ __device__ constexpr int longest_of(int index) { return 32 << index; }

/// The index of the class to which segments of this length belong.
__host__ __device__ inline int class_of(int length) {
  int index = 0;
  for (int shorter = 0; shorter < classes - 1; ++shorter) index += longest_of(shorter) < length;
  return index;
}

/// The threads that sort a segment of a class, the words of each, and the segments that a block sorts at a time.
template <int index>
struct SegmentClass {
  static constexpr int size = longest_of(index);
  static constexpr int items = size <= 64 ? size / 4 : 32;
  static constexpr int threads = size / items, per_block = segment_threads / threads;
  using SegmentTile = Tile<std::uint32_t, items, threads>;
};
static_assert(SegmentClass<classes - 2>::threads == segment_threads);

/// Where a segment is. A group of threads without a segment has an empty one.
struct Segment {
  int begin = 0, length = 0;
};

struct SegmentKeys {
  const std::uint32_t* from;
  std::uint32_t* to;
};

/// Segments of equal length, of which the last one may be shorter.
struct EqualSegments {
  int length, n, segments;

  __device__ int count() const { return segments; }
  __device__ Segment operator[](int i) const { return {i * length, n - i * length < length ? n - i * length : length}; }
};

/// The segments of a list, whose length the device knows.
struct ListedSegments {
  const Segment* list;
  const int* length;

  __device__ int count() const { return *length; }
  __device__ Segment operator[](int i) const { return list[i]; }
};

/// The segment of the thread's group, if the block sorts segments from index `first` on.
template <class Class, class Segments>
__device__ Segment own_segment(const Segments& segments, int count, unsigned first) {
  const unsigned i = first + threadIdx.x / Class::threads;
  return i < unsigned(count) ? segments[int(i)] : Segment{};
}

}  // namespace bitonic

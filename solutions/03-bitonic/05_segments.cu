// Step 05: segments.
//
// Idea: a network is at its best where everything fits into registers. Many small arrays, the segments of a larger one,
// are sorted at once, each by a few lanes of a warp, or by up to four warps.
// New since step 04: a warp sorts several segments, of any length and from any address. Segments are divided into
// classes by their length (segment.cuh). If lengths differ, the segments of each class are put into a list
// (segment_lists.cuh), and persistent blocks work through the lists (segment_queue.cuh). A segment that is longer than
// a tile is sorted by one block (long_segment.cuh).
//- Cost: one read and one write of every key in a segment of up to 4096 keys, and 11 bytes per key instead of 8 (10 for
//- very many keys) if segments begin anywhere, counted without caches. Scratch memory only if segments are
//- given by offsets: 8 bytes for each, and 80 bytes.
// Limits: uint32_t, ascending, 128 threads per block; n below 2^31.
#include <algorithm>
#include <cstdint>

#include "long_segment.cuh"
#include "segment_queue.cuh"
#include "step/device_array.h"
#include "step/device_attribute.h"
#include "step/launch_shape.h"

namespace bitonic {
namespace {

// Persistent blocks with fewer keys would mostly read the lengths of the lists.
constexpr int min_keys_per_block = 1024;

/// The sort of segments. The contract of sort() and run_strided_stages(), which the kernels call, is in segment.cuh.
struct GroupSort {
  /// Loads the thread's words of a segment, and ~0u for positions past its end. All lanes of the warp call it.
  template <class SegmentTile>
  static __device__ void load(SegmentKeys keys, Segment segment, std::uint32_t (&words)[SegmentTile::items], int t) {
    constexpr int items = SegmentTile::items, threads = SegmentTile::threads;
    const std::uint32_t* const from = keys.from + segment.begin + t;  // from here, all distances are constants
    const uint4* const vectors = reinterpret_cast<const uint4*>(keys.from + segment.begin);
    const bool aligned = reinterpret_cast<std::uintptr_t>(vectors) % sizeof(uint4) == 0;
    // begin solution
    //~ // Your code: load the words from[0], from[threads], ... of the segment, and the sentinel ~0u past its end.
    //~ // If all lanes of the warp have `aligned` addresses and full segments (__all_sync), load vectors of four words
    //~ // instead: vectors[t], vectors[t + threads], ...
    //~ (void)from, (void)vectors, (void)aligned, (void)items, (void)threads;
    if (__all_sync(all_lanes, aligned && segment.length == SegmentTile::size)) {  // needs no comparisons
#pragma unroll
      for (int i = 0; i < items / 4; ++i) {
        const uint4 vector = vectors[t + i * threads];
        words[4 * i] = vector.x, words[4 * i + 1] = vector.y, words[4 * i + 2] = vector.z, words[4 * i + 3] = vector.w;
      }
    } else {
      const int left = segment.length - t;
#pragma unroll
      for (int i = 0; i < items; ++i) words[i] = i * threads < left ? from[i * threads] : ~0u;
    }
    // end solution
  }

  /// Stores the sorted words of a segment from the tile, by `threads` threads. `t`: the index among them.
  template <int threads, class SegmentTile>
  static __device__ void store(SegmentKeys keys, Segment segment, SegmentTile& tile, int t) {
    constexpr int items = SegmentTile::size / threads;
    const std::uint32_t* const words = tile.at(t);  // word i is words[tile.padded(i * threads)]
    std::uint32_t* const to = keys.to + segment.begin + t;
    // begin solution
    //~ // Your code: store the words that belong to the segment. Which comparisons does a full one not need?
    //~ (void)words, (void)to, (void)items;
    if (segment.length == SegmentTile::size) {
#pragma unroll
      for (int i = 0; i < items; ++i) to[i * threads] = words[tile.padded(i * threads)];
    } else {
      const int left = segment.length - t;
#pragma unroll
      for (int i = 0; i < items; ++i) {
        if (i * threads < left) to[i * threads] = words[tile.padded(i * threads)];
      }
    }
    // end solution
  }

  template <class Class>
  static __device__ void sort(typename Class::SegmentTile* tiles, SegmentKeys keys, Segment own) {
    using SegmentTile = typename Class::SegmentTile;
    constexpr int threads = Class::threads;
    const int group = int(threadIdx.x) / threads, t = int(threadIdx.x) % threads;
    std::uint32_t words[SegmentTile::items];
    // begin solution
    //~ // Your code: load the group's segment, sort its words (sort_group), write them into the group's tile, and store
    //~ // them. If a warp has several groups, all of its lanes together store one segment after another: which lanes
    //~ // know where the segment of group i is, and how do the others learn it? Which barriers are needed?
    //~ (void)tiles, (void)keys, (void)own, (void)group, (void)t, (void)words;
    load<SegmentTile>(keys, own, words, t);
    sort_group<threads>(tiles[group], words, t);
    write_blocked(tiles[group], words, t);
    synchronize<threads>();  // a thread stores words of tiles[group] that other threads have written
    if constexpr (threads < 32) {
      const int lane = int(threadIdx.x) % 32, first_group = group - lane / threads;
#pragma unroll
      for (int i = 0; i < 32 / threads; ++i) {
        const Segment segment = {__shfl_sync(all_lanes, own.begin, i * threads),
                                 __shfl_sync(all_lanes, own.length, i * threads)};
        store<32>(keys, segment, tiles[first_group + i], lane);
      }
    } else {
      store<threads>(keys, own, tiles[group], t);
    }
    // end solution
  }

  template <bool mirrored>
  static __device__ void run_strided_stages(SegmentWords all, std::int64_t stride) {
    for (std::int64_t run = 0; run < all.n; run += strided_items * stride) {
      for (std::int64_t column = threadIdx.x; column < stride; column += segment_threads) {
        // begin solution
        //~ // Your code: as in run_strided_stages of step 04.
        const std::int64_t low = run + column, high = mirrored ? run + stride - 1 - column : low;
        run_five_stages<mirrored>(all, low, high, stride);
        // end solution
      }
    }
  }
};

/// Sorts segments of equal length, which belong to the class.
template <class Class>
__global__ void __launch_bounds__(segment_threads) sort_segments_of_class(SegmentKeys keys, EqualSegments segments) {
  __shared__ typename Class::SegmentTile tiles[Class::per_block];
  for (int first = blockIdx.x * Class::per_block; first < segments.count(); first += gridDim.x * Class::per_block) {
    GroupSort::sort<Class>(tiles, keys, own_segment<Class>(segments, segments.count(), first));
    __syncthreads();  // the next segments overwrite words in `tiles` that other threads may not have stored yet
  }
}

/// Queues the sort of equal segments of the class `index` or, if they do not belong to it, of the next class.
template <int index>
void sort_from_class(SegmentKeys keys, EqualSegments segments, lab::LaunchShape shape, cudaStream_t stream) {
  if constexpr (index < classes - 1) {
    if (class_of(segments.length) != index) return sort_from_class<index + 1>(keys, segments, shape, stream);
    const unsigned blocks = lab::blocks_or(shape, segments.segments, SegmentClass<index>::per_block);
    // begin solution
    //~ // Your code: launch sort_segments_of_class, and check the launch.
    //~ (void)blocks, (void)keys, (void)stream, (void)sort_segments_of_class<SegmentClass<index>>;
    //~ NOT_WRITTEN("step 05");
    sort_segments_of_class<SegmentClass<index>><<<blocks, segment_threads, 0, stream>>>(keys, segments);
    CUDA_CHECK(cudaGetLastError());
    // end solution
  } else {
    const unsigned blocks = lab::blocks_or(shape, segments.segments, 1);
    sort_long_segments<GroupSort><<<blocks, segment_threads, 0, stream>>>(keys, segments);
    CUDA_CHECK(cudaGetLastError());
  }
}

void require_segments(std::int64_t n, lab::LaunchShape shape) {
  if (lab::threads_or(shape, segment_threads) != segment_threads) {
    throw lab::Unsupported("segments are sorted by 128 threads per block: choose --threads 128 or leave it out");
  }
  if (n > max_segmented_keys) throw lab::Unsupported("segments have positions of type int: choose --n below 2^31");
}

/// The number of persistent blocks: at most as many as run at a time.
unsigned persistent_blocks(std::int64_t n, lab::LaunchShape shape) {
  const unsigned blocks = lab::blocks_or(shape, n, min_keys_per_block);
  if (shape.blocks != 0) return blocks;
  const int multiprocessors = lab::device_attribute(cudaDevAttrMultiProcessorCount);
  return std::min(blocks, unsigned(blocks_per_multiprocessor * multiprocessors));
}

}  // namespace

void sort_equal_segments(lab::Span<const std::uint32_t> keys, lab::Span<std::uint32_t> sorted, int length,
                         lab::LaunchShape shape, cudaStream_t stream) {
  require_segments(keys.n, shape);
  lab::blocks_or(shape, 1, 1);  // refuses impossible shapes, whatever n is
  if (length < 1) throw lab::Unsupported("a segment has at least one key: choose a greater length");
  if (keys.n == 0) return;
  const int segments = int((keys.n + length - 1) / length);
  sort_from_class<0>({keys.data, sorted.data}, {length, int(keys.n), segments}, shape, stream);
}

void sort_segments(lab::Span<const std::uint32_t> keys, lab::Span<std::uint32_t> sorted, lab::Span<const int> begins,
                   lab::LaunchShape shape, cudaStream_t stream) {
  require_segments(keys.n, shape);
  const unsigned blocks = persistent_blocks(keys.n, shape);
  const int segments = int(begins.n) - 1;
  if (keys.n == 0) return;
  const lab::DeviceArray<Segment> memory(SegmentLists::needed(segments), stream);
  const SegmentLists lists(memory.data());
  CUDA_CHECK(cudaMemsetAsync(lists.counts, 0, SegmentLists::counters * sizeof(int), stream));
  // begin solution
  //~ // Your code: launch count_segments and list_segments_by_class, whose blocks look at 512 segments each. Then launch
  //~ // sort_long_segments for the first list, and sort_listed_segments for all others. Check each launch.
  //~ (void)blocks, (void)segments, (void)sorted, (void)lists, (void)sort_long_segments<GroupSort, ListedSegments>;
  //~ (void)sort_listed_segments<GroupSort>;
  //~ NOT_WRITTEN("step 05");
  constexpr int per_block = list_threads * list_segments;
  const unsigned list_blocks = unsigned((segments + per_block - 1) / per_block);
  count_segments<<<list_blocks, list_threads, 0, stream>>>(begins.data, segments, lists);
  CUDA_CHECK(cudaGetLastError());
  list_segments_by_class<<<list_blocks, list_threads, 0, stream>>>(begins.data, segments, lists);
  CUDA_CHECK(cudaGetLastError());
  const SegmentKeys all = {keys.data, sorted.data};
  sort_long_segments<GroupSort><<<blocks, segment_threads, 0, stream>>>(all, lists.long_segments());
  CUDA_CHECK(cudaGetLastError());
  sort_listed_segments<GroupSort><<<blocks, segment_threads, 0, stream>>>(all, lists);
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

}  // namespace bitonic

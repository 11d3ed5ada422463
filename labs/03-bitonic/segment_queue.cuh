// Persistent blocks that sort the segments of all lists.
//
// As many blocks are launched as run at a time, and each works until nothing is left. They work through a queue of
// items, each of which is as many segments of one class as a block sorts at a time. The longest segments come first, so
// that no block begins a long item when the others have finished. The index of a block's first item is that of the
// block. After that, the block claims the next item that no block has claimed, with an atomic.
#pragma once

#include "segment_lists.cuh"

namespace bitonic {

/// Persistent blocks per streaming multiprocessor: with 64 registers per thread, eight blocks of 128 threads use all of
/// its 65,536 registers.
inline constexpr int blocks_per_multiprocessor = 8;
static_assert(blocks_per_multiprocessor * segment_threads * 64 == 65536);

/// A block's place in the queue.
class WorkQueue {
 public:
  unsigned item;

  /// `shared`: two elements that the block shares. One is read while the next is written.
  __device__ explicit WorkQueue(unsigned* shared) : item(blockIdx.x), claimed_(0), shared_(shared), slot_(0) {}

  /// Claims the next item. The result is needed only in advance(), so that the atomic completes while the block sorts.
  __device__ void claim(unsigned* claims) {
    if (threadIdx.x == 0) claimed_ = gridDim.x + atomicAdd(claims, 1u);
  }

  /// Goes on to the item that was claimed.
  __device__ void advance() {
    if (threadIdx.x == 0) shared_[slot_] = claimed_;
    __syncthreads();  // a thread reads shared_[slot_] from thread 0, and the next segments overwrite the tiles
    item = shared_[slot_];
    slot_ ^= 1;
  }

 private:
  unsigned claimed_;
  unsigned* shared_;
  int slot_;
};

/// Where a class begins: the index of its first item, and that of its first segment.
struct ClassBegin {
  unsigned item;
  int segment;
};

/// Sorts the segments of the classes `index`, index - 1, ..., 0.
template <class Sort, int index>
__device__ __forceinline__ void sort_listed(char* shared, SegmentKeys keys, const SegmentLists& lists, WorkQueue& queue,
                                            ClassBegin begin) {
  using Class = SegmentClass<index>;
  const Segment* const segments = lists.segments + begin.segment;
  const int count = lists.counts[index];
  const unsigned end_item = begin.item + (count + Class::per_block - 1) / Class::per_block;
  auto* const tiles = reinterpret_cast<typename Class::SegmentTile*>(shared);
  while (queue.item < end_item) {
    queue.claim(lists.claims);
    const unsigned first = (queue.item - begin.item) * Class::per_block;
    Sort::template sort<Class>(tiles, keys, own_segment<Class>(segments, count, first));
    queue.advance();
  }
  if constexpr (index > 0) sort_listed<Sort, index - 1>(shared, keys, lists, queue, {end_item, begin.segment + count});
}

/// Sorts the segments of all lists but the first, the longest first.
template <class Sort>
__global__ void __launch_bounds__(segment_threads, blocks_per_multiprocessor)
    sort_listed_segments(SegmentKeys keys, SegmentLists lists) {
  __shared__ alignas(16) char shared[sizeof(typename SegmentClass<classes - 2>::SegmentTile)];
  __shared__ unsigned items[2];
  WorkQueue queue(items);
  sort_listed<Sort, classes - 2>(shared, keys, lists, queue, {0, lists.counts[classes - 1]});
}

}  // namespace bitonic

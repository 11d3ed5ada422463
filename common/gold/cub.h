// The gold standard on a GPU: CUB's primitives behind the interface of a step, timed as every step is.
//
// A step sorts in place; CUB sorts from one array to another, or back and forth between two. Where CUB's result ends in
// the second array, as for one-byte keys with their odd number of passes, copying it back is part of its time.
// Memory is allocated in the warm-up run and kept, so that CUB's times contain no allocation.
#pragma once

#include "step/error.h"
#include "step/step.h"

#ifdef CCCL_ENABLE_ASSERTIONS
#error "CUB would be timed with its assertions: compile it with -UCCCL_ENABLE_ASSERTIONS"
#endif

namespace gold {

using lab::LaunchShape;
using lab::Order;
using lab::Span;

// Defined for the types that meson.build lists. A file of that primitive is compiled once per type, in parallel.
template <class Key>
void radix(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream);
template <class Key, class Value>
void radix(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream);
/// Keys in host memory, which are copied in, sorted, and then copied out. Throws lab::Unsupported for more keys
/// than fit on the device.
void radix_with_copies(lab::HostSpan<std::uint32_t> keys, lab::HostSpan<std::uint32_t> scratch, Order order,
                       std::int64_t device_bytes, LaunchShape shape, cudaStream_t stream);
template <class Key>
void merge(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream);
template <class Key, class Value>
void merge(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream);

/// Sorts each run of `length` keys. The length is an argument so that CUB's kernels are compiled once for all lengths.
template <class Key>
void segmented(Span<Key> keys, std::int64_t length, Order order, LaunchShape shape, cudaStream_t stream);
template <class Key, class Value>
void segmented(Span<Key> keys, Span<Value> values, std::int64_t length, Order order, LaunchShape shape,
               cudaStream_t stream);

/// Where the segments of n keys begin that have `length` keys each, the last one perhaps fewer.
struct EqualSegments {
  std::int64_t count;
  const int* begins;  ///< count + 1 offsets; segment i ends where segment i + 1 begins
};
EqualSegments equal_segments_of(std::int64_t n, std::int64_t length, cudaStream_t stream);

/// Tiles of 128 or 1024 keys, by a kernel of ours that calls CUB's block and warp primitives.
enum class TileSort { warp_merge_128, block_merge_1024, block_radix_1024 };
template <TileSort sort, class Key>
void tiles(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream);
template <TileSort sort, class Key, class Value>
void tiles(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream);
/// The same from one array to another; `length` is that of the tiles.
template <TileSort sort>
void equal_tiles(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, int length, LaunchShape shape,
                 cudaStream_t stream);

/// Segments from one array to another; equal ones have 128 or 1024 keys.
void segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, Span<const int> begins, LaunchShape shape,
              cudaStream_t stream);
void equal_segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, int length, LaunchShape shape,
                    cudaStream_t stream);

void reduce(Span<const std::uint32_t> keys, Span<std::uint32_t> result, LaunchShape shape, cudaStream_t stream);
void histogram(Span<const std::uint8_t> keys, Span<std::uint64_t> counts, LaunchShape shape, cudaStream_t stream);
void scan(Span<const std::uint64_t> values, Span<std::uint64_t> sums, LaunchShape shape, cudaStream_t stream);

/// Throws lab::Unsupported for a launch shape: CUB takes none.
inline void require_default_shape(LaunchShape shape) {
  if (shape.blocks != 0 || shape.threads != 0) throw lab::Unsupported("CUB chooses its own launch shapes");
}

}  // namespace gold

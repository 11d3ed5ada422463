// Lab 03, bitonic sort: what each step promises. Starter and solution implement the same functions.
//
// Every step sorts in either order and runs on any stream. None is stable. A step returns as soon as its work is queued
// on the stream. Keys: uint32_t, int32_t, float, uint64_t (floats in the order defined in step/keys.h). Source of the
// network: K. E. Batcher, "Sorting networks and their applications", AFIPS Spring Joint Computer Conference, 1968.
#pragma once

#include "step/error.h"
#include "step/keys.h"
#include "step/step.h"

namespace bitonic {

/// Keys per tile: step 02 sorts a tile in the shared memory of one block, and step 03 starts from sorted tiles.
inline constexpr int tile_keys = 1024;

/// Threads per block of step 04.
inline constexpr int record_threads = 256;

/// Positions of segments are of type int.
inline constexpr std::int64_t max_segmented_keys = 0x7fffffff;

/// Step 01. Sorts the whole array in place, any n, in global memory: one launch per stage of the network. Uses a
/// scratch array if n is not a power of two. Launch shape: any number of blocks, 1 to 1024 threads per block.
template <class Key>
void sort_global(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 02. Sorts each tile of `tile_keys` keys separately, in place, any n (the last tile may be short), in one
/// launch: each tile is sorted in the shared memory of one block. Launch shape: any number of blocks, 1 to 1024 threads
/// per block (default 512: one comparator per thread).
template <class Key>
void sort_tiles(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 02 for keys with values.
template <class Key, class Value>
void sort_tiles(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                cudaStream_t stream);

/// Step 03. Sorts the whole array in place, any n, without scratch memory: stages that fit into a tile run in shared
/// memory, all others in global memory. Launch shape: any number of blocks, 1 to 1024 threads per block.
template <class Key>
void sort_hybrid(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 03 for keys with values.
template <class Key, class Value>
void sort_hybrid(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream);

/// Step 04. Sorts the whole array in place, any n, without scratch memory: keys stay in registers while they meet, and
/// up to five stages with distant partners share a pass over memory. A tile has 8192 keys, or 4096 keys of 8 bytes or
/// with values. On a GPU with thread block clusters, unless the user chooses the number of blocks, clusters first sort
/// runs of 32,768 keys (16,384). Launch shape: any number of blocks, 256 threads per block.
template <class Key>
void sort_record(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 04 for keys with values.
template <class Key, class Value>
void sort_record(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream);

/// Step 05. Sort each segment of `length` keys, or each segment from begins[i] to begins[i + 1] - 1, separately, in
/// ascending order, from `keys` to `sorted`. A segment of more than 4096 keys is sorted by one block. With `begins`,
/// the step needs scratch memory of 8 bytes per segment, and 128 bytes. Launch shape: any number of blocks, 128 threads
/// per block.
/// Errors: lab::Unsupported for length < 1 and for 2^31 keys or more.
void sort_equal_segments(lab::Span<const std::uint32_t> keys, lab::Span<std::uint32_t> sorted, int length,
                         lab::LaunchShape shape, cudaStream_t stream);
void sort_segments(lab::Span<const std::uint32_t> keys, lab::Span<std::uint32_t> sorted, lab::Span<const int> begins,
                   lab::LaunchShape shape, cudaStream_t stream);

}  // namespace bitonic

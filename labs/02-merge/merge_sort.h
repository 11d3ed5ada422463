// Lab 02, merge sort: what each step promises. Starter and solution implement the same functions.
//
// Every step sorts any n (step 01 up to 2^24) in place, with or without values, is stable (equal keys keep their
// order), and uses scratch memory as large as the input. A step returns as soon as its work is queued on the stream.
// `before` is either a lab::Order or a comparison: an object with `bool operator()(Key a, Key b) const`, callable on
// the device, that returns true if `a` must come strictly before `b` (a strict weak ordering). The steps are compiled
// for lab::Order with uint32_t, int32_t, float and uint64_t keys and with pairs of uint32_t, and for ByLowByte with
// these pairs; add other types and comparisons in instantiate.cuh and, for sort_tiles(), in tiles.cuh.
#pragma once

#include "step/error.h"
#include "step/keys.h"
#include "step/step.h"

namespace merge_sort {

/// Compares only the lowest byte. Two keys can then be equal although they differ, which reveals an unstable sort.
struct ByLowByte {
  LAB_HOST_DEVICE bool operator()(std::uint32_t a, std::uint32_t b) const { return (a & 0xff) < (b & 0xff); }
};

/// Step 01. One thread merges two runs, starting from runs of one key; one launch per level. Launch shape: any number
/// of blocks, 1 to 1024 threads per block.
template <class Key, class Before>
void sort_thread(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream);
template <class Key, class Value, class Before>
void sort_thread(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                 cudaStream_t stream);

/// Keys per tile of steps 02 and 03, which sort each tile in the shared memory of one block before the first merge.
inline constexpr int tile_keys = 2048;

/// Step 02. Sorts tiles in shared memory. Then one block merges two runs by streaming them through shared memory.
/// Launch shape: any number of blocks, 1 to 1024 threads per block.
template <class Key, class Before>
void sort_block(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream);
template <class Key, class Value, class Before>
void sort_block(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                cudaStream_t stream);

/// Keys between two splitters of one run in step 03: a piece of a merge has at most as many keys of each of its two
/// runs.
inline constexpr int piece_keys = 256;

/// Step 03. Many blocks per merge: every 256th key of both runs is a splitter, and each block merges the keys between
/// two neighbouring splitters. Launch shape: any number of blocks, 1 to 1024 threads per block.
template <class Key, class Before>
void sort_splitters(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream);
template <class Key, class Value, class Before>
void sort_splitters(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                    cudaStream_t stream);

/// Step 04. Merge path: every block and every thread merges the same number of keys. Tiles have 4352 keys of 4 bytes,
/// or 2816 of 8 bytes. Launch shape: any number of blocks, 256 threads per block.
/// Source: O. Green, R. McColl, D. A. Bader, "GPU merge path: a GPU merging algorithm", ICS 2012.
template <class Key, class Before>
void sort_path(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream);
template <class Key, class Value, class Before>
void sort_path(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
               cudaStream_t stream);

/// Step 05. Merge path with four-way merges and larger tiles, or two-way merges of few keys. Launch shape: any number of
/// blocks, 256 threads per block. If the threads are left to the step, tiles are sorted by 512 threads where shared
/// memory suffices and the keys are not few. Temporary memory: a copy of the keys and values, and for four-way merges 4
/// bytes per 1000 keys of 4 bytes without values, in ascending or descending order, or 8 bytes per 1000 other items.
template <class Key, class Before>
void sort_record(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream);
template <class Key, class Value, class Before>
void sort_record(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                 cudaStream_t stream);

}  // namespace merge_sort

// Lab 02, merge sort: what each step promises. Starter and solution implement the same functions.
//
// All steps sort any n in place, are stable (equal keys keep their order), with values or without, and use a scratch
// array as large as the input. They return when the work is queued on the stream, not when it is done. `before` is
// either a lab::Order or a comparison: an object with `bool operator()(Key a, Key b) const`, callable on the device,
// that is true when `a` must stand strictly before `b` (a strict weak ordering). The step files are compiled for
// lab::Order with uint32_t, int32_t, float and uint64_t keys and with pairs of uint32_t, and for ByLowByte; another
// comparison wants one more line at the end of a step's file.
#pragma once

#include "step/error.h"
#include "step/keys.h"
#include "step/step.h"

namespace merge_sort {

/// Compares the lowest byte alone, so that keys may be equal and yet differ: an unstable sort shows.
struct ByLowByte {
  LAB_HOST_DEVICE bool operator()(std::uint32_t a, std::uint32_t b) const { return (a & 0xff) < (b & 0xff); }
};

/// Step 01. One thread merges two runs, from runs of one key on; a launch a level. Shape: any blocks, 1 to 1024
/// threads.
/// Cost: ceil(log2 n) passes over memory, one more where that is odd. The last pass is one thread's work, so the time
/// grows with n however large the GPU is.
template <class Key, class Before>
void sort_thread(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream);
template <class Key, class Value, class Before>
void sort_thread(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                 cudaStream_t stream);

/// Keys that steps 02 and 03 sort in one block's shared memory before the first merge.
inline constexpr int tile_keys = 2048;

/// Step 02. Tiles are sorted in shared memory; then one block merges two runs, which it streams through shared memory.
/// Shape: any blocks, 1 to 1024 threads. Cost: 1 + ceil(log2(n / tile_keys)) passes over memory, and up to one more
/// read in each merge.
template <class Key, class Before>
void sort_block(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream);
template <class Key, class Value, class Before>
void sort_block(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                cudaStream_t stream);

/// Keys between two splitters of step 03 in one run: a piece of a merge has at most as many of each of its two runs.
inline constexpr int piece_keys = 256;

/// Step 03. Many blocks a merge: every 256th key of both runs is a splitter, and what lies between two neighbouring
/// splitters is one block's work. Shape: any blocks, 1 to 1024 threads.
/// Cost: 1 + ceil(log2(n / tile_keys)) passes over memory, and log2 n reads a splitter in each.
template <class Key, class Before>
void sort_splitters(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream);
template <class Key, class Value, class Before>
void sort_splitters(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                    cudaStream_t stream);

/// Step 04. Merge path: every block and every thread makes the same number of keys of the output. Tiles of 4352 keys of
/// 4 bytes, 2816 of 8 bytes. Shape: any blocks, 256 threads.
/// Cost: 1 + ceil(log2(n / tile)) passes over memory.
/// Source: O. Green, R. McColl, D. A. Bader, "GPU merge path: a GPU merging algorithm", ICS 2012.
template <class Key, class Before>
void sort_path(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream);
template <class Key, class Value, class Before>
void sort_path(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
               cudaStream_t stream);

}  // namespace merge_sort

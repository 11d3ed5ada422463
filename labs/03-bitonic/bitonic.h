// Lab 03, bitonic sort: what each step promises. Starter and solution implement the same functions.
//
// All steps take any order and run on any stream; none is stable. They return when the work is queued, not when it is
// done. Keys: uint32_t, int32_t, float, uint64_t (floats in the order of step/keys.h). Source of the network:
// K. E. Batcher, "Sorting networks and their applications", AFIPS Spring Joint Computer Conference, 1968.
#pragma once

#include "step/error.h"
#include "step/keys.h"
#include "step/step.h"

namespace bitonic {

/// Keys that step 02 sorts in one block's shared memory, and that step 03 starts from.
inline constexpr int tile_keys = 1024;

/// Step 01. Sorts the whole array in place, any n, through global memory: one launch a stage of the network.
/// n is rounded up to a power of two in a scratch array. Shape: any blocks, 1 to 1024 threads.
/// Cost: log2 n (log2 n + 1) / 2 passes, each reading every key and writing those exchanged.
template <class Key>
void sort_global(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 02. Sorts each tile of `tile_keys` keys by itself, in place, any n (the last tile may be short): one launch,
/// a tile in a block's shared memory. Shape: any blocks, 1 to 1024 threads (512: one thread a compare-exchange).
/// Cost: one pass over memory; 55 stages in shared memory and 57 barriers a full tile.
template <class Key>
void sort_tiles(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 02 with values that travel with their keys.
template <class Key, class Value>
void sort_tiles(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                cudaStream_t stream);

/// Step 03. Sorts the whole array in place, any n, no scratch: the stages that fit a tile run in shared memory, the
/// others through global memory. Shape: any blocks, 1 to 1024 threads.
/// Cost: with m = log2(n / tile_keys) rounded up, 1 + m + m (m + 1) / 2 passes over memory.
template <class Key>
void sort_hybrid(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 03 with values that travel with their keys.
template <class Key, class Value>
void sort_hybrid(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream);

}  // namespace bitonic

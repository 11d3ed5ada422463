// Lab 01, odd-even transposition sort: what each step promises. Starter and solution implement the same functions.
//
// All steps take any order and run on any stream, and all are stable: a key passes a neighbour only if it must stand
// before it. They return when the work is queued, not when it is done. Keys: uint32_t, int32_t, float, uint64_t (floats
// in the order of step/keys.h). Source: N. Habermann, "Parallel neighbor-sort (or the glory of the induction principle)",
// Carnegie Mellon University, 1972.
#pragma once

#include "step/error.h"
#include "step/keys.h"
#include "step/step.h"

namespace odd_even {

/// Steps 01 and 02 are refused beyond it: n phases of n / 2 comparators are 2.1 * 10^9 comparators here, and four times
/// as many for each doubling.
inline constexpr std::int64_t largest_n = 65536;

/// Keys that a block of step 02 brings to their places in one launch.
inline constexpr int tile_keys = 512;

/// Phases that a launch of step 02 runs, and keys that a tile needs of each neighbour for it.
inline constexpr int halo_keys = 256;

/// Keys of a row of step 03: four for each lane of a warp.
inline constexpr int row_keys = 128;

/// Step 01. Sorts the whole array in place, any n up to largest_n, through global memory: n launches, one a phase.
/// Shape: any blocks, 1 to 1024 threads. Cost: n passes, each reading every key and writing those that move.
template <class Key>
void sort_global(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 02. Sorts the whole array in place, any n up to largest_n: halo_keys phases a launch, in shared memory.
/// Needs scratch for n keys. Shape: any blocks, 1 to 1024 threads (512: one thread a comparator).
/// Cost: n / halo_keys passes, rounded up to an even number, each reading 1 + 2 * halo_keys / tile_keys = 2 keys and
/// writing 1 for each key.
template <class Key>
void sort_halo(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 03. Sorts each row of row_keys keys by itself, in place, any n (the last row may be short): one launch, a row
/// in the registers of a warp. Shape: any blocks; threads a multiple of 32 up to 1024, others throw lab::Unsupported.
/// Cost: one pass over memory; row_keys phases, no barrier, two shuffles every second phase.
template <class Key>
void sort_rows(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

}  // namespace odd_even

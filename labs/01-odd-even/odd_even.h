// Lab 01, odd-even transposition sort: what each step promises. Starter and solution implement the same functions.
//
// Every step sorts in either order and runs on any stream, and all are stable: a key passes a neighbour only if it must
// come before it. A step returns as soon as its work is queued on the stream. Keys: uint32_t, int32_t, float, uint64_t
// (floats in the order defined in step/keys.h). Source: N. Habermann, "Parallel neighbor-sort (or the glory of the
// induction principle)", Carnegie Mellon University, 1972.
#pragma once

#include "step/error.h"
#include "step/keys.h"
#include "step/step.h"

namespace odd_even {

/// The largest n of steps 01 and 02; larger inputs are refused. At this n, the phases make 2.1 * 10^9 comparisons in
/// all; doubling n quadruples that number.
inline constexpr std::int64_t max_n = 65536;

/// Keys per tile of step 02. In one launch, a block runs the phases on a tile and stores it.
inline constexpr int tile_keys = 512;

/// Phases per launch of step 02, at most, and therefore the number of keys that a tile needs from each neighbour.
inline constexpr int halo_keys = 256;

/// Keys in a row of step 03: four for each lane of a warp.
inline constexpr int row_keys = 128;

/// Step 01. Sorts the whole array in place, any n up to max_n, in global memory: n launches, one per phase. Launch
/// shape: any number of blocks, 1 to 1024 threads per block. Cost: n passes, each reading every key and writing those
/// that move.
template <class Key>
void sort_global(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 02. Sorts the whole array in place, any n up to max_n: up to halo_keys phases per launch, in shared memory.
/// Needs scratch memory for n keys. Launch shape: any number of blocks, 1 to 1024 threads per block (default 512: one
/// pair per thread).
/// Cost: n / halo_keys passes, rounded up to an even number. Per key, each pass reads 1 + 2 * halo_keys / tile_keys = 2
/// keys and writes 1.
template <class Key>
void sort_halo(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 03. Sorts each row of row_keys keys separately, in place, any n (the last row may be short), in one launch:
/// each row is sorted in the registers of one warp. Launch shape: any number of blocks; the threads per block are a
/// multiple of 32 up to 1024, otherwise the step throws lab::Unsupported.
/// Cost: one pass over memory; row_keys phases, no barrier, two shuffles in every second phase.
template <class Key>
void sort_rows(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

}  // namespace odd_even

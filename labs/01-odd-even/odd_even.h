// Lab 01, odd-even transposition sort: what each step promises. Starter and solution implement the same functions.
//
// Every step works in either order and runs on any stream, and all are stable: a key passes a neighbour only if it must
// come before it. A step returns as soon as its work is queued on the stream. Keys: uint32_t, int32_t, float, uint64_t
// (floats in the order defined in step/keys.h). Source: N. Habermann, "Parallel neighbor-sort (or the glory of the
// induction principle)", Carnegie Mellon University, 1972.
#pragma once

#include "step/error.h"
#include "step/keys.h"
#include "step/step.h"

namespace odd_even {

/// The largest n that the judge gives steps 01 and 02. At this n, the phases make 2.1 * 10^9 comparisons in
/// all. Doubling n quadruples that number.
inline constexpr std::int64_t max_n = 65536;

/// Keys per tile of step 02. In one launch, a block runs the phases on a tile and stores it.
inline constexpr int tile_keys = 512;

/// Phases per launch of step 02, at most, and therefore the number of keys that a tile needs from each neighbour.
inline constexpr int halo_keys = 256;

/// Keys in a row of step 03: four for each lane of a warp.
inline constexpr int row_keys = 128;

/// Step 00. Puts the keys 2i and 2i + 1 in order, for every i, any n, in one launch. The last of an odd number of keys
/// stays where it is. Launch shape: 1 to 1024 threads per block. With fewer threads in all than pairs, the step throws
/// lab::Unsupported.
template <class Key>
void exchange(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 01. Sorts the whole array in place, any n up to max_n, in global memory, with one launch per phase. Launch
/// shape: any number of blocks, 1 to 1024 threads per block.
template <class Key>
void sort_global(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 02. Sorts the whole array in place, any n up to max_n, with up to halo_keys phases per launch, in shared
/// memory. Needs scratch memory for n keys. Launch shape: any number of blocks, 1 to 1024 threads per block (default
/// 512: one pair per thread).
template <class Key>
void sort_halo(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 03. Sorts each row of row_keys keys separately, in place, any n (the last row may be short), in one launch:
/// each row is sorted in the registers of one warp. Launch shape: any number of blocks, a multiple of 32 threads per
/// block up to 1024. For any other number, the step throws lab::Unsupported.
template <class Key>
void sort_rows(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

}  // namespace odd_even

// Lab 04, counting sort: what each step promises. Starter and solution implement the same functions.
//
// A counting sort never compares two keys. It counts how often each value occurs (histogram), adds the counters up
// (scan), and knows from the sums where each value goes (placing). All functions run on any stream. Steps 01 to 03 and
// 06 return when the work is queued, not when it is done. n is 0 or more, also above 2^32. Source: H. H. Seward, 1954,
// according to D. E. Knuth, "The Art of Computer Programming", volume 3, section 5.2.
//
// Errors of all functions: lab::Unsupported before anything is touched, for impossible launch shapes and for scratch
// memory that the device does not have; lab::CudaError for any other CUDA error. "Shape" gives the launch shapes that a
// function accepts: blocks, and threads per block.
#pragma once

#include "step/error.h"
#include "step/keys.h"
#include "step/step.h"

namespace counting {

/// The number of values of a byte, and so the number of counters in steps 01 to 03 and 06.
inline constexpr int byte_values = 256;

/// Counters that one block scans at a time, in steps 02 and 03.
inline constexpr int scan_tile = 1024;

/// The widest range that steps 04 and 05 sort: largest key - smallest key + 1 values, and as many counters. Counters of
/// 8 bytes then take 128 MiB, more than the level 2 cache of an A100 (40 MB), an H200 (50 MB) or a B200 (126 MB) holds:
/// with more of them nearly every count would miss the cache, and a radix sort of the keys would be faster.
inline constexpr std::uint64_t max_range = std::uint64_t{1} << 24;

/// Step 01. Sorts bytes in place: histogram by atomics in global memory, scan by a single thread, and then every thread
/// walks along the sums and its own chunk of the output. Shape: any blocks, 1 to 1024 threads.
void sort_global(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Part of step 02. counts[v] = the number of keys equal to v, for all 256 values v, whatever `counts` held before.
/// Counts in each block's shared memory. Shape: any blocks (more are launched if a block would have to count more than
/// 2^31 keys), 1 to 1024 threads.
void histogram(lab::Span<const std::uint8_t> keys, lab::Span<std::uint64_t> counts, lab::LaunchShape shape,
               cudaStream_t stream);

/// Part of step 02. sums[i] = values[0] + ... + values[i - 1], modulo 2^64, any n. `sums` may be the array of the
/// values. Shape: any blocks, 1 to 1024 threads.
/// Source: W. D. Hillis and G. L. Steele, "Data parallel algorithms", Communications of the ACM 29(12), 1986.
void scan_hillis_steele(lab::Span<const std::uint64_t> values, lab::Span<std::uint64_t> sums, lab::LaunchShape shape,
                        cudaStream_t stream);

/// Step 02. Sorts bytes in place: the histogram and the scan above, then a scatter to positions that atomics assign.
/// Equal keys may change their order, which makes no difference for bytes without values. Needs n bytes of scratch
/// memory. Shape: any blocks, 1 to 1024 threads.
void sort_shared(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Part of step 03. Like scan_hillis_steele, with less work and no bank conflicts.
/// Source: G. E. Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990; the padding is that of M. Harris,
/// S. Sengupta and J. D. Owens, "Parallel prefix sum (scan) with CUDA", GPU Gems 3, chapter 39, 2007.
void scan_blelloch(lab::Span<const std::uint64_t> values, lab::Span<std::uint64_t> sums, lab::LaunchShape shape,
                   cudaStream_t stream);

/// Step 03. Sorts bytes in place by histogram and scan_blelloch. Then no key is moved: each thread finds out which
/// values belong at its positions and writes them. Shape: any blocks, 1 to 1024 threads.
void sort_parallel(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Part of step 04. range = {smallest, largest} of the keys, or {2^32 - 1, 0} if there are none.
/// Shape: any blocks, 1 to 1024 threads.
void reduce(lab::Span<const std::uint32_t> keys, lab::Span<std::uint32_t> range, lab::LaunchShape shape,
            cudaStream_t stream);

/// Step 04. Sorts integers in place, with one counter for every value from the smallest key to the largest. Waits for
/// the stream, because the host needs the range. Keys: uint8_t, uint32_t, int32_t. Unsupported, with the number of
/// counters, if more than max_range are needed. Shape: any blocks, 1 to 1024 threads.
template <class Key>
void sort_range(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

/// Step 04 for keys that the caller declares to be within low ... high. Unsupported, with the key, if one is not. Then
/// nothing has been changed. Defined in range.cuh.
template <class Key>
void sort_declared_range(lab::Span<Key> keys, Key low, Key high, lab::Order order, lab::LaunchShape shape,
                         cudaStream_t stream);

/// Step 05. Sorts uint32_t keys and the uint32_t values that travel with them. The sort is stable. Waits for the
/// stream, and refuses a range, as step 04 does. Shape: any blocks, 1 to 1024 threads.
template <class Key, class Value>
void sort_stable(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream);

/// Step 06. Sorts bytes in place, as fast as the memory can be read and then written, whatever the keys are. Needs 2 KiB
/// of scratch memory. Shape: any blocks, a multiple of 32 threads.
void sort_record(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream);

}  // namespace counting

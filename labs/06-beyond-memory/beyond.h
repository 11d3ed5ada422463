// Lab 06, more keys than the device's memory holds: what each step promises. Starter and solution implement the same
// functions.
//
// Every step sorts any n of uint32_t keys in host memory, in either order, and returns when they are sorted. `scratch`
// has room for as many keys, and may hold anything before and after. No step has more than `device_bytes` of device
// memory allocated at any time, where 0 means nine tenths of what is free. With fewer than fewest_device_bytes a step
// throws lab::Unsupported, which names that number, before it changes anything. "Shape" gives the launch shapes that a
// step accepts: blocks, and threads per block.
#pragma once

#include <cstdint>
#include <vector>

#include "step/error.h"
#include "step/step.h"

namespace beyond {

using Keys = lab::HostSpan<std::uint32_t>;

/// The least device memory that every step accepts: 256 KiB, which is enough for three slots of several thousand keys.
inline constexpr std::int64_t fewest_device_bytes = 256 * 1024;

/// The k-way merge of sorted runs, on one core of the host: run r is keys.data[begins[r]] ... keys.data[begins[r + 1] -
/// 1]. The first run begins at 0 and the last ends at keys.n, so `begins` has one entry more than there are runs. Runs
/// may be empty, and there may be any number of them below 2^32.
/// Source: the tree of losers, D. E. Knuth, "The Art of Computer Programming", volume 3, section 5.4.1.
void merge_runs(Keys keys, Keys scratch, const std::vector<std::int64_t>& begins, lab::Order order);

/// Step 01. Each block sorts tiles of 2048 keys on the device, and the host merges the tiles. Shape: any blocks, 64
/// threads.
/// Source: the sort of a tile, S. Cook, "CUDA Programming: A Developer's Guide to Parallel Computing with GPUs", 2013,
/// chapter 6.
void sort_runs(Keys keys, Keys scratch, lab::Order order, std::int64_t device_bytes, lab::LaunchShape shape,
               cudaStream_t stream);

/// Step 02. Pieces as large as the device memory allows, each sorted by step 04 of lab 05, while others are copied in
/// and out. The host merges the few long runs. Shape: any blocks, 384 threads.
void sort_overlap(Keys keys, Keys scratch, lab::Order order, std::int64_t device_bytes, lab::LaunchShape shape,
                  cudaStream_t stream);

/// Step 03. The device groups the keys by splitters into buckets that fit, and then sorts bucket by bucket. The host
/// merges nothing. A bucket that does not fit is divided again. Shape: any blocks. The kernels choose their threads.
/// Source: sample sort, W. D. Frazer and A. C. McKellar, "Samplesort: a sampling approach to minimal storage tree
/// sorting", 1970.
void sort_partition(Keys keys, Keys scratch, lab::Order order, std::int64_t device_bytes, lab::LaunchShape shape,
                    cudaStream_t stream);

/// Step 04. As many GPUs as the keys need, each with `device_bytes` of memory and a share of the keys: every GPU sorts
/// its share, splitters from samples of all shares divide the keys, and each GPU gets its part of the order and joins
/// the runs in it. One GPU plays all of them in turn. Throws lab::Unsupported for more than 4096 GPUs.
/// Shape: any blocks. The kernels choose their threads.
/// Source: H. Shi and J. Schaeffer, "Parallel sorting by regular sampling", 1992.
void sort_many(Keys keys, Keys scratch, lab::Order order, std::int64_t device_bytes, lab::LaunchShape shape,
               cudaStream_t stream);

}  // namespace beyond

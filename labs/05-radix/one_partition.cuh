// The method of step 06 for fewer keys, for which launches take longer than moving the keys: one partition by the
// highest byte, then a sort of each bucket. These are two launches, and no key is counted first. A bucket has room for
// somewhat more keys than it would have if they were evenly distributed. If that is not enough for one of them, no key
// has been overwritten yet, and the keys are left unsorted. A sample shows in most such cases that it will not be enough,
// before any key is moved.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bucket_sort.cuh"
#include "partition.cuh"
#include "sample.cuh"
#include "step/device.h"
#include "step/launch_shape.h"

namespace radix {

/// What the two kernels share. All 0 at the start.
struct alignas(16) OnePartitionPlan {
  static constexpr PartitionDigit digit{24, 8};

  unsigned sizes[byte_values];  ///< of the buckets
  unsigned out_of_order;        ///< not 0 if some key belongs before the one to its left
  unsigned zeros;               ///< 1 if some key is -0, 2 if some key is +0, 3 for both
  unsigned unsorted;            ///< not 0 if the partition cannot sort the keys

  /// How many keys there is room for in each bucket of n keys.
  static unsigned bucket_room(std::int64_t n) {
    return unsigned(std::min(n / byte_values + 512, std::int64_t(MediumBucket::capacity)));
  }

  /// The same for all buckets together: at most 512 KiB more than n keys take.
  static std::int64_t room(std::int64_t n) { return std::int64_t(byte_values) * bucket_room(n); }
};

namespace detail {

/// The key that one of the first 256 threads looks at before the others, and the key of thread 0. All blocks take the
/// same keys.
struct Sample {
  std::uint32_t first, key;

  template <class Key>
  __device__ Sample(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform)
      : first(transform.forward(keys.data[sample_position(0, keys.n)])), key(first) {
    if (threadIdx.x < byte_values) key = transform.forward(keys.data[sample_position(threadIdx.x, keys.n)]);
  }

  /// True if a bucket will run out of room, because it has more than 12 of the 256 samples: none has room for more than
  /// one key in 21. False if all samples are equal, since then all keys may be equal, and in order. All threads of the
  /// block call it. `counts` is 0.
  __device__ bool is_crowded(unsigned* counts) const {
    constexpr PartitionDigit highest_byte = OnePartitionPlan::digit;
    bool crowded = false;
    if (threadIdx.x < byte_values) crowded = atomicAdd(&counts[highest_byte.of(key)], 1u) >= 12;
    const bool some_differ = __syncthreads_or(key != first);
    return __syncthreads_or(crowded) && some_differ;
  }
};

/// Loads and transforms a thread's keys of the tile that begins at key `first`, and looks at their right neighbours.
template <class Shape, class Key>
__device__ Seen load_tile(PartitionItems<Shape>& items, lab::Span<const std::uint32_t> keys, int first,
                          KeyTransform<Key> transform) {
  Seen seen;
  items.left = min(int(keys.n) - first, Shape::size) - int(threadIdx.x);
  const std::uint32_t* const own = keys.data + first + threadIdx.x;
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (!items.has(row)) break;
    items.keys[row] = transform.forward(own[row * Shape::threads]);
    seen.zeros |= transform.zero_kind(items.keys[row]);
    const bool is_last = first + int(threadIdx.x) + row * Shape::threads + 1 == keys.n;
    seen.out_of_order |= !is_last && transform.forward(own[row * Shape::threads + 1]) < items.keys[row];
  }
  return seen;
}

/// Moves the transformed keys whose highest byte is b to to[b * room] and further, in any order.
template <class Core, class Shape, class Key>
static __global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    partition_once(lab::Span<const std::uint32_t> keys, std::uint32_t* to, unsigned room, KeyTransform<Key> transform,
                   OnePartitionPlan* plan) {
  __shared__ unsigned counts[byte_values], begins[byte_values], offsets[byte_values];
  __shared__ unsigned warp_sums[Shape::threads / 32];
  __shared__ std::uint32_t tile[Shape::size];
  const int t = threadIdx.x;
  constexpr PartitionDigit highest_byte = OnePartitionPlan::digit;
  // PHASE 1: load a sample and the tile, and give up if the sample is crowded.
  const Sample sample(keys, transform);
  PartitionItems<Shape> items;
  const Seen seen = load_tile(items, keys, int(blockIdx.x) * Shape::size, transform);
  if (t < byte_values) counts[t] = begins[t] = 0;
  __syncthreads();  // a thread adds to elements of `counts` and `begins` that others have cleared
  if (sample.is_crowded(begins)) {
    if (blockIdx.x == 0 && t == 0) plan->unsorted = 1;
    return;
  }

  // PHASE 2: rank each key among the tile's keys of its bucket.
  unsigned ranks[Shape::items];
  for_each_row<Core>(items, highest_byte,
                     [&](int row, auto claim) { ranks[row] = claim(counts, highest_byte.of(items.keys[row])); });
  // Partitions do not keep the order of equal keys, and -0 and +0 are equal, but not the same.
  if (seen.zeros != 0 && (atomicOr(&plan->zeros, seen.zeros) | seen.zeros) == 3) atomicOr(&plan->unsorted, 1u);
  // This is also the barrier before a thread reads elements of `counts` to which others have added.
  if (__syncthreads_or(seen.out_of_order) && t == 0) atomicOr(&plan->out_of_order, 1u);
  // PHASE 3: reserve places in the buckets.
  unsigned count = 0, reserved = 0;
  if (t < byte_values) {
    count = counts[t];
    if (count != 0) reserved = atomicAdd(&plan->sizes[t], count);
    if (reserved + count > room) atomicOr(&plan->unsorted, 1u);
  }
  const unsigned begin = group_exclusive_sum<byte_values>(count, warp_sums);
  if (t < byte_values) begins[t] = begin, offsets[t] = reserved - begin;
  __syncthreads();  // a thread reads elements of `begins` and `offsets` that others have written

  // PHASE 4: put the keys in order in shared memory.
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (items.has(row)) tile[begins[highest_byte.of(items.keys[row])] + ranks[row]] = items.keys[row];
  }
  __syncthreads();  // a thread stores keys that others have put into `tile`

  // PHASE 5: store them, digit by digit in runs.
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (!items.has(row)) break;
    const int i = row * Shape::threads + t;
    const std::uint32_t key = tile[i];
    const unsigned bucket = highest_byte.of(key), place = offsets[bucket] + i;
    if (place < room) to[bucket * room + place] = key;
  }
}

/// Sorts bucket blockIdx.x, and stores its keys behind those of the buckets before it.
template <class Core, class Shape, class Key>
static __global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    sort_reserved_buckets(const std::uint32_t* from, unsigned room, std::uint32_t* keys, KeyTransform<Key> transform,
                          const OnePartitionPlan* plan) {
  __shared__ unsigned sums[Shape::threads / 32];
  const unsigned t = threadIdx.x, own = blockIdx.x;
  const unsigned size = t < own ? plan->sizes[t] : 0;
  const int count = int(plan->sizes[own]);
  if (plan->out_of_order == 0 || plan->unsorted != 0) return;
  unsigned first;
  block_exclusive_sum(size, sums, first);  // the total is the number of keys in the buckets before this one
  const BucketJob<std::uint32_t> job = {from + own * room, 0, keys + first, count, OnePartitionPlan::digit.bits};
  sort_any_bucket<Core, Shape>(job, transform);
}

}  // namespace detail

/// Queues the sort. `scratch` has room for OnePartitionPlan::room(n) keys. `plan` is in device memory and all 0. If
/// plan->unsorted is not 0 afterwards, the keys are as they were. Core: see for_each_row and sort_any_bucket.
template <class Core, class Key>
void sort_by_one_partition(lab::Span<std::uint32_t> keys, std::uint32_t* scratch, KeyTransform<Key> transform,
                           OnePartitionPlan* plan, cudaStream_t stream) {
  using Partition = SmallPartition;
  using Bucket = MediumBucket;
  const unsigned room = OnePartitionPlan::bucket_room(keys.n), blocks = lab::blocks_or({}, keys.n, Partition::size);
  detail::partition_once<Core, Partition><<<blocks, Partition::threads, 0, stream>>>(
      lab::Span<const std::uint32_t>{keys.data, keys.n}, scratch, room, transform, plan);
  CUDA_CHECK(cudaGetLastError());
  const auto sort_buckets = detail::sort_reserved_buckets<Core, Bucket, Key>;
  lab::allow_shared_memory<detail::sort_reserved_buckets<Core, Bucket, Key>>(bucket_bytes<Bucket>,
                                                                             lab::Device::current());
  sort_buckets<<<byte_values, Bucket::threads, bucket_bytes<Bucket>, stream>>>(scratch, room, keys.data, transform,
                                                                               plan);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace radix

// The method of step 06 for fewer keys, for which launches take longer than moving the keys: one partition into 256
// intervals, then a sort of each. These are two launches, and no key is counted first. If a sample of the keys is
// spread evenly, the highest byte of a key is its interval. Otherwise splitters divide the keys (splitters.cuh). An
// interval has room for more keys than it has on average. If one of them has still more, the keys are left unsorted:
// none has been overwritten yet.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bucket_sort.cuh"
#include "partition.cuh"
#include "sample.cuh"
#include "splitters.cuh"
#include "step/device.h"
#include "step/launch_shape.h"

namespace radix {

/// What the two kernels share. All 0 at the start.
struct alignas(16) OnePartitionPlan {
  unsigned sizes[bucket_count];
  std::uint32_t ends[intervals];  ///< upper ends of the intervals, if splitters divide the keys
  unsigned has_splitters;         ///< not 0 if splitters divide the keys
  unsigned out_of_order;          ///< not 0 if some key belongs before the one to its left
  unsigned zeros;                 ///< 1 if some key is -0, 2 if some key is +0, 3 for both
  unsigned unsorted;              ///< not 0 if the partition cannot sort the keys
};

/// How the keys are divided, and a Bucket in which an interval is sorted. If they are not spread evenly, each thread
/// takes `samples_of_thread` samples, which make 2^log_intervals intervals with four samples each.
template <int samples_of_thread, int log_intervals, class TheBucket>
struct IntervalShape {
  static constexpr int samples = samples_of_thread, levels = log_intervals;
  using Bucket = TheBucket;

  /// How many of n keys there is room for in each interval.
  static unsigned room(std::int64_t n) {
    return unsigned(std::min(n / intervals * 8 + 512, std::int64_t(Bucket::capacity)));
  }
};

/// Calls f() with the shape that suits n keys as its template argument, and returns the result.
template <class F>
auto with_interval_shape(std::int64_t n, F f) {
  if (n <= 1 << 18) return f.template operator()<IntervalShape<1, 7, MediumBucket>>();
  if (n <= 1 << 19) return f.template operator()<IntervalShape<2, 8, MediumBucket>>();
  return f.template operator()<IntervalShape<2, 8, LargeBucket>>();
}

/// How many keys there is room for in all intervals of n keys: at most 18 MiB.
inline std::int64_t room_of_intervals(std::int64_t n) {
  return std::int64_t(intervals) * with_interval_shape(n, [n]<class Intervals>() { return Intervals::room(n); });
}

namespace detail {

/// The bucket of a key if the keys are spread evenly. The highest byte is the interval, and equal keys have no bucket.
struct HighestByte {
  static constexpr int bits = 8;
  __device__ static unsigned bucket(std::uint32_t key) { return key >> (32 - bits) << 1; }
};

/// What the threads of a block share while they partition a tile.
template <class Shape, int levels>
struct OnePartitionTile {
  unsigned counts[bucket_count];   ///< of the tile's keys
  unsigned begins[bucket_count];   ///< where the buckets begin in the tile
  unsigned offsets[bucket_count];  ///< where they continue in the output, less where they begin in the tile
  unsigned warp_sums[Shape::threads / 32];
  Splitters<levels> splitters;
  std::uint32_t keys[Shape::size];
  std::uint16_t buckets[Shape::size];  ///< of the keys
  static_assert(Shape::threads == bucket_count, "every bucket has a thread");

  /// True if the samples, one per thread, are not spread evenly: some highest byte has more than 10 of the 512. One in
  /// 500 arrays of evenly spread keys has such samples. False if all samples are equal to `first`, since then all keys
  /// may be equal, and in order. All threads of the block call it. `begins` is all 0.
  __device__ bool is_crowded(std::uint32_t sample, std::uint32_t first) {
    const bool crowded = atomicAdd(&begins[HighestByte::bucket(sample)], 1u) >= 10;
    const bool some_differ = __syncthreads_or(sample != first);
    return __syncthreads_or(crowded) && some_differ;
  }
};

/// Loads a thread's keys of the tile that begins at key `first`.
template <class Shape>
__device__ void load_tile(PartitionItems<Shape>& items, lab::Span<const std::uint32_t> keys, int first) {
  items.left = min(int(keys.n) - first, Shape::size) - int(threadIdx.x);
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (!items.has(row)) break;
    items.keys[row] = keys.data[first + int(threadIdx.x) + row * Shape::threads];
  }
}

/// Transforms them, and looks at their right neighbours.
template <class Shape, class Key>
__device__ Seen transform_tile(PartitionItems<Shape>& items, lab::Span<const std::uint32_t> keys, int first,
                               KeyTransform<Key> transform) {
  Seen seen;
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (!items.has(row)) break;
    items.keys[row] = transform.forward(items.keys[row]);
    seen.zeros |= transform.zero_kind(items.keys[row]);
    const int right = first + int(threadIdx.x) + row * Shape::threads + 1;
    seen.out_of_order |= right != keys.n && transform.forward(keys.data[right]) < items.keys[row];
  }
  return seen;
}

/// Finds the buckets of a thread's keys.
template <class Shape>
__device__ void find_buckets(const PartitionItems<Shape>& items, unsigned (&buckets)[Shape::items]) {
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) buckets[row] = HighestByte::bucket(items.keys[row]);
}

/// The same for keys that splitters divide. From every key, subtracts the smallest number of its interval.
template <class Shape, int levels>
__device__ void find_buckets(PartitionItems<Shape>& items, const Splitters<levels>& splitters,
                             unsigned (&buckets)[Shape::items]) {
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (!items.has(row)) break;
    buckets[row] = splitters.bucket(items.keys[row]);
    items.keys[row] -= interval_base(splitters.ends, buckets[row] / 2);
  }
}

/// Moves the tile's keys of interval i to to[i * room] and further, in any order. Keys that equal a splitter are only
/// counted. shared.counts is all 0, and a barrier has followed since it was cleared.
template <class Core, class Shape, int levels>
__device__ void partition_tile(OnePartitionTile<Shape, levels>& shared, const PartitionItems<Shape>& items,
                               const unsigned (&buckets)[Shape::items], unsigned room, std::uint32_t* to,
                               OnePartitionPlan* plan) {
  const int t = threadIdx.x;
  // PHASE 1: rank each key among the tile's keys of its bucket.
  unsigned ranks[Shape::items];
  for_each_row<Core>(items, buckets[0], [&](int row, auto claim) { ranks[row] = claim(shared.counts, buckets[row]); });
  __syncthreads();  // a thread reads an element of shared.counts to which others have added

  // PHASE 2: reserve places in the buckets.
  const unsigned count = shared.counts[t];
  const unsigned reserved = count != 0 ? atomicAdd(&plan->sizes[t], count) : 0;
  const bool is_stored = t % 2 == 0;
  if (is_stored && reserved + count > room) atomicOr(&plan->unsorted, 1u);
  const unsigned begin = group_exclusive_sum<bucket_count>(count, shared.warp_sums);
  shared.begins[t] = begin, shared.offsets[t] = reserved - begin;
  __syncthreads();  // a thread reads elements of `begins` and `offsets` that others have written

  // PHASE 3: put the keys in order in shared memory.
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (!items.has(row)) break;
    const unsigned position = shared.begins[buckets[row]] + ranks[row];
    shared.keys[position] = items.keys[row], shared.buckets[position] = std::uint16_t(buckets[row]);
  }
  __syncthreads();  // a thread stores keys that others have put into shared.keys, by their shared.buckets

  // PHASE 4: store them, bucket by bucket in runs.
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (!items.has(row)) break;
    const int i = row * Shape::threads + t;
    const unsigned bucket = shared.buckets[i], place = shared.offsets[bucket] + i;
    if (bucket % 2 == 0 && place < room) to[bucket / 2 * room + place] = shared.keys[i];
  }
}

/// Moves the transformed keys of interval i to to[i * room] and further, in any order, less the interval's smallest
/// number. If the interval has no room for so many keys, the rest is not stored, and plan->unsorted is set.
template <class Core, class Shape, int samples, int levels, class Key>
static __global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    partition_once(lab::Span<const std::uint32_t> keys, std::uint32_t* to, unsigned room, KeyTransform<Key> transform,
                   OnePartitionPlan* plan) {
  __shared__ OnePartitionTile<Shape, levels> shared;
  const int t = threadIdx.x, first = int(blockIdx.x) * Shape::size;
  shared.counts[t] = shared.begins[t] = 0;
  // All blocks take the same samples.
  const std::uint32_t sample = transform.forward(keys.data[sample_position(t, keys.n)]);
  const std::uint32_t first_sample = transform.forward(keys.data[sample_position(0, keys.n)]);
  PartitionItems<Shape> items;
  load_tile(items, keys, first);
  __syncthreads();  // a thread adds to elements of `counts` and `begins` that others have cleared
  const bool is_crowded = shared.is_crowded(sample, first_sample);
  // Of intervals with four samples, 1 in 30,000 has more than 4.25 times as many keys as the average.
  if (is_crowded && (keys.n >> levels) * 17 / 4 > room) {
    if (blockIdx.x == 0 && t == 0) atomicOr(&plan->unsorted, 1u);
    return;
  }
  const Seen seen = transform_tile(items, keys, first, transform);
  // Partitions do not keep the order of equal keys, and -0 and +0 are equal, but not the same.
  if (seen.zeros != 0 && (atomicOr(&plan->zeros, seen.zeros) | seen.zeros) == 3) atomicOr(&plan->unsorted, 1u);
  if (__syncthreads_or(seen.out_of_order) && t == 0) atomicOr(&plan->out_of_order, 1u);
  unsigned buckets[Shape::items];
  if (is_crowded) {
    find_splitters<samples>(keys, transform, sample, shared.splitters, shared.keys);
    if (blockIdx.x == 0) {
      if (t < shared.splitters.count) plan->ends[t] = shared.splitters.ends[t];
      if (t == 0) plan->has_splitters = 1;
    }
    find_buckets(items, shared.splitters, buckets);
  } else {
    find_buckets(items, buckets);
  }
  partition_tile<Core>(shared, items, buckets, room, to, plan);
}

/// Stores this block's share of the keys that equal a splitter. firsts[b]: where the keys of bucket b begin.
template <class Key>
__device__ void store_equal_keys(const unsigned* firsts, const OnePartitionPlan* plan, std::uint32_t* keys,
                                 KeyTransform<Key> transform) {
  for (unsigned i = threadIdx.x / 32; i < intervals; i += blockDim.x / 32) {
    const unsigned first = firsts[2 * i + 1], count = firsts[2 * i + 2] - first;
    const unsigned end = count * (blockIdx.x + 1) / gridDim.x;
    const std::uint32_t key = transform.inverse(plan->ends[i]);
    for (unsigned k = count * blockIdx.x / gridDim.x + threadIdx.x % 32; k < end; k += 32) keys[first + k] = key;
  }
}

/// Sorts interval blockIdx.x, and stores its keys behind those of the intervals before it.
template <class Core, class Shape, class Key>
static __global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    sort_intervals(const std::uint32_t* from, unsigned room, std::uint32_t* keys, KeyTransform<Key> transform,
                   const OnePartitionPlan* plan) {
  static_assert(Shape::threads >= bucket_count, "every bucket has a thread");
  __shared__ unsigned sums[Shape::threads / 32], firsts[bucket_count + 1];
  const unsigned t = threadIdx.x, own = blockIdx.x, size = t < bucket_count ? plan->sizes[t] : 0;
  if (plan->out_of_order == 0 || plan->unsorted != 0) return;
  unsigned total;
  const unsigned first = block_exclusive_sum(size, sums, total);
  if (t < bucket_count) firsts[t] = first;
  if (t == 0) firsts[bucket_count] = total;
  __syncthreads();  // a thread reads elements of `firsts` that others have written
  std::uint32_t base = 0;
  int bits = HighestByte::bits;
  if (plan->has_splitters != 0) {
    store_equal_keys(firsts, plan, keys, transform);
    base = interval_base(plan->ends, own);
    bits = min(__clz(int(plan->ends[own] - base)), 31);
  }
  const int count = int(firsts[2 * own + 1] - firsts[2 * own]);
  if (count == 0) return;
  sort_any_bucket<Core, Shape>(BucketJob<std::uint32_t>{from + own * room, base, keys + firsts[2 * own], count, bits},
                               transform);
}

/// Queues the sort, with intervals of a shape that Intervals states.
template <class Core, class Intervals, class Key>
void sort_by_intervals(lab::Span<std::uint32_t> keys, std::uint32_t* scratch, KeyTransform<Key> transform,
                       OnePartitionPlan* plan, cudaStream_t stream) {
  using Partition = SmallPartition;
  using Bucket = typename Intervals::Bucket;
  const unsigned room = Intervals::room(keys.n), blocks = lab::blocks_or({}, keys.n, Partition::size);
  partition_once<Core, Partition, Intervals::samples, Intervals::levels><<<blocks, Partition::threads, 0, stream>>>(
      lab::Span<const std::uint32_t>{keys.data, keys.n}, scratch, room, transform, plan);
  CUDA_CHECK(cudaGetLastError());
  lab::allow_shared_memory<sort_intervals<Core, Bucket, Key>>(bucket_bytes<Bucket>, lab::Device::current());
  sort_intervals<Core, Bucket>
      <<<intervals, Bucket::threads, bucket_bytes<Bucket>, stream>>>(scratch, room, keys.data, transform, plan);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace detail

/// Queues the sort. `scratch` has room for room_of_intervals(n) keys. `plan` is in device memory and all 0. If
/// plan->unsorted is not 0 afterwards, the keys are as they were. Core: see for_each_row and sort_any_bucket.
template <class Core, class Key>
void sort_by_one_partition(lab::Span<std::uint32_t> keys, std::uint32_t* scratch, KeyTransform<Key> transform,
                           OnePartitionPlan* plan, cudaStream_t stream) {
  with_interval_shape(keys.n, [=]<class Intervals>() {
    detail::sort_by_intervals<Core, Intervals>(keys, scratch, transform, plan, stream);
  });
}

}  // namespace radix

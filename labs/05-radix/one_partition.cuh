// The method of step 06 for fewer keys, for which launches take longer than moving the keys: one partition into 256
// intervals, then a sort of each. No key is counted first. A sample of the keys decides how they are divided. If it is
// spread evenly, the highest byte of a key is its interval. Otherwise splitters divide the keys (splitters.cuh). An
// interval has room for more keys than it has on average. If one of them has still more, passes sort the keys after all
// (few_passes.cuh), of which none has been overwritten yet. Each kernel begins while the one in front of it ends
// (step/early_launch.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "bucket_sort.cuh"
#include "few_passes.cuh"
#include "partition.cuh"
#include "sample.cuh"
#include "splitters.cuh"
#include "step/device.h"
#include "step/device_array.h"
#include "step/early_launch.h"
#include "step/launch_shape.h"

namespace radix {

/// What the kernels share. The first of them clears it.
struct alignas(16) OnePartitionPlan {
  FewPassesPlan passes;  ///< which sort the keys if the partition cannot
  unsigned sizes[bucket_count];
  std::uint32_t ends[intervals];  ///< upper ends of the intervals, if splitters divide the keys
  unsigned has_splitters;         ///< not 0 if splitters divide the keys
  unsigned out_of_order;          ///< not 0 if some key belongs before the one to its left
  unsigned zeros;                 ///< 1 if some key is -0, 2 if some key is +0, 3 for both
  unsigned unsorted;              ///< not 0 if the partition cannot sort the keys
};

/// A Bucket in which an interval is sorted, and what follows from it.
template <class TheBucket>
struct IntervalShape {
  using Bucket = TheBucket;
  using Tile = radix::Tile<TileShape<Bucket::threads, 8, Bucket::blocks_per_multiprocessor>, std::uint32_t,
                           std::uint32_t, NoValue>;  ///< of the passes
  /// The dynamic shared memory of a block that sorts an interval, or that makes the passes.
  static constexpr std::size_t shared_bytes =
      std::max({bucket_bytes<Bucket>, sizeof(Tile), Bucket::threads / 64 * sizeof(FewPassesPlan::counts)});

  /// How many of n keys there is room for in each interval.
  static unsigned room(std::int64_t n) {
    return unsigned(std::min(n / intervals * 8 + 512, std::int64_t(Bucket::capacity)));
  }
};

/// Calls f() with the shape that suits n keys as its template argument, and returns the result. There is room for 2.2
/// times as many keys as an interval has on average, or more.
template <class F>
auto with_interval_shape(std::int64_t n, F f) {
  return n <= 1 << 20 ? f.template operator()<IntervalShape<MediumBucket>>()
                      : f.template operator()<IntervalShape<LargeBucket>>();
}

/// How many keys there is room for in all intervals of n keys: at most 18 MiB.
inline std::int64_t room_of_intervals(std::int64_t n) {
  return std::int64_t(intervals) * with_interval_shape(n, [n]<class Intervals>() { return Intervals::room(n); });
}

namespace detail {

inline constexpr int sample_threads = 256;
/// How many of the 4096 samples may have the same highest byte if the keys are spread evenly. Of 700 arrays of such keys,
/// one has more.
inline constexpr unsigned max_samples_per_byte = 36;

/// The bucket of a key if the keys are spread evenly. The highest byte is the interval, and equal keys have no bucket.
struct HighestByte {
  static constexpr int bits = 8;
  __device__ static unsigned bucket(std::uint32_t key) { return key >> (32 - bits) << 1; }
};

/// What the threads of a block share while they partition a tile.
template <class Shape>
struct OnePartitionTile {
  unsigned counts[bucket_count];   ///< of the tile's keys
  unsigned begins[bucket_count];   ///< where the buckets begin in the tile
  unsigned offsets[bucket_count];  ///< where they continue in the output, less where they begin in the tile
  unsigned warp_sums[Shape::threads / 32];
  Splitters splitters;
  std::uint32_t keys[Shape::size];
  std::uint16_t buckets[Shape::size];  ///< of the keys
  static_assert(Shape::threads == bucket_count, "every bucket has a thread");
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
template <class Shape>
__device__ void find_buckets(PartitionItems<Shape>& items, const Splitters& splitters,
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
template <class Core, class Shape>
__device__ void partition_tile(OnePartitionTile<Shape>& shared, const PartitionItems<Shape>& items,
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

/// Fills the plan, from a sample of the keys: whether splitters divide them, and which. One block. An interval between
/// splitters has 16 samples. One in 10,000 has more than 2.2 times as many keys as the average.
template <class Key>
static __global__ void __launch_bounds__(sample_threads)
    plan_intervals(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, OnePartitionPlan* plan) {
  static_assert(sample_threads == intervals && sample_threads == byte_values, "a thread has one of each");
  constexpr int count = 16;
  __shared__ std::uint32_t exchange[sample_threads * count];
  __shared__ unsigned counts[byte_values];  // of the samples with each highest byte
  lab::let_next_kernel_begin();             // which loads its keys before it waits
  const int t = threadIdx.x;
  std::uint32_t samples[count];
#pragma unroll
  for (int i = 0; i < count; ++i) {
    samples[i] = transform.forward(keys.data[sample_position(t + i * sample_threads, keys.n)]);
  }
  unsigned* const words = reinterpret_cast<unsigned*>(plan);
  for (int i = t; i < int(sizeof *plan / sizeof *words); i += sample_threads) words[i] = 0;
  counts[t] = 0;
  if (t == 0) exchange[0] = samples[0];
  __syncthreads();  // a thread adds to elements of `counts` that others have cleared, and reads exchange[0]
  const std::uint32_t first_sample = exchange[0];
  bool differs = false;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    atomicAdd(&counts[samples[i] >> 24], 1u);
    differs |= samples[i] != first_sample;
  }
  // If all samples are equal, all keys may be equal, and in order. This is also the barrier before a thread reads an
  // element of `counts` to which others have added.
  if (!__syncthreads_or(differs) || !__syncthreads_or(counts[t] > max_samples_per_byte)) return;
  sort_in_registers(samples, exchange);
  if (t > 0) plan->ends[t - 1] = samples[0];
  if (t == 0) plan->ends[intervals - 1] = 0xffffffffu, plan->has_splitters = 1;
}

/// Moves the transformed keys of interval i to to[i * room] and further, in any order, less the interval's smallest
/// number. If the interval has no room for so many keys, the rest is not stored, and plan->unsorted is set.
template <class Core, class Shape, class Key>
static __global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    partition_once(lab::Span<const std::uint32_t> keys, std::uint32_t* to, unsigned room, KeyTransform<Key> transform,
                   OnePartitionPlan* plan) {
  __shared__ OnePartitionTile<Shape> shared;
  const int t = threadIdx.x, first = int(blockIdx.x) * Shape::size;
  shared.counts[t] = 0;
  PartitionItems<Shape> items;
  load_tile(items, keys, first);
  lab::wait_for_earlier_kernels();  // the plan is read and changed
  lab::let_next_kernel_begin();
  const bool has_splitters = plan->has_splitters != 0;
  if (has_splitters) shared.splitters.load(plan->ends);
  const Seen seen = transform_tile(items, keys, first, transform);
  // Partitions do not keep the order of equal keys, and -0 and +0 are equal, but not the same.
  if (seen.zeros != 0 && (atomicOr(&plan->zeros, seen.zeros) | seen.zeros) == 3) atomicOr(&plan->unsorted, 1u);
  // This is also the barrier before a thread adds to an element of `counts` that another has cleared.
  if (__syncthreads_or(seen.out_of_order) && t == 0) atomicOr(&plan->out_of_order, 1u);
  unsigned buckets[Shape::items];
  if (has_splitters) {
    find_buckets(items, shared.splitters, buckets);
  } else {
    find_buckets(items, buckets);
  }
  partition_tile<Core>(shared, items, buckets, room, to, plan);
}

/// Stores this block's share of the keys that equal a splitter. firsts[b]: where the keys of bucket b begin. `largest`:
/// how many keys the largest bucket of equal keys has. Such a bucket is divided into parts. Block b stores part i of the
/// keys that equal the upper end of interval (b + i) % intervals: a part fills whole lines of the cache, and the parts of
/// a frequent value go to different blocks.
template <class Key>
__device__ void store_equal_keys(const unsigned* firsts, unsigned largest, const OnePartitionPlan* plan,
                                 std::uint32_t* keys, KeyTransform<Key> transform) {
  constexpr unsigned part = 512;
  for (unsigned i = threadIdx.x / 32; i * part < largest; i += blockDim.x / 32) {
    const unsigned interval = (blockIdx.x + i) % intervals;
    const unsigned begin = firsts[2 * interval + 1] + i * part, end = min(firsts[2 * interval + 2], begin + part);
    if (begin >= end) continue;
    const std::uint32_t key = transform.inverse(plan->ends[interval]);
    for (unsigned k = begin + threadIdx.x % 32; k < end; k += 32) keys[k] = key;
  }
}

/// Sorts interval blockIdx.x, and stores its keys behind those of the intervals before it. If the partition could not
/// divide the keys, the first `pass_blocks` blocks sort them by passes.
template <class Core, class Intervals, class Key>
static __global__ void __launch_bounds__(Intervals::Bucket::threads, Intervals::Bucket::blocks_per_multiprocessor)
    sort_intervals(lab::Span<std::uint32_t> keys, std::uint32_t* scratch, unsigned room, KeyTransform<Key> transform,
                   OnePartitionPlan* plan, unsigned pass_blocks) {
  using Shape = typename Intervals::Bucket;
  static_assert(Shape::threads >= bucket_count, "every bucket has a thread");
  __shared__ unsigned sums[Shape::threads / 32], firsts[bucket_count + 1], largest;
  lab::wait_for_earlier_kernels();
  const unsigned t = threadIdx.x, own = blockIdx.x, size = t < bucket_count ? plan->sizes[t] : 0;
  if (plan->out_of_order == 0) return;
  if (plan->unsorted != 0) {
    if (own >= pass_blocks) return;
    auto* const statuses = reinterpret_cast<volatile unsigned*>(plan + 1);
    return sort_by_few_passes<Core, typename Intervals::Tile>(
        FewPassesJob<Key>{keys, scratch, transform, &plan->passes, statuses});
  }
  unsigned total;
  if (t == 0) largest = 0;
  const unsigned first = block_exclusive_sum(size, sums, total);  // which has a barrier
  if (t < bucket_count) firsts[t] = first;
  if (t == 0) firsts[bucket_count] = total;
  if (t % 2 == 1 && size != 0) atomicMax(&largest, size);
  __syncthreads();  // a thread reads `largest` and elements of `firsts` that others have written
  std::uint32_t base = 0;
  int bits = HighestByte::bits;
  if (plan->has_splitters != 0) {
    store_equal_keys(firsts, largest, plan, keys.data, transform);
    base = interval_base(plan->ends, own);
    bits = min(__clz(int(plan->ends[own] - base)), 31);
  }
  const int count = int(firsts[2 * own + 1] - firsts[2 * own]);
  if (count == 0) return;
  const BucketJob<std::uint32_t> job{scratch + own * room, base, keys.data + firsts[2 * own], count, bits};
  sort_any_bucket<Core, Shape>(job, transform);
}

/// Queues the sort, with intervals of a shape that Intervals states.
template <class Core, class Intervals, class Key>
void sort_by_intervals(lab::Span<std::uint32_t> keys, std::uint32_t* scratch, KeyTransform<Key> transform,
                       OnePartitionPlan* plan, cudaStream_t stream) {
  using Partition = SmallPartition;
  const unsigned room = Intervals::room(keys.n), blocks = lab::blocks_or({}, keys.n, Partition::size);
  const lab::Span<const std::uint32_t> input = {keys.data, keys.n};
  plan_intervals<<<1, sample_threads, 0, stream>>>(input, transform, plan);
  CUDA_CHECK(cudaGetLastError());
  const auto partition = lab::early_launch<partition_once<Core, Partition, Key>>(blocks, Partition::threads, 0, stream);
  CUDA_CHECK(
      cudaLaunchKernelEx(&partition, partition_once<Core, Partition, Key>, input, scratch, room, transform, plan));
  using Tile = typename Intervals::Tile;
  const lab::Device& device = lab::Device::current();
  const unsigned pass_blocks = lab::blocks_or({}, std::min(keys.n, device.resident_keys<Tile>()), Tile::size);
  lab::allow_shared_memory<sort_intervals<Core, Intervals, Key>>(Intervals::shared_bytes, device);
  const auto sort = lab::early_launch<sort_intervals<Core, Intervals, Key>>(intervals, Intervals::Bucket::threads,
                                                                            Intervals::shared_bytes, stream);
  CUDA_CHECK(cudaLaunchKernelEx(&sort, sort_intervals<Core, Intervals, Key>, keys, scratch, room, transform, plan,
                                pass_blocks));
}

}  // namespace detail

/// The bytes of a sort's plan, and of the status words behind it, in whole lines of the cache.
inline std::int64_t one_partition_bytes(std::int64_t n) {
  return with_interval_shape(n, [n]<class Intervals>() {
    using Tile = typename Intervals::Tile;
    const std::int64_t bytes = sizeof(OnePartitionPlan) + statuses_of<Tile>(n) * sizeof(unsigned);
    return (bytes + 255) / 256 * 256;
  });
}

/// Queues the sort. Core: see for_each_row, sort_any_bucket and sort_by_few_passes.
template <class Core, class Key>
void sort_by_one_partition(lab::Span<std::uint32_t> keys, KeyTransform<Key> transform, cudaStream_t stream) {
  const std::int64_t bytes = one_partition_bytes(keys.n);
  // One array for everything, since each allocation takes 1.7 microseconds of the host's time on some machines.
  const lab::DeviceArray<char> memory(bytes + room_of_intervals(keys.n) * std::int64_t(sizeof(std::uint32_t)), stream);
  auto* const plan = reinterpret_cast<OnePartitionPlan*>(memory.data());
  auto* const scratch = reinterpret_cast<std::uint32_t*>(memory.data() + bytes);
  with_interval_shape(keys.n, [=]<class Intervals>() {
    detail::sort_by_intervals<Core, Intervals>(keys, scratch, transform, plan, stream);
  });
}

}  // namespace radix

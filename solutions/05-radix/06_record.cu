// Step 06: the record.
//
// Idea: the highest digit first (MSD). Passes begin with the lowest byte (LSD) and move every key four times. If the
// highest bits come first, three moves are enough: two partitions divide the keys into buckets, and a block sorts each
// in shared memory. 2^28 keys have 65,536 buckets of about 4096 keys. No order has to be kept within a bucket, because
// equal keys without values cannot be told apart, so no tile waits for another.
// New since step 05: a sample that shows whether the keys are spread, a count of the buckets, partitions, and a sort of
// each bucket. Step 05 sorts all others.
//- Cost: one read, and three times a read and a write, with 4 bytes less per key if there are 65,536 buckets. Temporary
//- memory: that of step 05, at most 2 more bytes per key, and 0.3 MiB.
// Limits: partitions sort keys of 4 bytes without values, from eight large tiles per multiprocessor on, up to 2^30. If
// the user chooses a shape, step 05 sorts, with 512 threads per block.
// Source: E. Stehle and H.-A. Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs", SIGMOD 2017.
// Lines: 96 to write, 140 given.
#include <algorithm>
#include <cstdint>

#include "bucket_plan.h"
#include "bucket_sort.cuh"
#include "partition.cuh"
#include "step/device.h"
#include "step/device_array.h"
#include "step/early_launch.h"
#include "step/launch_shape.h"

namespace radix {
namespace {

// --- the kernels ---

/// Moves the keys with digit d of bucket b to the positions from job.cursors[b * bins + d] on. Blocks are persistent:
/// each takes every gridDim.x-th tile.
template <class Shape, class To, class Key>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    partition(PartitionJob<To, Key> job, const BucketPlan* plan) {
  extern __shared__ uint4 shared_memory[];
  auto& tile = *reinterpret_cast<PartitionTile<Shape>*>(shared_memory);
  lab::wait_for_earlier_kernels();
  lab::let_next_kernel_begin();
  if (plan->unsorted != 0) return;
  const int t = threadIdx.x;
  const PartitionDigit digit = job.digit;
  // PHASE 1: load the tiles of the buckets, and the keys of the block's first tile.
  tile.clear(job);
  __syncthreads();  // all threads read tile.tile_firsts, which others have written
  const unsigned tiles = tile.tile_firsts[job.buckets];
  unsigned index = blockIdx.x;
  if (index >= tiles) return;
  tile.find_bucket(index, job.buckets);
  __syncthreads();  // all threads read tile.bucket, which one of them has written
  PartitionItems<Shape> items;
  items.load(tile, job, index);
  while (index < tiles) {
    const unsigned next_index = index + gridDim.x;
    // begin solution
    //~ (void)digit, (void)items, (void)t;  // your code: phases 2 to 6 of a tile
    // PHASE 2: transform the keys, and count their digits.
    items.transform_keys(job.transform);
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
      if (items.has(row)) atomicAdd(&tile.counts[digit.of(items.keys[row])], 1u);
    }
    const int count = items.left + t;
    __syncthreads();  // a thread reads elements of tile.counts to which others have added
    // PHASE 3: reserve places in the buckets. The results of the atomics are not needed before the end of phase 5.
    unsigned digit_count = 0, reserved = 0;
    if (t < byte_values) {
      digit_count = tile.counts[t];
      if (digit_count != 0) reserved = atomicAdd(&job.cursors[items.bucket * digit.bins() + t], digit_count);
    }
    tile.find_bucket(next_index, job.buckets);
    // PHASE 4: turn the counts into positions in the tile.
    const unsigned begin = group_exclusive_sum<byte_values>(digit_count, tile.warp_sums);
    if (t < byte_values) tile.counts[t] = begin;
    __syncthreads();  // a thread claims positions from tile.counts, which others have replaced
    // PHASE 5: put the keys in order in shared memory. Their registers are free for the next tile's keys.
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
      if (items.has(row)) tile.keys[atomicAdd(&tile.counts[digit.of(items.keys[row])], 1u)] = items.keys[row];
    }
    if (next_index < tiles) items.load(tile, job, next_index);
    if (t < byte_values) tile.offsets[t] = reserved - begin;
    __syncthreads();  // a thread stores keys from tile.keys by tile.offsets, both of which others have written
    // PHASE 6: store the keys, and clear the counts.
    tile.store_runs(job, count);
    if (t < byte_values) tile.counts[t] = 0;
    __syncthreads();  // a thread adds to elements of tile.counts that others have cleared
    // end solution
    index = next_index;
  }
}

/// Sorts a bucket: bins first, then each bin.
template <class Shape, class From, class Key>
__device__ void sort_bucket(Bucket<Shape>& bucket, BucketJob<From> job, KeyTransform<Key> transform) {
  // begin solution
  //~ (void)bucket, (void)job, (void)transform;  // your code: the five phases of a bucket
  constexpr int threads = Shape::threads, items = Shape::items;
  const int t = threadIdx.x, left = job.count - t;
  // PHASE 1: load the keys, and clear the bins.
  std::uint32_t keys[items];
#pragma unroll
  for (int row = 0; row < items; ++row) {
    if (row * threads < left) keys[row] = job.from[t + row * threads];
  }
  clear_bucket(bucket, job);
  __syncthreads();  // a thread adds to elements of bucket.bins that others have cleared

  // PHASE 2: count the keys of each bin.
#pragma unroll
  for (int row = 0; row < items; ++row) {
    if (row * threads < left) claim_in_bin(bucket, keys[row], job.bits);
  }
  __syncthreads();  // a thread scans elements of bucket.bins to which others have added

  // PHASE 3: turn the counts into positions.
  scan_bin_counts(bucket);
  __syncthreads();  // a thread claims positions from bucket.bins, which others have written

  // PHASE 4: put each key into its bin.
#pragma unroll
  for (int row = 0; row < items; ++row) {
    if (row * threads < left) bucket.keys[Shape::margin + claim_in_bin(bucket, keys[row], job.bits)] = keys[row];
  }
  __syncthreads();  // a warp loads keys that others have put into bucket.keys

  // PHASE 5: sort each bin, and store the keys.
  sort_within_bins(bucket, job.count);
  const int own = t / 32 * Shape::per_warp + t % 32;
  const std::uint32_t* const sorted = bucket.keys + Shape::margin + own;
  std::uint32_t* const to = job.to + own;
#pragma unroll
  for (int row = 0; row < items; ++row) {
    if (32 * row < job.count - own) to[32 * row] = transform.inverse(sorted[32 * row] + job.base);
  }
  // end solution
}

/// A block sorts the bucket of its index. Buckets end at ends[0], ends[1], and so on.
template <class Shape, class From, class Key>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    sort_buckets(const From* from, std::uint32_t* keys, KeyTransform<Key> transform, int bucket_bits,
                 const unsigned* ends, const BucketPlan* plan) {
  extern __shared__ uint4 shared_memory[];
  lab::wait_for_earlier_kernels();
  lab::let_next_kernel_begin();
  if (plan->unsorted != 0) return;
  const unsigned first = blockIdx.x != 0 ? ends[blockIdx.x - 1] : 0;
  const int count = int(ends[blockIdx.x] - first);
  if (count == 0) return;
  // If 16 bits are stored, the bucket's index is the other 16.
  const std::uint32_t base = sizeof(From) == 2 ? blockIdx.x << 16 : 0;
  sort_bucket(*reinterpret_cast<Bucket<Shape>*>(shared_memory),
              BucketJob<From>{from + first, base, keys + first, count, bucket_bits}, transform);
}

// --- the host's part ---

template <class Shape, class To, class Key>
void queue_partition(const PartitionJob<To, Key>& job, std::int64_t n, const BucketPlan* plan, cudaStream_t stream) {
  using Tile = PartitionTile<Shape>;
  const lab::Device& device = lab::Device::current();
  const unsigned resident = unsigned(device.resident_keys<Tile>() / Tile::size);
  const unsigned blocks = std::min(lab::blocks_or({}, n, Tile::size) + job.buckets - 1, resident);
  constexpr auto kernel = partition<Shape, To, Key>;
  lab::allow_shared_memory<kernel>(sizeof(Tile), device);
  const auto launch = lab::early_launch<kernel>(blocks, Shape::threads, sizeof(Tile), stream);
  CUDA_CHECK(cudaLaunchKernelEx(&launch, kernel, job, plan));
}

template <class Shape, class From, class Key>
void queue_bucket_sort(const PartitionJob<From, std::uint32_t>& made, std::uint32_t* keys, KeyTransform<Key> transform,
                       int bits, const BucketPlan* plan, cudaStream_t stream) {
  constexpr auto kernel = sort_buckets<Shape, From, Key>;
  lab::allow_shared_memory<kernel>(sizeof(Bucket<Shape>), lab::Device::current());
  const auto launch = lab::early_launch<kernel>(1u << bits, Shape::threads, sizeof(Bucket<Shape>), stream);
  CUDA_CHECK(cudaLaunchKernelEx(&launch, kernel, made.to, keys, transform, bits, made.cursors, plan));
}

/// Queues both sorts. The plan decides on the device which of them does nothing.
template <class Partition, class Bucket, class Key>
void sort_by_partitions(lab::Span<Key> keys, lab::Order order, BucketLimits limits, cudaStream_t stream) {
  const int bits = limits.bits(), buckets = limits.first.bins();
  const TemporaryBytes bytes = pipeline_temporary_bytes<Key>(keys.n);
  const std::size_t plans = sizeof(BucketPlan) + (sizeof(unsigned) << bits);
  const lab::DeviceArray<char> memory(std::int64_t(plans + bytes.all), stream);
  const lab::DeviceArray<std::uint32_t> scratch_array(keys.n, stream);
  const lab::DeviceArray<std::uint16_t> lower_bits(bits == 16 ? keys.n : 0, stream);
  CUDA_CHECK(cudaMemsetAsync(memory.data(), 0, plans + bytes.cleared, stream));
  auto* const plan = reinterpret_cast<BucketPlan*>(memory.data());
  auto* const ends = reinterpret_cast<unsigned*>(plan + 1);  // of the buckets; before, where their next keys go
  std::uint32_t* const scratch = scratch_array.data();
  auto* const primary = reinterpret_cast<std::uint32_t*>(keys.data);
  const auto transform = transform_for<Key>(order);
  // begin solution
  //~ (void)buckets, (void)scratch, (void)primary, (void)transform, (void)ends;  // your code: the launches
  make_bucket_plan({primary, keys.n}, transform, limits, plan, ends, stream);
  // Step 05 comes first: while it sorts, or the keys are counted, the host queues the other kernels.
  sort_pipeline_if(&plan->unsorted, keys, order, {reinterpret_cast<Key*>(scratch), memory.data() + plans}, stream);
  using Transformed = KernelKey<Key>;
  const PartitionJob<std::uint32_t, Transformed> first{primary, scratch,      transform,          limits.first,
                                                       1,       &plan->first, plan->first_cursors};
  queue_partition<Partition>(first, keys.n, plan, stream);
  const auto finish = [&]<class To>(To* to) {
    const KeyTransform<std::uint32_t> identity(0u);  // the first partition has transformed the keys
    const PartitionJob<To, std::uint32_t> second{scratch, to, identity, limits.second, buckets, &plan->second, ends};
    queue_partition<Partition>(second, keys.n, plan, stream);
    queue_bucket_sort<Bucket>(second, primary, transform, bits, plan, stream);
  };
  if (bits == 16) {  // a bucket's index is the highest 16 bits of its keys, so only the others need be stored
    finish(lower_bits.data());
  } else {
    finish(primary);
  }
  // end solution
}

/// The same, if there are at most 65,536 buckets and the kernels' shared memory fits on the device.
template <class Partition, class Bucket, class Key>
bool try_partitions(lab::Span<Key> keys, lab::Order order, cudaStream_t stream) {
  const lab::Device& device = lab::Device::current();
  const BucketLimits limits = limits_for<Partition, Bucket>(keys.n);
  const bool fits = limits.bits() <= 16 && device.fits<PartitionTile<Partition>>() &&
                    device.shared_bytes_per_block >= bucket_plan_shared_bytes(limits.bits()) + 1024;
  if (fits) sort_by_partitions<Partition, Bucket>(keys, order, limits, stream);
  return fits;
}

}  // namespace

template <class Key, class Value>
void sort_record(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream) {
  // begin solution
  //~ NOT_WRITTEN("step 06");  // your code: the shapes in the order in which they are tried, and step 05
  if constexpr (sizeof(Key) == 4 && !has_values<Value>) {
    if (shape.blocks == 0 && shape.threads == 0) {
      const bool large = suits_large_tiles(keys.n), small = suits_small_tiles(keys.n);
      if (large && try_partitions<LargePartition, SmallBucket>(keys, order, stream)) return;
      if (large && try_partitions<LargePartition, LargeBucket>(keys, order, stream)) return;
      if (small && try_partitions<SmallPartition, SmallBucket>(keys, order, stream)) return;
    }
  }
  sort_pipeline(keys, values, order, shape, stream);
  // end solution
}

INSTANTIATE_FOR_ALL_TYPES(sort_record);

}  // namespace radix

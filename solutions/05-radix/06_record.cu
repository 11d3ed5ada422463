// Step 06: the record.
//
// Idea: the highest digit first (MSD). Passes begin with the lowest byte (LSD) and move every key four times. If the
// highest bits come first, three moves are enough: two partitions divide the keys into buckets, and a block sorts each
// in shared memory. 2^28 keys have 65,536 buckets of about 4096 keys. No order has to be kept within a bucket, because
// equal keys without values cannot be told apart, so no tile waits for another.
// New since step 05: a sample that shows whether the keys are spread, a count of the buckets, partitions, and a sort of
// each bucket. Step 05 sorts all other keys, and counts them while the host waits for the sample.
//- Cost: one read, and three times a read and a write, with 4 bytes less per key if there are 65,536 buckets. Temporary
//- memory: that of step 05, at most 2 more bytes per key, and 0.3 MiB.
// Limits: partitions sort 2^26 to 2^30 keys of 4 bytes without values. If the user chooses a shape, step 05 sorts, with
// 512 threads per block.
// Source: E. Stehle and H.-A. Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs", SIGMOD 2017.
#include <algorithm>
#include <cstdint>

#include "bucket_plan.h"
#include "bucket_sort.cuh"
#include "host_answer.h"
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
  if (plan->rejected != 0) return;
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
  if (plan->rejected != 0) return;
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

/// Queues both partitions and the sort of each bucket, for a plan that is made.
template <class Partition, class Bucket, class Key>
void queue_partitions(lab::Span<std::uint32_t> keys, std::uint32_t* scratch, KeyTransform<Key> transform,
                      BucketLimits limits, BucketPlan* plan, cudaStream_t stream) {
  const int bits = limits.bits(), buckets = limits.first.bins();
  unsigned* const ends = plan->ends();
  const lab::DeviceArray<std::uint16_t> lower_bits(bits == 16 ? keys.n : 0, stream);
  // begin solution
  //~ (void)scratch, (void)transform, (void)buckets, (void)ends;  // your code: the launches
  const PartitionJob<std::uint32_t, Key> first{keys.data, scratch,      transform,          limits.first,
                                               1,         &plan->first, plan->first_cursors};
  queue_partition<Partition>(first, keys.n, plan, stream);
  const auto finish = [&]<class To>(To* to) {
    const KeyTransform<std::uint32_t> identity(0u);  // the first partition has transformed the keys
    const PartitionJob<To, std::uint32_t> second{scratch, to, identity, limits.second, buckets, &plan->second, ends};
    queue_partition<Partition>(second, keys.n, plan, stream);
    queue_bucket_sort<Bucket>(second, keys.data, transform, bits, plan, stream);
  };
  if (bits == 16) {  // a bucket's index is the highest 16 bits of its keys, so only the others need be stored
    finish(lower_bits.data());
  } else {
    finish(keys.data);
  }
  // end solution
}

/// Sorts the keys by partitions if a sample of them seems uniform, else by step 05, which counts its digits while the
/// host waits for the sample. Partitions that the count of the buckets rejects do nothing, and step 05 follows them.
template <class Partition, class Bucket, class Key>
void sort_by_partitions(lab::Span<Key> keys, lab::Order order, cudaStream_t stream) {
  const BucketLimits limits = limits_for<Partition, Bucket>(keys.n);
  const lab::DeviceArray<char> memory(std::int64_t(sizeof(BucketPlan) + (sizeof(unsigned) << limits.bits())), stream);
  auto* const plan = reinterpret_cast<BucketPlan*>(memory.data());
  const lab::Span<std::uint32_t> bits{reinterpret_cast<std::uint32_t*>(keys.data), keys.n};
  const auto transform = transform_for<Key>(order);
  look_at_sample({bits.data, bits.n}, transform, limits, plan, stream);
  const HostAnswer is_spread(&plan->is_spread, stream);
  const auto sort = [&](Key* scratch) {
    if (!is_spread.get()) return false;
    CUDA_CHECK(cudaMemsetAsync(memory.data(), 0, memory.size(), stream));
    make_bucket_plan({bits.data, bits.n}, transform, limits, plan, plan->ends(), stream);
    const HostAnswer is_rejected(&plan->rejected, stream);
    queue_partitions<Partition, Bucket>(bits, reinterpret_cast<std::uint32_t*>(scratch), transform, limits, plan,
                                        stream);
    if (is_rejected.get()) sort_pipeline(keys, order, {}, stream);
    return true;
  };
  sort_pipeline_unless(OtherSort<Key>{&plan->is_spread, sort}, keys, order, stream);
}

}  // namespace

template <class Key, class Value>
void sort_record(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream) {
  // begin solution
  //~ NOT_WRITTEN("step 06");  // your code: partitions of a suitable shape, or step 05
  if constexpr (sizeof(Key) == 4 && !has_values<Value>) {
    const bool is_free = shape.blocks == 0 && shape.threads == 0;  // partitions have shapes of their own
    const bool is_large = is_free && suits_large_tiles(keys.n), is_small = is_free && suits_small_tiles(keys.n);
    const bool has_few_buckets = limits_for<LargePartition, SmallBucket>(keys.n).bits() <= max_bucket_bits;
    if (is_large && has_few_buckets) return sort_by_partitions<LargePartition, SmallBucket>(keys, order, stream);
    if (is_large) return sort_by_partitions<LargePartition, LargeBucket>(keys, order, stream);
    if (is_small) return sort_by_partitions<SmallPartition, SmallBucket>(keys, order, stream);
  }
  sort_pipeline(keys, values, order, shape, stream);
  // end solution
}

INSTANTIATE_FOR_ALL_TYPES(sort_record);

}  // namespace radix

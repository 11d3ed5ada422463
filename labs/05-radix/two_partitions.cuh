// The method of step 06 for many keys: two partitions by the highest bits, then a sort of each bucket in one block.
// These are fewer passes over memory than four by a byte each, but they work only for keys that are evenly distributed.
// Keys with few different values are counted instead, and others are left unsorted.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bucket_plan.h"
#include "bucket_sort.cuh"
#include "few_values.h"
#include "partition.cuh"
#include "step/device.h"
#include "step/device_array.h"
#include "step/launch_shape.h"

namespace radix {

/// What one sort keeps in device memory. All 0 at the start.
struct alignas(16) TwoPartitionsPlan {
  BucketPlan buckets;
  FewValues values;
};

/// The shapes of the kernels for one range of n.
template <class ThePartition, class TheBucket>
struct TwoPartitions {
  using Partition = ThePartition;
  using Bucket = TheBucket;

  /// Divides n keys into buckets by at least 8 bits, and by as many as it takes to reach the bucket's target_fill.
  static BucketLimits limits(std::int64_t n) {
    int bits = 8;
    while (n > std::int64_t(Bucket::target_fill) << bits) ++bits;
    const int first = bits / 2, second = bits - first;
    return {.first = {32 - first, first},
            .second = {32 - bits, second},
            .max_bucket = Bucket::capacity,
            .tile_size = Partition::size};
  }

  /// True if n keys have few enough buckets, and the kernels' shared memory fits on the device.
  static bool suits(std::int64_t n, const lab::Device& device) {
    constexpr int other_bytes = 1024;  // of the kernel that counts, beside its counters
    const int bits = limits(n).bits();
    return bits <= 16 && device.shared_bytes_per_block >= bucket_counter_bytes(bits) + other_bytes &&
           device.shared_bytes_per_block >= int(bucket_bytes<Bucket>) && device.fits<PartitionTile<Partition>>();
  }
};

using FewKeys = TwoPartitions<SmallPartition, SmallBucket>;
using ManyKeys = TwoPartitions<LargePartition, SmallBucket>;
using MostKeys = TwoPartitions<LargePartition, LargeBucket>;

namespace detail {

/// A partition: moves the keys with digit d of bucket b to the positions from job.cursors[b * bins + d] on. Blocks are
/// persistent: each takes every gridDim.x-th tile.
template <class Core, class Shape, class To, class Key>
static __global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    partition(PartitionJob<To, Key> job, const BucketPlan* plan) {
  extern __shared__ uint4 shared_memory[];
  auto& tile = *reinterpret_cast<PartitionTile<Shape>*>(shared_memory);
  if (plan->active == 0) return;
  const int t = threadIdx.x;
  const PartitionDigit digit = job.digit;
  To* const to = job.to.data + job.to.offset(*plan);
  // PHASE 1: load the tiles of the buckets, and the keys of the block's first tile.
  tile.clear(job);
  __syncthreads();  // all threads read tile.tile_firsts, which others have written
  const unsigned tiles = tile.tile_firsts[job.buckets];
  unsigned index = tile.tile_firsts[0] + blockIdx.x;
  if (index >= tiles) return;
  tile.find_bucket(index, job.buckets);
  __syncthreads();  // all threads read tile.bucket, which one of them has written
  PartitionItems<Shape> items;
  items.load(tile, job, index);
  while (index < tiles) {
    // PHASE 2: transform the keys, and count their digits.
    items.transform_keys(job.transform);
    const unsigned first_bin = digit.of(items.keys[0]);
    for_each_row<Core>(items, first_bin, [&](int row, auto claim) { claim(tile.counts, digit.of(items.keys[row])); });
    const int count = items.left + t;
    const unsigned next_index = index + gridDim.x;
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
    __syncthreads();  // a lane claims positions from tile.counts, which others have replaced

    // PHASE 5: put the keys in order in shared memory. Their registers are free for the next tile's keys.
    for_each_row<Core>(items, first_bin, [&](int row, auto claim) {
      tile.keys[claim(tile.counts, digit.of(items.keys[row]))] = items.keys[row];
    });
    if (next_index < tiles) items.load(tile, job, next_index);
    if (t < byte_values) tile.offsets[t] = reserved - begin;
    __syncthreads();  // a thread stores keys from tile.keys by tile.offsets, both of which others have written

    // PHASE 6: store the keys, digit by digit in runs.
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
      const int i = row * Shape::threads + t;
      if (i >= count) break;
      const std::uint32_t key = tile.keys[i];
      to[tile.offsets[digit.of(key)] + i] = To(key);
    }
    if (t < byte_values) tile.counts[t] = 0;
    index = next_index;
    __syncthreads();  // a thread adds to elements of tile.counts that others have cleared
  }
}

/// Sorts bucket blockIdx.x of its half. Buckets end at ends[0], ends[1], and so on.
template <class Core, class Shape, class From, class Key>
static __global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    sort_buckets(Placement<From> from, std::uint32_t* keys, KeyTransform<Key> transform, int bucket_bits,
                 const unsigned* ends, const BucketPlan* plan) {
  if (plan->active == 0) return;
  const bool upper = from.half == Half::upper;
  const unsigned bucket = blockIdx.x + (upper ? gridDim.x : 0);
  const unsigned first = blockIdx.x != 0 ? ends[bucket - 1] : upper ? plan->middle() : 0;
  const int count = int(ends[bucket] - first);
  if (count == 0) return;
  // If 16 bits are stored, the bucket's index is the other 16.
  const std::uint32_t base = sizeof(From) == 2 ? bucket << 16 : 0;
  const From* const own = from.data + from.offset(*plan) + first;
  sort_any_bucket<Core, Shape>(BucketJob<From>{own, base, keys + first, count, bucket_bits}, transform);
}

}  // namespace detail

/// Queues the sort of n keys, with the shapes of Shapes, by the functions of Core: see for_each_row and
/// sort_any_bucket. `primary` holds the keys, `scratch` has room for as many, and `plan` is all 0. All are in device
/// memory. If plan->buckets.unsorted is not 0 afterwards, the keys are as they were.
template <class Core, class Shapes, class Key>
class TwoPartitionsSort {
 public:
  using Partition = typename Shapes::Partition;
  using Bucket = typename Shapes::Bucket;

  TwoPartitionsSort(lab::Span<std::uint32_t> primary, std::uint32_t* scratch, KeyTransform<Key> transform,
                    TwoPartitionsPlan* plan, cudaStream_t stream)
      : keys_(primary),
        scratch_(scratch),
        transform_(transform),
        plan_(plan),
        stream_(stream),
        limits_(Shapes::limits(primary.n)),
        bucket_ends_(std::int64_t{1} << limits_.bits(), stream) {}

  void queue() const {
    std::uint32_t* const primary = keys_.data;
    BucketPlan* const plan = &plan_->buckets;
    const int bins = limits_.first.bins();
    CUDA_CHECK(cudaMemsetAsync(bucket_ends_.data(), 0, sizeof(unsigned) << limits_.bits(), stream_));
    make_bucket_plan({primary, keys_.n}, transform_, limits_, plan, bucket_ends_.data(), stream_);
    queue_partition(PartitionJob<std::uint32_t, Key>{
        primary, {scratch_, Half::all}, transform_, limits_.first, 0, 1, &plan->first, plan->first_cursors});
    if (limits_.bits() == 16) {
      // A bucket's index is the highest 16 bits of its keys, so only the others need be stored. In two halves, the
      // second partition fits beside the keys that it has not moved yet.
      const auto lower_bits = [](std::uint32_t* data) { return reinterpret_cast<std::uint16_t*>(data); };
      finish(Placement<std::uint16_t>{lower_bits(primary), Half::upper}, bins / 2, bins / 2);
      finish(Placement<std::uint16_t>{lower_bits(scratch_), Half::lower}, 0, bins / 2);
    } else {
      finish(Placement<std::uint32_t>{primary, Half::all}, 0, bins);
    }
    sort_few_values(keys_, transform_, &plan_->values, &plan->unsorted, stream_);
  }

 private:
  template <class To, class From>
  void queue_partition(const PartitionJob<To, From>& job) const {
    using Tile = PartitionTile<Partition>;
    const lab::Device& device = lab::Device::current();
    const unsigned resident = unsigned(device.resident_keys<Tile>() / Tile::size);
    const unsigned blocks = std::min(lab::blocks_or({}, keys_.n, Tile::size) + job.buckets - 1, resident);
    lab::allow_shared_memory<detail::partition<Core, Partition, To, From>>(sizeof(Tile), device);
    detail::partition<Core, Partition><<<blocks, Partition::threads, sizeof(Tile), stream_>>>(job, &plan_->buckets);
    CUDA_CHECK(cudaGetLastError());
  }

  /// The second partition of `buckets` buckets from `first_bucket` on, to `to`, and the sort of the resulting buckets.
  template <class To>
  void finish(Placement<To> to, int first_bucket, int buckets) const {
    const KeyTransform<std::uint32_t> identity(0u);  // the first partition has transformed the keys
    queue_partition(PartitionJob<To, std::uint32_t>{scratch_, to, identity, limits_.second, first_bucket, buckets,
                                                    &plan_->buckets.second, bucket_ends_.data()});
    lab::allow_shared_memory<detail::sort_buckets<Core, Bucket, To, Key>>(bucket_bytes<Bucket>, lab::Device::current());
    detail::sort_buckets<Core, Bucket>
        <<<buckets << limits_.second.bits, Bucket::threads, bucket_bytes<Bucket>, stream_>>>(
            to, keys_.data, transform_, limits_.bits(), bucket_ends_.data(), &plan_->buckets);
    CUDA_CHECK(cudaGetLastError());
  }

  lab::Span<std::uint32_t> keys_;
  std::uint32_t* scratch_;
  KeyTransform<Key> transform_;
  TwoPartitionsPlan* plan_;
  cudaStream_t stream_;
  BucketLimits limits_;
  lab::DeviceArray<unsigned> bucket_ends_;  ///< first the counts of the buckets, then their ends
};

}  // namespace radix

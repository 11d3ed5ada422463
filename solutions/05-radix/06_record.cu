// Step 06: the record.
//
// Idea: the highest digit first (MSD). Passes begin with the lowest byte (LSD) and move every key four times. If the
// highest bits come first, two moves are enough: they divide the keys into buckets so small that each fits into one
// block, which sorts it in shared memory. For 2^28 keys, these are 65,536 buckets of about 4096 keys. No order has to
// be kept within a bucket, because equal keys without values cannot be told apart, so no tile waits for another.
// New since step 05: one read counts the keys of all buckets and plans the partitions (bucket_plan.h). Two partitions
// move the keys to their buckets (partition.cuh, two_partitions.cuh). A block sorts each bucket (bucket_sort.cuh). This
// works only if no bucket is too large, which is known only on the device. Therefore the passes of step 05 are queued
// behind the partitions, and do nothing if these have sorted the keys. Other methods serve fewer keys
// (one_partition.cuh, and lab 03), keys of few different values (few_values.h), and keys of one or two bytes (lab 04).
//- Cost: one read, and three times a read and a write. With one partition, two reads and two writes. Temporary memory:
//- that of step 05, and at most 0.6 MiB. One partition takes up to 18.3 MiB instead.
// Limits: the MSD sort is for keys of 4 bytes without values. If the user chooses the number of threads per block, it
// must be 512.
// Longer than other steps: a record is made of several ideas, and needs a method for every kind of key.
// Source: E. Stehle and H.-A. Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs", SIGMOD 2017: MSD
// partitions until a bucket fits into shared memory, then a local sort.
// Lines: 79 to write, 204 given.
#include <cstdint>

#include "03-bitonic/bitonic.h"
#include "04-counting/counting.h"
#include "one_partition.cuh"
#include "step/device_attribute.h"
#include "two_partitions.cuh"

namespace radix {
namespace {

// --- the core, which the kernels of one_partition.cuh and two_partitions.cuh call ---

struct Core {
  /// Claims a place for a key in its bin: adds 1 to counters[bin], in shared memory, and returns the old value. If the
  /// lanes are crowded, all 32 lanes call it, and lane 0 adds for all that have its bin.
  template <Lanes lanes>
  __device__ static unsigned place(unsigned* counters, unsigned bin) {
    // begin solution
    //~ // Your code: for lanes that are apart, one atomic. If they are crowded: lanes_as_lane_0() returns the lanes
    //~ // with lane 0's bin. Lane 0 adds their number with one atomic, a shuffle sends the old value to all lanes, and
    //~ // each of them adds the number of lower lanes with that bin. The other lanes add for themselves.
    //~ return (void)counters, (void)bin, 0;
    if constexpr (lanes == Lanes::apart) return atomicAdd(&counters[bin], 1u);
    const unsigned lane = threadIdx.x % 32, together = lanes_as_lane_0(bin);
    const bool is_together = (together >> lane & 1) != 0;
    unsigned first = 0;
    if (lane == 0 || !is_together) first = atomicAdd(&counters[bin], lane == 0 ? unsigned(__popc(together)) : 1u);
    const unsigned first_of_lane_0 = __shfl_sync(0xffffffffu, first, 0);
    return is_together ? first_of_lane_0 + __popc(together & ((1u << lane) - 1)) : first;
    // end solution
  }

  /// Sorts a bucket: bins first, then each bin. If a bin has more keys than the margin, stores nothing, returns false.
  template <class Shape, class From, class Key>
  __device__ static bool sort_bucket(Bucket<Shape>& bucket, BucketJob<From> job, KeyTransform<Key> transform) {
    // begin solution
    //~ // Your code: the keys are transformed already. Load up to Shape::items of them, Shape::threads apart, into
    //~ // registers, and clear_bucket. Count them in their bins (claim_in_bin), scan_bin_counts, and return false if
    //~ // bucket.max_bin exceeds Shape::margin. Then put each key into its bin: claim_in_bin now returns a position,
    //~ // from Shape::margin of bucket.keys on. sort_within_bins. Store the warp's own positions, Shape::per_warp of
    //~ // them from warp * Shape::per_warp on, below job.count: transform.inverse(key + job.base). Which of these
    //~ // phases need a barrier between them?
    //~ (void)bucket, (void)job, (void)transform;
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

    // PHASE 3: turn the counts into positions, and give up if a bin has too many keys.
    scan_bin_counts(bucket, job);
    __syncthreads();  // a thread reads bucket.max_bin, and claims positions from bucket.bins, both written by others
    if (bucket.max_bin > unsigned(Shape::margin)) return false;
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
    return true;
  }

  /// Puts the warp's items at their positions in shared memory, for a bucket whose bins are too full. sort_items in
  /// tile.cuh states the contract.
  struct RankAndScatter {
    template <class Tile, class Transform>
    __device__ void operator()(Tile& tile, const Items<Tile>& items, Transform transform, int pass) const {
      // begin solution
      //~ // Your code: as in step 05, for the first items.rows rows, without values.
      //~ (void)tile, (void)items, (void)transform, (void)pass;
      unsigned* const next_positions = tile.counts[threadIdx.x / 32];
      const unsigned lower_lanes = (1u << threadIdx.x % 32) - 1;
#pragma unroll
      for (int row = 0; row < Tile::items; ++row) {
        if (row >= items.rows) break;
        const unsigned digit = transform.digit(items.keys[row], pass), equal = lanes_with<8>(digit);
        const unsigned lower = __popc(equal & lower_lanes);
        unsigned first = 0;
        if (lower == 0) first = atomicAdd(&next_positions[digit], unsigned(__popc(equal)));
        const unsigned position = __shfl_sync(0xffffffffu, first, __ffs(int(equal)) - 1) + lower;
        __syncwarp();  // not needed as long as all lanes meet at the shuffle, but only a barrier guarantees the order
        tile.keys[padded(position)] = items.keys[row];
      }
      // end solution
    }
  };
};

// --- the methods ---

/// The methods. Counting few different values is not among them, because only the device finds out that it is possible,
/// when two partitions do not work.
enum class Method {
  network,             ///< few integers of 4 or 8 bytes, on a GPU with thread block clusters: step 04 of lab 03
  counting,            ///< keys of one byte, and of two if they are many or fit one cluster: step 06 of lab 04
  one_partition,       ///< few keys of 4 bytes: one partition, by the highest byte or by splitters
  partitions_of_few,   ///< more keys: two partitions, with small tiles and small buckets
  partitions_of_many,  ///< with large tiles and small buckets
  partitions_of_most,  ///< with large tiles and large buckets
  passes               ///< all others: step 05
};

/// Keys that can be rebuilt from counts: unsigned, of at most two bytes, and without values.
template <class Key, class Value>
constexpr bool can_be_counted = std::is_unsigned_v<Key> && sizeof(Key) <= 2 && !has_values<Value>;

/// Keys that partitions sort, though they are not stable: equal keys without values cannot be told apart.
template <class Key, class Value>
constexpr bool can_be_partitioned = sizeof(Key) == 4 && !has_values<Value>;

/// Keys that the sorting network of lab 03 sorts, though it is not stable: equal integers cannot be distinguished.
template <class Key, class Value>
constexpr bool has_network =
    !has_values<Value> &&
    (std::is_same_v<Key, std::uint32_t> || std::is_same_v<Key, std::int32_t> || std::is_same_v<Key, std::uint64_t>);

/// Clusters sort up to this many keys by the network sooner than the other methods do, whatever the keys are.
constexpr std::int64_t max_keys_of_network = 1 << 17;

/// One block sorts up to this many keys sooner than a partition and a sort of its buckets, or a cluster that counts,
/// whatever the keys are.
constexpr std::int64_t max_keys_of_one_block = 12'288;

/// The table of methods: the first row that suits the keys decides, before anything is launched.
template <class Key, class Value>
Method choose_method(lab::Span<Key> keys, lab::LaunchShape shape) {
  const std::int64_t n = keys.n;
  const lab::Device& device = lab::Device::current();
  const bool auto_shape = shape.blocks == 0 && shape.threads == 0;
  constexpr bool counted = can_be_counted<Key, Value>;
  const bool partitioned = can_be_partitioned<Key, Value> && auto_shape && n <= std::int64_t{1} << 30;
  // Keys of two bytes have 65,536 counters. In global memory, it takes time to clear and scan them, so they pay off only
  // for many keys. One cluster has them in shared memory.
  bool suits_counting = sizeof(Key) == 1 || (auto_shape && n >= std::int64_t(device.multiprocessors) << 16);
  if constexpr (counted && sizeof(Key) == 2) {
    suits_counting |= auto_shape && n > max_keys_of_one_block && counting::sorts_in_one_launch(keys);
  }
  // Two partitions take more launches, and pay off if every multiprocessor gets a large tile, or at least half of them,
  // and if the keys and their copy exceed the level 2 cache: passes over fewer keys hardly wait for memory.
  const bool large_tiles = partitioned && device.fits<PartitionTile<LargePartition>>();
  const std::int64_t resident = device.resident_keys<PartitionTile<LargePartition>>();
  const bool two = large_tiles && 2 * n * std::int64_t(sizeof(Key)) > device.cache_bytes;
  // On devices without room for large tiles, partitions have not been measured. This range lets every build run them.
  const bool small_device = partitioned && !device.fits<PartitionTile<LargePartition>>() && n > SmallPartition::size &&
                            n <= 8 * SmallPartition::size;
  const bool fits_one = n > max_keys_of_one_block && n < intervals * std::int64_t(MediumBucket::target_fill);
  const struct {
    Method method;
    bool suits;
  } table[] = {
      {Method::network, has_network<Key, Value> && auto_shape && n <= max_keys_of_network &&
                            lab::device_attribute(cudaDevAttrClusterLaunch) != 0},
      {Method::counting, counted && suits_counting},
      {Method::one_partition, large_tiles && fits_one},
      {Method::partitions_of_many, two && n >= resident && ManyKeys::suits(n, device)},
      {Method::partitions_of_most, two && n >= resident && MostKeys::suits(n, device)},
      {Method::partitions_of_few, (small_device || (two && n >= resident / 2)) && FewKeys::suits(n, device)},
  };
  for (const auto& row : table) {
    if (row.suits) return row.method;
  }
  return Method::passes;
}

/// Queues a method, by calling `queue`, and behind it step 05, which sorts the keys if the method leaves them unsorted.
/// `Plan` is the type of the method's plan. queue(keys, scratch, transform, plan) returns a pointer to device memory
/// that will not be 0 if the keys are unsorted. `room`: the size of scratch, in keys.
template <class Plan, class Key, class Queue>
void sort_or_fall_back(lab::Span<Key> keys, lab::Order order, std::int64_t room, cudaStream_t stream, Queue queue) {
  const TemporaryBytes bytes = pipeline_temporary_bytes<Key>(keys.n);
  const lab::DeviceArray<std::uint32_t> scratch(room, stream);
  const lab::DeviceArray<char> memory(std::int64_t(sizeof(Plan) + bytes.all), stream);
  CUDA_CHECK(cudaMemsetAsync(memory.data(), 0, sizeof(Plan) + bytes.cleared, stream));
  const lab::Span<std::uint32_t> primary = {reinterpret_cast<std::uint32_t*>(keys.data), keys.n};
  auto* const plan = reinterpret_cast<Plan*>(memory.data());
  const unsigned* const unsorted = queue(primary, scratch.data(), transform_for<Key>(order), plan);
  try {
    Key* const room_for_passes = reinterpret_cast<Key*>(scratch.data());
    sort_pipeline_if(unsorted, keys, order, {room_for_passes, memory.data() + sizeof(Plan)}, stream);
  } catch (const lab::NotWritten&) {
    unsigned needed = 0;  // step 05 is not written yet, which matters only for keys that need it
    CUDA_CHECK(cudaMemcpyAsync(&needed, unsorted, sizeof needed, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    if (needed != 0) throw;
  }
}

template <class Key>
void sort_by_one(lab::Span<Key> keys, lab::Order order, cudaStream_t stream) {
  const lab::Span<std::uint32_t> primary = {reinterpret_cast<std::uint32_t*>(keys.data), keys.n};
  sort_by_one_partition<Core>(primary, transform_for<Key>(order), stream);
}

template <class Shapes, class Key>
void sort_by_two(lab::Span<Key> keys, lab::Order order, cudaStream_t stream) {
  const auto queue = [=](auto primary, auto* scratch, auto transform, TwoPartitionsPlan* plan) {
    TwoPartitionsSort<Core, Shapes, KernelKey<Key>>(primary, scratch, transform, plan, stream).queue();
    return &plan->buckets.unsorted;
  };
  sort_or_fall_back<TwoPartitionsPlan>(keys, order, keys.n, stream, queue);
}

/// While the record of lab 03 is not written, step 05 sorts its keys.
template <class Key>
void sort_by_network(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  try {
#ifndef __SIMT__  // CUDA on the CPU has no clusters, and the step of lab 03 is not linked
    return bitonic::sort_record(keys, order, shape, stream);
#endif
  } catch (const lab::NotWritten&) {
  }
  sort_pipeline(keys, order, shape, stream);
}

/// While the record of lab 04 is not written, step 05 sorts its keys.
template <class Key>
void sort_by_counting(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  try {
    counting::sort_record(keys, order, shape, stream);
  } catch (const lab::NotWritten&) {
    sort_pipeline(keys, order, shape, stream);
  }
}

}  // namespace

template <class Key, class Value>
void sort_record(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream) {
  if (lab::threads_or(shape, 512) != 512) {
    throw lab::Unsupported("this step has 512 threads per block: choose --threads 512 or leave it out");
  }
  lab::blocks_or(shape, 1, 1);  // refuses impossible numbers
  if (keys.n < 2) return;
  [[maybe_unused]] const Method method = choose_method<Key, Value>(keys, shape);
  // begin solution
  //~ // Your code, when the core is written, instead of the next line. For keys that can be counted, that have a network,
  //~ // or that can be partitioned (if constexpr), a switch over the method, which calls sort_by_counting,
  //~ // sort_by_network, sort_by_one or sort_by_two and returns. For all others, sort_pipeline.
  //~ NOT_WRITTEN("step 06");
  if constexpr (can_be_counted<Key, Value>) {
    if (method == Method::counting) return sort_by_counting(keys, order, shape, stream);
  }
  if constexpr (has_network<Key, Value>) {
    if (method == Method::network) return sort_by_network(keys, order, shape, stream);
  }
  if constexpr (can_be_partitioned<Key, Value>) {
    switch (method) {
      case Method::one_partition:
        return sort_by_one(keys, order, stream);
      case Method::partitions_of_few:
        return sort_by_two<FewKeys>(keys, order, stream);
      case Method::partitions_of_many:
        return sort_by_two<ManyKeys>(keys, order, stream);
      case Method::partitions_of_most:
        return sort_by_two<MostKeys>(keys, order, stream);
      default:
        break;
    }
  }
  sort_pipeline(keys, values, order, shape, stream);
  // end solution
}

INSTANTIATE_FOR_ALL_TYPES(sort_record);

}  // namespace radix

// Makes the plan of step 06: the kernel of bucket_plan.h. Compiled by itself.
#include "bucket_plan.h"

#include <algorithm>

#include "quads.cuh"
#include "scan.cuh"
#include "step/device.h"
#include "step/launch_shape.h"

namespace radix {
namespace {

constexpr int bucket_threads = 1024;
constexpr int rows = samples / bucket_threads;  ///< samples per thread
constexpr int sample_bin_bits = 12;             ///< about as many bins as a bucket has keys
constexpr int keys_at_once = 16;                ///< of a thread that counts

/// The counters of a block, one of 16 bits per bucket. Two buckets that differ only in their highest bit share a word.
struct PackedCounts {
  unsigned* words;
  int bits;  ///< of a bucket's index

  __device__ unsigned* word(std::uint32_t key) const { return words + (key << 1 >> (33 - bits)); }
  /// Counts the key, and returns how many of its bucket have been counted before.
  __device__ unsigned add(std::uint32_t key) const {
    const unsigned shift = key >> 31 << 4;
    return atomicAdd(word(key), 1u << shift) >> shift & 0xffff;
  }
};

// --- the sample: a look at a few keys, before all of them are counted ---

/// A number that looks random. Source: the end of MurmurHash3 by A. Appleby.
__device__ unsigned hash(unsigned index) {
  index = (index ^ index >> 16) * 0x85ebca6bu;
  index = (index ^ index >> 13) * 0xc2b2ae35u;
  return index ^ index >> 16;
}

/// Loads a thread's samples. A warp takes 32 neighbours, because partitions are slow if neighbours have the same digit,
/// from a random place in each of equally long parts of the array.
template <class Key>
__device__ void load_samples(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform,
                             std::uint32_t (&sample)[rows]) {
  const std::int64_t part = keys.n / (samples / 32);
#pragma unroll
  for (int row = 0; row < rows; ++row) {
    const unsigned index = (row * bucket_threads + threadIdx.x) / 32;
    const std::int64_t first = index * part + (hash(index) * (part - 31) >> 32);
    sample[row] = transform.forward(keys.data[first + threadIdx.x % 32]);
  }
}

/// The shared memory in which a block looks at the samples. All 0 at the start.
struct alignas(16) SampleMemory {
  unsigned repeated, bucket_pairs, bin_pairs;
  unsigned last[samples / 2];  ///< the last sample at each of these places, which its value decides
  unsigned bins[1 << (sample_bin_bits - 1)];
};

/// True if a sample of the keys seems uniform, and partitions can probably sort all keys. Three things would show that
/// they are not: values repeat; too many samples are in the same bucket; or they are in the same bin, by the bits below
/// those of the bucket. Pairs show it for the whole of the sample, and a full bucket or bin by itself. All threads of the
/// block call it. `counts`: all 0 before, but not afterwards.
template <class Key>
__device__ bool are_spread(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, PackedCounts counts,
                           SampleMemory& memory) {
  const PackedCounts bins{memory.bins, sample_bin_bits};
  std::uint32_t sample[rows];
  load_samples(keys, transform, sample);
  unsigned repeated = 0, bucket_pairs = 0, bin_pairs = 0, fullest_bucket = 0, fullest_bin = 0;
#pragma unroll
  for (int row = 0; row < rows; ++row) {
    const std::uint32_t key = sample[row];
    repeated += atomicExch(&memory.last[hash(key) % (samples / 2)], key) == key;
    const unsigned in_bucket = counts.add(key), in_bin = bins.add(key << counts.bits);
    bucket_pairs += in_bucket, bin_pairs += in_bin;
    fullest_bucket = max(fullest_bucket, in_bucket), fullest_bin = max(fullest_bin, in_bin);
  }
  repeated = warp_inclusive_sum(repeated);
  bucket_pairs = warp_inclusive_sum(bucket_pairs);
  bin_pairs = warp_inclusive_sum(bin_pairs);
  if (threadIdx.x % 32 == 31) {
    atomicAdd(&memory.repeated, repeated);
    atomicAdd(&memory.bucket_pairs, bucket_pairs);
    atomicAdd(&memory.bin_pairs, bin_pairs);
  }
  constexpr unsigned all_pairs = unsigned(samples) * (samples / 2);  // the pairs in a single bucket
  const unsigned bucket_limit = all_pairs >> counts.bits, bin_limit = all_pairs >> sample_bin_bits;
  const unsigned in_bucket_limit = 8 + 4 * (samples >> counts.bits);
  constexpr unsigned in_bin_limit = 16 + 16 * (samples >> sample_bin_bits);
  // The barrier in front of `memory`, to which others have added.
  const bool some_is_full = __syncthreads_or(fullest_bucket > in_bucket_limit || fullest_bin > in_bin_limit);
  return !some_is_full && memory.repeated < 3 && memory.bucket_pairs < bucket_limit / 8 * 9 + 64 &&
         memory.bin_pairs < 4 * bin_limit;
}

// --- counting ---

/// Counts the block's keys in shared memory. Returns what kinds of zeros this thread has seen, as in BucketPlan.
template <class Key>
__device__ unsigned count_keys(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, PackedCounts counts) {
  const Quads quads(keys);
  const auto* const from = reinterpret_cast<const uint4*>(keys.data + quads.head);
  const std::int64_t threads = std::int64_t(gridDim.x) * bucket_threads;
  const std::int64_t thread = std::int64_t(blockIdx.x) * bucket_threads + threadIdx.x;
  unsigned zeros = 0;
  const auto count = [&](std::uint32_t loaded) {
    const std::uint32_t key = transform.forward(loaded);
    zeros |= transform.zero_kind(key);
    counts.add(key);
  };
  std::int64_t i = thread;
  for (; i + 3 * threads < quads.count; i += 4 * threads) {
    std::uint32_t own[keys_at_once];
    load_quads(from + i, threads, own);
#pragma unroll
    for (const std::uint32_t key : own) count(key);
  }
  for (; i < quads.count; i += threads) {
    std::uint32_t own[4];
    load_quads(from + i, 1, own);
#pragma unroll
    for (const std::uint32_t key : own) count(key);
  }
  if (thread < Quads::max_edges && quads.edge(int(thread)) < quads.n) count(keys.data[quads.edge(int(thread))]);
  return zeros;
}

// --- the plan ---

/// Replaces the counts of all buckets by their first positions. One block. Returns true if a bucket has more than
/// max_bucket keys, or fewer than n have been counted, because a counter of 16 bits was too small.
__device__ bool scan_buckets(unsigned* counts, int buckets, unsigned n, unsigned max_bucket, unsigned* sums) {
  const int per_thread = max(buckets / bucket_threads, 1), first = threadIdx.x * per_thread;
  unsigned sum = 0, largest = 0, total;
  if (first < buckets) {
    for (int i = first; i < first + per_thread; ++i) sum += counts[i], largest = max(largest, counts[i]);
  }
  unsigned next = block_exclusive_sum(sum, sums, total);
  if (first < buckets) {
    for (int i = first; i < first + per_thread; ++i) {
      const unsigned count = counts[i];
      counts[i] = next;
      next += count;
    }
  }
  return __syncthreads_or(largest > max_bucket) || total != n;  // also before others read what has been written
}

/// Fills plan->first and plan->second: the keys and tiles of the buckets that the partitions start from. Thread b has
/// bucket b of the second partition.
__device__ void plan_sources(const unsigned* firsts, unsigned n, BucketLimits limits, unsigned* sums,
                             BucketPlan* plan) {
  const int bin = threadIdx.x, bins = limits.first.bins();
  unsigned begin = n, end = n, total;
  if (bin < bins) begin = firsts[bin << limits.second.bits];
  if (bin + 1 < bins) end = firsts[(bin + 1) << limits.second.bits];
  const unsigned tiles = (end - begin + limits.tile_size - 1) / limits.tile_size;
  const unsigned tile_first = block_exclusive_sum(tiles, sums, total);
  if (bin < bins) plan->first_cursors[bin] = begin;
  if (bin <= bins) {
    plan->second.firsts[bin] = begin;
    plan->second.tile_firsts[bin] = tile_first;
  }
  if (bin == 0) {
    plan->first.firsts[1] = n;
    plan->first.tile_firsts[1] = (n + limits.tile_size - 1) / limits.tile_size;
  }
}

// --- the kernels ---

__device__ void clear(uint4* quads, int count) {
  for (int i = threadIdx.x; i < count; i += bucket_threads) quads[i] = {0, 0, 0, 0};
}

/// One block decides whether the keys are spread.
template <class Key>
__global__ void __launch_bounds__(bucket_threads)
    sample_keys(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, int bits, BucketPlan* plan) {
  extern __shared__ uint4 shared_memory[];
  const int counter_quads = (2 << bits) / 16, sample_quads = sizeof(SampleMemory) / 16;
  const PackedCounts counts{reinterpret_cast<unsigned*>(shared_memory), bits};
  clear(shared_memory, counter_quads + sample_quads);
  __syncthreads();  // a thread adds to counters that others have cleared
  auto& memory = *reinterpret_cast<SampleMemory*>(shared_memory + counter_quads);
  const bool spread = are_spread(keys, transform, counts, memory);
  if (threadIdx.x == 0) plan->is_spread = spread;
}

/// Counts the keys of each bucket. The block that ends last makes the plan.
template <class Key>
__global__ void __launch_bounds__(bucket_threads, 1)
    count_buckets(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, BucketLimits limits,
                  unsigned* all_counts, BucketPlan* plan) {
  extern __shared__ uint4 shared_memory[];
  __shared__ unsigned sums[bucket_threads / 32];
  const int bits = limits.bits(), pairs = 1 << (bits - 1), t = threadIdx.x;
  const PackedCounts counts{reinterpret_cast<unsigned*>(shared_memory), bits};
  clear(shared_memory, (2 << bits) / 16);
  __syncthreads();  // a thread adds to counters that others have cleared
  // PHASE 1: count the block's keys, and add its counters to those of all blocks.
  if (const unsigned zeros = count_keys(keys, transform, counts); zeros != 0) atomicOr(&plan->zeros, zeros);
  __syncthreads();  // a thread reads counters to which others have added
  for (int i = t; i < pairs; i += bucket_threads) {
    const unsigned pair = counts.words[i];
    if ((pair & 0xffff) != 0) atomicAdd(&all_counts[i], pair & 0xffff);
    if (pair >> 16 != 0) atomicAdd(&all_counts[i + pairs], pair >> 16);
  }
  // PHASE 2: plan the partitions. They do not keep the order of equal keys, and -0 and +0 are equal.
  if (!is_last_block(&plan->blocks_done)) return;
  const bool too_many = scan_buckets(all_counts, 1 << bits, unsigned(keys.n), limits.max_bucket, sums);
  plan_sources(all_counts, unsigned(keys.n), limits, sums, plan);
  if (t == 0) plan->rejected = too_many || plan->zeros == 3;
}

}  // namespace

int bucket_plan_shared_bytes(int bits) { return (2 << bits) + int(sizeof(SampleMemory)); }

template <class Key>
void look_at_sample(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, BucketLimits limits,
                    BucketPlan* plan, cudaStream_t stream) {
  const int bytes = bucket_plan_shared_bytes(limits.bits());
  lab::allow_shared_memory<sample_keys<Key>>(bytes, lab::Device::current());
  sample_keys<<<1, bucket_threads, bytes, stream>>>(keys, transform, limits.bits(), plan);
  CUDA_CHECK(cudaGetLastError());
}

template <class Key>
void make_bucket_plan(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, BucketLimits limits,
                      BucketPlan* plan, unsigned* counts, cudaStream_t stream) {
  const lab::Device& device = lab::Device::current();
  const int bytes = 2 << limits.bits();
  const unsigned blocks =
      std::min(lab::blocks_or({}, keys.n, bucket_threads * keys_at_once), unsigned(device.multiprocessors));
  lab::allow_shared_memory<count_buckets<Key>>(bytes, device);
  count_buckets<<<blocks, bucket_threads, bytes, stream>>>(keys, transform, limits, counts, plan);
  CUDA_CHECK(cudaGetLastError());
}

template void look_at_sample(lab::Span<const std::uint32_t>, KeyTransform<std::uint32_t>, BucketLimits, BucketPlan*,
                             cudaStream_t);
template void look_at_sample(lab::Span<const std::uint32_t>, KeyTransform<float>, BucketLimits, BucketPlan*,
                             cudaStream_t);
template void make_bucket_plan(lab::Span<const std::uint32_t>, KeyTransform<std::uint32_t>, BucketLimits, BucketPlan*,
                               unsigned*, cudaStream_t);
template void make_bucket_plan(lab::Span<const std::uint32_t>, KeyTransform<float>, BucketLimits, BucketPlan*,
                               unsigned*, cudaStream_t);

}  // namespace radix

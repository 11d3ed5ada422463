// Makes the plan of step 06's partitions: the kernels of bucket_plan.h. Compiled by itself.
#include <algorithm>

#include "bucket_count.cuh"
#include "bucket_plan.h"
#include "step/device.h"
#include "step/launch_shape.h"

namespace radix {
namespace detail {

/// Replaces the counts of all buckets by their first positions. One block. Returns the largest of the thread's counts.
__device__ inline unsigned scan_buckets(unsigned* counts, int buckets, unsigned* sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // A warp has rows of 32 quads of counters. A lane adds up the counters of a quad by itself.
  const int quads = buckets / 4, per_warp = max(quads / (bucket_threads / 32), 32);
  const int begin = warp * per_warp + lane, end = min(quads, (warp + 1) * per_warp);
  uint4* const quad = reinterpret_cast<uint4*>(counts);
  unsigned sum = 0, largest = 0, total;
#pragma unroll 4
  for (int i = begin; i < end; i += 32) {
    const uint4 count = quad[i];
    sum += count.x + count.y + count.z + count.w;
    largest = max(largest, max(max(count.x, count.y), max(count.z, count.w)));
  }
  // Lane 0 of a warp has the sum of the warps before it.
  unsigned next = __shfl_sync(0xffffffffu, block_exclusive_sum(sum, sums, total), 0);
  constexpr int rows = 4;  // whose loads are under way at the same time
  for (int i = begin; i - lane < end; i += 32 * rows) {
    uint4 count[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) count[row] = i + 32 * row < end ? quad[i + 32 * row] : uint4{0, 0, 0, 0};
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const uint4 c = count[row];
      const unsigned own = c.x + c.y + c.z + c.w, inclusive = warp_inclusive_sum(own);
      const unsigned x = next + inclusive - own;
      const uint4 firsts{x, x + c.x, x + c.x + c.y, x + c.x + c.y + c.z};
      if (i + 32 * row < end) quad[i + 32 * row] = firsts;
      next += __shfl_sync(0xffffffffu, inclusive, 31);
    }
  }
  return largest;
}

/// Fills plan->first and plan->second: the keys and tiles of the buckets that the partitions start from. Thread b has
/// bucket b of the second partition, and gets its first key.
__device__ inline unsigned plan_sources(const unsigned* firsts, unsigned n, BucketLimits limits, unsigned* sums,
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
  return begin;
}

/// Turns counts into the buckets' first positions, and decides whether the keys are partitioned. One block.
static __global__ void __launch_bounds__(bucket_threads)
    plan_buckets(unsigned* counts, unsigned n, BucketLimits limits, BucketPlan* plan) {
  __shared__ unsigned sums[bucket_threads / 32];
  if (plan->unsorted != 0) return;
  const bool too_many = __syncthreads_or(scan_buckets(counts, 1 << limits.bits(), sums) > limits.max_bucket);
  // That was also the barrier before a thread reads elements of `counts` that others have written.
  const unsigned begin = plan_sources(counts, n, limits, sums, plan);
  // There must be room for the two halves of the second partition beside each other in the arrays.
  const bool is_middle = threadIdx.x == byte_values / 2 && limits.bits() == 16;
  const bool uneven = __syncthreads_or(is_middle && (begin < n / 3 || begin > n - n / 3));
  if (threadIdx.x == 0) {
    // Partitions do not keep the order of equal keys, and -0 and +0 are equal.
    plan->unsorted |= too_many || uneven || plan->zeros == 3;
    plan->active = plan->out_of_order != 0 && plan->unsorted == 0;
  }
}

}  // namespace detail

template <class Key>
void make_bucket_plan(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, BucketLimits limits,
                      BucketPlan* plan, unsigned* counts, cudaStream_t stream) {
  const lab::Device& device = lab::Device::current();
  const int bytes = bucket_counter_bytes(limits.bits());
  const unsigned blocks = std::min(lab::blocks_or({}, keys.n, detail::group_keys), unsigned(device.multiprocessors));
  lab::allow_shared_memory<detail::count_buckets<Key>>(bytes, device);
  detail::count_buckets<<<blocks, detail::bucket_threads, bytes, stream>>>(keys, transform, limits.bits(), counts,
                                                                           plan);
  CUDA_CHECK(cudaGetLastError());
  detail::plan_buckets<<<1, detail::bucket_threads, 0, stream>>>(counts, unsigned(keys.n), limits, plan);
  CUDA_CHECK(cudaGetLastError());
}

template void make_bucket_plan(lab::Span<const std::uint32_t>, KeyTransform<std::uint32_t>, BucketLimits, BucketPlan*,
                               unsigned*, cudaStream_t);
template void make_bucket_plan(lab::Span<const std::uint32_t>, KeyTransform<float>, BucketLimits, BucketPlan*,
                               unsigned*, cudaStream_t);

}  // namespace radix

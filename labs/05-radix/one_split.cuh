// The way of step 05 for fewer keys of 4 bytes without values, for which launches take longer than the keys: one split
// by the highest byte, then each bucket is sorted by one block. Two launches, and nothing is counted before: a bucket
// gets room for some more keys than it would have if they were spread evenly. If that is not enough for one of them,
// nothing has been overwritten yet, and passes sort the keys.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bucket_sort.cuh"
#include "one_tile.cuh"
#include "split.cuh"
#include "splits.cuh"

namespace radix {

/// What the two kernels share. All 0 at the start.
struct OneSplitPlan {
  unsigned sizes[byte_values];  ///< of the buckets
  unsigned out_of_order;        ///< not 0 if some key belongs before the one to its left
  unsigned zeros;               ///< 1 if some key is -0, 2 if some key is +0, 3 for both
  unsigned skewed;              ///< not 0 if the keys cannot be split
};

/// What the kernels of one sort share; each way to sort uses its own part. All 0 at the start.
template <class Key>
struct SortPlan {
  Plan<Key> passes;
  SplitsPlan splits;
  OneSplitPlan one_split;
};

using OneSplitBucket = BucketShape<512, 2>;

/// How many keys there is room for in each bucket of n keys.
inline unsigned bucket_room(std::int64_t n) {
  return unsigned(std::min(n / byte_values + 512, std::int64_t(OneSplitBucket::capacity)));
}

/// The same for all buckets together: at most 512 KiB more than n keys take.
inline std::int64_t room_for_one_split(std::int64_t n) { return std::int64_t(byte_values) * bucket_room(n); }

/// Whether to sort n keys so: if they would not give every multiprocessor a large tile to split.
template <class Word, class Key, class Value>
bool one_split_suits(std::int64_t n, const Device& device) {
  return can_be_split<Word, Key, Value> && n >= 2 * SmallSplit::size &&
         n < byte_values * std::int64_t(OneSplitBucket::usual) &&
         n < device.resident_keys<SplitTile<LargeSplit>>() / 2 && device.fits<SplitTile<LargeSplit>>();
}

namespace {

/// Moves the codes of the keys whose highest byte is b to to[b * room] and further, in any order.
template <class Shape, class Key>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    split_once(lab::Span<const std::uint32_t> keys, std::uint32_t* to, unsigned room, Coding<Key> coding,
               OneSplitPlan* plan) {
  constexpr SplitDigit highest_byte{24, 8};
  __shared__ unsigned counts[byte_values], begins[byte_values], offsets[byte_values];
  __shared__ unsigned warp_sums[byte_values / 32];
  __shared__ std::uint32_t codes[Shape::size];
  const int t = threadIdx.x, first = int(blockIdx.x) * Shape::size;
  detail::SplitItems<Shape> items;
  items.left = min(int(keys.n) - first, Shape::size) - t;
  const std::uint32_t* const mine = keys.data + first + t;
  bool out_of_order = false;
  unsigned zeros = 0, ranks[Shape::items];
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (!items.has(row)) break;
    items.codes[row] = coding.encode(mine[row * Shape::threads]);
    zeros |= coding.zero_kind(items.codes[row]);
    const bool is_last = first + t + row * Shape::threads + 1 == keys.n;
    out_of_order |= !is_last && coding.encode(mine[row * Shape::threads + 1]) < items.codes[row];
  }
  if (t < byte_values) counts[t] = 0;
  __syncthreads();  // a thread counts in counters that others have cleared
  detail::for_each_row(items, highest_byte,
                       [&](int row, auto draw) { ranks[row] = draw(counts, highest_byte.of(items.codes[row])); });
  // Splits do not keep the order of equal keys: -0 and +0 are equal, but not the same.
  if (zeros != 0 && (atomicOr(&plan->zeros, zeros) | zeros) == 3) atomicOr(&plan->skewed, 1u);
  // A barrier, too: a thread reads counts to which others have added.
  if (__syncthreads_or(out_of_order) && t == 0) atomicOr(&plan->out_of_order, 1u);
  unsigned count = 0, inclusive = 0, reserved = 0;
  if (t < byte_values) {
    count = counts[t];
    if (count != 0) reserved = atomicAdd(&plan->sizes[t], count);
    if (reserved + count > room) atomicOr(&plan->skewed, 1u);
    inclusive = warp_inclusive_sum(count);
    if (t % 32 == 31) warp_sums[t / 32] = inclusive;
  }
  __syncthreads();  // a thread adds the sums of the warps that have lower digits
  if (t < byte_values) {
    unsigned begin = inclusive - count;
    for (int w = 0; w < t / 32; ++w) begin += warp_sums[w];
    begins[t] = begin;
    offsets[t] = reserved - begin;
  }
  __syncthreads();  // a thread reads where other digits begin
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (items.has(row)) codes[begins[highest_byte.of(items.codes[row])] + ranks[row]] = items.codes[row];
  }
  __syncthreads();  // a thread stores keys that others have put in place
#pragma unroll
  for (int row = 0; row < Shape::items; ++row) {
    if (!items.has(row)) break;
    const int i = row * Shape::threads + t;
    const std::uint32_t code = codes[i];
    const unsigned bucket = highest_byte.of(code), place = offsets[bucket] + i;
    if (place < room) to[bucket * room + place] = code;
  }
}

/// Sorts bucket number blockIdx.x of a split, and stores its keys behind those of the buckets before it. `coded` is the
/// coding of keys that are codes already.
template <class Shape, class Key>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    sort_split_bucket(const std::uint32_t* from, unsigned room, lab::Span<std::uint32_t> keys,
                      Coding<std::uint32_t> coded, Coding<Key> coding, const OneSplitPlan* plan) {
  extern __shared__ uint4 shared_memory[];
  __shared__ unsigned sums[Shape::threads / 32];
  const unsigned t = threadIdx.x, own = blockIdx.x;
  const unsigned size = t < own ? plan->sizes[t] : 0;
  const int count = int(plan->sizes[own]);
  if (plan->out_of_order == 0 || plan->skewed != 0) return;
  unsigned first;
  block_exclusive_sum(size, sums, first);
  auto& bucket = *reinterpret_cast<Bucket<Shape>*>(shared_memory);
  std::uint32_t* const to = keys.data + first;
  from += own * room;
  if (!detail::sort_bucket(bucket, from, 0, to, count, coding, 8)) {
    sort_heavy_bucket<BucketTile<Shape>>(from, 0, to, count, 24, coded, coding);
  }
}

}  // namespace

/// Queues the sort, and returns where in device memory it says whether the keys are still as they were. `scratch` has
/// room_for_one_split. `plan`: all 0.
template <class Key>
const unsigned* sort_by_one_split(lab::Span<std::uint32_t> keys, std::uint32_t* scratch, Coding<Key> coding,
                                  OneSplitPlan* plan, const Device& device, cudaStream_t stream) {
  using Shape = OneSplitBucket;
  const unsigned room = bucket_room(keys.n);
  split_once<SmallSplit><<<lab::blocks_or({}, keys.n, SmallSplit::size), SmallSplit::threads, 0, stream>>>(
      lab::Span<const std::uint32_t>{keys.data, keys.n}, scratch, room, coding, plan);
  CUDA_CHECK(cudaGetLastError());
  constexpr std::size_t bytes = std::max(sizeof(Bucket<Shape>), sizeof(BucketTile<Shape>));
  allow_shared_memory<sort_split_bucket<Shape, Key>>(bytes, device);
  sort_split_bucket<Shape><<<byte_values, Shape::threads, bytes, stream>>>(
      scratch, room, keys, Coding<std::uint32_t>(lab::Order::ascending), coding, plan);
  CUDA_CHECK(cudaGetLastError());
  return &plan->skewed;
}

}  // namespace radix

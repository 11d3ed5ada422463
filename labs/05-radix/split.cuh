// A split of step 05: it moves the keys of each bucket to smaller buckets, by their next digit. As no order has to be
// kept within a bucket, nobody looks back: a tile reserves places in each bucket with one atomic.
#pragma once

#include "buckets.cuh"

namespace radix {

/// Threads per block, how many keys each of them has, and how many blocks a multiprocessor should run at a time.
template <int threads_per_block, int keys_per_thread, int blocks>
struct SplitShape {
  static constexpr int threads = threads_per_block;
  static constexpr int items = keys_per_thread;
  static constexpr int size = threads * items;
  static constexpr int blocks_per_multiprocessor = blocks;
  static_assert(threads >= byte_values, "every digit has a thread");
};

// The longer the runs of a digit, the fewer parts of a sector are written: so the tile is as large as shared memory and
// registers allow. The small one is for few keys, which would not give every multiprocessor a large tile.
using LargeSplit = SplitShape<1024, 32, 1>;
using SmallSplit = SplitShape<512, 8, 2>;

/// What the threads of a block share while they split a tile.
template <class TheShape>
struct SplitTile {
  using Shape = TheShape;
  static constexpr int size = Shape::size;

  unsigned counts[byte_values];   ///< of each digit's keys; then the position of its next key
  unsigned offsets[byte_values];  ///< where a digit's keys begin in the output, less where they begin in the tile
  unsigned warp_sums[byte_values / 32];
  unsigned tile_firsts[byte_values + 1];
  unsigned bucket;  ///< of the next tile
  std::uint32_t codes[Shape::size];
};

/// Which half of the buckets an array holds; or all.
enum class Half { none, lower, upper };

/// An array of codes, or of their lowest 16 bits, whose position 0 the plan decides.
template <class T>
struct Place {
  T* data;
  Half half;

  /// The lower half is kept behind the middle of an array, the upper half from its beginning on.
  __device__ std::int64_t offset(const BucketPlan& plan) const {
    if (half == Half::none) return 0;
    const std::int64_t middle = plan.middle();
    return half == Half::lower ? 2 * middle : -middle;
  }
};

namespace detail {

/// The keys of one tile that a thread has in its registers. Row by row, neighbouring threads have neighbouring keys.
template <class Shape>
struct SplitItems {
  std::uint32_t codes[Shape::items];
  int left = 0;  ///< keys of the tile from the thread's first one on
  unsigned bucket = 0;

  __device__ bool has(int row) const { return row * Shape::threads < left; }

  /// Loads them from tile `number`, whose bucket is known.
  __device__ void load(const SplitTile<Shape>& tile, const SplitSource& source, unsigned number, int first_bucket,
                       const std::uint32_t* from) {
    bucket = first_bucket + tile.bucket;
    const unsigned first = source.firsts[bucket] + (number - tile.tile_firsts[tile.bucket]) * Shape::size;
    left = int(min(source.firsts[bucket + 1] - first, unsigned(Shape::size))) - int(threadIdx.x);
    const std::uint32_t* const mine = from + first + threadIdx.x;
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
      codes[row] = has(row) ? mine[row * Shape::threads] : 0;
    }
  }
};

/// Adds 1 to the digit's counter for each lane, and returns what it was. If `clustered`, all lanes of the warp call it,
/// and lane 0 adds for all that have its digit, because lanes that add to the same counter wait for each other.
template <bool clustered>
__device__ unsigned draw(unsigned* counts, unsigned digit) {
  if constexpr (!clustered) return atomicAdd(&counts[digit], 1u);
  const unsigned lane = threadIdx.x % 32;
  const unsigned as_lane_0 = __ballot_sync(0xffffffffu, digit == __shfl_sync(0xffffffffu, digit, 0));
  const bool together = (as_lane_0 >> lane & 1) != 0;
  unsigned first = 0;
  if (lane == 0 || !together) first = atomicAdd(&counts[digit], lane == 0 ? unsigned(__popc(as_lane_0)) : 1u);
  const unsigned first_of_lane_0 = __shfl_sync(0xffffffffu, first, 0);
  return together ? first_of_lane_0 + __popc(as_lane_0 & ((1u << lane) - 1)) : first;
}

/// Calls f(row, draw<clustered>) for the thread's keys. A warp with many equal digits, as in keys that are nearly in
/// order, draws for all lanes at once. It asks in its first row, and only for a whole tile.
template <class Shape, class F>
__device__ void for_each_row(const SplitItems<Shape>& items, SplitDigit digit, F f) {
  const unsigned first = digit.of(items.codes[0]);
  const bool whole = __all_sync(0xffffffffu, items.has(Shape::items - 1));
  const unsigned as_lane_0 = __ballot_sync(0xffffffffu, first == __shfl_sync(0xffffffffu, first, 0));
  if (whole && __popc(as_lane_0) >= 8) {
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) f(row, draw<true>);
  } else {
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
      if (items.has(row)) f(row, draw<false>);
    }
  }
}

/// Moves the keys of each bucket of `source`: those with digit d of bucket b to cursors[b * bins + d] and further.
template <class Shape, class To, class Key>
static __global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    split(const std::uint32_t* from, Place<To> place, Coding<Key> coding, SplitDigit digit, int first_bucket,
          int buckets, const SplitSource* source, const BucketPlan* plan, unsigned* cursors) {
  extern __shared__ uint4 shared_memory[];
  auto& tile = *reinterpret_cast<SplitTile<Shape>*>(shared_memory);
  if (plan->splits == 0) return;
  const int t = threadIdx.x, bins = digit.bins();
  // After the next barrier, all threads know the tile's bucket.
  const auto find_bucket = [&](unsigned number) {
    if (t < buckets && tile.tile_firsts[t] <= number && number < tile.tile_firsts[t + 1]) tile.bucket = t;
  };
  for (int b = t; b <= buckets; b += Shape::threads) tile.tile_firsts[b] = source->tile_firsts[first_bucket + b];
  if (t < byte_values) tile.counts[t] = 0;
  To* const to = place.data + place.offset(*plan);
  __syncthreads();  // all threads read what others have loaded
  const unsigned tiles = tile.tile_firsts[buckets];
  unsigned number = tile.tile_firsts[0] + blockIdx.x;
  if (number >= tiles) return;
  find_bucket(number);
  __syncthreads();  // all threads read the bucket
  SplitItems<Shape> items;
  items.load(tile, *source, number, first_bucket, from);
  while (number < tiles) {
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) items.codes[row] = coding.encode(items.codes[row]);
    for_each_row(items, digit, [&](int row, auto draw) { draw(tile.counts, digit.of(items.codes[row])); });
    const int count = items.left + t;
    const unsigned next_number = number + gridDim.x;
    __syncthreads();  // a thread reads counts to which others have added
    unsigned digit_count = 0, inclusive = 0, reserved = 0;
    if (t < byte_values) {
      digit_count = tile.counts[t];
      if (digit_count != 0) reserved = atomicAdd(&cursors[items.bucket * bins + t], digit_count);
      inclusive = warp_inclusive_sum(digit_count);
      if (t % 32 == 31) tile.warp_sums[t / 32] = inclusive;
    }
    find_bucket(next_number);
    __syncthreads();  // a thread adds the sums of the warps that have lower digits
    unsigned begin = inclusive - digit_count;
    if (t < byte_values) {
      for (int w = 0; w < t / 32; ++w) begin += tile.warp_sums[w];
      tile.counts[t] = begin;
    }
    __syncthreads();  // a lane draws positions that others have found
    for_each_row(items, digit, [&](int row, auto draw) {
      tile.codes[draw(tile.counts, digit.of(items.codes[row]))] = items.codes[row];
    });
    if (next_number < tiles) items.load(tile, *source, next_number, first_bucket, from);
    // Not earlier: the atomic that reserves takes as long as it takes to put the keys in place.
    if (t < byte_values) tile.offsets[t] = reserved - begin;
    __syncthreads();  // a thread stores keys that others have put in place
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
      const int i = row * Shape::threads + t;
      if (i >= count) break;
      const std::uint32_t code = tile.codes[i];
      to[tile.offsets[digit.of(code)] + i] = To(code);
    }
    if (t < byte_values) tile.counts[t] = 0;
    number = next_number;
    __syncthreads();  // a thread counts in counters that others have cleared
  }
}

}  // namespace detail

/// Queues a split of `buckets` buckets of `source`, from number `first_bucket` on, which have at most n keys.
template <class Shape, class To, class Key>
void split_buckets(const std::uint32_t* from, Place<To> to, std::int64_t n, Coding<Key> coding, SplitDigit digit,
                   int first_bucket, int buckets, const SplitSource* source, const BucketPlan* plan, unsigned* cursors,
                   const Device& device, cudaStream_t stream) {
  const unsigned resident = unsigned(device.resident_keys<SplitTile<Shape>>() / Shape::size);
  const unsigned blocks = std::min(lab::blocks_or({}, n, Shape::size) + buckets - 1, resident);
  allow_shared_memory<detail::split<Shape, To, Key>>(sizeof(SplitTile<Shape>), device);
  detail::split<Shape><<<blocks, Shape::threads, sizeof(SplitTile<Shape>), stream>>>(
      from, to, coding, digit, first_bucket, buckets, source, plan, cursors);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace radix

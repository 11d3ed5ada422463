// The first of the passes of step 05, for many keys without values. A pass keeps the order that earlier passes have
// made, but there are none before the first, and equal keys without values cannot be told apart. So the first pass may
// move them in any order. It ranks a key with one atomic, where the others vote on each bit of a digit, and its tiles
// reserve places with an atomic, where those of the others look back. Only -0 and +0 are equal and can be told apart.
// Source of the idea: the partitions of E. Stehle and H.-A. Jacobsen, "A memory bandwidth-efficient hybrid radix sort on
// GPUs", SIGMOD 2017, which need not keep an order either.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pass_plan.cuh"
#include "scan.cuh"
#include "step/device.h"
#include "step/early_launch.h"
#include "step/launch_shape.h"

namespace radix {

/// The tiles of the first pass, and what the threads of a block share while they move one. They are as large as shared
/// memory and registers allow. On a CPU, they are small, so that short tests have several.
template <class TheBits>
struct FirstPassTile {
  using Bits = TheBits;
#ifdef __SIMT__
  using Shape = TileShape<512, 8, 2>;
#else
  using Shape = TileShape<1024, 32, 1>;
#endif
  static constexpr int items = items_per_thread<Shape, Bits, NoValue>;
  static constexpr int size = Shape::threads * items;

  unsigned counts[byte_values];   ///< of each digit's keys; then the position of its next key
  unsigned offsets[byte_values];  ///< where a digit's keys begin in the output, less where they begin in the tile
  unsigned warp_sums[Shape::threads / 32];
  alignas(16) Bits keys[size];
};

namespace detail {

/// The keys of a tile that a thread has in its registers, striped: neighbouring threads have neighbouring keys.
template <class Tile>
struct FirstPassItems {
  typename Tile::Bits keys[Tile::items];
  int left = 0;  ///< keys of the tile from the thread's first one on

  __device__ bool has(int row) const { return row * Tile::Shape::threads < left; }

  /// Loads the tile that begins at all.data[first], if there is one.
  __device__ void load(lab::Span<const typename Tile::Bits> all, std::int64_t first) {
    left = int(max(min(all.n - first, std::int64_t(Tile::size)), std::int64_t(0))) - int(threadIdx.x);
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      keys[row] = has(row) ? all.data[first + threadIdx.x + row * Tile::Shape::threads] : typename Tile::Bits(0);
    }
  }
};

/// Up to two digits that many lanes of a warp have. Lanes that add to the same counter wait for each other, so one of
/// them should add for all that have such a digit. All 32 lanes call the functions.
struct FrequentDigits {
  unsigned first = byte_values, second = byte_values;  ///< byte_values: none

  /// Looks at one digit of each lane.
  __device__ explicit FrequentDigits(unsigned digit) {
    const bool crowded = __popc(lanes_with<8>(digit)) >= crowded_lanes;
    const unsigned lanes = __ballot_sync(0xffffffffu, crowded);
    if (lanes == 0) return;
    first = __shfl_sync(0xffffffffu, digit, __ffs(int(lanes)) - 1);
    const unsigned others = __ballot_sync(0xffffffffu, crowded && digit != first);
    if (others != 0) second = __shfl_sync(0xffffffffu, digit, __ffs(int(others)) - 1);
  }

  /// Claims a place for a key of `digit`: adds 1 to counters[digit], and returns the old value.
  __device__ unsigned place(unsigned* counters, unsigned digit) const {
    const unsigned with_first = __ballot_sync(0xffffffffu, digit == first);
    const unsigned with_second = __ballot_sync(0xffffffffu, digit == second), own = 1u << threadIdx.x % 32;
    const unsigned together = digit == first ? with_first : digit == second ? with_second : own;
    const unsigned lower = __popc(together & (own - 1));
    unsigned claimed = 0;
    if (lower == 0) claimed = atomicAdd(&counters[digit], unsigned(__popc(together)));
    return __shfl_sync(0xffffffffu, claimed, __ffs(int(together)) - 1) + lower;
  }
};

/// Calls f(row, place) for each key of the thread, where place is its place among the keys of its digit, in any order:
/// the old value of the digit's counter, to which 1 is added. digit_of(row) is its digit.
template <class Tile, class Digit, class F>
__device__ void for_each_place(const FirstPassItems<Tile>& items, unsigned* counters, FrequentDigits frequent,
                               Digit digit_of, F f) {
  if (frequent.first != byte_values && __all_sync(0xffffffffu, items.has(Tile::items - 1))) {
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) f(row, frequent.place(counters, digit_of(row)));
  } else {
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      if (items.has(row)) f(row, atomicAdd(&counters[digit_of(row)], 1u));
    }
  }
}

/// Makes the first active pass, if there is one and no key is -0. Then plan->passes_done becomes 1. It moves the keys to
/// `to`, transformed. Blocks are persistent: each takes every gridDim.x-th tile.
template <class Tile, class Key>
static __global__ void __launch_bounds__(Tile::Shape::threads)
    move_in_any_order(lab::Span<const typename Tile::Bits> keys, typename Tile::Bits* to, KeyTransform<Key> any,
                      PassPlan<Key>* plan) {
  auto& tile = tile_in_shared_memory<Tile>();
  lab::wait_for_earlier_kernels();
  lab::let_next_kernel_begin();
  if (plan->active_passes == 0 || plan->negative_zeros != 0) return;
  const auto transform = any.without_negative_zero();
  const int t = threadIdx.x;
  int pass = 0;
  while (plan->active_pass[pass] != 1) ++pass;
  if (blockIdx.x == 0 && t == 0) plan->passes_done = 1;
  // PHASE 1: load the keys of the block's first tile.
  if (t < byte_values) tile.counts[t] = 0;
  const std::int64_t stride = std::int64_t(gridDim.x) * Tile::size;
  FirstPassItems<Tile> items;
  items.load(keys, std::int64_t(blockIdx.x) * Tile::size);
  __syncthreads();  // a thread adds to elements of tile.counts that others have cleared
  for (std::int64_t first = std::int64_t(blockIdx.x) * Tile::size; first < keys.n; first += stride) {
    // PHASE 2: transform the keys, and count their digits.
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) items.keys[row] = transform.forward(items.keys[row]);
    const auto digit_of = [&](int row) { return transform.digit(items.keys[row], pass); };
    const FrequentDigits frequent(digit_of(0));
    for_each_place(items, tile.counts, frequent, digit_of, [](int, unsigned) {});
    const int count = items.left + t;
    __syncthreads();  // a thread reads elements of tile.counts to which others have added

    // PHASE 3: reserve places in the output. The results of the atomics are not needed before the end of phase 5.
    const unsigned digit_count = t < byte_values ? tile.counts[t] : 0;
    unsigned reserved = 0;
    if (digit_count != 0) reserved = unsigned(atomicAdd(&plan->firsts[pass][t], 0ull + digit_count));
    // PHASE 4: turn the counts into positions in the tile.
    const unsigned begin = group_exclusive_sum<byte_values>(digit_count, tile.warp_sums);
    if (t < byte_values) tile.counts[t] = begin;
    __syncthreads();  // a lane claims positions from tile.counts, which others have replaced

    // PHASE 5: put the keys in order in shared memory. Their registers are free for the next tile's keys.
    for_each_place(items, tile.counts, frequent, digit_of,
                   [&](int row, unsigned place) { tile.keys[place] = items.keys[row]; });
    items.load(keys, first + stride);
    if (t < byte_values) tile.offsets[t] = reserved - begin;
    __syncthreads();  // a thread stores keys from tile.keys by tile.offsets, both of which others have written

    // PHASE 6: store the keys, digit by digit in runs.
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      const int i = row * Tile::Shape::threads + t;
      if (i < count) to[tile.offsets[transform.digit(tile.keys[i], pass)] + i] = tile.keys[i];
    }
    if (t < byte_values) tile.counts[t] = 0;
    __syncthreads();  // a thread adds to elements of tile.counts that others have cleared
  }
}

}  // namespace detail

/// Queues the first active pass of `plan`, which is in device memory, from keys.data to `to`, if there are enough keys
/// to give nearly every multiprocessor a tile. Of fewer, it would save less time than its launch takes. Keys of one byte
/// have a single pass, which is also the last one.
template <class Key>
void queue_first_pass(lab::Span<const lab::Bits<Key>> keys, lab::Bits<Key>* to, KeyTransform<Key> transform,
                      PassPlan<Key>* plan, cudaStream_t stream) {
  if constexpr (sizeof(Key) > 1) {
    using Tile = FirstPassTile<lab::Bits<Key>>;
    const lab::Device& device = lab::Device::current();
    const std::int64_t resident = device.resident_keys<Tile>(), max_n = 0xffffffff;  // positions have 32 bits
    if (!device.fits<Tile>() || keys.n < resident / 8 * 7 || keys.n > max_n) return;
    const unsigned blocks = lab::blocks_or({}, std::min(keys.n, resident), Tile::size);
    lab::allow_shared_memory<detail::move_in_any_order<Tile, Key>>(sizeof(Tile), device);
    const auto launch =
        lab::early_launch<detail::move_in_any_order<Tile, Key>>(blocks, Tile::Shape::threads, sizeof(Tile), stream);
    CUDA_CHECK(cudaLaunchKernelEx(&launch, detail::move_in_any_order<Tile, Key>, keys, to, transform, plan));
  }
}

}  // namespace radix

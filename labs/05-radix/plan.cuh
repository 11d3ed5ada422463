// What step 05 finds out in one read of the keys, before any of them moves: how often each digit occurs in each pass,
// which passes would move nothing, and whether the keys are in order already.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "code.cuh"
#include "device.cuh"
#include "grid.cuh"
#include "scan.cuh"
#include "step/launch_shape.h"

namespace radix {

/// What the passes of one sort need to know. All 0 at the start.
template <class Key>
struct Plan {
  static constexpr int passes = sizeof(Key);

  unsigned long long firsts[passes][byte_values];  ///< how many keys have the digit; then where they begin
  unsigned turns[passes];                          ///< 0: moves no key; 1: the first pass that moves keys; and so on
  unsigned last_turn;                              ///< the turn of the last pass that moves keys
  unsigned counting_done;                          ///< blocks that have added their counters
  unsigned next_tile[passes];                      ///< the number of the next tile that a block takes
  unsigned tiles_done[passes];                     ///< tiles whose keys have been moved
  unsigned out_of_order;                           ///< not 0 if some key belongs before the one to its left
  unsigned negative_zeros;                         ///< not 0 if some key is -0
};

namespace detail {

inline constexpr int count_threads = 1024, count_items_per_thread = 8;
inline constexpr int count_tile = count_threads * count_items_per_thread;

/// What some of a thread's keys are.
struct Found {
  bool out_of_order = false, negative_zero = false;
};

/// Counts the digits that a code has in all passes. counts[(pass * byte_values + digit) * copies + copy]
template <int copies, class Key>
__device__ void count_digits(lab::Bits<Key> code, Coding<Key, true> coding, unsigned* counts) {
#pragma unroll
  for (int pass = 0; pass < Plan<Key>::passes; ++pass) {
    atomicAdd(&counts[(pass * byte_values + coding.digit(code, pass)) * copies + threadIdx.x % copies], 1u);
  }
}

/// Counts the digits of a tile's first `count` keys, and adds what it finds to `found`. `readable`: how many keys there
/// are from `tile` on; it may include the one after the tile. A warp has rows of 32 neighbours, one after the other,
/// and looks at the key after its last row.
template <int copies, class Key>
__device__ void count_tile_digits(const lab::Bits<Key>* tile, int count, int readable, Coding<Key> coding,
                                  unsigned* counts, Found& found) {
  using Code = lab::Bits<Key>;
  const int lane = threadIdx.x % 32, first = int(threadIdx.x) / 32 * 32 * count_items_per_thread + lane;
  Code codes[count_items_per_thread + 1];
#pragma unroll
  for (int row = 0; row <= count_items_per_thread; ++row) {
    const int i = first + 32 * row;
    const bool needed = row < count_items_per_thread || lane == 0;
    const Code code = coding.encode(needed ? tile[i < readable ? i : readable - 1] : Code(0));
    codes[row] = coding.rank_code(code);
    found.negative_zero |= codes[row] != code;
  }
#pragma unroll
  for (int row = 0; row < count_items_per_thread; ++row) {
    // The right neighbour of lane 31 is lane 0's key of the next row.
    const Code right = Code(__shfl_sync(0xffffffffu, lane == 0 ? codes[row + 1] : codes[row], (lane + 1) % 32));
    found.out_of_order |= right < codes[row];
    if (first + 32 * row < count) count_digits<copies>(codes[row], coding.without_negative_zero(), counts);
  }
}

/// Turns the counters into first positions and decides which passes move keys. One block calls it, with room for a sum
/// per warp.
template <class Key>
__device__ void plan_passes(Plan<Key>* plan, std::int64_t n, unsigned long long* sums) {
  constexpr int passes = Plan<Key>::passes;
  unsigned turns[passes], moving = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const bool has_counter = threadIdx.x < byte_values;
    const unsigned long long count = has_counter ? plan->firsts[pass][threadIdx.x] : 0;
    unsigned long long total;
    const unsigned long long first = block_exclusive_sum(count, sums, total);
    if (has_counter) plan->firsts[pass][threadIdx.x] = first;
    turns[pass] = !__syncthreads_or(count == static_cast<unsigned long long>(n)) && plan->out_of_order != 0;
    moving += turns[pass];
  }
  // Each pass moves the keys to the other of two arrays. If an odd number of passes would leave them in the wrong one,
  // a pass that need not move them brings them home. There is one, as the number of all passes is even (or 1).
  if (threadIdx.x != 0) return;
  bool one_more = moving % 2 == 1 && passes > 1;
  unsigned turn = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const bool moves = turns[pass] != 0 || one_more;
    if (turns[pass] == 0) one_more = false;
    plan->turns[pass] = moves ? ++turn : 0;
  }
  plan->last_turn = turn;
}

/// Counts the digits of all passes, looks for keys that are out of order, and clears `words`. There are `copies` of
/// each counter. Lane l adds to copy l % copies, which is in bank l: if there are 32 of them, no two lanes meet in a
/// bank, whatever their digits are. The block that ends last makes the plan.
template <int copies, class Key, class Word>
static __global__ void __launch_bounds__(count_threads, 1)
    count_all_passes(lab::Span<const lab::Bits<Key>> keys, Coding<Key> coding, Plan<Key>* plan, lab::Span<Word> words,
                     const unsigned* needed) {
  using Code = lab::Bits<Key>;
  constexpr int counters = Plan<Key>::passes * byte_values;
  extern __shared__ uint4 shared_memory[];
  unsigned* const counts = reinterpret_cast<unsigned*>(shared_memory);
  if (needed != nullptr && *needed == 0) return;  // a plan of 0 moves no key
  const std::int64_t threads = std::int64_t(gridDim.x) * count_threads;
  for (std::int64_t i = std::int64_t(blockIdx.x) * count_threads + threadIdx.x; i < words.n; i += threads) {
    words.data[i] = 0;
  }
  for (int i = threadIdx.x; i < counters * copies; i += count_threads) counts[i] = 0;
  __syncthreads();  // a thread counts in counters that others have cleared

  Found found;
  for (std::int64_t tile = blockIdx.x; tile * count_tile < keys.n; tile += gridDim.x) {
    const std::int64_t left = keys.n - tile * count_tile;
    const Code* const first = keys.data + tile * count_tile;
    if (left > count_tile) {
      count_tile_digits<copies>(first, count_tile, count_tile + 1, coding, counts, found);
    } else {
      count_tile_digits<copies>(first, int(left), int(left), coding, counts, found);
    }
  }
  if (__syncthreads_or(found.negative_zero) && threadIdx.x == 0) atomicOr(&plan->negative_zeros, 1u);
  // A barrier, too: a thread adds up counters in which others have counted.
  if (__syncthreads_or(found.out_of_order) && threadIdx.x == 0) atomicOr(&plan->out_of_order, 1u);
  for (int i = threadIdx.x; i < counters; i += count_threads) {
    unsigned sum = 0;
    // Each lane begins with another copy, so that the lanes read from different banks.
    for (int copy = 0; copy < copies; ++copy) sum += counts[i * copies + (copy + threadIdx.x) % copies];
    if (sum != 0) atomicAdd(&plan->firsts[0][0] + i, static_cast<unsigned long long>(sum));
  }
  // The sums take the place of the counters: some devices have no more shared memory than these need.
  if (is_last_block(&plan->counting_done)) plan_passes(plan, keys.n, reinterpret_cast<unsigned long long*>(counts));
}

}  // namespace detail

/// Fills `plan`, which is all 0, for the bits of `keys`, of which there are at least 2, and clears `words`. If there is
/// a `needed`, which is in device memory, and it is 0, the plan moves no key.
template <class Key, class Word>
void make_plan(lab::Span<const lab::Bits<Key>> keys, Coding<Key> coding, Plan<Key>* plan, lab::Span<Word> words,
               const unsigned* needed, const Device& device, cudaStream_t stream) {
  const unsigned blocks = std::min(lab::blocks_or({}, keys.n, detail::count_tile), unsigned(device.multiprocessors));
  const auto count = [&]<int copies>(std::integral_constant<int, copies>) {
    constexpr int shared_bytes = Plan<Key>::passes * byte_values * copies * sizeof(unsigned);
    allow_shared_memory<detail::count_all_passes<copies, Key, Word>>(shared_bytes, device);
    detail::count_all_passes<copies>
        <<<blocks, detail::count_threads, shared_bytes, stream>>>(keys, coding, plan, words, needed);
  };
  // As many copies as fit into 128 KiB; on devices that have less, into 64.
  constexpr int most = sizeof(Key) <= 4 ? 32 : 16, fewer = sizeof(Key) <= 2 ? 32 : 64 / sizeof(Key);
  if (device.shared_bytes_per_block >= 128 * 1024) {
    count(std::integral_constant<int, most>{});
  } else {
    count(std::integral_constant<int, fewer>{});
  }
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace radix

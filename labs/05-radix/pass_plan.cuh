// The plan of step 05. One read of the keys, before any of them moves, shows how often each digit occurs in each pass,
// whether the keys are in order already, and which passes would move nothing. The others are the active passes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "key_transform.cuh"
#include "scan.cuh"
#include "step/device.h"
#include "step/early_launch.h"
#include "step/launch_shape.h"

namespace radix {

/// How the keys are spread over the digits of a pass: no digit has more than one in 32 of them, some digit has, or a
/// single digit has more than half of them.
enum class Skew : unsigned { none, some, one_digit };

/// What the passes of one sort need to know. All 0 at the start.
template <class Key>
struct PassPlan {
  static constexpr int passes = sizeof(Key);

  unsigned long long firsts[passes][byte_values];  ///< how many keys have the digit, and later where they begin
  unsigned active_pass[passes];                    ///< 0 if it moves no key, else its number among the active passes
  unsigned active_passes;                          ///< the number of the last active pass
  Skew first_skew;                                 ///< of the first active pass
  unsigned blocks_done;                            ///< blocks that have added their counters
  unsigned next_tile[passes];                      ///< the ticket counter: the next tile that a block claims
  unsigned tiles_done[passes];                     ///< tiles whose keys have been moved
  unsigned out_of_order;                           ///< not 0 if some key belongs before the one to its left
  unsigned negative_zeros;                         ///< not 0 if some key is -0
};

namespace detail {

inline constexpr int count_threads = 1024, count_items_per_thread = 8;
inline constexpr int count_tile = count_threads * count_items_per_thread;

/// What is true of some of a thread's keys.
struct Found {
  bool out_of_order = false, negative_zero = false;
};

/// Counts the digits that a transformed key has in all passes. counts[(pass * byte_values + digit) * copies + copy]
template <int copies, class Key>
__device__ void count_digits(lab::Bits<Key> key, KeyTransform<Key, true> transform, unsigned* counts) {
#pragma unroll
  for (int pass = 0; pass < PassPlan<Key>::passes; ++pass) {
    atomicAdd(&counts[(pass * byte_values + transform.digit(key, pass)) * copies + threadIdx.x % copies], 1u);
  }
}

/// A thread's keys of a tile. A warp has consecutive rows of 32 neighbours, and lane 0 also has the key after the last
/// row, if there is one.
template <class Key>
struct CountedKeys {
  using Bits = lab::Bits<Key>;
  Bits keys[count_items_per_thread + 1];
  int left;  ///< keys of the tile from the thread's first one on

  /// Loads the tile that begins at all.data[first]. Only in the last tile must it check where the keys end.
  __device__ void load(lab::Span<const Bits> all, std::int64_t first) {
    const int lane = threadIdx.x % 32, own = int(threadIdx.x) / 32 * 32 * count_items_per_thread + lane;
    const Bits* const from = all.data + first;
    const int readable = int(min(all.n - first, std::int64_t(count_tile) + 1));
    left = min(readable, count_tile) - own;
    constexpr int after = 32 * count_items_per_thread;
    if (readable > count_tile) {
#pragma unroll
      for (int row = 0; row < count_items_per_thread; ++row) keys[row] = from[own + 32 * row];
      keys[count_items_per_thread] = from[own + (lane == 0 ? after : 0)];
    } else {
#pragma unroll
      for (int row = 0; row <= count_items_per_thread; ++row) keys[row] = from[min(own + 32 * row, readable - 1)];
    }
  }

  /// Counts their digits, and adds what it finds to `found`. is_whole: the tile has count_tile keys.
  template <int copies, bool is_whole>
  __device__ void count(KeyTransform<Key> transform, unsigned* counts, Found& found) {
    const KeyTransform<Key, true> ranks(transform.inversion);  // `keys` will be rank_bits(), without -0
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int row = 0; row <= count_items_per_thread; ++row) {
      const Bits key = transform.forward(keys[row]);
      keys[row] = transform.rank_bits(key);
      found.negative_zero |= keys[row] != key;
    }
#pragma unroll
    for (int row = 0; row < count_items_per_thread; ++row) {
      // The right neighbour of lane 31 is lane 0's key of the next row.
      const Bits right = Bits(__shfl_sync(0xffffffffu, lane == 0 ? keys[row + 1] : keys[row], (lane + 1) % 32));
      found.out_of_order |= right < keys[row];
      if (is_whole || 32 * row < left) count_digits<copies>(keys[row], ranks, counts);
    }
  }
};

/// Replaces the counters by the digits' first positions and decides which passes are active. One block calls it. Its
/// groups of 256 threads each plan a pass. `shared`: room for a sum per warp, and for 64 bits per pass.
template <class Key>
__device__ void plan_passes(PassPlan<Key>* plan, std::int64_t n, unsigned long long* shared) {
  constexpr int passes = PassPlan<Key>::passes;
  unsigned* const has_one_digit = reinterpret_cast<unsigned*>(shared + count_threads / 32);
  unsigned* const skew = has_one_digit + passes;
  const int digit = int(threadIdx.x) % byte_values;
  for (int first = 0; first < passes; first += count_threads / byte_values) {
    const int pass = first + int(threadIdx.x) / byte_values;
    const unsigned long long count = pass < passes ? plan->firsts[pass][digit] : 0;
    if (pass < passes && digit == 0) has_one_digit[pass] = skew[pass] = 0;
    const unsigned long long before = group_exclusive_sum<byte_values>(count, shared);
    if (pass < passes) plan->firsts[pass][digit] = before;
    // Both have been cleared before the barrier of the sums.
    if (count == static_cast<unsigned long long>(n)) atomicOr(&has_one_digit[pass], 1u);
    if (count > static_cast<unsigned long long>(n) / 32) {
      atomicMax(&skew[pass], unsigned(count > static_cast<unsigned long long>(n) / 2 ? Skew::one_digit : Skew::some));
    }
    __syncthreads();  // thread 0 reads both, and the next sums take the place of these
  }
  if (threadIdx.x != 0) return;
  bool moves_keys[passes];
  unsigned moving = 0;
  for (int pass = 0; pass < passes; ++pass) {
    moves_keys[pass] = has_one_digit[pass] == 0 && plan->out_of_order != 0;
    moving += moves_keys[pass];
  }
  // Each active pass moves the keys to the other of two buffers. An odd number would leave them in the wrong one, so
  // one more pass is made active. There always is one, because the number of all passes is even (or 1).
  bool one_more = moving % 2 == 1 && passes > 1;
  unsigned active = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const bool is_active = moves_keys[pass] || one_more;
    if (!moves_keys[pass]) one_more = false;
    plan->active_pass[pass] = is_active ? ++active : 0;
    if (is_active && active == 1) plan->first_skew = Skew(skew[pass]);
  }
  plan->active_passes = active;
}

/// Counts the digits of all passes, looks for keys that are out of order, and clears the words `statuses`. There are
/// `copies` of each counter, and lane l adds to copy l % copies. If there are 32, it is in bank l, so no two lanes need
/// the same bank, whatever their digits are (CUB keeps such copies, too). The block that ends last makes the plan.
template <int copies, class Key>
static __global__ void __launch_bounds__(count_threads, 1)
    count_all_passes(lab::Span<const lab::Bits<Key>> keys, KeyTransform<Key> transform, PassPlan<Key>* plan,
                     lab::Span<unsigned> statuses, const unsigned* skip) {
  constexpr int counters = PassPlan<Key>::passes * byte_values;
  extern __shared__ uint4 shared_memory[];
  unsigned* const counts = reinterpret_cast<unsigned*>(shared_memory);
  lab::wait_for_earlier_kernels();
  lab::let_next_kernel_begin();  // which waits for this one
  if (skip != nullptr && *skip != 0) return;
  const std::int64_t threads = std::int64_t(gridDim.x) * count_threads;
  for (std::int64_t i = std::int64_t(blockIdx.x) * count_threads + threadIdx.x; i < statuses.n; i += threads) {
    statuses.data[i] = 0;
  }
  for (int i = threadIdx.x; i < counters * copies / 4; i += count_threads) shared_memory[i] = {0, 0, 0, 0};
  __syncthreads();  // a thread adds to elements of `counts` that others have cleared

  Found found;
  const std::int64_t stride = std::int64_t(gridDim.x) * count_tile;
  std::int64_t first = std::int64_t(blockIdx.x) * count_tile;
  CountedKeys<Key> next, tile;
  if (first < keys.n) next.load(keys, first);
  for (; first < keys.n; first += stride) {
    tile = next;
    if (first + stride < keys.n) next.load(keys, first + stride);  // they arrive while this tile's keys are counted
    if (first + count_tile <= keys.n) {
      tile.template count<copies, true>(transform, counts, found);
    } else {
      tile.template count<copies, false>(transform, counts, found);
    }
  }
  if (__syncthreads_or(found.negative_zero) && threadIdx.x == 0) atomicOr(&plan->negative_zeros, 1u);
  // This is also the barrier before a thread sums up elements of `counts` to which others have added.
  if (__syncthreads_or(found.out_of_order) && threadIdx.x == 0) atomicOr(&plan->out_of_order, 1u);
  for (int i = threadIdx.x; i < counters; i += count_threads) {
    unsigned sum = 0;
    // Each lane begins with a different copy, so that the lanes read from different banks.
    for (int copy = 0; copy < copies; ++copy) sum += counts[i * copies + (copy + threadIdx.x) % copies];
    if (sum != 0) atomicAdd(&plan->firsts[0][0] + i, static_cast<unsigned long long>(sum));
  }
  // The sums take the place of the counters, because some devices have no more shared memory than these need.
  if (is_last_block(&plan->blocks_done)) plan_passes(plan, keys.n, reinterpret_cast<unsigned long long*>(counts));
}

}  // namespace detail

/// Queues the kernel that fills `plan`, which is all 0, for the bits of `keys`, of which there are at least 2, and
/// clears the status words, as an array of `unsigned` whatever their type is. It does nothing if `skip` is not null and
/// *skip, in device memory, is not 0.
template <class Key>
void make_pass_plan(lab::Span<const lab::Bits<Key>> keys, KeyTransform<Key> transform, PassPlan<Key>* plan,
                    lab::Span<unsigned> statuses, const unsigned* skip, cudaStream_t stream) {
  const lab::Device& device = lab::Device::current();
  const unsigned blocks = std::min(lab::blocks_or({}, keys.n, detail::count_tile), unsigned(device.multiprocessors));
  const auto count = [&]<int copies>(std::integral_constant<int, copies>) {
    constexpr int shared_bytes = PassPlan<Key>::passes * byte_values * copies * sizeof(unsigned);
    lab::allow_shared_memory<detail::count_all_passes<copies, Key>>(shared_bytes, device);
    const auto launch =
        lab::early_launch<detail::count_all_passes<copies, Key>>(blocks, detail::count_threads, shared_bytes, stream);
    CUDA_CHECK(
        cudaLaunchKernelEx(&launch, detail::count_all_passes<copies, Key>, keys, transform, plan, statuses, skip));
  };
  // As many copies as fit in 128 KiB, or in 64 KiB on devices that have less.
  constexpr int max_copies = sizeof(Key) <= 4 ? 32 : 16, fewer_copies = sizeof(Key) <= 2 ? 32 : 64 / sizeof(Key);
  if (device.shared_bytes_per_block >= 128 * 1024) {
    count(std::integral_constant<int, max_copies>{});
  } else {
    count(std::integral_constant<int, fewer_copies>{});
  }
}

}  // namespace radix

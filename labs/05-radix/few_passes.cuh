// Passes over few keys, from the lowest digit, for those that one partition of step 06 leaves unsorted. They are passes as
// in step 05, but in the launch that would have sorted the intervals, because one more launch, even of a kernel that
// finds nothing to do, takes longer than is lost here. There are so few tiles that a tile does not look back step by
// step: its threads read the counts of all earlier tiles at the same time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pass_plan.cuh"
#include "tile.cuh"

namespace radix {

/// What the blocks share. All 0 at the start.
struct FewPassesPlan {
  static constexpr int passes = 4, phases = 1 + passes;  ///< phase 0 counts, phase 1 + p is the pass by byte p

  unsigned counts[passes][byte_values];  ///< how many keys have the digit
  unsigned next_tile[phases];            ///< the ticket counters: the next tile that a block claims
  unsigned tiles_done[phases];
};

namespace detail {

/// The keys of one sort, and its temporary memory.
template <class Key>
struct FewPassesJob {
  lab::Span<std::uint32_t> keys;
  std::uint32_t* scratch;
  KeyTransform<Key> transform;
  FewPassesPlan* plan;
  volatile unsigned* statuses;  ///< of tile i and a digit: statuses[i * byte_values + digit], the phase and a count

  template <class Tile>
  __device__ unsigned tiles() const {
    return unsigned((keys.n + Tile::size - 1) / Tile::size);
  }

  template <class Tile>
  __device__ int keys_in(unsigned tile) const {
    return min(int(keys.n) - int(tile) * Tile::size, Tile::size);
  }

  /// Claims the next tile of a phase, by a ticket. Only thread 0's result counts.
  __device__ unsigned claim(int phase) const { return threadIdx.x == 0 ? atomicAdd(&plan->next_tile[phase], 1u) : 0u; }
};

inline constexpr int status_count_bits = 24;

/// Makes the result of a claim known to all threads of the block, which all call it. Contains two barriers.
__device__ inline unsigned from_thread_0(unsigned claimed) {
  __shared__ unsigned shared;
  __syncthreads();  // thread 0 overwrites `shared`, which others may still be reading in an earlier call
  if (threadIdx.x == 0) shared = claimed;
  __syncthreads();  // all threads read `shared`, which thread 0 has written
  return shared;
}

/// Counts the digits of all passes, and clears the status words. Returns when all blocks have done so.
template <class Tile, class Key>
__device__ void count_all_digits(const FewPassesJob<Key>& job) {
  constexpr int threads = Tile::Shape::threads, copies = threads / 64, counters = FewPassesPlan::passes * byte_values;
  extern __shared__ uint4 shared_memory[];
  unsigned* const counts = reinterpret_cast<unsigned*>(shared_memory);
  const int t = threadIdx.x;
  unsigned claimed = job.claim(0), own_tiles = 0;
  for (int i = t; i < counters * copies; i += threads) counts[i] = 0;
  // The barriers of from_thread_0 are also those before a thread adds to elements of `counts` that others have cleared.
  for (unsigned tile = from_thread_0(claimed); tile < job.template tiles<Tile>(); ++own_tiles) {
    claimed = job.claim(0);
    const int count = job.template keys_in<Tile>(tile);
    Items<Tile> items(Tile::items);
    items.load({job.keys.data + tile * Tile::size, nullptr}, count);
    if (t < byte_values) job.statuses[tile * byte_values + t] = 0;
    items.transform_keys(job.transform, count);
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      if (items.first + 32 * row >= count) break;
      for (int pass = 0; pass < FewPassesPlan::passes; ++pass) {
        const unsigned digit = job.transform.digit(items.keys[row], pass);
        atomicAdd(&counts[(pass * byte_values + digit) * copies + t % copies], 1u);
      }
    }
    tile = from_thread_0(claimed);
  }
  for (int i = t; i < counters; i += threads) {
    unsigned sum = 0;
    // Each lane begins with a different copy, so that the lanes read from different banks.
    for (int copy = 0; copy < copies; ++copy) sum += counts[i * copies + (copy + t) % copies];
    if (sum != 0) atomicAdd(&job.plan->counts[0][0] + i, sum);
  }
  wait_for_all(&job.plan->tiles_done[0], own_tiles, job.template tiles<Tile>());
}

/// How many keys of this thread's digit, t % 256, the tiles before `tile` have.
template <class Tile>
__device__ unsigned count_in_earlier_tiles(Tile& shared, const volatile unsigned* statuses, unsigned tile, int phase) {
  constexpr unsigned reads = 8, parts = Tile::parts;  // the reads of a thread that are under way at the same time
  const unsigned digit = threadIdx.x % byte_values, part = threadIdx.x / byte_values;
  unsigned sum = 0;
  for (unsigned first = part; first < tile; first += reads * parts) {
    unsigned words[reads];
#pragma unroll
    for (unsigned i = 0; i < reads; ++i) words[i] = statuses[min(first + i * parts, tile - 1) * byte_values + digit];
#pragma unroll
    for (unsigned i = 0; i < reads; ++i) {
      const unsigned other = first + i * parts;
      if (other >= tile) break;
      while (words[i] >> status_count_bits != unsigned(phase)) words[i] = statuses[other * byte_values + digit];
      sum += words[i] & ((1u << status_count_bits) - 1);
    }
  }
  shared.part_counts[part][digit] = sum;
  __syncthreads();  // a thread adds up shared.part_counts of all parts
  unsigned count = 0;
  for (unsigned p = 0; p < parts; ++p) count += shared.part_counts[p][digit];
  return count;
}

/// One pass by byte phase - 1. is_first, is_last: keys are transformed in the first pass, and back in the last.
struct FewPass {
  int phase;
  bool is_first, is_last;
};

/// Moves tiles from `from` to `to` until none is left, the first of which is `tile`. Returns how many this block has
/// moved. digit_first: where the keys of this thread's digit, t % 256, begin in the output.
template <class Core, class Tile, class Key>
__device__ unsigned move_tiles(const FewPassesJob<Key>& job, FewPass pass, const std::uint32_t* from, std::uint32_t* to,
                               unsigned tile, unsigned digit_first) {
  auto& shared = tile_in_shared_memory<Tile>();
  const int byte = pass.phase - 1;
  unsigned own_tiles = 0;
  for (; tile < job.template tiles<Tile>(); ++own_tiles) {
    // PHASE 1: load the keys, and claim the next tile.
    const int count = job.template keys_in<Tile>(tile);
    Items<Tile> items(Tile::items);
    items.load({from + tile * Tile::size, nullptr}, count);
    const unsigned claimed = job.claim(pass.phase);
    if (pass.is_first) items.transform_keys(job.transform, count);

    // PHASE 2: count the digits, publish the counts, and put the keys in order in shared memory.
    count_digits(shared, items, job.transform, byte);
    __syncthreads();  // a thread adds up shared.counts of all warps
    const Run run = scan_bins(shared, [&](unsigned own_count) {
      job.statuses[tile * byte_values + threadIdx.x] = unsigned(pass.phase) << status_count_bits | own_count;
    });
    __syncthreads();  // a lane claims positions from shared.counts, which other warps have replaced
    typename Core::RankAndScatter{}(shared, items, job.transform, byte);

    // PHASE 3: find out where the keys of each digit go.
    const unsigned earlier = count_in_earlier_tiles(shared, job.statuses, tile, pass.phase);
    if (threadIdx.x < byte_values) shared.offsets[threadIdx.x] = digit_first + earlier - run.begin;
    const unsigned next_tile = from_thread_0(claimed);
    // Its barriers are also those before a thread stores keys from shared.keys by shared.offsets.
    const Pairs<std::uint32_t, NoValue> output = {to, nullptr};
    if (pass.is_last) {
      store_runs<Stored::original>(shared, count, job.transform, byte, output);
    } else {
      store_runs<Stored::transformed>(shared, count, job.transform, byte, output);
    }
    tile = next_tile;
    __syncthreads();  // a warp overwrites elements of `shared` that others may still be reading
  }
  return own_tiles;
}

}  // namespace detail

/// Sorts the keys. All threads of a block call it, but it need not be called by all blocks, nor do all that call it have
/// to run at the same time: a block waits only for tiles that others have claimed. Core::RankAndScatter: see sort_items.
template <class Core, class Tile, class Key>
__device__ void sort_by_few_passes(const detail::FewPassesJob<Key>& job) {
  constexpr int passes = FewPassesPlan::passes;
  FewPassesPlan* const plan = job.plan;
  detail::count_all_digits<Tile>(job);
  const int digit = threadIdx.x % byte_values;
  unsigned counts[passes], active = 0;
#pragma unroll
  for (int pass = 0; pass < passes; ++pass) counts[pass] = plan->counts[pass][digit];
#pragma unroll
  for (int pass = 0; pass < passes; ++pass) {
    if (!__syncthreads_or(counts[pass] == unsigned(job.keys.n))) active |= 1u << pass;
  }
  // Each active pass moves the keys to the other of two arrays. An even number of them leaves the keys where they were.
  if (__popc(active) % 2 != 0) active |= ~active & (active + 1);
  const unsigned first_pass = active & (0u - active), tiles = job.template tiles<Tile>();
  std::uint32_t *from = job.keys.data, *to = job.scratch;
#pragma unroll
  for (int pass = 0; pass < passes; ++pass) {
    if ((active >> pass & 1) == 0) continue;
    const bool is_last = active >> pass == 1;
    const int phase = 1 + pass;
    const unsigned claimed = job.claim(phase);
    const unsigned first = group_exclusive_sum<byte_values>(counts[pass], tile_in_shared_memory<Tile>().warp_sums);
    const unsigned own_tiles = detail::move_tiles<Core, Tile>(job, {phase, first_pass == 1u << pass, is_last}, from, to,
                                                              detail::from_thread_0(claimed), first);
    if (!is_last) wait_for_all(&plan->tiles_done[phase], own_tiles, tiles);
    std::uint32_t* const moved = to;
    to = from, from = moved;
  }
}

}  // namespace radix

// Merges up to eight sorted runs in device memory in pairs, as step 04 of lab 02 does.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "slots.h"
#include "step/device_array.h"
#include "step/launch_shape.h"

namespace beyond {

inline constexpr int merge_threads = 256;
inline constexpr int merge_keys_per_thread = 17;  // odd: threads at the same position of their keys use different banks
inline constexpr int merge_tile = merge_threads * merge_keys_per_thread;

/// A merge of two runs. `inversion`: the bits to invert in every key, so that they compare in ascending order.
struct TwoRuns {
  const unsigned *a, *b;
  std::int64_t a_n, b_n;
  unsigned inversion;
};

/// How many of the first `diagonal` keys of the merge of a and b come from a.
template <class Index>
__device__ Index co_rank(const unsigned* a, Index a_n, const unsigned* b, Index b_n, Index diagonal,
                         unsigned inversion) {
  Index low = max(diagonal - b_n, Index(0)), high = min(diagonal, a_n);
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if ((b[diagonal - 1 - middle] ^ inversion) < (a[middle] ^ inversion)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Finds the co-rank of each tile of the output: how many keys of a precede it.
static __global__ void find_co_ranks(TwoRuns runs, lab::Span<std::int64_t> co_ranks) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < co_ranks.n; i += step) {
    const std::int64_t diagonal = min(i * merge_tile, runs.a_n + runs.b_n);
    co_ranks.data[i] = co_rank(runs.a, runs.a_n, runs.b, runs.b_n, diagonal, runs.inversion);
  }
}

/// Each block merges the tiles blockIdx.x, blockIdx.x + gridDim.x, ... of the output.
static __global__ void __launch_bounds__(merge_threads)
    merge_tiles(TwoRuns runs, lab::Span<const std::int64_t> co_ranks, unsigned* to) {
  __shared__ unsigned tile[merge_tile];
  const int first = threadIdx.x * merge_keys_per_thread;
  for (std::int64_t index = blockIdx.x; index + 1 < co_ranks.n; index += gridDim.x) {
    const std::int64_t output = index * merge_tile, a = co_ranks.data[index], b = output - a;
    const std::int64_t left = runs.a_n + runs.b_n - output;
    const int count = left < merge_tile ? int(left) : merge_tile, a_count = int(co_ranks.data[index + 1] - a);
    for (int i = threadIdx.x; i < count; i += merge_threads) {
      tile[i] = (i < a_count ? runs.a[a + i] : runs.b[b + (i - a_count)]) ^ runs.inversion;
    }
    __syncthreads();  // a thread merges keys that others have loaded into `tile`
    unsigned keys[merge_keys_per_thread];
    const int diagonal = min(first, count);
    int i = co_rank(tile, a_count, tile + a_count, count - a_count, diagonal, 0u), j = a_count + (diagonal - i);
#pragma unroll
    for (int k = 0; k < merge_keys_per_thread; ++k) {
      if (first + k >= count) break;
      const bool take_b = j < count && (i >= a_count || tile[j] < tile[i]);
      keys[k] = tile[take_b ? j++ : i++];
    }
    __syncthreads();  // the next write overwrites keys of `tile` that others may still be reading
#pragma unroll
    for (int k = 0; k < merge_keys_per_thread; ++k) {
      if (first + k < count) tile[first + k] = keys[k];
    }
    __syncthreads();  // a thread stores keys that others have written to `tile`
    for (int i = threadIdx.x; i < count; i += merge_threads) to[output + i] = tile[i] ^ runs.inversion;
    __syncthreads();  // the next load overwrites keys of `tile` that others may not have stored yet
  }
}

/// Queues the merge of two runs.
inline void merge_two(const TwoRuns& runs, unsigned* to, lab::LaunchShape shape, cudaStream_t stream) {
  const std::int64_t n = runs.a_n + runs.b_n, tiles = (n + merge_tile - 1) / merge_tile;
  if (n == 0) return;
  const lab::DeviceArray<std::int64_t> co_ranks(tiles + 1, stream);
  find_co_ranks<<<lab::blocks_or(shape, tiles + 1, merge_threads), merge_threads, 0, stream>>>(runs, co_ranks.span());
  CUDA_CHECK(cudaGetLastError());
  merge_tiles<<<lab::blocks_or(shape, tiles, 1), merge_threads, 0, stream>>>(
      runs, lab::Span<const std::int64_t>{co_ranks.data(), tiles + 1}, to);
  CUDA_CHECK(cudaGetLastError());
}

/// A radix sort moves every key four times. More than eight runs, which it takes more than three passes to merge, are
/// therefore sorted once more instead.
inline constexpr int max_merged_runs = 8;

using Run = lab::Span<const unsigned>;

/// Queues the merges of each run with an even index and the next one, into consecutive places from `to` on. Returns the
/// merged runs.
inline std::vector<Run> merge_pairs(const std::vector<Run>& runs, unsigned* to, lab::Order order,
                                    lab::LaunchShape shape, cudaStream_t stream) {
  std::vector<Run> merged;
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    const Run a = runs[i], b = i + 1 < runs.size() ? runs[i + 1] : Run{};
    merge_two({a.data, b.data, a.n, b.n, inversion_of(order)}, to, shape, stream);
    merged.push_back({to, a.n + b.n});
    to += a.n + b.n;
  }
  return merged;
}

/// Merges the runs in `keys` in pairs, back and forth between `keys` and `spare`. Run r is keys[begins[r]] ...
/// keys[begins[r + 1] - 1]. Returns where the keys are in the end, `keys` or `spare`. Queues its work.
inline unsigned* merge_in_pairs(unsigned* keys, unsigned* spare, const std::vector<std::int64_t>& begins,
                                lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) runs.push_back({keys + begins[i], begins[i + 1] - begins[i]});
  while (runs.size() > 1) {
    runs = merge_pairs(runs, spare, order, shape, stream);
    std::swap(keys, spare);
  }
  return keys;
}

/// Merges two or more runs anywhere in device memory in pairs, into `to`. Queues its work.
inline void merge_to(std::vector<Run> runs, unsigned* to, lab::Order order, cudaStream_t stream) {
  std::int64_t n = 0;
  for (const Run& run : runs) n += run.n;
  int levels = std::bit_width(runs.size() - 1);
  const lab::DeviceArray<unsigned> spare(levels > 1 ? n : 0, stream);
  for (; levels > 0; --levels) runs = merge_pairs(runs, levels % 2 == 1 ? to : spare.data(), order, {}, stream);
}

}  // namespace beyond

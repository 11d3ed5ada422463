// The scan of the counters of 16-bit keys, which are in global memory (packed_counters.cuh). On GPUs with thread block
// clusters (from compute capability 9.0 on), one cluster does it in one launch; on others, it is the scan of step 03.
#pragma once

#include <cstdint>

#include "packed_counters.cuh"
#include "step/cluster.h"
#include "step/device.h"

#ifndef __SIMT__
#include <cooperative_groups.h>
#endif

namespace counting {

#ifndef __SIMT__  // CUDA on the CPU has no clusters
namespace {

inline constexpr int word_scan_threads = 1024;
inline constexpr int scan_blocks = 8;  // of a cluster: the most that every GPU with clusters can run
constexpr int counters_per_thread = word_values / (scan_blocks * word_scan_threads);

/// Replaces counts[v] by counts[0] + ... + counts[v - 1], for v up to word_values. One cluster.
__global__ void CLUSTER_OF(scan_blocks) __launch_bounds__(word_scan_threads) scan_word_counters(std::uint64_t* counts) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __shared__ std::uint64_t warp_sums[word_scan_threads / 32], totals[scan_blocks];
  const auto cluster = cooperative_groups::this_cluster();
  const int rank = int(cluster.block_rank()), t = threadIdx.x, lane = t % 32, warp = t / 32;
  ulonglong2* const own =
      reinterpret_cast<ulonglong2*>(counts) + (rank * word_scan_threads + t) * (counters_per_thread / 2);
  // PHASE 1: each thread adds up neighbouring counters, each warp scans the sums of its threads.
  ulonglong2 pairs[counters_per_thread / 2];
  std::uint64_t sum = 0;
#pragma unroll
  for (int i = 0; i < counters_per_thread / 2; ++i) pairs[i] = own[i], sum += pairs[i].x + pairs[i].y;
  std::uint64_t inclusive = sum;
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint64_t left = __shfl_up_sync(~0u, inclusive, distance);
    if (lane >= distance) inclusive += left;
  }
  if (lane == 31) warp_sums[warp] = inclusive;
  // A thread adds up elements of warp_sums that other warps have written. And all blocks must have begun before one
  // writes to the shared memory of another.
  cluster.sync();
  // PHASE 2: pass the block's total to all blocks.
  std::uint64_t next = inclusive - sum, total = 0;
  for (int w = 0; w < word_scan_threads / 32; ++w) {
    if (w < warp) next += warp_sums[w];
    total += warp_sums[w];
  }
  if (t < scan_blocks) cluster.map_shared_rank(totals, t)[rank] = total;
  cluster.sync();  // a thread adds up elements of `totals` that other blocks have written
  // PHASE 3: add the totals of the earlier blocks, and store.
  for (int r = 0; r < rank; ++r) next += totals[r];
#pragma unroll
  for (int i = 0; i < counters_per_thread / 2; ++i) {
    const ulonglong2 counters = pairs[i];
    own[i] = ulonglong2{next, next + counters.x};
    next += counters.x + counters.y;
  }
  if (rank == scan_blocks - 1 && t == word_scan_threads - 1) counts[word_values] = next;
#else
  (void)counts;
#endif
}
}  // namespace
#endif

/// Queues the scan of word_values counters, in place: counts[v] becomes the sum of those before it, for v up to
/// word_values. Does not read counts[word_values]. `counts` begins at an address divisible by 16.
[[maybe_unused]] static void scan_counters_of_words(std::uint64_t* counts, cudaStream_t stream) {
#ifndef __SIMT__
  if (lab::device_attribute(cudaDevAttrClusterLaunch) != 0 && lab::runs_code_of_sm_90<scan_word_counters>()) {
    scan_word_counters<<<scan_blocks, word_scan_threads, 0, stream>>>(counts);
    CUDA_CHECK(cudaGetLastError());
    return;
  }
#endif
  scan_blelloch({counts, word_values + 1}, {counts, word_values + 1}, {}, stream);
}

}  // namespace counting

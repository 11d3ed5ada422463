// Sorts up to about a million keys of 16 bits in one launch, on GPUs that have thread block clusters (from compute
// capability 9.0 on). Step 06 uses it where clearing, scanning and searching 65,536 counters in global memory would take
// longer than counting the keys.
//
// The blocks of one cluster run at the same time, and each can read and write the shared memory of the others. Each
// counts its share of the keys in its own 65,536 counters, two in each word. Then each adds up a slice of the counters
// of all blocks. Where the run of a value begins in the output, the block that has its counter marks the place with the
// value, in the shared memory of the block that writes this part of the output. That block then knows all its keys:
// each is the last mark up to its place, so a scan that takes the larger of two values finds them, without a search.
// few_words_block.cuh implements these phases.
// Source of the means: NVIDIA, CUDA C++ Programming Guide, "Thread Block Clusters" and "Distributed Shared Memory".
#pragma once

#include <cstdint>

#include "few_words_block.cuh"
#include "step/cluster.h"
#include "step/device.h"
#include "whole_vectors.cuh"

#ifndef __SIMT__
#include <cooperative_groups.h>
#endif

namespace counting {

#ifndef __SIMT__  // CUDA on the CPU has no clusters
namespace {

/// Sorts the keys. One cluster; dynamic shared memory: sizeof(FewWords).
__global__ void CLUSTER_OF(few_words_blocks) __launch_bounds__(few_words_threads)
    sort_few_words(WholeVectors keys, unsigned flip) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ uint4 shared_memory[];
  FewWordsBlock& own = *reinterpret_cast<FewWordsBlock*>(shared_memory);
  const auto cluster = cooperative_groups::this_cluster();
  const int rank = int(cluster.block_rank());
  const FewWordsShare share(keys, rank);
  // PHASE 1: load the block's keys, and clear its counters while they are on their way.
  uint4 vectors[vectors_per_thread];
  share.load(keys, vectors);
  own.clear();
  if (threadIdx.x == 0) own.aside[rank] = -1;
  __syncthreads();  // a thread adds to words that others have cleared
  // PHASE 2: count.
  own.count_all(keys, share, vectors, flip);
  cluster.sync();  // a thread reads words to which all threads of another block have added
  // PHASE 3: add up the slice of this block, and scan it.
  FewWordsSlice slice = own.add_up_slice(cluster, rank);
  own.scan(cluster, rank, slice);
  cluster.sync();  // a thread reads own.totals, which other blocks have written, and clears words that they have read
  // PHASE 4: mark where the runs begin.
  own.clear();
  const unsigned position = keys.first + own.earlier_keys(rank) + slice.before;
  cluster.sync();  // a thread marks places that another block has cleared
  own.mark_runs(cluster, slice, position, 8 * keys.share);
  cluster.sync();  // a thread reads marks that other blocks have made; no block needs the others any more
  // PHASE 5: each key is the last mark up to its place, and no mark is less than one before it.
  own.write(keys, share, flip);
#else
  (void)keys, (void)flip;
#endif
}

/// Whether a cluster fits on the device in use, and lets it have its shared memory there. Remembers the answer, because
/// the calls take time. Errors: CudaError.
[[maybe_unused]] bool has_cluster_for_few_words() {
  thread_local int asked_of = -1;
  thread_local bool fits = false;
  const lab::Device& device = lab::Device::current();
  if (asked_of == device.id) return fits;
  int clusters = 0;
  const bool has_clusters = lab::device_attribute(cudaDevAttrClusterLaunch) != 0;
  if (has_clusters && device.fits<FewWords>() && lab::runs_code_of_sm_90<sort_few_words>()) {
    CUDA_CHECK(cudaFuncSetAttribute(sort_few_words, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CUDA_CHECK(cudaFuncSetAttribute(sort_few_words, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(FewWords)));
    cudaLaunchConfig_t config = {};
    config.gridDim = few_words_blocks, config.blockDim = few_words_threads, config.dynamicSmemBytes = sizeof(FewWords);
    CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, sort_few_words, &config));
  }
  asked_of = device.id, fits = clusters > 0;
  return fits;
}

}  // namespace
#endif

/// Whether one cluster can sort the keys: they are not too many, and the device has such clusters. Errors: CudaError.
[[maybe_unused]] static bool fits_one_cluster(lab::Span<std::uint16_t> keys) {
#ifndef __SIMT__
  if (keys.n > std::int64_t{8} * few_words_share * few_words_blocks) return false;
  return WholeVectors(keys.data, keys.n).share <= few_words_share && has_cluster_for_few_words();
#else
  (void)keys;
  return false;
#endif
}

/// Queues the sort of keys that fit one cluster. Errors: CudaError.
[[maybe_unused]] static void sort_in_one_cluster(lab::Span<std::uint16_t> keys, unsigned flip, cudaStream_t stream) {
#ifndef __SIMT__
  const WholeVectors vectors(keys.data, keys.n);
  sort_few_words<<<few_words_blocks, few_words_threads, sizeof(FewWords), stream>>>(vectors, flip);
  CUDA_CHECK(cudaGetLastError());
#else
  (void)keys, (void)flip, (void)stream;
#endif
}

}  // namespace counting

// Sorts runs of eight tiles in one launch, on GPUs that have thread block clusters (from compute capability 9.0 on).
//
// The blocks of a cluster run at the same time, and each can read and write the shared memory of the others. In a merge
// of eight tiles, the tiles can therefore stay in shared memory from the first stage to the last. Where step 04 would
// begin another pass over memory, all threads of the cluster wait for each other, which takes much less time than
// ending a launch and beginning the next one. Source: NVIDIA, CUDA C++ Programming Guide, "Thread Block Clusters" and
// "Distributed Shared Memory".
#pragma once

#include <cstdint>

#include "step/cluster.h"
#include "step/device.h"
#include "tile_network.cuh"

#ifndef __SIMT__
#include <cooperative_groups.h>
#endif

namespace bitonic {

inline constexpr int cluster_blocks = 8;  ///< the most that every GPU with clusters can run

#ifndef __SIMT__  // CUDA on the CPU has no clusters

/// Merges the sorted halves of a run of `tiles` tiles. Before and after: each block has its tile in shared memory. A
/// barrier is needed afterwards, before a thread reads words of `tile` that others have written.
template <int tiles, class Tile>
__device__ void merge_tiles(Tile& tile, typename Tile::Word (&words)[Tile::items], int t) {
  using Word = typename Tile::Word;
  constexpr int items = Tile::items, threads = Tile::threads, stride = tiles * threads;
  const auto cluster = cooperative_groups::this_cluster();
  const int rank = int(cluster.block_rank()), first = rank / tiles * tiles, column = (rank - first) * threads + t;
  Word *low[tiles], *high[tiles];
#pragma unroll
  for (int i = 0; i < tiles; ++i) {
    Tile* const other = cluster.map_shared_rank(&tile, first + i);
    low[i] = other->at(column), high[i] = other->at(stride - 1 - column);  // mirrors `low`
  }
  const auto word = [&](int i) -> Word& {
    return (i < items / 2 ? low : high)[i * tiles / items][Tile::padded(i * stride % Tile::size)];
  };
  cluster.sync();  // a thread reads words that other blocks have written to their tiles
#pragma unroll
  for (int i = 0; i < items; ++i) words[i] = word(i);
  mirror_registers(words);
  bitonic_merge_registers<items / 4>(words);
#pragma unroll
  for (int i = 0; i < items; ++i) word(i) = words[i];
  cluster.sync();  // a thread reads words that other blocks have written to `tile`
  Word* const own = tile.at(t);
#pragma unroll
  for (int i = 0; i < items; ++i) words[i] = own[Tile::padded(i * threads)];
  merge_tile<tiles / 2>(tile, words, t);
  // No barrier is needed, because a thread writes where it has read.
  Word* const striped = tile.at(striped_position<items>(t));
#pragma unroll
  for (int i = 0; i < items; ++i) striped[Tile::padded(32 * i)] = words[i];
}

/// Sorts runs of eight tiles. Each cluster sorts one.
template <class Tile, class Words>
__global__ void CLUSTER_OF(cluster_blocks) __launch_bounds__(Tile::threads) sort_runs_of_tiles(Words all) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __shared__ Tile tile;
  const int t = threadIdx.x;
  const std::int64_t begin = std::int64_t(blockIdx.x) * Tile::size;
  // Words from the cluster's first tile on: the same for all its blocks.
  const std::int64_t left = all.n - std::int64_t(blockIdx.x / cluster_blocks * cluster_blocks) * Tile::size;
  const auto striped = all.from(begin + striped_position<Tile::items>(t));
  typename Words::Word words[Tile::items];
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) words[i] = striped.load(32 * i);
  sort_group<Tile::threads>(tile, words, t);
  write_blocked(tile, words, t);
  if (left > Tile::size) merge_tiles<2>(tile, words, t);
  if (left > 2 * Tile::size) merge_tiles<4>(tile, words, t);
  if (left > 4 * Tile::size) merge_tiles<8>(tile, words, t);
  __syncthreads();  // read_striped() reads words of `tile` that other threads have written
  read_striped(tile, words, t);
#pragma unroll
  for (int i = 0; i < Tile::items; ++i) striped.store(32 * i, words[i]);
#else
  (void)all;
#endif
}
/// Queues the sort of runs of eight such tiles. Returns the length of the runs.
template <class Tile, class Words>
std::int64_t sort_runs_of(Words all, cudaStream_t stream) {
  constexpr std::int64_t run = cluster_blocks * Tile::size;
  const unsigned clusters = unsigned((all.n + run - 1) / run);
  sort_runs_of_tiles<Tile><<<clusters * cluster_blocks, Tile::threads, 0, stream>>>(all);
  CUDA_CHECK(cudaGetLastError());
  return run;
}

#endif

/// Queues the sort of runs of eight tiles. Returns the length of the runs. If the device has no clusters, does nothing
/// and returns 0.
template <class Words>
std::int64_t sort_runs_in_clusters(Words all, cudaStream_t stream) {
  if (lab::device_attribute(cudaDevAttrClusterLaunch) == 0) return 0;
#ifndef __SIMT__
  using FewKeys = Tile<typename Words::Word, 8, record_threads>;
  using ManyKeys = Tile<typename Words::Word, 64 / sizeof(typename Words::Word), record_threads>;
  if (!lab::runs_code_of_sm_90<sort_runs_of_tiles<FewKeys, Words>>()) return 0;
  if (all.n > cluster_blocks * FewKeys::size) return sort_runs_of<ManyKeys>(all, stream);
  return sort_runs_of<FewKeys>(all, stream);
#else
  (void)all, (void)stream;
  return 0;
#endif
}

}  // namespace bitonic

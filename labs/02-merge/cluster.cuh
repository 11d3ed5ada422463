// Sorts few keys, up to eight tiles, in one launch, on GPUs that have thread block clusters (from compute capability 9.0
// on).
//
// The blocks of a cluster run at the same time, and each can read the shared memory of the others. Runs can therefore
// stay there from the first tile to the last merge. Where a pass of step 05 would write all items to global memory and
// begin a launch, the blocks of the cluster wait for each other, which takes less time.
// Source: NVIDIA, CUDA C++ Programming Guide, "Thread Block Clusters" and "Distributed Shared Memory".
#pragma once

#include <bit>
#include <cstdint>

#include "bitonic_layout.cuh"
#include "co_ranks.cuh"
#include "step/device.h"
#include "step/launch_shape.h"

#ifndef __SIMT__
#include <cooperative_groups.h>
#endif

namespace merge_sort {

inline constexpr int max_cluster_blocks = 8;  ///< the most that every GPU with clusters can run

#ifndef __SIMT__  // CUDA on the CPU has no clusters

/// The merge in which a block takes part at one level, and the block's tile of its output. All positions are in the
/// whole array.
struct ClusterMerge {
  int first, middle, end;  ///< the runs [first, middle) and [middle, end)
  int begin, count;        ///< the tile: [begin, begin + count)

  /// `apart`: tiles per run, a power of two.
  __device__ ClusterMerge(int n, int block, int apart, int tile) {
    first = (block & -(2 * apart)) * tile;
    middle = min(first + apart * tile, n);
    end = min(first + 2 * apart * tile, n);
    begin = block * tile;
    count = max(0, min(n - begin, tile));
  }
};

/// Copies the parts of the two runs that the block's tile is made of into `to`, in bitonic layout. `from`: the block's
/// own items; the other blocks have theirs at the same place. Returns the number of items of the first run. All threads
/// of the block call it; afterwards, each may read all of `to`.
template <class Shape, class Cluster, class Key, class Value>
__device__ int gather_parts(Items<Key, Value> to, Items<Key, Value> from, const Cluster& cluster, ClusterMerge merge,
                            typename Shape::Before before) {
  __shared__ int co_ranks[2];
  // PHASE 3: find out how many items of the first run come before each end of the tile. A warp searches for each.
  if (const int end = threadIdx.x / 32; end < 2) {
    const auto keys_from = [&](int first) {
      return [&cluster, keys = from.keys, first](int i) {
        return cluster.map_shared_rank(keys, (first + i) / Shape::tile)[(first + i) % Shape::tile];
      };
    };
    const int diagonal = merge.begin - merge.first + end * merge.count;
    const int a = warp_co_rank(keys_from(merge.first), merge.middle - merge.first, keys_from(merge.middle),
                               merge.end - merge.middle, diagonal, before);
    if (threadIdx.x % 32 == 0) co_ranks[end] = a;
  }
  __syncthreads();  // all threads read `co_ranks`, which two warps have written
  // PHASE 4: copy both parts. The part of the second run is stored backwards.
  const int a_first = merge.first + co_ranks[0], a_count = co_ranks[1] - co_ranks[0];
  // Item i of the tile comes from a_first + i or, from a_count on, from b_first + i.
  const int b_first = merge.middle + merge.begin - merge.first - co_ranks[0] - a_count;
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    const int i = threadIdx.x + k * Shape::threads;
    if (i >= merge.count) break;
    const int position = i < a_count ? a_first + i : b_first + i, block = position / Shape::tile;
    const int place = i < a_count ? i : merge.count - 1 - (i - a_count);
    Items<Key, Value> source{cluster.map_shared_rank(from.keys, block), nullptr};
    if constexpr (has_values<Value>) source.values = cluster.map_shared_rank(from.values, block);
    copy_item(to, place, source, position % Shape::tile);
  }
  __syncthreads();  // a thread merges items of `to` that others have copied
  return a_count;
}

/// Sorts all n items. Launched as one cluster. Each block has shared memory for two tiles: its own, and the one that it
/// merges into. `Core` has the functions of step 05 that work on a tile.
template <class Core, class Shape, class Key, class Value>
__global__ void __launch_bounds__(Shape::threads)
    sort_few_tiles(Items<Key, Value> items, int n, typename Shape::Before before) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  const auto cluster = cooperative_groups::this_cluster();
  const int block = int(cluster.block_rank()), begin = block * Shape::tile;
  const int count = max(0, min(n - begin, Shape::tile));
  auto tile = tile_in_shared_memory<Shape>(), other = tile_in_shared_memory<Shape>(1);
  // PHASE 1: load the block's tile.
  begin_copies<1, Shape>(tile, items_from(items, begin), count);
  wait_for_copies();
  __syncthreads();  // a thread sorts items that other threads have loaded into `tile`
  // PHASE 2: sort it.
  Core::template sort_tile<Shape>(tile, count, before);
  for (int apart = 1; apart < int(cluster.num_blocks()); apart *= 2) {  // tiles per run
    cluster.sync();  // a thread reads items of other blocks' tiles, and overwrites those that other blocks have read
    const ClusterMerge merge(n, block, apart, Shape::tile);
    const int a_count = gather_parts<Shape>(other, tile, cluster, merge, before);
    // PHASE 5: merge, as in a pass.
    const BitonicRuns runs{0, a_count, count, int(threadIdx.x) * Shape::items};
    OwnItems<Shape> own;
    Core::merge_items(own, other, runs, before);
    __syncthreads();  // the write overwrites items of `other` that other threads may still be reading
    write_own(other, own, {0, count, runs.diagonal}, Half::first);
    const auto full = other;
    other = tile, tile = full;
  }
  __syncthreads();  // the store reads items that other threads have written to `tile`
  // PHASE 6: store.
  store_items<Shape>(items_from(items, begin), tile, count);
  cluster.sync();  // no block ends while others read its shared memory
#else
  (void)items, (void)n, (void)before;
#endif
}

#endif

/// Queues the sort of n items in one launch. Returns false, and does nothing, if they are too many for a cluster, or too
/// few to need one, if the user chooses a launch shape, or if the device has no clusters or too little shared memory.
/// Errors: CudaError.
template <class Core, class Shape, class Key, class Value>
bool sort_in_cluster(Items<Key, Value> items, std::int64_t n, typename Shape::Before before, lab::LaunchShape shape,
                     cudaStream_t stream) {
#ifndef __SIMT__
  const bool auto_shape = shape.blocks == 0 && shape.threads == 0;
  if (!auto_shape || n <= Shape::tile || n > max_cluster_blocks * Shape::tile) return false;
  constexpr std::size_t bytes = 2 * Shape::shared_bytes;
  const lab::Device& device = lab::Device::current();
  if (lab::device_attribute(cudaDevAttrClusterLaunch) == 0 || device.shared_bytes_per_block < int(bytes)) return false;
  constexpr auto kernel = sort_few_tiles<Core, Shape, Key, Value>;
  if (!lab::runs_code_of_sm_90<kernel>()) return false;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  const unsigned blocks = std::bit_ceil(unsigned((n + Shape::tile - 1) / Shape::tile));
  attribute.val.clusterDim.x = blocks, attribute.val.clusterDim.y = 1, attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks, config.blockDim = Shape::threads, config.dynamicSmemBytes = bytes;
  config.stream = stream, config.attrs = &attribute, config.numAttrs = 1;
  lab::allow_shared_memory<kernel>(bytes, device);
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, items, int(n), before));
  return true;
#else
  (void)items, (void)n, (void)before, (void)shape, (void)stream;
  return false;
#endif
}

}  // namespace merge_sort

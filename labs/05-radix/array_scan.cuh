// What lab 04 teaches: the exclusive scan of 64-bit counters over any number of blocks.
#pragma once

#include <cstdint>

#include "scan.cuh"
#include "step/device_array.h"
#include "step/launch_shape.h"

namespace radix {

inline constexpr int scan_threads = 256;
inline constexpr int scan_items_per_thread = 8;
inline constexpr int scan_tile = scan_threads * scan_items_per_thread;

namespace detail {

/// Scans each tile by itself, and writes each tile's sum.
static __global__ void scan_tiles(lab::Span<long long> counters, long long* tile_sums) {
  __shared__ long long warp_sums[scan_threads / 32];
  const std::int64_t first = std::int64_t(blockIdx.x) * scan_tile + threadIdx.x * scan_items_per_thread;
  long long items[scan_items_per_thread], sum = 0;
  for (int i = 0; i < scan_items_per_thread; ++i) {
    items[i] = first + i < counters.n ? counters.data[first + i] : 0;
    sum += items[i];
  }
  long long total, next = block_exclusive_sum(sum, warp_sums, total);
  for (int i = 0; i < scan_items_per_thread; ++i) {
    if (first + i < counters.n) counters.data[first + i] = next;
    next += items[i];
  }
  if (threadIdx.x == 0) tile_sums[blockIdx.x] = total;
}

static __global__ void add_tile_sums(lab::Span<long long> counters, const long long* tile_sums) {
  const std::int64_t first = std::int64_t(blockIdx.x) * scan_tile;
  for (int i = threadIdx.x; i < scan_tile && first + i < counters.n; i += blockDim.x) {
    counters.data[first + i] += tile_sums[blockIdx.x];
  }
}

}  // namespace detail

/// Replaces counters[i] by counters[0] + ... + counters[i - 1]. Each tile is scanned by itself. Then the tiles' sums
/// are scanned in the same way, until one tile holds them all, and added to the tiles.
inline void exclusive_scan(lab::Span<long long> counters, cudaStream_t stream) {
  if (counters.n == 0) return;
  const std::int64_t tiles = (counters.n + scan_tile - 1) / scan_tile;
  const lab::DeviceArray<long long> tile_sums(tiles, stream);
  detail::scan_tiles<<<unsigned(tiles), scan_threads, 0, stream>>>(counters, tile_sums.data());
  CUDA_CHECK(cudaGetLastError());
  if (tiles == 1) return;
  exclusive_scan(tile_sums.span(), stream);
  detail::add_tile_sums<<<unsigned(tiles), scan_threads, 0, stream>>>(counters, tile_sums.data());
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace radix

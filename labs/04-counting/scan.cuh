// What step 02 teaches of scans and step 03 calls: how the scans of many tiles become one.
#pragma once

#include "counting.cuh"

namespace counting {
namespace {

/// Adds to each value the sum of all tiles before its own. tile_sums[0] is 0: the first tile is left out.
template <class Value>
__global__ void add_tile_sums(lab::Span<Value> sums, const Value* tile_sums) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = scan_tile + std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < sums.n; i += step) {
    sums.data[i] += tile_sums[i / scan_tile];
  }
}

/// Scans any n: `scan_tiles(values, sums, tile_sums)` scans each tile of scan_tile values by itself and puts its sum
/// into tile_sums; these are scanned in the same way, tiles of tiles, and added to all that comes after.
template <class ScanTiles>
void scan_all(lab::Span<const std::uint64_t> values, lab::Span<std::uint64_t> sums, lab::LaunchShape shape,
              cudaStream_t stream, ScanTiles scan_tiles) {
  if (values.n == 0) return;
  const std::int64_t tiles = (values.n + scan_tile - 1) / scan_tile;
  const lab::DeviceArray<std::uint64_t> tile_sums = scratch<std::uint64_t>(tiles, "sums of tiles", stream);
  scan_tiles(values, sums, tile_sums.data());
  if (tiles == 1) return;
  scan_all({tile_sums.data(), tiles}, tile_sums.span(), shape, stream, scan_tiles);
  const int threads = lab::threads_or(shape, 256);
  add_tile_sums<std::uint64_t><<<lab::blocks_or(shape, sums.n, threads), threads, 0, stream>>>(sums, tile_sums.data());
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace
}  // namespace counting

// What step 02 teaches about scans and step 03 uses again: how the scans of many tiles become one.
#pragma once

#include "counting.cuh"

namespace counting {

namespace {

/// Adds to each value the sum of all tiles before its own. tile_sums[0] is 0, so the first tile is left out.
template <class Value>
__global__ void add_tile_sums(lab::Span<Value> sums, const Value* tile_sums) {
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = scan_tile + std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < sums.n; i += stride) {
    sums.data[i] += tile_sums[i / scan_tile];
  }
}

/// Scans any n. `scan_tiles(unsigned blocks, Values values, std::uint64_t* sums, std::uint64_t* tile_sums)` launches a
/// kernel that scans each tile of scan_tile values by itself and writes the tile's sum to tile_sums. The tile sums are
/// scanned in the same way (tiles of tiles) and added to all values of the later tiles. Throws Unsupported for an
/// impossible shape.
template <class ScanTiles>
void scan_all(Values values, lab::Span<std::uint64_t> sums, lab::LaunchShape shape, cudaStream_t stream,
              ScanTiles scan_tiles) {
  const unsigned blocks = lab::blocks_or(shape, values.n, scan_tile);
  if (values.n == 0) return;
  const std::int64_t tiles = (values.n + scan_tile - 1) / scan_tile;
  const lab::DeviceArray<std::uint64_t> tile_sums = scratch<std::uint64_t>(tiles, "sums of tiles", stream);
  scan_tiles(blocks, values, sums.data, tile_sums.data());
  if (tiles == 1) return;
  scan_all({tile_sums.data(), tiles}, tile_sums.span(), shape, stream, scan_tiles);
  const int threads = lab::threads_or(shape, 256);
  add_tile_sums<std::uint64_t><<<lab::blocks_or(shape, sums.n, threads), threads, 0, stream>>>(sums, tile_sums.data());
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace
}  // namespace counting

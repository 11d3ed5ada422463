// Turns the launch shape that a user requests into the one that a kernel is launched with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "step/error.h"
#include "step/step.h"

namespace lab {

/// Threads per block: as many as the user chose, or `default_threads` if the user did not choose. Throws Unsupported
/// outside 1 to 1024.
inline int threads_or(LaunchShape shape, int default_threads) {
  if (shape.threads < 0 || shape.threads > 1024) {
    throw Unsupported("impossible launch shape: " + std::to_string(shape.threads) +
                      " threads per block; a block has 1 to 1024 threads");
  }
  return shape.threads == 0 ? default_threads : shape.threads;
}

/// Blocks of a grid: as many as the user chose, else enough to give each block `items_per_block` of `items`, at most
/// 2^31 - 1. A kernel must loop, because the user may choose fewer. Throws Unsupported below 0.
inline unsigned blocks_or(LaunchShape shape, std::int64_t items, std::int64_t items_per_block) {
  if (shape.blocks < 0) {
    throw Unsupported("impossible launch shape: " + std::to_string(shape.blocks) + " blocks; a grid has at least 1");
  }
  if (shape.blocks != 0) return unsigned(shape.blocks);
  const std::int64_t blocks = (items + items_per_block - 1) / items_per_block;
  return unsigned(std::clamp<std::int64_t>(blocks, 1, 0x7fffffff));
}

}  // namespace lab

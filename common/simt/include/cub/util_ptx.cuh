// A thread's position in its block and warp (CUB, "Utilities").
#pragma once

#include "../cuda_runtime.h"

namespace cub {

/// The position in a block of this size.
inline int RowMajorTid(int block_x, int block_y, int /*block_z*/) {
  return int(threadIdx.x) + block_x * (int(threadIdx.y) + block_y * int(threadIdx.z));
}
inline unsigned LaneId() { return unsigned(RowMajorTid(int(blockDim.x), int(blockDim.y), int(blockDim.z))) % 32; }
inline unsigned WarpId() { return unsigned(RowMajorTid(int(blockDim.x), int(blockDim.y), int(blockDim.z))) / 32; }

namespace detail {

/// The block that a class is for.
template <int X, int Y, int Z>
struct Block {
  static constexpr int threads = X * Y * Z;

  /// The thread's position. Ends the kernel if the block has another shape.
  static int rank(simt::Site site) {
    if (blockDim.x != X || blockDim.y != Y || blockDim.z != Z) {
      simt::trap("the block has another shape than the template arguments of a class of cub say", site);
    }
    return RowMajorTid(X, Y, Z);
  }
};

}  // namespace detail

}  // namespace cub

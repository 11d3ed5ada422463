// A block that waits for other blocks, and has left its OS thread to them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../emulation.h"
#include "block.h"
#include "context.h"
#ifdef SIMT_CHECK
#include "../../check/waiting_block.h"
#endif

namespace simt {

struct WaitingBlock {
  BlockState state;
  Thread* current;  ///< the last that ran
  Context context;  ///< where it continues
  int warp, barrier_true, barrier_result;
  std::vector<unsigned char> dynamic_shared;  ///< the same memory when it continues, because threads have its address
  std::vector<unsigned char> static_shared;   ///< a copy
  /// How often the barrier of the grid had opened, if the block waits at it.
  std::uint64_t times_opened;
  bool is_at_grid_barrier;  ///< otherwise it waits in a loop
  SIMT_OBSERVE(std::unique_ptr<check::WaitingBlock> observed;)
};

}  // namespace simt

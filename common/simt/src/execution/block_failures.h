// What to report when the threads of a block do not meet as they should. The texts name the other threads involved;
// Worker::fail() adds the thread that fails.
#pragma once

#include "block.h"
#include "failure.h"

namespace simt {

/// A thread reached __syncthreads() at `site`, while others wait at another one.
Failure divergent_barrier(const Block& block, Site site);
/// A thread reached grid.sync() at `site`, while others wait at another one; or the launch is not cooperative.
Failure divergent_grid_barrier(const Block& block, Site site);
/// The running lane is not in its own mask.
Failure invalid_mask(const Block& block, WarpOp op, unsigned mask, Site site);
/// The running lane reached `op`, while the lanes of `group`, with the same mask, wait at another primitive.
Failure mixed_primitives(const Block& block, WarpOp op, const Rendezvous& group, Site site);

struct Deadlock {
  Thread* thread;  ///< the one to name; null: the one that ran last
  Failure failure;
};
/// No thread can run, now or later.
Deadlock deadlock(Block& block);

}  // namespace simt

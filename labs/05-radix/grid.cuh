// How the blocks of step 05 see what others of their grid have written: a fence after the writing, an atomic that says
// so, and a fence before the reading. Step 04's look-back needs no fences, as its words are all that it reads.
#pragma once

#include <cuda_runtime.h>

namespace radix {

/// Whether all other blocks of the grid have called this before. If so, this block sees what they wrote before.
/// All threads of the block call it. `done`: 0 at the start.
__device__ inline bool is_last_block(unsigned* done) {
  bool is_last = false;
  __syncthreads();  // the fence of thread 0 comes after what the others have written
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
  }
  return __syncthreads_or(is_last);
}

/// Waits until the blocks of the grid have done `all` parts of a task, of which this one has done `own`, and sees what
/// they wrote. All threads of the block call it, once for each task. `done`: 0 at the start. Blocks must draw their
/// parts one after the other from a counter: then the blocks that are waited for are running, however many run at the
/// same time.
__device__ inline void wait_for_all(unsigned* done, unsigned own, unsigned all) {
  __syncthreads();  // the fence of thread 0 comes after what the others have written
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(done, own);
    while (*static_cast<volatile unsigned*>(done) < all) {
    }
    __threadfence();
  }
  __syncthreads();  // thread 0 has waited for all threads
}

}  // namespace radix

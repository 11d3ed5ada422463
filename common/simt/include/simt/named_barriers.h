// The barriers with numbers of inline PTX, at which some warps of a block meet (PTX ISA, "bar" and "barrier").
#pragma once

#include "simt/atomic.h"
#include "simt/device.h"

/// Outside simt, where the check build takes no array for one of shared memory.
inline unsigned* simt_named_barrier(unsigned number) {
  __shared__ unsigned named_barriers[16][2];
  return named_barriers[number % 16];
}

namespace simt {

/// Atomics and fences, so that the check build sees what the barrier orders.
class NamedBarrier {
 public:
  explicit NamedBarrier(unsigned number) : words_(simt_named_barrier(number)) {
    if (!is_new_named_barrier(number)) return;
    atomicExch(&words_[arrived], 0u);
    atomicExch(&words_[phase], 0u);
  }
  /// Returns the phase that ends when that number of threads has arrived.
  unsigned arrive(unsigned threads) {
    const unsigned current = atomicOr(&words_[phase], 0u);
    __threadfence_block();
    if (atomicAdd(&words_[arrived], 1u) + 1 == threads) {
      atomicExch(&words_[arrived], 0u);
      __threadfence_block();
      atomicAdd(&words_[phase], 1u);
    }
    return current;
  }
  void wait(unsigned for_end_of) {
    while (atomicOr(&words_[phase], 0u) == for_end_of) yield();
    __threadfence_block();
  }

 private:
  enum { arrived, phase };

  unsigned* words_;
};

/// `threads`: of the block, those that meet; a multiple of 32.
inline void named_barrier(unsigned number, unsigned threads) {
  NamedBarrier barrier(number);
  barrier.wait(barrier.arrive(threads));
}
inline void named_barrier(unsigned number) { named_barrier(number, blockDim.x * blockDim.y * blockDim.z); }
inline void arrive_at_named_barrier(unsigned number, unsigned threads) { NamedBarrier(number).arrive(threads); }

}  // namespace simt

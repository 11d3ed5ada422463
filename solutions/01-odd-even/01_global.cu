// Step 01: one launch per phase.
//
// Idea: bubble sort compares neighbours, one pair after another. Pairs that do not share a key can be compared at the
// same time: first all pairs that begin at an even position, then all pairs that begin at an odd position, and so on.
// One such round is a phase, and n phases sort any n keys. Each pair of a phase is the work of one thread. The phases
// must run one after another, and the end of a kernel is the only barrier for all threads of a grid.
// New since step 00: n launches, both parities, and a loop for grids with fewer threads than pairs.
//- Cost: n launches. Each reads every key and writes those that move: up to 2 * sizeof(Key) bytes per key and phase.
//- For small n, launches take nearly all of the time.
// Limits: n (n - 1) / 2 comparisons.
#include <cstdint>

#include "odd_even.h"
#include "step/launch_shape.h"

namespace odd_even {
namespace {

constexpr int default_threads_per_block = 256;

/// Runs one phase: puts the pairs (i, i + 1) in order, for i = parity, parity + 2, parity + 4, ..., while i + 1 < n.
template <class Key>
__global__ void run_phase(Key* keys, std::int64_t n, int parity, lab::Order order) {
  // begin solution
  //~ // Your code: how many such pairs are there? Thread t compares pair t, and more pairs if the grid has fewer threads
  //~ // than pairs. Pair t begins at position 2 * t + parity. lab::before(a, b, order) compares two keys. Exchange them
  //~ // only if the second must come before the first.
  const std::int64_t pairs = (n - parity) / 2;  // rounded down: a last key without a partner is skipped
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t t = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; t < pairs; t += stride) {
    const std::int64_t i = 2 * t + parity;
    const Key a = keys[i], b = keys[i + 1];
    if (lab::before(b, a, order)) {
      keys[i] = b;
      keys[i + 1] = a;
    }
  }
  // end solution
}

}  // namespace

template <class Key>
void sort_global(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  const unsigned blocks = lab::blocks_or(shape, keys.n / 2, threads_per_block);
  if (keys.n < 2) return;
  // begin solution
  //~ // Your code: launch run_phase for the phases 0, 1, 2, ..., n - 1, alternately with parity 0 and 1. Check each launch.
  //~ (void)blocks;
  //~ NOT_WRITTEN("step 01");
  for (std::int64_t phase = 0; phase < keys.n; ++phase) {
    run_phase<<<blocks, threads_per_block, 0, stream>>>(keys.data, keys.n, int(phase % 2), order);
    CUDA_CHECK(cudaGetLastError());
  }
  // end solution
}

template void sort_global(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_global(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_global(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_global(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);

}  // namespace odd_even

// Step 01: one launch a phase.
//
// Idea: bubble sort compares neighbours one pair after another. Pairs that do not share a key can be compared at the
// same time: first all pairs that begin at an even place, then all that begin at an odd one, and so on. One such round
// is a phase, and n phases sort n keys, whatever they are. Each pair of a phase is a thread's work. Phases must follow
// one another: the end of a kernel is the only barrier between all threads of a grid.
// New: a kernel, a launch, which thread does what.
// Cost: n launches, each reading every key and writing those that move: up to 2 * sizeof(Key) bytes a key and phase.
// Limits: n (n - 1) / 2 comparisons, and for small n nearly all the time goes into launching.
#include <cstdint>

#include "odd_even.h"
#include "step/launch_shape.h"

namespace odd_even {
namespace {

constexpr int default_threads = 256;

/// One phase: compares the pairs (i, i + 1) with i = parity, parity + 2, parity + 4, .. that lie below n.
template <class Key>
__global__ void run_phase(Key* keys, std::int64_t n, int parity, lab::Order order) {
  // Your code: how many such pairs are there? Thread t compares pair t, and further ones if the grid has fewer
  // threads than pairs. Pair t begins at place 2 * t + parity; lab::before(a, b, order) compares two keys. Exchange
  // them only if the second must stand before the first.
}

}  // namespace

template <class Key>
void sort_global(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = lab::blocks_or(shape, keys.n / 2, threads);
  if (keys.n < 2) return;
  // Your code: launch run_phase for phases 0, 1, 2, .. n - 1, in turn with parity 0 and 1, and check each launch.
  (void)blocks;
  NOT_WRITTEN("step 01");
}

template void sort_global(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_global(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_global(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_global(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);

}  // namespace odd_even

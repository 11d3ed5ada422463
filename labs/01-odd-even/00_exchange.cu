// Step 00: one launch, one phase.
//
// Idea: the pairs (0, 1), (2, 3), (4, 5), ... share no key, so all of them can be compared at the same time. Each pair
// is the work of one thread: it compares two keys and exchanges them if they are in the wrong order.
// New: a kernel, a launch, which thread does what.
// Limits: it does not sort; step 01 repeats it. A thread takes one pair only, so fewer threads than pairs are refused.
#include <cstdint>

#include "odd_even.h"
#include "step/launch_shape.h"

namespace odd_even {
namespace {

/// Puts the pair (i, i + 1) in order, for one even i per thread. The last threads may have no pair.
template <class Key>
__global__ void exchange_pairs(Key* keys, std::int64_t n, lab::Order order) {
  const std::int64_t t = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;  // which thread of the launch this is
  const std::int64_t i = 2 * t;
  if (i + 1 >= n) return;
  // Your code: exchange keys[i] and keys[i + 1] if they are in the wrong order. lab::before(a, b, order) is true if
  // the key a must come before the key b. Then delete the line NOT_WRITTEN below.
}

}  // namespace

template <class Key>
void exchange(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, 256);
  const unsigned blocks = lab::blocks_or(shape, keys.n / 2, threads_per_block);
  if (std::int64_t(blocks) * threads_per_block < keys.n / 2) {
    throw lab::Unsupported("step 00 needs a thread for each pair: choose more --blocks, or leave them out");
  }
  if (keys.n < 2) return;
  NOT_WRITTEN("step 00");
  exchange_pairs<<<blocks, threads_per_block, 0, stream>>>(keys.data, keys.n, order);
  CUDA_CHECK(cudaGetLastError());
}

template void exchange(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void exchange(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void exchange(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void exchange(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);

}  // namespace odd_even

// Step 01: one launch per stage.
//
// Idea: a sorting network is a fixed list of comparators. The comparators of one stage touch different keys, so each
// can be the work of one thread. The stages must run one after another, and the end of a kernel is the only barrier for
// all threads of a grid.
// The network in its classic form: in a stage, key i meets key i ^ j. Where (i & k) is set, the comparator points the
// other way, so that every two neighbouring runs form a bitonic sequence of k keys for the next merge.
//- Cost: log2 n (log2 n + 1) / 2 launches. Each reads every key and writes the exchanged ones: up to 2 * sizeof(Key)
//- bytes per key and stage.
//- Limits: n is rounded up to a power of two, so n = 2^k + 1 costs more than twice as much as n = 2^k.
#include <bit>
#include <cstdint>

#include "bitonic.h"
#include "step/device_array.h"
#include "step/launch_shape.h"

namespace bitonic {
namespace {

constexpr int default_threads_per_block = 256;

/// Runs one stage: `comparators` pairs of keys that are `j` positions apart, in runs of `k` keys whose direction
/// alternates.
template <class Key>
__global__ void run_stage(Key* keys, std::int64_t comparators, std::int64_t k, std::int64_t j, lab::Order order) {
  // begin solution
  //~ // Your code: thread t runs comparator t, and more of them if the grid has fewer threads than comparators.
  //~ // Its lower key is keys[i]; i is the t-th number, counted from 0, with (i & j) == 0. Its partner is keys[i ^ j].
  //~ // Put the two in `order` where (i & k) == 0, and in the opposite order elsewhere. lab::before(a, b, order) compares.
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t t = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; t < comparators; t += step) {
    const std::int64_t i = 2 * t - (t & (j - 1));
    const std::int64_t partner = i ^ j;
    const Key a = keys[i], b = keys[partner];
    const bool forward = (i & k) == 0;
    const bool swap = forward ? lab::before(b, a, order) : lab::before(a, b, order);
    if (swap) {
      keys[i] = b;
      keys[partner] = a;
    }
  }
  // end solution
}

/// Fills keys[n], ..., keys[padded - 1] with a key that comes last in the order.
template <class Key>
__global__ void pad(Key* keys, std::int64_t n, std::int64_t padded, Key last) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = n + std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < padded; i += step) {
    keys[i] = last;
  }
}

/// Runs the whole network on `n` keys; n is a power of two.
template <class Key>
void run_network(Key* keys, std::int64_t n, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  const unsigned blocks = lab::blocks_or(shape, n / 2, threads_per_block);
  // begin solution
  //~ // Your code: launch run_stage once for every stage, in order, and check each launch. The merges produce runs of
  //~ // k = 2, 4, ..., n keys; within a merge the partners are j = k / 2, k / 4, ..., 1 positions apart.
  //~ (void)blocks;
  //~ NOT_WRITTEN("step 01");
  for (std::int64_t k = 2; k <= n; k *= 2) {
    for (std::int64_t j = k / 2; j > 0; j /= 2) {
      run_stage<<<blocks, threads_per_block, 0, stream>>>(keys, n / 2, k, j, order);
      CUDA_CHECK(cudaGetLastError());
    }
  }
  // end solution
}

}  // namespace

template <class Key>
void sort_global(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  if (keys.n < 2) return;
  const std::int64_t padded = std::int64_t(std::bit_ceil(std::uint64_t(keys.n)));
  if (padded == keys.n) {
    run_network(keys.data, keys.n, order, shape, stream);
    return;
  }
  lab::DeviceArray<Key> scratch(padded, stream);
  const std::size_t bytes = std::size_t(keys.n) * sizeof(Key);
  CUDA_CHECK(cudaMemcpyAsync(scratch.data(), keys.data, bytes, cudaMemcpyDeviceToDevice, stream));
  const unsigned pad_blocks = lab::blocks_or(shape, padded - keys.n, threads_per_block);
  pad<<<pad_blocks, threads_per_block, 0, stream>>>(scratch.data(), keys.n, padded, lab::last_key<Key>(order));
  CUDA_CHECK(cudaGetLastError());
  run_network(scratch.data(), padded, order, shape, stream);
  CUDA_CHECK(cudaMemcpyAsync(keys.data, scratch.data(), bytes, cudaMemcpyDeviceToDevice, stream));
}

template void sort_global(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_global(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_global(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_global(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);

}  // namespace bitonic

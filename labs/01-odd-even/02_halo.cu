// Step 02: many phases per launch.
//
// Idea: in k phases a key moves at most k positions, so the key at a position after k phases depends only on the keys
// at most k positions away. A block that loads a tile and k keys on either side of it, its halo, can run k phases in
// shared memory without waiting for any other block. The keys at the edges of its window become wrong, one position
// further inwards in each phase, but after k phases they fill only the halo, and every key of the tile is right.
// New since step 01: shared memory and its barriers, the order as a template parameter, and two buffers. A block must
// not write where a neighbouring block may still read its halo. Therefore a launch reads one buffer and writes the
// other, and then the buffers swap.
// Limits: nearly every key lies in two windows, so nearly twice as many comparisons are made as n phases need.
#include <cstdint>
#include <utility>

#include "compare_exchange.cuh"
#include "step/device_array.h"
#include "step/launch_shape.h"

namespace odd_even {
namespace {

constexpr int window_keys = halo_keys + tile_keys + halo_keys;
constexpr int default_threads_per_block = window_keys / 2;  // one pair per thread

/// Runs the phases first_phase to end_phase - 1, at most halo_keys phases. Reads `from` and writes `to`, n keys each.
/// Each block takes the tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <lab::Order order, class Key>
__global__ void run_phases(const Key* from, Key* to, std::int64_t n, std::int64_t first_phase, std::int64_t end_phase) {
  __shared__ Key window[window_keys];
  for (std::int64_t first = std::int64_t(blockIdx.x) * tile_keys; first < n;
       first += std::int64_t(gridDim.x) * tile_keys) {
    // The window is the tile with its halo, cut off at the ends of the array: positions left to left + count - 1.
    const std::int64_t end = min(first + tile_keys, n);
    const std::int64_t left = max(first - halo_keys, std::int64_t(0));
    const int count = int(min(end + halo_keys, n) - left);
    // Your code: load the positions left to left + count - 1 of `from` into the window; run the phases on it; store
    // only the tile, positions first to end - 1, to `to`. A phase compares the pairs that begin at an even or at an
    // odd position of the array: where in the window is that? compare_exchange<order>(window[i], window[i + 1]) puts
    // a pair in order. Put a barrier wherever a thread reads keys of the window that another has written, or
    // overwrites keys that another may still read.
    (void)window, (void)end, (void)count;
  }
}

template <lab::Order order, class Key>
void run_all_phases(lab::Span<Key> keys, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  const unsigned blocks = lab::blocks_or(shape, keys.n, tile_keys);
  if (keys.n < 2) return;
  lab::DeviceArray<Key> scratch(keys.n, stream);
  Key* from = keys.data;
  Key* to = scratch.data();
  // Your code: launch run_phases until n phases are done, at most halo_keys per launch, and swap the buffers after
  // each. The last launch must write keys.data: how many launches do you need, and how do you divide the phases
  // among them?
  (void)threads_per_block, (void)blocks, (void)from, (void)to;
  NOT_WRITTEN("step 02");
}

}  // namespace

template <class Key>
void sort_halo(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  if (order == lab::Order::ascending) {
    run_all_phases<lab::Order::ascending>(keys, shape, stream);
  } else {
    run_all_phases<lab::Order::descending>(keys, shape, stream);
  }
}

template void sort_halo(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_halo(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_halo(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_halo(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);

}  // namespace odd_even

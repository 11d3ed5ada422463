// Step 03: keys in registers, neighbours by shuffle.
//
// Idea: a row of 128 keys fits the registers of one warp, four neighbouring keys a lane. Most pairs of neighbours then
// lie in one lane and need no memory at all; for the pair that two lanes share, each sends the other its key by a
// shuffle, and both compare: the left lane keeps the earlier key, the right lane the later one.
// New since step 02: registers in place of shared memory, shuffles in place of barriers. A shuffle brings the lanes of
// its warp together, and warps know nothing of each other.
// Cost: one launch; one read and one write of every key; 128 phases, two shuffles in every second one, no barrier.
// Limits: sorts each row by itself. Full warps only: threads that are no multiple of 32 are refused.
#include <cstdint>
#include <string>

#include "compare_exchange.cuh"
#include "step/launch_shape.h"

namespace odd_even {
namespace {

constexpr int warp_lanes = 32;
constexpr int lane_keys = row_keys / warp_lanes;
static_assert(lane_keys == 4, "the phases are written for four keys a lane");
constexpr int default_threads = 256;

/// Runs all phases on a row: `own` are places 4 * lane .. 4 * lane + 3. All lanes of the warp call it. The array is
/// indexed by constants only, so that it lives in registers.
template <lab::Order order, class Key>
__device__ void sort_in_registers(Key (&own)[lane_keys], int lane) {
  // Your code: row_keys phases, in turn even and odd. Even: the pairs (0, 1) and (2, 3) of each lane. Odd: the pair
  // (1, 2), and key 3 with key 0 of the lane above: __shfl_down_sync and __shfl_up_sync fetch the partner. Which
  // lanes have no partner on one side? All of them must take part in every shuffle, so the
  // mask is 0xffffffff.
}

/// A row a warp: warp w of the grid sorts rows w, w + warps of the grid, ..
template <lab::Order order, class Key>
__global__ void sort_rows_kernel(lab::Span<Key> keys) {
  const int lane = threadIdx.x % warp_lanes;
  const std::int64_t warps_a_block = blockDim.x / warp_lanes;
  const std::int64_t warp = blockIdx.x * warps_a_block + threadIdx.x / warp_lanes;
  const std::int64_t warps = gridDim.x * warps_a_block;
  for (std::int64_t first = warp * row_keys; first < keys.n; first += warps * row_keys) {
    const std::int64_t place = first + lane * lane_keys;  // of the lane's first key
    // Your code: load the lane's four keys; sort_in_registers(); store them. In a short last row a place from keys.n
    // on is filled with lab::last_key<Key>(order), which stays behind all others, and is not stored.
    (void)place;
  }
}

}  // namespace

template <class Key>
void sort_rows(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  if (threads % warp_lanes != 0) {
    throw lab::Unsupported("step 03 works with full warps: " + std::to_string(threads) +
                           " threads a block are no multiple of 32");
  }
  const unsigned blocks = lab::blocks_or(shape, keys.n, threads * lane_keys);
  if (keys.n < 2) return;
  // Your code: launch sort_rows_kernel for the order asked for, and check the launch.
  (void)blocks;
  NOT_WRITTEN("step 03");
}

template void sort_rows(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_rows(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_rows(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_rows(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);

}  // namespace odd_even

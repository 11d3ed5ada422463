// Step 03: keys in registers, neighbours by shuffle.
//
// Idea: a row of 128 keys fits into the registers of one warp, four neighbouring keys per lane. Then most pairs of
// neighbours belong to one lane and need no memory at all. For a pair that two lanes share, each lane sends its key to
// the other by a shuffle, and both compare: the left lane keeps the earlier key, the right lane the later one.
// New since step 02: registers in place of shared memory, shuffles in place of barriers. The lanes of a shuffle wait for
// each other to exchange their values. The warps are independent of each other.
//- Cost: one launch, which reads and writes every key once. 128 phases, with two shuffles in every second phase and no
//- barrier.
// Limits: each row is sorted separately. The number of threads per block must be a multiple of 32, because all lanes of
// a warp take part in a shuffle.
#include <cstdint>
#include <string>

#include "compare_exchange.cuh"
#include "step/launch_shape.h"

namespace odd_even {
namespace {

constexpr int warp_size = 32;
constexpr int items_per_thread = row_keys / warp_size;
static_assert(items_per_thread == 4, "the phases are written for four keys per lane");
constexpr int default_threads_per_block = 256;

/// Runs all phases on a row: `own` holds the positions 4 * lane to 4 * lane + 3. All lanes of the warp call it. The
/// array is indexed by constants only, so that it stays in registers.
template <lab::Order order, class Key>
__device__ void sort_in_registers(Key (&own)[items_per_thread], int lane) {
  // begin solution
  //~ // Your code: row_keys phases, alternately even and odd. Even: the pairs (0, 1) and (2, 3) of each lane. Odd: the
  //~ // pair (1, 2), and key 3 with key 0 of the next lane: __shfl_down_sync and __shfl_up_sync fetch the partner. Which
  //~ // lanes have no partner on one side? All lanes must take part in every shuffle, so the mask is 0xffffffff.
  constexpr unsigned all_lanes = 0xffffffffu;
  for (int phase = 0; phase < row_keys; phase += 2) {
    compare_exchange<order>(own[0], own[1]);
    compare_exchange<order>(own[2], own[3]);

    compare_exchange<order>(own[1], own[2]);
    const Key previous = __shfl_up_sync(all_lanes, own[3], 1);  // key 3 of lane - 1
    const Key next = __shfl_down_sync(all_lanes, own[0], 1);    // key 0 of lane + 1
    if (lane > 0) own[0] = lab::later<order>(previous, own[0]);
    if (lane < warp_size - 1) own[3] = lab::earlier<order>(own[3], next);
  }
  // end solution
}

/// One row per warp: warp w of the grid sorts the rows w, w + warps, w + 2 * warps, ..., where `warps` is the number of
/// warps in the grid.
template <lab::Order order, class Key>
__global__ void sort_rows_kernel(lab::Span<Key> keys) {
  const int lane = threadIdx.x % warp_size;
  const std::int64_t warps_per_block = blockDim.x / warp_size;
  const std::int64_t warp = blockIdx.x * warps_per_block + threadIdx.x / warp_size;
  const std::int64_t warps = gridDim.x * warps_per_block;
  for (std::int64_t first = warp * row_keys; first < keys.n; first += warps * row_keys) {
    const std::int64_t position = first + lane * items_per_thread;  // of the lane's first key
    // begin solution
    //~ // Your code: load the lane's four keys, sort_in_registers(), store them. In a short last row, fill the positions
    //~ // from keys.n on with sentinels, lab::last_key<Key>(order), which no key follows. Do not store them.
    //~ (void)position;
    Key own[items_per_thread];
    for (int j = 0; j < items_per_thread; ++j) {
      own[j] = position + j < keys.n ? keys.data[position + j] : lab::last_key<Key>(order);
    }
    sort_in_registers<order>(own, lane);
    for (int j = 0; j < items_per_thread; ++j) {
      if (position + j < keys.n) keys.data[position + j] = own[j];
    }
    // end solution
  }
}

}  // namespace

template <class Key>
void sort_rows(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  if (threads_per_block % warp_size != 0) {
    throw lab::Unsupported("step 03 needs full warps: " + std::to_string(threads_per_block) +
                           " threads per block is not a multiple of 32");
  }
  const unsigned blocks = lab::blocks_or(shape, keys.n, threads_per_block * items_per_thread);
  if (keys.n < 2) return;
  // begin solution
  //~ // Your code: launch sort_rows_kernel for the requested order, and check the launch.
  //~ (void)blocks;
  //~ NOT_WRITTEN("step 03");
  if (order == lab::Order::ascending) {
    sort_rows_kernel<lab::Order::ascending><<<blocks, threads_per_block, 0, stream>>>(keys);
  } else {
    sort_rows_kernel<lab::Order::descending><<<blocks, threads_per_block, 0, stream>>>(keys);
  }
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

template void sort_rows(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_rows(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_rows(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_rows(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);

}  // namespace odd_even

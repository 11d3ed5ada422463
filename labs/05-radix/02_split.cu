// Step 02: one bit a pass.
//
// Idea: a split moves all keys whose bit is 0 before those whose bit is 1, and keeps the order on both sides. Let s(i) be
// how many keys before i have a 1, and z how many have a 0 at all: a key with a 0 goes to i - s(i), one with a 1 to
// z + s(i). So one exclusive scan of the bits gives every key its place, and a split for every bit, the lowest first,
// sorts.
// New since step 01: the keys never leave the device. A warp counts its ones by a vote; a block adds its warps; the
// blocks' sums are scanned as in lab 04.
// Cost: as many passes as a key has bits; each reads every key twice and writes it once, to two places by turns.
// Limits: threads in whole warps.
#include <cstdint>
#include <utility>

#include "digit.cuh"
#include "scan.cuh"

namespace radix {
namespace {

constexpr int default_threads = 256;
constexpr int tile_rows = 8;  ///< a tile is so many times the block's threads

/// How many keys of each tile have a 1 at `shift`.
template <class Key>
__global__ void count_ones(lab::Span<const Key> keys, Digits<Key> of, int shift, long long* tile_ones) {
  const std::int64_t tile_keys = std::int64_t{tile_rows} * blockDim.x;
  for (std::int64_t tile = blockIdx.x; tile * tile_keys < keys.n; tile += gridDim.x) {
    // Your code: each thread looks at tile_rows keys, blockDim.x apart. __syncthreads_count() adds a yes or no over the
    // block; __popc(__ballot_sync()) does it over a warp. Thread 0 writes the tile's sum.
  }
}

/// Moves every key to its side. ones_before[t]: the ones in all tiles before t; its last entry: in all tiles.
template <class Key, class Value>
__global__ void split(lab::Span<const Key> keys, Key* to, const Value* values, Value* values_to, Digits<Key> of,
                      int shift, const long long* ones_before, std::int64_t tiles) {
  __shared__ long long warp_ones[32];
  const std::int64_t tile_keys = std::int64_t{tile_rows} * blockDim.x;
  const std::int64_t zeros = keys.n - ones_before[tiles];
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    long long before_row = ones_before[tile];
    for (int row = 0; row < tile_rows; ++row) {
      const std::int64_t i = tile * tile_keys + row * std::int64_t(blockDim.x) + threadIdx.x;
      // Your code: is the bit of key i a 1? block_exclusive_sum() gives how many threads before this one have a 1, and
      // how many there are in this row. Write the key (and its value) to its place. All threads must call the sum,
      // also those beyond the last key.
      (void)i, (void)zeros, (void)before_row, (void)warp_ones;
    }
  }
}

template <class Key, class Value>
void sort(lab::Span<Key> keys, Value* values, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  if (threads % 32 != 0) throw lab::Unsupported("this step votes in whole warps: choose a multiple of 32 threads");
  const std::int64_t tile_keys = std::int64_t{tile_rows} * threads, tiles = (keys.n + tile_keys - 1) / tile_keys;
  const unsigned blocks = lab::blocks_or(shape, tiles, 1);
  if (keys.n < 2) return;
  const Digits<Key> of(order);
  const lab::DeviceArray<Key> scratch(keys.n, stream);
  const lab::DeviceArray<Value> value_scratch(has_values<Value> ? keys.n : 0, stream);
  const lab::DeviceArray<long long> ones(tiles + 1, stream);  // one more, so that the scan ends with the sum of all
  Key* from = keys.data;
  Key* to = scratch.data();
  Value* values_from = values;
  Value* values_to = value_scratch.data();
  // Your code: for each bit, the lowest first: count_ones, exclusive_scan(ones.span(), stream), split; then the buffers
  // swap. The last counter of `ones` has no tile: clear it before the scan. Every type has an even number of bits, so
  // the keys end where they began.
  (void)blocks, (void)of, (void)from, (void)to, (void)values_from, (void)values_to;
  NOT_WRITTEN("step 02");
}

}  // namespace

template <class Key>
void sort_split(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort(keys, static_cast<NoValue*>(nullptr), order, shape, stream);
}

template <class Key, class Value>
void sort_split(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                cudaStream_t stream) {
  sort(keys, values.data, order, shape, stream);
}

template void sort_split(lab::Span<std::uint8_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_split(lab::Span<std::uint16_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_split(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_split(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_split(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_split(lab::Span<std::int64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_split(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_split(lab::Span<double>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_split(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                         cudaStream_t);

}  // namespace radix

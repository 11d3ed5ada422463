// Step 02: one bit per pass.
//
// Idea: a split moves all keys whose bit is 0 before those whose bit is 1, and keeps the order on both sides. Let s(i)
// be the number of keys before i with a 1, and z the number of all keys with a 0. A key with a 0 goes to i - s(i), one
// with a 1 to z + s(i). One exclusive scan of the bits therefore gives every key its position, and one split for every
// bit, the lowest first, sorts the keys.
// New since step 01: the keys never leave the device. A warp counts its ones by a vote, a block adds up its warps, and
// the blocks' sums are scanned as in lab 04.
// Limits: threads in whole warps.
#include <cstdint>

#include "array_scan.cuh"
#include "digit.cuh"

namespace radix {
namespace {

constexpr int default_threads = 256;
constexpr int items_per_thread = 8;  ///< a tile has items_per_thread rows, each as long as the block has threads

/// Counts the keys of each tile that have a 1.
template <class Key>
__global__ void count_ones(lab::Span<const Key> keys, Digits<Key, 1> digits, long long* tile_ones) {
  const std::int64_t tile_keys = std::int64_t{items_per_thread} * blockDim.x;
  for (std::int64_t tile = blockIdx.x; tile * tile_keys < keys.n; tile += gridDim.x) {
    // Your code: each thread looks at items_per_thread keys, blockDim.x apart. __syncthreads_count() counts the
    // threads of the block for which a condition is true; __popc(__ballot_sync()) counts those of a warp. Thread 0
    // writes the tile's sum.
  }
}

/// Moves every key to its side. ones_before[t] is the number of ones in all tiles before t, and its last entry is the
/// number in all tiles.
template <class Key, class Value>
__global__ void split(Pairs<const Key, const Value> from, Pairs<Key, Value> to, std::int64_t n, Digits<Key, 1> digits,
                      const long long* ones_before, std::int64_t tiles) {
  __shared__ long long warp_ones[32];
  const std::int64_t tile_keys = std::int64_t{items_per_thread} * blockDim.x;
  const std::int64_t zeros = n - ones_before[tiles];
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    long long before_row = ones_before[tile];
    for (int row = 0; row < items_per_thread; ++row) {
      const std::int64_t i = tile * tile_keys + row * std::int64_t(blockDim.x) + threadIdx.x;
      // Your code: is the bit of key i a 1? block_exclusive_sum<long long>() returns how many threads before this
      // one have a 1, and sets its last argument to the number in the whole row. Write the key (and its value) to
      // its position. All threads must call block_exclusive_sum(), also those beyond the last key.
      (void)i, (void)zeros, (void)before_row, (void)warp_ones;
    }
  }
}

}  // namespace

template <class Key, class Value>
void sort_split(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  if (threads % 32 != 0) throw lab::Unsupported("this step votes in whole warps: choose a multiple of 32 threads");
  const std::int64_t tile_keys = std::int64_t{items_per_thread} * threads, tiles = (keys.n + tile_keys - 1) / tile_keys;
  const unsigned blocks = lab::blocks_or(shape, tiles, 1);
  if (keys.n < 2) return;
  Buffers<Key, Value> buffers(keys, values, stream);
  const lab::DeviceArray<long long> ones(tiles + 1, stream);  // the scan leaves the sum of all tiles in the last entry
  // Your code: for each bit, the lowest first: count_ones, exclusive_scan(ones.span(), stream), split from
  // buffers.from to buffers.to, buffers.swap(). The last entry of `ones` belongs to no tile, but the scan reads it:
  // clear it before. Every type has an even number of bits, so the keys end up where they started.
  (void)blocks, (void)order, (void)buffers;
  NOT_WRITTEN("step 02");
}

INSTANTIATE_FOR_ALL_TYPES(sort_split);

}  // namespace radix

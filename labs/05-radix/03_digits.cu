// Step 03: four bits per pass, each tile sorted in shared memory first.
//
// Idea: digits of four bits need a quarter of the passes. A block counts the digits of its tile. The counters of all
// tiles are scanned, those of digit 0 first, then those of digit 1, and so on. Each tile then knows where its keys of
// each digit begin. If the keys were stored in their order, neighbours would go to 16 different positions. Therefore
// the block first sorts its tile by the digit in shared memory, with four splits, and then stores 16 runs of
// neighbours.
// New since step 02: the splits take place in shared memory, and whole runs are stored in global memory.
// Limits: 256 threads per block.
#include <cstdint>

#include "array_scan.cuh"
#include "digit.cuh"

namespace radix {
namespace {

constexpr int digit_bits = 4;
constexpr int digit_values = 1 << digit_bits;
constexpr int threads_per_block = 256, warps = threads_per_block / 32;
constexpr int items_per_thread = 8;  ///< threads_per_block apart: one row of the tile each
constexpr int tile_size = items_per_thread * threads_per_block;
constexpr int groups = items_per_thread * warps;  ///< of 32 neighbouring keys, in the order of the keys
static_assert(groups == 64, "one warp scans the groups' ones, two groups per lane");

/// Counts the digits of each tile: counters[digit * tiles + tile].
template <class Key>
__global__ void count_tiles(lab::Span<const Key> keys, Digits<Key, digit_bits> digits, long long* counters,
                            std::int64_t tiles) {
  __shared__ unsigned counts[warps][digit_values];  // one set per warp, so that fewer atomics need the same counter
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    // Your code: clear the counters; count the digits of the tile's keys, each warp in its own set; add up the
    // sets.
    (void)counts;
  }
}

/// A tile in shared memory, twice: a split reads one copy and writes the other.
template <class Key, class Value>
struct Tile {
  Key keys[2][tile_size];
  Value values[2][has_values<Value> ? tile_size : 1];
  int ones[groups];  ///< in each group of 32 neighbours; then in all groups before it
  int all_ones;
};

/// Sorts the first `count` keys of tile.keys[0] by the digit, with an even number of splits, so that they end
/// there. All threads call it, and the caller has barriers before and after it.
template <class Key, class Value>
__device__ void sort_by_digit(Tile<Key, Value>& tile, int count, Digits<Key, digit_bits> digits) {
  // Your code: for each bit of the digit, digits.bit(key, i), a split as in step 02, in phases (write a function
  // for each). Thread t has keys t, t + 256, ... Count: the group of 32 neighbours that a warp has in one row
  // counts its ones by __ballot_sync(). (What do positions from `count` on vote?) Scan: one warp scans the 64
  // groups' counts (warp_inclusive_sum() of scan.cuh). Move.
  (void)tile, (void)count, (void)digits;
}

/// Sorts each tile t by its digit and stores it. Its keys of a digit begin at firsts[digit * tiles + t].
template <class Key, class Value>
__global__ void __launch_bounds__(threads_per_block)
    scatter_tiles(Pairs<const Key, const Value> from, Pairs<Key, Value> to, std::int64_t n,
                  Digits<Key, digit_bits> digits, const long long* firsts, std::int64_t tiles) {
  __shared__ Tile<Key, Value> tile;
  __shared__ long long offsets[digit_values];  // where a digit's run begins in `to`, less where it begins in the tile
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t first = t * tile_size;
    const int count = n - first < tile_size ? int(n - first) : tile_size;
    // Your code: load the tile and sort_by_digit(). A digit's run begins at position i if the key before i has another
    // digit. The thread there writes offsets[digit]. Then store every key at offsets[digit] + i.
    (void)tile, (void)offsets, (void)count;
  }
}

}  // namespace

template <class Key, class Value>
void sort_digits(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream) {
  if (lab::threads_or(shape, threads_per_block) != threads_per_block) {
    throw lab::Unsupported("this step has 256 threads per block: choose --threads 256 or leave it out");
  }
  const std::int64_t tiles = (keys.n + tile_size - 1) / tile_size;
  const unsigned blocks = lab::blocks_or(shape, tiles, 1);
  if (keys.n < 2) return;
  Buffers<Key, Value> buffers(keys, values, stream);
  const lab::DeviceArray<long long> counters(digit_values * tiles, stream);
  // Your code, for each digit: count_tiles, exclusive_scan, scatter_tiles from buffers.from to buffers.to, swap.
  (void)blocks, (void)order, (void)buffers;
  NOT_WRITTEN("step 03");
}

INSTANTIATE_FOR_ALL_TYPES(sort_digits);

}  // namespace radix

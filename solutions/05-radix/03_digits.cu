// Step 03: four bits per pass, each tile sorted in shared memory first.
//
// Idea: digits of four bits need a quarter of the passes. A block counts the digits of its tile. The counters of all
// tiles are scanned, those of digit 0 first, then those of digit 1, and so on. Each tile then knows where its keys of
// each digit begin. If the keys were stored in their order, neighbours would go to 16 different positions. Therefore
// the block first sorts its tile by the digit in shared memory, with four splits, and then stores 16 runs of
// neighbours.
// New since step 02: the splits take place in shared memory, and whole runs are stored in global memory.
//- Cost: two passes per byte, each with two reads and one write of every key, and four splits in shared memory.
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
    // begin solution
    //~ // Your code: clear the counters; count the digits of the tile's keys, each warp in its own set; add up the
    //~ // sets.
    //~ (void)counts;
    for (int i = threadIdx.x; i < warps * digit_values; i += threads_per_block) (&counts[0][0])[i] = 0;
    __syncthreads();  // a thread adds to elements of `counts` that other threads have cleared
    for (int row = 0; row < items_per_thread; ++row) {
      const std::int64_t i = tile * tile_size + row * threads_per_block + threadIdx.x;
      if (i < keys.n) atomicAdd(&counts[threadIdx.x / 32][digits.extract(keys.data[i])], 1u);
    }
    __syncthreads();  // a thread reads elements of `counts` to which other warps have added
    if (threadIdx.x < digit_values) {
      unsigned sum = 0;
      for (int warp = 0; warp < warps; ++warp) sum += counts[warp][threadIdx.x];
      counters[threadIdx.x * tiles + tile] = sum;
    }
    __syncthreads();  // the next tile clears elements of `counts` that others may still be adding up
    // end solution
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

// begin solution
//~ /// Sorts the first `count` keys of tile.keys[0] by the digit, with an even number of splits, so that they end
//~ /// there. All threads call it, and the caller has barriers before and after it.
//~ template <class Key, class Value>
//~ __device__ void sort_by_digit(Tile<Key, Value>& tile, int count, Digits<Key, digit_bits> digits) {
//~   // Your code: for each bit of the digit, digits.bit(key, i), a split as in step 02, in phases (write a function
//~   // for each). Thread t has keys t, t + 256, ... Count: the group of 32 neighbours that a warp has in one row
//~   // counts its ones by __ballot_sync(). (What do positions from `count` on vote?) Scan: one warp scans the 64
//~   // groups' counts (warp_inclusive_sum() of scan.cuh). Move.
//~   (void)tile, (void)count, (void)digits;
//~ }
/// Counts each group's ones. votes[row] becomes the lanes of this warp whose key in that row has a 1.
template <class Key, class Value>
__device__ void count_group_ones(Tile<Key, Value>& tile, const Key* keys, int count, Digits<Key, digit_bits> digits,
                                 int bit, unsigned (&votes)[items_per_thread]) {
  for (int row = 0; row < items_per_thread; ++row) {
    const int i = row * threads_per_block + threadIdx.x;
    // Positions beyond the last key vote 1, so that they come last and stay where they are.
    votes[row] = __ballot_sync(0xffffffffu, i >= count || digits.bit(keys[i], bit));
    if (threadIdx.x % 32 == 0) tile.ones[row * warps + threadIdx.x / 32] = __popc(votes[row]);
  }
}

/// Replaces each group's ones by the ones in all groups before it. Called by one warp; a lane has two groups.
template <class Key, class Value>
__device__ void scan_groups(Tile<Key, Value>& tile) {
  const int lane = threadIdx.x, first = tile.ones[2 * lane], both = first + tile.ones[2 * lane + 1];
  const int inclusive = warp_inclusive_sum(both);
  tile.ones[2 * lane] = inclusive - both;
  tile.ones[2 * lane + 1] = inclusive - both + first;
  if (lane == 31) tile.all_ones = inclusive;
}

/// Moves each key to its side, from copy `source` of the tile to the other.
template <class Key, class Value>
__device__ void move_to_sides(Tile<Key, Value>& tile, int source, int count,
                              const unsigned (&votes)[items_per_thread]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first_one = tile_size - tile.all_ones;
  for (int row = 0; row < items_per_thread; ++row) {
    const int i = row * threads_per_block + threadIdx.x;
    if (i >= count) continue;
    const int before = tile.ones[row * warps + warp] + __popc(votes[row] & ((1u << lane) - 1));
    const int position = votes[row] >> lane & 1 ? first_one + before : i - before;
    tile.keys[1 - source][position] = tile.keys[source][i];
    if constexpr (has_values<Value>) tile.values[1 - source][position] = tile.values[source][i];
  }
}

/// Sorts the first `count` keys of tile.keys[0] by the digit, with an even number of splits, so that they end there.
/// All threads call it. The caller places a barrier before it, and it ends with one.
template <class Key, class Value>
__device__ void sort_by_digit(Tile<Key, Value>& tile, int count, Digits<Key, digit_bits> digits) {
  unsigned votes[items_per_thread];
  for (int bit = 0; bit < digit_bits; ++bit) {
    const int source = bit % 2;
    count_group_ones(tile, tile.keys[source], count, digits, bit, votes);
    __syncthreads();  // one warp scans tile.ones, which all warps have written
    if (threadIdx.x < 32) scan_groups(tile);
    __syncthreads();  // every warp reads the sums in tile.ones, which the first warp has written
    move_to_sides(tile, source, count, votes);
    __syncthreads();  // the next split reads keys of `tile` that others have moved, and overwrites tile.ones
  }
}
// end solution

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
    // begin solution
    //~ // Your code: load the tile and sort_by_digit(). A digit's run begins at position i if the key before i has another
    //~ // digit. The thread there writes offsets[digit]. Then store every key at offsets[digit] + i.
    //~ (void)tile, (void)offsets, (void)count;
    for (int i = threadIdx.x; i < count; i += threads_per_block) {
      tile.keys[0][i] = from.keys[first + i];
      if constexpr (has_values<Value>) tile.values[0][i] = from.values[first + i];
    }
    __syncthreads();  // not needed as long as a thread counts only keys of `tile` that it has loaded itself
    sort_by_digit(tile, count, digits);
    for (int i = threadIdx.x; i < count; i += threads_per_block) {
      const unsigned digit = digits.extract(tile.keys[0][i]);
      if (i == 0 || digits.extract(tile.keys[0][i - 1]) != digit) offsets[digit] = firsts[digit * tiles + t] - i;
    }
    __syncthreads();  // a thread reads elements of `offsets` that the threads at the beginnings of runs have written
    for (int i = threadIdx.x; i < count; i += threads_per_block) {
      const std::int64_t position = offsets[digits.extract(tile.keys[0][i])] + i;
      to.keys[position] = tile.keys[0][i];
      if constexpr (has_values<Value>) to.values[position] = tile.values[0][i];
    }
    __syncthreads();  // not needed as long as each thread overwrites only keys of `tile` that it has stored itself
    // end solution
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
  // begin solution
  //~ // Your code, for each digit: count_tiles, exclusive_scan, scatter_tiles from buffers.from to buffers.to, swap.
  //~ (void)blocks, (void)order, (void)buffers;
  //~ NOT_WRITTEN("step 03");
  for (int shift = 0; shift < int(8 * sizeof(Key)); shift += digit_bits) {
    const Digits<Key, digit_bits> digits(order, shift);
    const auto from = read_only(buffers.from);
    count_tiles<<<blocks, threads_per_block, 0, stream>>>(lab::Span<const Key>{from.keys, keys.n}, digits,
                                                          counters.data(), tiles);
    CUDA_CHECK(cudaGetLastError());
    exclusive_scan(counters.span(), stream);
    scatter_tiles<<<blocks, threads_per_block, 0, stream>>>(from, buffers.to, keys.n, digits, counters.data(), tiles);
    CUDA_CHECK(cudaGetLastError());
    buffers.swap();
  }
  // end solution
}

INSTANTIATE_FOR_ALL_TYPES(sort_digits);

}  // namespace radix

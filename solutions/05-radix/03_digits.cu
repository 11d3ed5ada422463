// Step 03: four bits a pass, each tile sorted in shared memory first.
//
// Idea: a digit of four bits needs a quarter of the passes. A block counts the digits of its tile; the counters of all
// tiles, those of digit 0 first, then of digit 1, .., are scanned: then each tile knows where its keys of each digit
// begin. Written at once, neighbouring keys would go to 16 places by turns; so the block first sorts its tile by the digit
// in shared memory, with four splits, and its keys leave in 16 runs of neighbours.
// New since step 02: the splits happen in shared memory, and global memory sees whole runs.
// Cost: two passes a byte, each with two reads and one write of every key; four splits a pass in shared memory.
// Limits: 256 threads a block.
#include <cstdint>
#include <utility>

#include "digit.cuh"
#include "scan.cuh"

namespace radix {
namespace {

constexpr int digit_bits = 4;
constexpr int digits = 1 << digit_bits;
constexpr int threads_a_block = 256, warps = threads_a_block / 32;
constexpr int rows = 8;  ///< keys of a thread, threads_a_block apart
constexpr int tile_keys = rows * threads_a_block;
constexpr int groups = rows * warps;  ///< of 32 neighbouring keys
static_assert(groups == 64, "one warp scans the groups' ones, two a lane");

/// Counts the digits of each tile: counters[digit * tiles + tile].
template <class Key>
__global__ void count_tiles(lab::Span<const Key> keys, Digits<Key> of, int shift, long long* counters,
                            std::int64_t tiles) {
  __shared__ unsigned counts[warps][digits];  // each warp has its own: fewer atomics meet at one counter
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    // begin solution
    //~ // Your code: clear the counters; count the digits of the tile's keys, each warp in its own; add the warps'.
    //~ (void)counts;
    for (int i = threadIdx.x; i < warps * digits; i += threads_a_block) counts[i / digits][i % digits] = 0;
    __syncthreads();  // nobody counts before all counters are clear
    for (int row = 0; row < rows; ++row) {
      const std::int64_t i = tile * tile_keys + row * threads_a_block + threadIdx.x;
      if (i < keys.n) atomicAdd(&counts[threadIdx.x / 32][of.of(keys.data[i], shift, digit_bits)], 1u);
    }
    __syncthreads();  // all keys of the tile are counted
    if (threadIdx.x < digits) {
      unsigned sum = 0;
      for (int warp = 0; warp < warps; ++warp) sum += counts[warp][threadIdx.x];
      counters[threadIdx.x * tiles + tile] = sum;
    }
    __syncthreads();  // the counters are read; the next tile clears them
    // end solution
  }
}

/// A tile in shared memory, twice: a split reads one and writes the other.
template <class Key, class Value>
struct Tile {
  Key keys[2][tile_keys];
  Value values[2][has_values<Value> ? tile_keys : 1];
  int ones[groups];  ///< of each group of 32 neighbours; then of all groups before it
  int all_ones;
};

/// Sorts the first `count` keys of tile.keys[0] by the digit at `shift`, with an even number of splits, so that they end
/// there. All threads call it, after the load and before a barrier of their own.
template <class Key, class Value>
__device__ void sort_by_digit(Tile<Key, Value>& tile, int count, Digits<Key> of, int shift) {
  // begin solution
  //~ // Your code: for each bit of the digit a split, as in step 02. Thread t has keys t, t + 256, ..; the group of 32
  //~ // neighbours that a warp has in one row counts its ones by __ballot_sync(), and one warp scans the 64 groups' counts.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int bit = 0; bit < digit_bits; ++bit) {
    const int source = bit % 2;
    unsigned votes[rows];
    for (int row = 0; row < rows; ++row) {
      const int i = row * threads_a_block + threadIdx.x;
      // Beyond the last key all are ones: they come last, and stay where they are.
      votes[row] = __ballot_sync(0xffffffffu, i >= count || of.of(tile.keys[source][i], shift + bit, 1) == 1);
      if (lane == 0) tile.ones[row * warps + warp] = __popc(votes[row]);
    }
    __syncthreads();  // all groups have counted
    if (warp == 0) {
      const int first = tile.ones[2 * lane], both = first + tile.ones[2 * lane + 1];
      int up_to = both;
      for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(0xffffffffu, up_to, distance);
        if (lane >= distance) up_to += other;
      }
      tile.ones[2 * lane] = up_to - both;
      tile.ones[2 * lane + 1] = up_to - both + first;
      if (lane == 31) tile.all_ones = up_to;
    }
    __syncthreads();  // every group knows the ones before it
    const int first_one = tile_keys - tile.all_ones;
    for (int row = 0; row < rows; ++row) {
      const int i = row * threads_a_block + threadIdx.x;
      if (i >= count) continue;
      const int before = tile.ones[row * warps + warp] + __popc(votes[row] & ((1u << lane) - 1));
      const int place = votes[row] >> lane & 1 ? first_one + before : i - before;
      tile.keys[1 - source][place] = tile.keys[source][i];
      if constexpr (has_values<Value>) tile.values[1 - source][place] = tile.values[source][i];
    }
    __syncthreads();  // the next split reads what others have moved, and counts anew
  }
  // end solution
}

/// Sorts each tile by its digit and writes it out; firsts[digit * tiles + tile] is where its keys of a digit begin.
template <class Key, class Value>
__global__ void __launch_bounds__(threads_a_block)
    scatter_tiles(lab::Span<const Key> keys, Key* to, const Value* values, Value* values_to, Digits<Key> of, int shift,
                  const long long* firsts, std::int64_t tiles) {
  __shared__ Tile<Key, Value> tile;
  __shared__ long long shifted[digits];  // of a digit: where its run begins in `to`, less where it begins in the tile
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t first = t * tile_keys;
    const int count = keys.n - first < tile_keys ? int(keys.n - first) : tile_keys;
    // begin solution
    //~ // Your code: load the tile; sort_by_digit(); a digit's run begins at place i if the key before i has another digit:
    //~ // the thread there writes `shifted`; store every key at shifted[digit] + i.
    //~ (void)tile, (void)shifted, (void)count;
    for (int i = threadIdx.x; i < count; i += threads_a_block) {
      tile.keys[0][i] = keys.data[first + i];
      if constexpr (has_values<Value>) tile.values[0][i] = values[first + i];
    }
    __syncthreads();  // not needed as long as the first split reads only what its thread has loaded
    sort_by_digit(tile, count, of, shift);
    for (int i = threadIdx.x; i < count; i += threads_a_block) {
      const unsigned digit = of.of(tile.keys[0][i], shift, digit_bits);
      if (i == 0 || of.of(tile.keys[0][i - 1], shift, digit_bits) != digit)
        shifted[digit] = firsts[digit * tiles + t] - i;
    }
    __syncthreads();  // every run's place is known
    for (int i = threadIdx.x; i < count; i += threads_a_block) {
      const std::int64_t place = shifted[of.of(tile.keys[0][i], shift, digit_bits)] + i;
      to[place] = tile.keys[0][i];
      if constexpr (has_values<Value>) values_to[place] = tile.values[0][i];
    }
    __syncthreads();  // not needed as long as who stores a place also loads it; here for the day when that changes
    // end solution
  }
}

template <class Key, class Value>
void sort(lab::Span<Key> keys, Value* values, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  if (lab::threads_or(shape, threads_a_block) != threads_a_block) {
    throw lab::Unsupported("this step has 256 threads a block");
  }
  const std::int64_t tiles = (keys.n + tile_keys - 1) / tile_keys;
  const unsigned blocks = lab::blocks_or(shape, tiles, 1);
  if (keys.n < 2) return;
  const Digits<Key> of(order);
  const lab::DeviceArray<Key> scratch(keys.n, stream);
  const lab::DeviceArray<Value> value_scratch(has_values<Value> ? keys.n : 0, stream);
  const lab::DeviceArray<long long> counters(digits * tiles, stream);
  Key* from = keys.data;
  Key* to = scratch.data();
  Value* values_from = values;
  Value* values_to = value_scratch.data();
  // begin solution
  //~ // Your code: for each digit count_tiles, exclusive_scan, scatter_tiles; then the buffers swap.
  //~ (void)blocks, (void)of, (void)from, (void)to, (void)values_from, (void)values_to;
  //~ NOT_WRITTEN("step 03");
  for (int shift = 0; shift < int(8 * sizeof(Key)); shift += digit_bits) {
    const lab::Span<const Key> source{from, keys.n};
    count_tiles<<<blocks, threads_a_block, 0, stream>>>(source, of, shift, counters.data(), tiles);
    CUDA_CHECK(cudaGetLastError());
    exclusive_scan(counters.span(), stream);
    scatter_tiles<<<blocks, threads_a_block, 0, stream>>>(source, to, values_from, values_to, of, shift,
                                                          counters.data(), tiles);
    CUDA_CHECK(cudaGetLastError());
    std::swap(from, to);
    std::swap(values_from, values_to);
  }
  // end solution
}

}  // namespace

template <class Key>
void sort_digits(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort(keys, static_cast<NoValue*>(nullptr), order, shape, stream);
}

template <class Key, class Value>
void sort_digits(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream) {
  sort(keys, values.data, order, shape, stream);
}

template void sort_digits(lab::Span<std::uint8_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_digits(lab::Span<std::uint16_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_digits(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_digits(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_digits(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_digits(lab::Span<std::int64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_digits(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_digits(lab::Span<double>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_digits(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                          cudaStream_t);

}  // namespace radix

// Step 04: one sweep.
//
// Idea: step 03 reads every key twice a pass, because a tile must know the counters of all tiles before it. Here it asks
// them: a tile publishes its counters as soon as it has them, then looks back, from its neighbour on, adding what each
// tile before it has published, until one that already knows its own sum. So one read and one write a pass are enough.
// The counters of whole arrays, which say where a digit begins at all, come for all passes from one read at the start.
// New since step 03: blocks that wait for each other. A block takes its tile's number from a counter when it starts, so
// every tile before it belongs to a block that runs already or is done: it waits for nobody who waits for it, in any
// order of blocks. And ranks within a warp by votes: lanes with equal digits find each other.
// Cost: one read for the counters; then for each byte of a key one read and one write, and 2 or 4 KiB of counters a tile.
// Limits: 384 threads a block.
#include <cstdint>
#include <utility>

#include "digit.cuh"
#include "scan.cuh"
#include "step/device_array.h"
#include "step/launch_shape.h"

namespace radix {
namespace {

constexpr int digit_bits = 8;
constexpr int digits = 1 << digit_bits;
constexpr int threads_a_block = 384, warps = threads_a_block / 32;
static_assert(threads_a_block >= digits, "a thread a digit looks back");

/// Keys of a thread: as many as fit 80 bytes, at most 20.
template <class Key>
constexpr int rows = sizeof(Key) <= 4 ? 20 : 10;
template <class Key>
constexpr int tile_keys = rows<Key> * threads_a_block;
template <class Key>
constexpr int passes = sizeof(Key);

// --- the counters of all passes, from one read ---

template <class Key>
__global__ void count_all(lab::Span<const Key> keys, Digits<Key> of, unsigned long long* counters) {
  __shared__ unsigned counts[passes<Key>][digits];
  // begin solution
  //~ // Your code: as count_digits of step 01, for all passes at once: counters[pass * digits + digit].
  //~ (void)counts;
  for (int i = threadIdx.x; i < passes<Key> * digits; i += blockDim.x) counts[i / digits][i % digits] = 0;
  __syncthreads();  // nobody counts before all counters are clear
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < keys.n; i += stride) {
    const Key key = keys.data[i];
    for (int pass = 0; pass < passes<Key>; ++pass)
      atomicAdd(&counts[pass][of.of(key, pass * digit_bits, digit_bits)], 1u);
  }
  __syncthreads();  // all keys of the block are counted
  for (int i = threadIdx.x; i < passes<Key> * digits; i += blockDim.x) {
    if (counts[i / digits][i % digits] != 0) atomicAdd(&counters[i], counts[i / digits][i % digits]);
  }
  // end solution
}

/// Block `pass` scans its 256 counters: where each digit begins.
__global__ void scan_counters(unsigned long long* counters) {
  __shared__ unsigned long long sums[digits / 32];
  unsigned long long& own = counters[blockIdx.x * digits + threadIdx.x];
  unsigned long long total;
  own = block_exclusive_sum(own, sums, total);
}

// --- looking back ---

/// What a tile publishes of one digit: nothing yet, the keys of this tile, or those of all tiles up to this one. Both in
/// one word, so that whoever reads it reads both or neither. Word: 32 bits where n is below 2^30, else 64.
template <class Word>
struct Published {
  static constexpr int count_bits = 8 * int(sizeof(Word)) - 2;
  static constexpr Word tile_only = Word(1) << count_bits, up_to_here = Word(2) << count_bits;
  static constexpr Word count_mask = tile_only - 1;
};

/// Tells the tiles that follow how many keys of `digit` this one has. As early as can be: they wait for it.
template <class Word>
__device__ void publish(volatile Word* words, std::int64_t tile, unsigned digit, Word own) {
  words[tile * digits + digit] = (tile == 0 ? Published<Word>::up_to_here : Published<Word>::tile_only) | own;
}

/// How many keys of `digit` the tiles before `tile` have. `words`: of all tiles, digits each; own: this tile's keys, which
/// are published already.
template <class Word>
__device__ Word look_back(volatile Word* words, std::int64_t tile, unsigned digit, Word own) {
  Word before = 0;
  // begin solution
  //~ // Your code, with P = Published<Word>: go back from tile - 1, waiting (__nanosleep) while a word is 0, adding its
  //~ // count, until one has the bit P::up_to_here; then publish before + own as P::up_to_here. Tile 0 has nobody to ask.
  using P = Published<Word>;
  if (tile == 0) return 0;
  for (std::int64_t t = tile - 1;; --t) {
    Word word;
    while ((word = words[t * digits + digit]) == 0) __nanosleep(32);
    before += word & P::count_mask;
    if ((word & P::up_to_here) != 0) break;
  }
  words[tile * digits + digit] = P::up_to_here | (before + own);
  // end solution
  return before;
}

// --- ranks within a warp ---

/// The lanes of this warp that have the same digit. What __match_any_sync() gives, which takes a GPU longer.
[[maybe_unused]] __device__ inline unsigned lanes_with(unsigned digit) {
#ifdef __CUDA_ARCH__
  unsigned lanes = 0xffffffffu;
#pragma unroll
  for (int bit = 0; bit < digit_bits; ++bit) {
    const bool one = digit >> bit & 1;
    const unsigned vote = __ballot_sync(0xffffffffu, one);
    lanes &= one ? vote : ~vote;
  }
  return lanes;
#else
  return __match_any_sync(0xffffffffu, digit);
#endif
}

template <class Key, class Value>
struct Shared {
  union {
    unsigned counts[warps][digits];  ///< of each warp's keys; then where its keys of a digit begin in the tile
    Key keys[tile_keys<Key>];
    Value values[has_values<Value> ? tile_keys<Key> : 1];
  };
  long long shifted[digits];  ///< where a digit's keys begin in `to`, less where they begin in the tile
  unsigned sums[warps];
  unsigned tile;
};

/// One pass. `next_tile` gives out the tiles' numbers; firsts: where each digit begins; words: all 0 at the start.
template <class Word, class Key, class Value>
__global__ void __launch_bounds__(threads_a_block)
    sweep(lab::Span<const Key> keys, Key* to, const Value* values, Value* values_to, Digits<Key> of, int shift,
          const unsigned long long* firsts, unsigned* next_tile, volatile Word* words) {
  __shared__ Shared<Key, Value> shared;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  for (;;) {
    __syncthreads();  // the last tile's keys are stored, and its number is read
    if (t == 0) shared.tile = atomicAdd(next_tile, 1u);
    for (int i = t; i < warps * digits; i += threads_a_block) shared.counts[i / digits][i % digits] = 0;
    __syncthreads();  // the number is there, the counters are clear
    const std::int64_t tile = shared.tile, first = tile * tile_keys<Key>;
    if (first >= keys.n) return;
    const int count = keys.n - first < tile_keys<Key> ? int(keys.n - first) : tile_keys<Key>;
    // A warp has 32 * rows neighbours, a row 32 of them: (warp, row, lane) is the order of the keys.
    const int own_first = warp * 32 * rows<Key> + lane;
    Key own[rows<Key>];
    unsigned short rank[rows<Key>];  // among the warp's keys of the same digit; then the place in the tile
#pragma unroll
    for (int row = 0; row < rows<Key>; ++row) {
      const int i = own_first + 32 * row;
      if (i < count) own[row] = keys.data[first + i];
    }
    // begin solution
    //~ // Your code, part 1: the rank of every key among its warp's keys of the same digit, in their order. For each row:
    //~ // lanes_with() the same digit; the counter of (warp, digit) tells how many came in earlier rows, and a lane adds those
    //~ // of its row in lower lanes; then one of the lanes adds all of the row to the counter. Let keys beyond `count` have
    //~ // digit 255: they come after all others, so they disturb nobody.
    //~ (void)lane, (void)own, (void)rank, (void)of;
#pragma unroll
    for (int row = 0; row < rows<Key>; ++row) {
      const unsigned digit = own_first + 32 * row < count ? of.of(own[row], shift, digit_bits) : digits - 1;
      const unsigned same = lanes_with(digit);
      const unsigned lower = __popc(same & ((1u << lane) - 1));
      const unsigned earlier = shared.counts[warp][digit];
      __syncwarp();  // all lanes have read the counter
      if (lower == 0) shared.counts[warp][digit] = earlier + __popc(same);
      __syncwarp();  // the next row reads it
      rank[row] = static_cast<unsigned short>(earlier + lower);
    }
    // end solution
    __syncthreads();       // all warps have counted
    unsigned of_tile = 0;  // keys of digit t in this tile
    if (t < digits) {
      for (int w = 0; w < warps; ++w) {
        const unsigned of_warp = shared.counts[w][t];
        shared.counts[w][t] = of_tile;
        of_tile += of_warp;
      }
      publish(words, tile, t, Word(of_tile));
    }
    unsigned total;
    const unsigned in_tile = block_exclusive_sum(of_tile, shared.sums, total);  // where digit t begins in the tile
    if (t < digits) {
      const Word before = look_back(words, tile, t, Word(of_tile));
      shared.shifted[t] = static_cast<long long>(firsts[t] + before) - in_tile;
      for (int w = 0; w < warps; ++w) shared.counts[w][t] += in_tile;
    }
    __syncthreads();  // every warp's places are known
#pragma unroll
    for (int row = 0; row < rows<Key>; ++row) {
      const unsigned digit = own_first + 32 * row < count ? of.of(own[row], shift, digit_bits) : digits - 1;
      rank[row] = static_cast<unsigned short>(rank[row] + shared.counts[warp][digit]);
    }
    __syncthreads();  // the keys take the counters' memory
                      // begin solution
    //~ // Your code, part 2: put the keys into shared.keys by their rank, and store them in that order: the key at place i of
    //~ // the tile goes to shifted[its digit] + i. Then the values, through the same memory; a thread remembers the digits of
    //~ // the places that it stored, because the keys are gone by then. Mind the barriers.
#pragma unroll
    for (int row = 0; row < rows<Key>; ++row) {
      if (own_first + 32 * row < count) shared.keys[rank[row]] = own[row];
    }
    __syncthreads();  // the tile is sorted by its digit
    unsigned char digit_at[rows<Key>];
#pragma unroll
    for (int row = 0; row < rows<Key>; ++row) {
      const int i = row * threads_a_block + t;
      if (i >= count) break;
      const Key key = shared.keys[i];
      digit_at[row] = static_cast<unsigned char>(of.of(key, shift, digit_bits));
      to[shared.shifted[digit_at[row]] + i] = key;
    }
    if constexpr (has_values<Value>) {
      __syncthreads();  // the values take the keys' memory
#pragma unroll
      for (int row = 0; row < rows<Key>; ++row) {
        const int i = own_first + 32 * row;
        if (i < count) shared.values[rank[row]] = values[first + i];
      }
      __syncthreads();  // they stand like the keys
#pragma unroll
      for (int row = 0; row < rows<Key>; ++row) {
        const int i = row * threads_a_block + t;
        if (i < count) values_to[shared.shifted[digit_at[row]] + i] = shared.values[i];
      }
    }
    // end solution
  }
}

template <class Word, class Key, class Value>
void sort_with(lab::Span<Key> keys, Value* values, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const std::int64_t tiles = (keys.n + tile_keys<Key> - 1) / tile_keys<Key>;
  const unsigned blocks = lab::blocks_or(shape, tiles, 1);
  const Digits<Key> of(order);
  const lab::DeviceArray<Key> scratch(keys.n, stream);
  const lab::DeviceArray<Value> value_scratch(has_values<Value> ? keys.n : 0, stream);
  const lab::DeviceArray<unsigned long long> firsts(passes<Key> * digits, stream);
  const lab::DeviceArray<Word> words(tiles * digits, stream);
  const lab::DeviceArray<unsigned> next_tile(1, stream);
  Key* from = keys.data;
  Key* to = scratch.data();
  Value* values_from = values;
  Value* values_to = value_scratch.data();
  // begin solution
  //~ // Your code: clear `firsts`, count_all (few blocks, each with many keys: a counter has 32 bits), scan_counters. Then for
  //~ // each pass clear `words` and `next_tile` and sweep; the buffers swap. Keys of one byte have an odd number of passes:
  //~ // let them begin in the other buffer.
  //~ (void)blocks, (void)of, (void)from, (void)to, (void)values_from, (void)values_to, (void)scan_counters;
  //~ NOT_WRITTEN("step 04");
  CUDA_CHECK(cudaMemsetAsync(firsts.data(), 0, firsts.size() * sizeof(unsigned long long), stream));
  const std::int64_t keys_a_count_block = std::int64_t{1} << 16;  // a block's counters have 32 bits
  const unsigned count_blocks = lab::blocks_or({}, keys.n, keys_a_count_block);
  count_all<<<count_blocks, threads_a_block, 0, stream>>>(lab::Span<const Key>{from, keys.n}, of, firsts.data());
  CUDA_CHECK(cudaGetLastError());
  scan_counters<<<passes<Key>, digits, 0, stream>>>(firsts.data());
  CUDA_CHECK(cudaGetLastError());
  if (passes<Key> % 2 == 1) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, keys.n * sizeof(Key), cudaMemcpyDeviceToDevice, stream));
    std::swap(from, to);
  }
  for (int pass = 0; pass < passes<Key>; ++pass) {
    CUDA_CHECK(cudaMemsetAsync(words.data(), 0, words.size() * sizeof(Word), stream));
    CUDA_CHECK(cudaMemsetAsync(next_tile.data(), 0, sizeof(unsigned), stream));
    sweep<<<blocks, threads_a_block, 0, stream>>>(
        lab::Span<const Key>{from, keys.n}, to, static_cast<const Value*>(values_from), values_to, of,
        pass * digit_bits, firsts.data() + pass * digits, next_tile.data(), static_cast<volatile Word*>(words.data()));
    CUDA_CHECK(cudaGetLastError());
    std::swap(from, to);
    std::swap(values_from, values_to);
  }
  // end solution
}

template <class Key, class Value>
void sort(lab::Span<Key> keys, Value* values, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  if (lab::threads_or(shape, threads_a_block) != threads_a_block) {
    throw lab::Unsupported("this step has 384 threads a block");
  }
  lab::blocks_or(shape, 1, 1);
  if (keys.n < 2) return;
  if (keys.n < std::int64_t{1} << 30) {
    sort_with<std::uint32_t>(keys, values, order, shape, stream);
  } else {
    sort_with<unsigned long long>(keys, values, order, shape, stream);
  }
}

}  // namespace

template <class Key>
void sort_onesweep(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort(keys, static_cast<NoValue*>(nullptr), order, shape, stream);
}

template <class Key, class Value>
void sort_onesweep(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                   cudaStream_t stream) {
  sort(keys, values.data, order, shape, stream);
}

template void sort_onesweep(lab::Span<std::uint8_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_onesweep(lab::Span<std::uint16_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_onesweep(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_onesweep(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_onesweep(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_onesweep(lab::Span<std::int64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_onesweep(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_onesweep(lab::Span<double>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_onesweep(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                            cudaStream_t);

}  // namespace radix

// Step 04: one sweep.
//
// Idea: step 03 reads every key twice per pass, because a tile must know the counters of all tiles before it. Here a
// tile asks those tiles. It publishes its own counters as soon as it has them, then looks back, from its neighbour on,
// and adds what each earlier tile has published, until it reaches one that already knows its inclusive prefix. One read
// and one write per pass are then enough. One more read at the start gives, for all passes, the counters of the whole
// array, which show where each digit begins.
// New since step 03: blocks that wait for each other. A block claims its tile by a ticket from a counter when it
// starts, so every earlier tile belongs to a block that is already running or done. Therefore no block waits for one
// that waits for it, whatever the order of the blocks. Within a warp, keys are ranked by votes, with which lanes with
// equal digits find each other.
//- Cost: one read for the counters. Then, per byte of a key, one read and one write, and 2 or 4 KiB of counters per
//- tile.
// Limits: 384 threads per block.
// Sources: the look-back and its words, D. Merrill and M. Garland, 2016; one sweep per digit, A. Adinets and D.
// Merrill, 2022 (radix.h).
#include <cstdint>

#include "digit.cuh"
#include "scan.cuh"
#include "step/launch_shape.h"

namespace radix {
namespace {

constexpr int digit_bits = 8;
constexpr int digit_values = 1 << digit_bits;
constexpr int threads_per_block = 384, warps = threads_per_block / 32;
static_assert(threads_per_block >= digit_values, "one thread per digit looks back");

/// Keys per thread: as many as fit in 80 bytes, at most 20.
template <class Key>
constexpr int items_per_thread = sizeof(Key) <= 4 ? 20 : 10;
template <class Key>
constexpr int tile_size = items_per_thread<Key> * threads_per_block;
template <class Key>
constexpr int passes = sizeof(Key);

/// From this number of keys on, a tile publishes words of 64 bits.
constexpr std::int64_t first_n_of_wide_words = std::int64_t{1} << 30;

// --- the counters of all passes, from one read ---

template <class Key>
__global__ void count_all(lab::Span<const Key> keys, Digits<Key, digit_bits> digits, unsigned long long* counters) {
  __shared__ unsigned counts[passes<Key>][digit_values];
  // begin solution
  //~ // Your code: as count_digits of step 01, for all passes at once: counters[pass * digit_values + digit]. The digit
  //~ // of a pass is digits.extract(key, pass * digit_bits).
  //~ (void)counts;
  unsigned* const flat = &counts[0][0];
  for (int i = threadIdx.x; i < passes<Key> * digit_values; i += blockDim.x) flat[i] = 0;
  __syncthreads();  // a thread adds to elements of `counts` that other threads have cleared
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < keys.n; i += stride) {
    const Key key = keys.data[i];
    for (int pass = 0; pass < passes<Key>; ++pass) {
      atomicAdd(&counts[pass][digits.extract(key, pass * digit_bits)], 1u);
    }
  }
  __syncthreads();  // a thread reads elements of `counts` to which other threads have added
  for (int i = threadIdx.x; i < passes<Key> * digit_values; i += blockDim.x) {
    if (flat[i] != 0) atomicAdd(&counters[i], flat[i]);
  }
  // end solution
}

/// Block `pass` scans that pass's 256 counters: where each digit begins.
__global__ void scan_counters(unsigned long long* counters) {
  __shared__ unsigned long long warp_sums[digit_values / 32];
  unsigned long long& counter = counters[blockIdx.x * digit_values + threadIdx.x];
  unsigned long long total;
  counter = block_exclusive_sum(counter, warp_sums, total);
}

// --- looking back ---

/// What a tile has published about one digit: nothing yet (invalid, the word is 0), the number of its own keys
/// (partial: an aggregate), or of the keys in all tiles up to and including it (an inclusive prefix). Kind and count
/// share one word, so a reader sees both or neither. `Word` has 32 bits where n is below 2^30, else 64.
template <class Word>
struct TileStatus {
  static constexpr int count_bits = 8 * int(sizeof(Word)) - 2;
  static constexpr Word partial = Word(1) << count_bits, inclusive = Word(2) << count_bits;
  static constexpr Word count_mask = partial - 1;
};

/// Publishes how many keys of `digit` this tile has. Must be called early, because the tiles that follow wait for it.
template <class Word>
__device__ void publish(volatile Word* words, std::int64_t tile, unsigned digit, Word tile_aggregate) {
  using Status = TileStatus<Word>;
  words[tile * digit_values + digit] = (tile == 0 ? Status::inclusive : Status::partial) | tile_aggregate;
}

/// Returns how many keys of `digit` the tiles before `tile` have. `words`: one per tile and digit; `tile_aggregate`:
/// the number of this tile's keys of the digit, which is already published.
template <class Word>
__device__ Word look_back(volatile Word* words, std::int64_t tile, unsigned digit, Word tile_aggregate) {
  Word exclusive_prefix = 0;
  // begin solution
  //~ // Your code, with Status = TileStatus<Word>: go back from tile - 1. While a word is 0, wait (__nanosleep). Add
  //~ // its count, and stop after the first word that has the bit Status::inclusive. Then publish this tile's inclusive
  //~ // prefix. Tile 0 has no predecessor.
  using Status = TileStatus<Word>;
  if (tile == 0) return 0;
  for (std::int64_t predecessor = tile - 1;; --predecessor) {
    Word word;
    while ((word = words[predecessor * digit_values + digit]) == 0) __nanosleep(32);
    exclusive_prefix += word & Status::count_mask;
    if ((word & Status::inclusive) != 0) break;
  }
  const Word inclusive_prefix = exclusive_prefix + tile_aggregate;
  words[tile * digit_values + digit] = Status::inclusive | inclusive_prefix;
  // end solution
  return exclusive_prefix;
}

// --- the phases of a sweep ---

/// What the threads of a block share while they sort a tile.
template <class Key, class Value>
struct Shared {
  union {
    unsigned counts[warps][digit_values];  ///< of each warp's keys; then where its keys of a digit begin in the tile
    Key keys[tile_size<Key>];
    Value values[has_values<Value> ? tile_size<Key> : 1];
  };
  long long offsets[digit_values];  ///< where a digit's keys begin in the output, less where they begin in the tile
  unsigned warp_sums[warps];
  unsigned tile;
};

/// A thread's keys, from the position `first` of the tile on, 32 positions apart. A warp has items_per_thread rows of
/// 32 neighbours, so (warp, row, lane) is the order of the keys.
template <class Key>
struct Items {
  int first;  ///< position in the tile
  int count;  ///< of the tile's keys
  Key keys[items_per_thread<Key>];
  unsigned short ranks[items_per_thread<Key>];  ///< among the warp's keys of the same digit; then positions in the tile

  __device__ bool has(int row) const { return first + 32 * row < count; }

  /// The digit of the key in `row`. Positions beyond the last key have the highest digit, so they come after all keys.
  __device__ unsigned digit(int row, Digits<Key, digit_bits> digits) const {
    return has(row) ? digits.extract(keys[row]) : digit_values - 1;
  }
};

/// Loads the thread's keys of the tile.
template <class Key>
__device__ void load_keys(Items<Key>& items, const Key* tile) {
#pragma unroll
  for (int row = 0; row < items_per_thread<Key>; ++row) {
    if (items.has(row)) items.keys[row] = tile[items.first + 32 * row];
  }
}

/// Ranks every key among its warp's keys of the same digit, in their order. `counts`: the warp's counters, all 0 on
/// entry; on return, how many keys of each digit the warp has.
template <class Key>
__device__ void rank_keys(Items<Key>& items, Digits<Key, digit_bits> digits, unsigned* counts) {
  // begin solution
  //~ // Your code, for each row: find the lanes with the same digit (lanes_with). A key's rank is counts[digit], the
  //~ // number of such keys in earlier rows, plus the number in lower lanes of its row. Then the highest of the lanes,
  //~ // which knows the rank of the last key of this digit, raises the counter.
  const unsigned lane = threadIdx.x % 32, lower_lanes = (1u << lane) - 1;
#pragma unroll
  for (int row = 0; row < items_per_thread<Key>; ++row) {
    const unsigned digit = items.digit(row, digits);
    const unsigned equal = lanes_with<digit_bits>(digit);
    const unsigned rank = counts[digit] + __popc(equal & lower_lanes);
    __syncwarp();  // one lane raises counts[digit], which the others read
    if (equal >> lane == 1) counts[digit] = rank + 1;
    __syncwarp();  // the next row reads elements of `counts` that other lanes have raised
    items.ranks[row] = static_cast<unsigned short>(rank);
  }
  // end solution
}

/// Replaces the warps' counts of one digit by their exclusive sums; returns the tile's count of the digit.
template <class Key, class Value>
__device__ unsigned scan_warps(Shared<Key, Value>& shared, unsigned digit) {
  unsigned tile_aggregate = 0;
  for (int warp = 0; warp < warps; ++warp) {
    const unsigned count = shared.counts[warp][digit];
    shared.counts[warp][digit] = tile_aggregate;
    tile_aggregate += count;
  }
  return tile_aggregate;
}

/// Finds where the tile's keys of each digit go, one thread per digit: publishes the tile's counts, looks back, and
/// sets shared.offsets. On return, shared.counts holds where each warp's keys of a digit begin in the tile.
template <class Word, class Key, class Value>
__device__ void find_offsets(Shared<Key, Value>& shared, volatile Word* words, std::int64_t tile,
                             const unsigned long long* firsts) {
  const unsigned digit = threadIdx.x;
  unsigned tile_aggregate = 0, total;
  if (digit < digit_values) {
    tile_aggregate = scan_warps(shared, digit);
    publish(words, tile, digit, Word(tile_aggregate));
  }
  const unsigned digit_first = block_exclusive_sum(tile_aggregate, shared.warp_sums, total);  // in the tile
  if (digit < digit_values) {
    const Word exclusive_prefix = look_back(words, tile, digit, Word(tile_aggregate));
    shared.offsets[digit] = static_cast<long long>(firsts[digit] + exclusive_prefix) - digit_first;
    for (int warp = 0; warp < warps; ++warp) shared.counts[warp][digit] += digit_first;
  }
}

/// Turns ranks within the warp into positions in the tile. `begins`: where the warp's keys of each digit begin there.
template <class Key>
__device__ void ranks_to_offsets(Items<Key>& items, Digits<Key, digit_bits> digits, const unsigned* begins) {
#pragma unroll
  for (int row = 0; row < items_per_thread<Key>; ++row) {
    items.ranks[row] = static_cast<unsigned short>(items.ranks[row] + begins[items.digit(row, digits)]);
  }
}

/// Puts the keys in the order of their positions in the tile, in shared memory, and stores them from there, digit by
/// digit in runs. Then it does the same with the values.
template <class Key, class Value>
__device__ void scatter(Shared<Key, Value>& shared, const Items<Key>& items, Digits<Key, digit_bits> digits,
                        const Value* tile_values, Pairs<Key, Value> to) {
  // begin solution
  //~ // Your code: put the keys into shared.keys by their ranks, and store them in that order: the key at position i of
  //~ // the tile goes to offsets[its digit] + i. Then the values, through the same memory. A thread remembers the
  //~ // digits of the positions that it stored, because the keys are gone by then. Which barriers are needed?
#pragma unroll
  for (int row = 0; row < items_per_thread<Key>; ++row) {
    if (items.has(row)) shared.keys[items.ranks[row]] = items.keys[row];
  }
  __syncthreads();  // a thread stores keys that other threads have put into shared.keys
  unsigned char digit_at[items_per_thread<Key>];
#pragma unroll
  for (int row = 0; row < items_per_thread<Key>; ++row) {
    const int i = row * threads_per_block + threadIdx.x;
    if (i >= items.count) break;
    const Key key = shared.keys[i];
    digit_at[row] = static_cast<unsigned char>(digits.extract(key));
    to.keys[shared.offsets[digit_at[row]] + i] = key;
  }
  if constexpr (has_values<Value>) {
    __syncthreads();  // values overwrite keys in shared.keys that other threads may not have stored yet
#pragma unroll
    for (int row = 0; row < items_per_thread<Key>; ++row) {
      if (items.has(row)) shared.values[items.ranks[row]] = tile_values[items.first + 32 * row];
    }
    __syncthreads();  // a thread stores values that other threads have put into shared.values
#pragma unroll
    for (int row = 0; row < items_per_thread<Key>; ++row) {
      const int i = row * threads_per_block + threadIdx.x;
      if (i < items.count) to.values[shared.offsets[digit_at[row]] + i] = shared.values[i];
    }
  }
  // end solution
}

/// What the tiles of a pass share in device memory, all 0 at the start: the ticket counter, and the words of the tiles.
template <class Word>
struct PassState {
  unsigned* next_tile;
  volatile Word* words;
};

/// One pass. `firsts`: where each digit begins.
template <class Word, class Key, class Value>
__global__ void __launch_bounds__(threads_per_block)
    sweep(Pairs<const Key, const Value> from, Pairs<Key, Value> to, std::int64_t n, Digits<Key, digit_bits> digits,
          const unsigned long long* firsts, PassState<Word> state) {
  __shared__ Shared<Key, Value> shared;
  const int t = threadIdx.x, warp = t / 32;
  for (;;) {
    __syncthreads();  // others may still be reading shared.tile, or the last tile's keys in the memory of shared.counts
    if (t == 0) shared.tile = atomicAdd(state.next_tile, 1u);
    for (int i = t; i < warps * digit_values; i += threads_per_block) {
      shared.counts[i / digit_values][i % digit_values] = 0;
    }
    __syncthreads();  // all threads read shared.tile, and add to elements of shared.counts that others have cleared
    const std::int64_t tile = shared.tile, first = tile * tile_size<Key>;
    if (first >= n) return;

    Items<Key> items;
    items.first = warp * 32 * items_per_thread<Key> + t % 32;
    items.count = n - first < tile_size<Key> ? int(n - first) : tile_size<Key>;
    load_keys(items, from.keys + first);
    rank_keys(items, digits, shared.counts[warp]);
    __syncthreads();  // a thread sums elements of shared.counts that all warps have written
    find_offsets(shared, state.words, tile, firsts);
    __syncthreads();  // ranks_to_offsets() reads elements of shared.counts that other threads have written
    ranks_to_offsets(items, digits, shared.counts[warp]);
    __syncthreads();  // shared.keys overwrites shared.counts in the same memory, which others may still be reading
    scatter(shared, items, digits, from.values + first, to);
  }
}

// --- the host's part ---

template <class Word, class Key, class Value>
void sort_with(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, unsigned blocks, cudaStream_t stream) {
  const std::int64_t n = keys.n, tiles = (n + tile_size<Key> - 1) / tile_size<Key>;
  Buffers<Key, Value> buffers(keys, values, stream);
  const lab::DeviceArray<unsigned long long> firsts(passes<Key> * digit_values, stream);
  const lab::DeviceArray<Word> words(tiles * digit_values, stream);
  const lab::DeviceArray<unsigned> next_tile(1, stream);
  // begin solution
  //~ // Your code: clear `firsts`, count_all (about 2^16 keys per block, so that few blocks add their counters),
  //~ // scan_counters. Then for each pass clear `words` and `next_tile`, sweep from buffers.from to buffers.to, and swap.
  //~ // Keys of one byte have an odd number of passes: copy them to the other buffer first.
  //~ (void)blocks, (void)order, (void)buffers, (void)scan_counters;
  //~ NOT_WRITTEN("step 04");
  CUDA_CHECK(cudaMemsetAsync(firsts.data(), 0, firsts.size() * sizeof(unsigned long long), stream));
  const unsigned count_blocks = lab::blocks_or({}, n, std::int64_t{1} << 16);
  count_all<<<count_blocks, threads_per_block, 0, stream>>>(lab::Span<const Key>{keys.data, n},
                                                            Digits<Key, digit_bits>(order, 0), firsts.data());
  CUDA_CHECK(cudaGetLastError());
  scan_counters<<<passes<Key>, digit_values, 0, stream>>>(firsts.data());
  CUDA_CHECK(cudaGetLastError());
  if (passes<Key> % 2 == 1) {
    CUDA_CHECK(cudaMemcpyAsync(buffers.to.keys, keys.data, n * sizeof(Key), cudaMemcpyDeviceToDevice, stream));
    buffers.swap();
  }
  for (int pass = 0; pass < passes<Key>; ++pass) {
    CUDA_CHECK(cudaMemsetAsync(words.data(), 0, words.size() * sizeof(Word), stream));
    CUDA_CHECK(cudaMemsetAsync(next_tile.data(), 0, sizeof(unsigned), stream));
    const auto from = read_only(buffers.from);
    sweep<<<blocks, threads_per_block, 0, stream>>>(
        from, buffers.to, n, Digits<Key, digit_bits>(order, pass * digit_bits), firsts.data() + pass * digit_values,
        PassState<Word>{next_tile.data(), words.data()});
    CUDA_CHECK(cudaGetLastError());
    buffers.swap();
  }
  // end solution
}

}  // namespace

template <class Key, class Value>
void sort_onesweep(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                   cudaStream_t stream) {
  if (lab::threads_or(shape, threads_per_block) != threads_per_block) {
    throw lab::Unsupported("this step has 384 threads per block: choose --threads 384 or leave it out");
  }
  const unsigned blocks = lab::blocks_or(shape, (keys.n + tile_size<Key> - 1) / tile_size<Key>, 1);
  if (keys.n < 2) return;
  if (keys.n < first_n_of_wide_words) {
    sort_with<std::uint32_t>(keys, values, order, blocks, stream);
  } else {
    sort_with<unsigned long long>(keys, values, order, blocks, stream);
  }
}

std::int64_t onesweep_temporary_bytes(std::int64_t n) {
  using Key = std::uint32_t;
  const std::int64_t words = (n + tile_size<Key> - 1) / tile_size<Key> * digit_values;
  const std::int64_t word_bytes = n < first_n_of_wide_words ? sizeof(std::uint32_t) : sizeof(unsigned long long);
  return lab::allocated_bytes(n * sizeof(Key)) + lab::allocated_bytes(words * word_bytes) +
         lab::allocated_bytes(passes<Key> * digit_values * sizeof(unsigned long long)) +
         lab::allocated_bytes(sizeof(unsigned));  // the array of one counter, next_tile
}

INSTANTIATE_FOR_ALL_TYPES(sort_onesweep);

}  // namespace radix

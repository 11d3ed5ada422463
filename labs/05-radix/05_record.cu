// Step 05: the record.
//
// Idea: step 04 moves hardly more bytes than it must, yet takes twice as long as those bytes need: its blocks wait.
// Here no wait is without work. A block counts the digits of its tile before it ranks them, and publishes the counts
// at once: while it ranks, the tiles before it publish theirs, and the look-back finds them. When its keys are in
// shared memory, their registers are free: the next tile's keys are loaded into them while it looks back and stores.
// New since step 04: passes that would move nothing are skipped, all of them if the keys are in order (plan.cuh). Keys
// that fit into one tile never leave the block that sorts them (one_tile.cuh). Many keys of 4 bytes without values do
// not need four passes: two splits by their highest bits leave buckets that fit into one block (splits.cuh). Passes are
// for keys that are few, or have values or another size, or are not spread evenly.
// Cost: of passes, one read for the plan; then, for each byte that is not the same in all keys, one read and one write,
// and 1 KiB of counters per tile. Of splits, one read and three times a read and a write. Temporary memory: a copy of
// the keys and values; 1 KiB per tile (2 KiB if n is above 2^30), which on large GPUs has 12,288 keys, or 16,384 pairs
// or keys of 8 bytes; at most 17 KiB for the plan, and 0.6 MiB for splits.
// Limits: 512 threads per block.
// Longer than other steps because a record is made of several ideas.
#include <algorithm>
#include <cstdint>

#include "code.cuh"
#include "device.cuh"
#include "digit.cuh"
#include "plan.cuh"
#include "scan.cuh"
#include "splits.cuh"
#include "tile.cuh"

namespace radix {
namespace {

// --- positions in the tile ---

/// Puts the thread's keys and values at their positions in shared memory. In order, the lanes of a warp with equal
/// digits take the next positions, the lowest lane first. In any order, each lane draws a position for itself, which
/// is faster; but then it is left to the hardware which of them comes first.
template <bool in_order, class Tile, class Key>
__device__ void place_items(Tile& tile, const Items<Tile>& items, int count, Coding<Key> coding, int pass) {
  // Your code, for each row: as rank_keys of step 04, but tile.counts[warp][digit] is the position of the warp's
  // next key of the digit. One of the lanes with equal digits adds their number to it with an atomic, and sends
  // the old value to the others with a shuffle. Store the key at its padded() position in tile.codes, and its
  // value. Write this first, for all passes. Then let each lane draw its own position if !in_order.
  (void)tile, (void)items, (void)count, (void)coding, (void)pass;
}

// --- looking back ---

/// What tiles publish about one digit: nothing yet, a tile's own count (aggregate), or the count of all tiles up to and
/// including it (inclusive prefix). After a pass, all words hold inclusive prefixes; for the next pass that means
/// "nothing yet", so nobody clears them: in odd turns the three kinds are 0, 1, 2, in even ones 2, 3, 0.
/// Word: 32 bits for n up to 2^30, else 64.
template <class Word>
struct Published {
  static constexpr int count_bits = 8 * int(sizeof(Word)) - 2;
  static constexpr Word count_mask = (Word(1) << count_bits) - 1;

  volatile Word* words;  ///< of this thread's digit: tile t's is words[t * byte_values]
  unsigned nothing, aggregate, inclusive_prefix;

  __device__ Published(volatile Word* all_words, unsigned turn)
      : words(all_words + threadIdx.x % byte_values),
        nothing((turn - 1) % 2 * 2),
        aggregate(nothing + 1),
        inclusive_prefix((nothing + 2) % 4) {}

  __device__ void set(std::int64_t tile, unsigned kind, Word count) const {
    // Only the last tile's prefix, which nobody reads, may have more bits.
    words[tile * byte_values] = Word(kind) << count_bits | (count & count_mask);
  }

  /// Returns the count of all tiles before `tile`, and publishes its inclusive prefix.
  __device__ Word look_back(std::int64_t tile, Word tile_count) const {
    Word exclusive_prefix = 0;
    // Your code: as look_back of step 04, but read the words of several predecessors before you use the first: four
    // reads take hardly longer than one. The kind of a word is word >> count_bits; set() publishes.
    (void)tile, (void)tile_count;
    return exclusive_prefix;
  }
};

// --- the kernels ---

/// One pass. Odd turns move the keys from `home` to `scratch`, even ones back. Blocks take tiles until there are none.
template <bool in_order, class Tile, class Key, class Value>
__global__ void __launch_bounds__(Tile::Shape::threads, Tile::Shape::blocks_per_multiprocessor)
    sweep(Pairs<lab::Bits<Key>, Value> home, Pairs<lab::Bits<Key>, Value> scratch, std::int64_t n, Coding<Key> coding,
          int pass, Plan<Key>* plan, volatile typename Tile::Word* words) {
  using Word = typename Tile::Word;
  auto& tile = tile_in_shared_memory<Tile>();
  const unsigned turn = plan->turns[pass], last_turn = plan->last_turn;
  if (turn == 0) return;
  const auto from = turn % 2 ? home : scratch, to = turn % 2 ? scratch : home;
  const Published<Word> published(words, turn);
  const Word digit_first = Word(plan->firsts[pass][threadIdx.x % byte_values]);
  const auto first_of = [](unsigned number) { return std::int64_t(number) * Tile::size; };
  const auto count_of = [=](unsigned number) { return int(min(n - first_of(number), std::int64_t(Tile::size))); };
  const auto draw = [=] { return threadIdx.x == 0 ? atomicAdd(&plan->next_tile[pass], 1u) : 0u; };
  Items<Tile> items(Tile::items);
  const auto load = [&](unsigned number) {
    const std::int64_t first = first_of(number);
    if (first < n) items.load({from.keys + first, from.values + first}, count_of(number));
  };

  if (threadIdx.x == 0) tile.next_tile = draw();
  __syncthreads();  // all threads read the tile's number
  unsigned number = tile.next_tile;
  load(number);
  __syncthreads();  // the next number overwrites the one that others may still be reading
  while (first_of(number) < n) {
    const int count = count_of(number);
    // Your code: the phases of a tile, by the functions of tile.cuh, in the order that leaves no wait without work.
    // In the first turn, encode the items; in the last one, store them decoded.
    (void)published, (void)digit_first, (void)last_turn, (void)to, (void)coding, (void)count;
    break;
  }
}

// --- the host's part ---

/// Sorts by passes the keys in buffers.from, unless `needed` says that they are not needed.
template <class Tile, class Key, class Value>
void sort_by_passes(Buffers<lab::Bits<Key>, Value>& buffers, std::int64_t n, Coding<Key> coding, const unsigned* needed,
                    const Device& device, lab::LaunchShape shape, cudaStream_t stream) {
  using Word = typename Tile::Word;
  const std::int64_t tiles = (n + Tile::size - 1) / Tile::size;
  const lab::DeviceArray<Plan<Key>> plan(1, stream);
  const lab::DeviceArray<Word> words(tiles * byte_values, stream);
  const unsigned blocks = lab::blocks_or(shape, std::min(n, device.resident_keys<Tile>()), Tile::size);
  // Your code: make_plan. Then, for each pass, sweep with sizeof(Tile) bytes of dynamic shared memory. Keys of one
  // byte have one pass: copy them to the scratch memory first, which then is their home.
  (void)coding, (void)blocks, (void)needed;
  NOT_WRITTEN("step 05");
}

/// Chooses the largest tiles that fit into shared memory and give every block work.
template <class Word, class Key, class Value>
void sort_with(lab::Span<lab::Bits<Key>> keys, lab::Span<Value> values, Coding<Key> coding, lab::LaunchShape shape,
               cudaStream_t stream) {
  using One = Tile<OneTile, Word, Key, Value>;
  using Large = Tile<LargeTile<Key, Value>, Word, Key, Value>;
  using Medium = Tile<MediumTile, Word, Key, Value>;
  using Small = Tile<SmallTile, Word, Key, Value>;
  static_assert(sizeof(Medium) <= 64 * 1024, "every GPU since compute capability 7.5 has so much shared memory");
  const Device device;
  const bool free = shape.blocks == 0 && shape.threads == 0;
  // Your code: keys that fit into one tile need one launch. If `free`, at most One::size keys are sorted by
  // sort_one<One>, where device.fits<One>(). Write this last, but delete the next two lines first.
  (void)sizeof(One), (void)device;
  NOT_WRITTEN("step 05");
  Buffers<lab::Bits<Key>, Value> buffers(keys, values, stream);
  Splits splits;
  if constexpr (can_be_split<Word, Key, Value>) {
    if (free) splits.sort(buffers.from.keys, buffers.to.keys, keys.n, coding, device, stream);
  }
  const unsigned* const needed = splits.skewed();
  if (free && keys.n >= 2 * device.resident_keys<Large>() && device.fits<Large>()) {
    sort_by_passes<Large>(buffers, keys.n, coding, needed, device, shape, stream);
  } else if (keys.n >= device.resident_keys<Medium>()) {
    sort_by_passes<Medium>(buffers, keys.n, coding, needed, device, shape, stream);
  } else {
    sort_by_passes<Small>(buffers, keys.n, coding, needed, device, shape, stream);
  }
}

}  // namespace

template <class Key, class Value>
void sort_record(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream) {
  if (lab::threads_or(shape, SmallTile::threads) != SmallTile::threads) {
    throw lab::Unsupported("this step has 512 threads per block: choose --threads 512 or leave it out");
  }
  lab::blocks_or(shape, 1, 1);  // refuses impossible numbers
  if (keys.n < 2) return;
  using Coded = std::conditional_t<std::is_integral_v<Key>, lab::Bits<Key>, Key>;
  Coding<Coded> coding(order);  // signed and unsigned integers share their kernels
  if constexpr (std::is_integral_v<Key>) coding.inversion = Coding<Key>(order).inversion;
  const lab::Span<lab::Bits<Key>> bits{reinterpret_cast<lab::Bits<Key>*>(keys.data), keys.n};
  if (keys.n <= std::int64_t{1} << 30) {
    sort_with<std::uint32_t>(bits, values, coding, shape, stream);
  } else {
    sort_with<unsigned long long>(bits, values, coding, shape, stream);
  }
}

INSTANTIATE_FOR_ALL_TYPES(sort_record);

}  // namespace radix

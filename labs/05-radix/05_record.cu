// Step 05: the record.
//
// Idea: step 04 moves hardly more bytes than it must, yet takes twice as long as those bytes need: its blocks wait.
// Here no wait is without work. A block counts the digits of its tile before it ranks them, and publishes the counts
// at once: while it ranks, the tiles before it publish theirs, and the look-back finds them. When its keys are in
// shared memory, their registers are free: the next tile's keys are loaded into them while it looks back and stores.
// New since step 04: one launch for all passes; those that would move nothing are skipped, all of them if the keys are
// in order (plan.cuh). Keys of 4 bytes without values need no passes: two splits by their highest bits leave buckets
// that fit into one block (splits.cuh); if they are few, one split does (one_split.cuh). Keys of one byte, and many of
// two, are counted (small_keys.cuh). Others that fit into one tile never leave the block that sorts them (one_tile.cuh).
// Passes are for the rest, and for keys that are not spread evenly.
// Cost: of passes, one read for the plan; then, for each byte that is not the same in all keys, one read and one write,
// and 1 KiB of counters per tile. Of two splits, one read and three times a read and a write; of one, twice a read and
// a write. Temporary memory: a copy of the keys and values; 1 KiB per tile (2 KiB if n is above 2^30), which on large
// GPUs has 12,288 keys, or 16,384 pairs or keys of 8 bytes; 0.5 MiB for splits; at most 32 KiB for the plan. For keys
// that are counted, at most 0.6 MiB.
// Limits: 512 threads per block, if the user chooses. Longer than other steps: a record is made of several ideas.
// Lines: 60 to write, 210 given.
#include <algorithm>
#include <cstdint>

#include "code.cuh"
#include "device.cuh"
#include "digit.cuh"
#include "grid.cuh"
#include "one_split.cuh"
#include "plan.cuh"
#include "scan.cuh"
#include "small_keys.cuh"
#include "splits.cuh"
#include "tile.cuh"

namespace radix {
namespace {

// --- positions in the tile ---

/// Puts the thread's keys and values at their positions in shared memory: the lanes of a warp with equal digits take
/// the next positions, the lowest lane first.
template <class Tile, class Coding>
__device__ void place_items(Tile& tile, const Items<Tile>& items, Coding coding, int pass) {
  // Your code, for each row: as rank_keys of step 04, but tile.counts[warp][digit] is the position of the warp's
  // next key of the digit. One of the lanes with equal digits adds their number to it with an atomic, and sends
  // the old value to the others with a shuffle. Store the key at its padded() position in tile.codes, and its
  // value.
  (void)tile, (void)items, (void)coding, (void)pass;
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

  /// Returns the count of all tiles before `tile`, and publishes its inclusive prefix; tile 0 has done so already.
  __device__ Word look_back(std::int64_t tile, Word tile_count) const {
    Word exclusive_prefix = 0;
    // Your code: as look_back of step 04, but read the words of several predecessors before you use the first: four
    // reads take hardly longer than one. The kind of a word is word >> count_bits; set() publishes.
    (void)tile, (void)tile_count;
    return exclusive_prefix;
  }
};

// --- the kernels ---

/// All passes. Odd turns move the keys from `home` to `scratch`, even ones back. In each, blocks take tiles until there
/// are none. A block that waits for the others waits for blocks that run: they have taken the tiles before.
template <class Tile, class Key, class Value, class Coding>
__device__ void move_in_passes(Pairs<lab::Bits<Key>, Value> home, Pairs<lab::Bits<Key>, Value> scratch, std::int64_t n,
                               Coding coding, Plan<Key>* plan, volatile typename Tile::Word* words) {
  using Word = typename Tile::Word;
  auto& tile = tile_in_shared_memory<Tile>();
  const unsigned last_turn = plan->last_turn;
  const auto first_of = [](unsigned number) { return std::int64_t(number) * Tile::size; };
  const auto count_of = [=](unsigned number) { return int(min(n - first_of(number), std::int64_t(Tile::size))); };
  for (int pass = 0; pass < Plan<Key>::passes; ++pass) {
    const unsigned turn = plan->turns[pass];
    if (turn == 0) continue;
    const auto from = turn % 2 ? home : scratch, to = turn % 2 ? scratch : home;
    const Published<Word> published(words, turn);
    const Word digit_first = Word(plan->firsts[pass][threadIdx.x % byte_values]);
    const auto draw = [=] { return threadIdx.x == 0 ? atomicAdd(&plan->next_tile[pass], 1u) : 0u; };
    Items<Tile> items(Tile::items);
    const auto load = [&](unsigned number) {
      const std::int64_t first = first_of(number);
      if (first < n) items.load({from.keys + first, from.values + first}, count_of(number));
    };

    if (threadIdx.x == 0) tile.next_tile = draw();
    __syncthreads();  // all threads read the tile's number
    unsigned number = tile.next_tile, own_tiles = 0;
    load(number);
    __syncthreads();  // the next number overwrites the one that others may still be reading
    for (; first_of(number) < n; ++own_tiles) {
      const int count = count_of(number);
      // Your code, instead of the return: the phases of a tile, by the functions of tile.cuh, in the order that
      // leaves no wait without work, with a barrier wherever a thread reads what others have written (three, besides
      // those in find_places). In the first turn, encode the items; in the last one, store them decoded. The first
      // 256 threads look back, and fill tile.offsets. At the end, set `number` to the next tile's.
      (void)published, (void)digit_first, (void)last_turn, (void)to, (void)coding, (void)count;
      return;
    }
    if (turn != last_turn) wait_for_all(&plan->tiles_done[pass], own_tiles, unsigned((n - 1) / Tile::size + 1));
  }
}

template <class Tile, class Key, class Value>
__global__ void __launch_bounds__(Tile::Shape::threads, Tile::Shape::blocks_per_multiprocessor)
    sweep(Pairs<lab::Bits<Key>, Value> home, Pairs<lab::Bits<Key>, Value> scratch, std::int64_t n, Coding<Key> coding,
          Plan<Key>* plan, volatile typename Tile::Word* words) {
  if (plan->negative_zeros == 0) {
    move_in_passes<Tile>(home, scratch, n, coding.without_negative_zero(), plan, words);
  } else if constexpr (!std::is_integral_v<Key>) {
    move_in_passes<Tile>(home, scratch, n, coding, plan, words);
  }
}

// --- the host's part ---

/// Sorts by passes the keys in buffers.from, unless `needed` says that no pass is needed. `plan`: all 0. `words`:
/// byte_values for each tile.
template <class Tile, class Key, class Value>
void sort_by_passes(Buffers<lab::Bits<Key>, Value>& buffers, std::int64_t n, Coding<Key> coding, Plan<Key>* plan,
                    lab::Span<typename Tile::Word> words, const unsigned* needed, const Device& device,
                    lab::LaunchShape shape, cudaStream_t stream) {
  const unsigned blocks = lab::blocks_or(shape, std::min(n, device.resident_keys<Tile>()), Tile::size);
  // Your code: make_plan. Then sweep, with sizeof(Tile) bytes of dynamic shared memory: allow_shared_memory first.
  (void)coding, (void)blocks, (void)plan, (void)words, (void)needed, (void)buffers;
  NOT_WRITTEN("step 05");
}

/// Sorts by splits, if they suit the keys, or else by passes over tiles of this kind.
template <class Tile, class Key, class Value>
void sort_with_scratch(lab::Span<lab::Bits<Key>> keys, lab::Span<Value> values, Coding<Key> coding, bool one_split,
                       const Device& device, lab::LaunchShape shape, cudaStream_t stream) {
  using Word = typename Tile::Word;
  const bool free = shape.blocks == 0 && shape.threads == 0;
  Buffers<lab::Bits<Key>, Value> buffers(keys, values, stream, one_split ? room_for_one_split(keys.n) : keys.n);
  const std::int64_t words = (keys.n + Tile::size - 1) / Tile::size * byte_values;
  const lab::DeviceArray<char> memory(sizeof(SortPlan<Key>) + words * sizeof(Word), stream);
  auto* const plan = reinterpret_cast<SortPlan<Key>*>(memory.data());
  CUDA_CHECK(cudaMemsetAsync(plan, 0, sizeof *plan, stream));
  const unsigned* needed = nullptr;
  Splits splits;
  if constexpr (can_be_split<Word, Key, Value>) {
    if (one_split) {
      needed = sort_by_one_split(keys, buffers.to.keys, coding, &plan->one_split, device, stream);
    } else if (free) {
      needed = splits.sort(keys, buffers.to.keys, coding, &plan->splits, device, stream);
    }
  }
  sort_by_passes<Tile>(buffers, keys.n, coding, &plan->passes, {reinterpret_cast<Word*>(plan + 1), words}, needed,
                       device, shape, stream);
}

/// Chooses the way that suits the keys, and the largest tiles that fit into shared memory and give every block work.
template <class Word, class Key, class Value>
void sort_with(lab::Span<lab::Bits<Key>> keys, lab::Span<Value> values, Coding<Key> coding, lab::LaunchShape shape,
               cudaStream_t stream) {
  using One = Tile<OneTile, Word, Key, Value>;
  using Large = Tile<LargeTile<Key, Value>, Word, Key, Value>;
  using Medium = Tile<MediumTile, Word, Key, Value>;
  using Small = Tile<SmallTile, Word, Key, Value>;
  static_assert(sizeof(Medium) <= 64 * 1024, "every GPU since compute capability 7.5 has so much shared memory");
  const Device& device = Device::current();
  const bool free = shape.blocks == 0 && shape.threads == 0;
  const bool one_split = free && one_split_suits<Word, Key, Value>(keys.n, device);
  // Begin by deleting the next two lines: until then, no key is sorted. Your code, which can wait until all else
  // works: if `free`, not one_split, and device.fits<One>(), at most One::size keys are sorted by sort_one<One>.
  (void)sizeof(One), (void)one_split;
  NOT_WRITTEN("step 05");
  if constexpr (can_be_counted<Key, Value>) {
    if (sizeof(Key) == 1 || (free && keys.n >= std::int64_t(device.multiprocessors) << 16)) {
      return sort_by_counting(keys, coding, device, shape, stream);
    }
  }
  if constexpr (sizeof(Key) > 1) {
    if (free && keys.n >= 2 * device.resident_keys<Large>() && device.fits<Large>()) {
      sort_with_scratch<Large>(keys, values, coding, one_split, device, shape, stream);
    } else if (keys.n >= device.resident_keys<Medium>() / 2) {
      sort_with_scratch<Medium>(keys, values, coding, one_split, device, shape, stream);
    } else {
      sort_with_scratch<Small>(keys, values, coding, one_split, device, shape, stream);
    }
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

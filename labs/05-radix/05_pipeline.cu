// Step 05: a pipeline of tiles.
//
// Idea: step 04 moves hardly more bytes than it must, but takes about four times as long as those bytes need, because
// its blocks wait. Here every wait overlaps with work, as in a pipeline. A block counts the digits of its tile before
// it ranks them (early counts, as CUB does) and publishes the counts at once. While it ranks, the tiles before it
// publish theirs, so that the look-back finds them. Once the block's keys are in shared memory, their registers are
// free, and it loads the next tile's keys into them while it looks back and stores.
// New since step 04: one launch for all passes, by persistent blocks that wait for each other between passes. Passes
// that would move nothing are skipped, all of them if the keys are in order (pass_plan.cuh). The first one need not keep
// an order. Keys are transformed once, not in each pass (key_transform.cuh). Keys that fit into one tile never leave the
// block that sorts them (tile.cuh).
// Limits: if the user chooses the number of threads per block, it must be 512.
// Longer than other steps: its kernel has a phase for each wait of step 04, and its host function serves three shapes
// of tiles and step 06, which falls back on it.
// Lines: 79 to write, 296 given.
#include <algorithm>
#include <cstdint>

#include "key_transform.cuh"
#include "pass_plan.cuh"
#include "step/device.h"
#include "step/early_launch.h"
#include "tile.cuh"

namespace radix {
namespace {

// --- positions in the tile ---

/// Puts the warp's items at their positions in shared memory, under the contract that sort_items in tile.cuh states.
/// All lanes with the same digit share one atomic, as in A. Adinets, "CUDA Pro Tip: Optimized Filtering with
/// Warp-Aggregated Atomics", 2014.
struct RankAndScatter {
  template <class Tile, class Transform>
  __device__ void operator()(Tile& tile, const Items<Tile>& items, Transform transform, int pass) const {
    // Your code, for each of the items.rows rows (a loop over Tile::items that breaks at items.rows keeps the items
    // in registers): as rank_keys of step 04, but tile.counts[warp][digit] is the position of the warp's next key
    // of the digit. One of the lanes with equal digits claims positions for all of them: it adds their number with
    // an atomic, and sends the old value to the others with a shuffle. Store the key at its padded() position in
    // tile.keys, and its value in tile.values.
    (void)tile, (void)items, (void)transform, (void)pass;
  }
};

// --- looking back ---

/// What a tile publishes about one digit: nothing yet (invalid), its own count (partial), or the count of all tiles up
/// to and including it (inclusive). After a pass, all words are inclusive. In the next active pass that must mean
/// "invalid". Therefore the three kinds change their numbers, and no word has to be cleared: they are 0, 1, 2 in the
/// first, third, ... active pass, and 2, 3, 0 in the others. `Word` has 32 bits for n up to 2^30, else 64.
/// libcusort changes its kinds in the same way.
template <class Word>
struct TileStatus {
  static constexpr int count_bits = 8 * int(sizeof(Word)) - 2;
  static constexpr Word count_mask = (Word(1) << count_bits) - 1;

  static constexpr Word one = Word(1) << count_bits;  ///< the difference between a kind and the next

  volatile Word* words;  ///< of this thread's digit: tile t's is words[t * byte_values]
  unsigned invalid, partial, inclusive;

  __device__ TileStatus(volatile Word* all_words, unsigned active)
      : words(all_words + rows_before_tile_0 * byte_values + threadIdx.x % byte_values),
        invalid((active - 1) % 2 * 2),
        partial(invalid + 1),
        inclusive((invalid + 2) % 4) {}

  __device__ void publish(std::int64_t tile, unsigned kind, Word count) const {
    // Only the last tile's inclusive count, which no tile reads, may have more bits.
    words[tile * byte_values] = Word(kind) << count_bits | (count & count_mask);
  }

  /// Returns the count of all tiles before `tile`, and publishes its inclusive count. Tile 0 has already done so.
  __device__ Word look_back(std::int64_t tile, Word tile_count) const {
    Word exclusive_prefix = 0;
    // Your code: as look_back of step 04, but read the words of two predecessors before you use the first, because two
    // reads take hardly longer than one. The kind of a word is word >> count_bits. publish() stores one.
    (void)tile, (void)tile_count;
    return exclusive_prefix;
  }
};

// --- the kernels ---

/// One active pass, by byte `index` of the keys.
template <class Tile>
struct Pass {
  using Word = typename Tile::Word;
  using Bits = typename Tile::Bits;
  using Value = typename Tile::Value;

  Pairs<Bits, Value> from, to;
  std::int64_t n;
  int index;
  bool is_first, is_last;  ///< of the active passes: keys are transformed in the first, and back in the last
  bool in_any_order;       ///< it is the first, and no key is -0
  Skew skew;               ///< of the first pass
  unsigned* next_tile;     ///< the ticket counter
  TileStatus<Word> status;
  Word digit_first;  ///< where the keys of this thread's digit begin in the output

  __device__ std::int64_t first_key(unsigned tile) const { return std::int64_t(tile) * Tile::size; }
  __device__ bool has(unsigned tile) const { return first_key(tile) < n; }
  __device__ int keys_in(unsigned tile) const { return int(min(n - first_key(tile), std::int64_t(Tile::size))); }

  /// Claims the next tile, by a ticket. Only thread 0's result counts.
  __device__ unsigned claim_tile() const { return threadIdx.x == 0 ? atomicAdd(next_tile, 1u) : 0u; }

  __device__ void load(Items<Tile>& items, unsigned tile) const {
    if (has(tile)) items.load({from.keys + first_key(tile), from.values + first_key(tile)}, keys_in(tile));
  }

  /// Claims the block's first tile, and loads its keys. All threads of the block call it.
  __device__ unsigned begin(Tile& shared, Items<Tile>& items) const {
    if (const unsigned claimed = claim_tile(); threadIdx.x == 0) shared.next_tile = claimed;
    __syncthreads();  // all threads read shared.next_tile, which thread 0 has written
    const unsigned tile = shared.next_tile;
    load(items, tile);
    __syncthreads();  // thread 0 overwrites shared.next_tile, which others may still be reading
    return tile;
  }
};

/// Puts the keys of a tile in order in shared memory. What a warp's keys share need not be found out for each of them:
/// passes leave many warps with a single digit behind if values repeat or lie close to each other. And the first active
/// pass has no order to keep without values, because equal keys cannot be told apart.
template <class Tile, class Transform>
__device__ void put_in_order(Tile& tile, const Items<Tile>& items, Transform transform, const Pass<Tile>& pass,
                             bool one_digit, bool is_full) {
  if (one_digit) return store_in_order(tile, items, transform.digit(items.keys[0], pass.index));
  if constexpr (!has_values<typename Tile::Value>) {
    if (pass.in_any_order && is_full) {
      if (pass.skew == Skew::none) return scatter_in_any_order<false>(tile, items, transform, pass.index);
      if (pass.skew == Skew::one_digit) return scatter_in_any_order<true>(tile, items, transform, pass.index);
    }
  }
  RankAndScatter{}(tile, items, transform, pass.index);
}

/// Moves tiles until none is left. Returns how many this block has moved.
template <class Tile, class Transform>
__device__ unsigned sweep_tiles(const Pass<Tile>& pass, Transform transform) {
  auto& shared = tile_in_shared_memory<Tile>();
  Items<Tile> items(Tile::items);
  unsigned tile = pass.begin(shared, items), own_tiles = 0;
  for (; pass.has(tile); ++own_tiles) {
    // Your code, instead of the return: the phases of a tile, with the functions of tile.cuh and those above, in the
    // order in which every wait overlaps with work. Claim the next tile. Count the digits (in the first active pass,
    // transform the keys before). Call scan_bins with a lambda that publishes a count, inclusive for tile 0 and
    // partial for the others. Then put_in_order. Load the next tile's keys. Look back with the first 256 threads,
    // which fill shared.offsets. Call store_runs, which in the last active pass stores the keys as they were
    // (Stored::original). Put a barrier wherever a thread reads elements of `shared` that others have written: three,
    // besides those in scan_bins. At the end, `tile` becomes the next tile.
    (void)transform, (void)shared;
    return unsigned((pass.n - 1) / Tile::size + 1);  // as if all tiles were moved, so that no block waits
  }
  return own_tiles;
}

/// All passes. Odd active passes move the keys from the primary buffer to scratch, even ones back.
template <class Tile, class Key, class Transform>
__device__ void sweep_passes(Pairs<typename Tile::Bits, typename Tile::Value> primary,
                             Pairs<typename Tile::Bits, typename Tile::Value> scratch, std::int64_t n,
                             Transform transform, PassPlan<Key>* plan, volatile typename Tile::Word* statuses) {
  for (int index = 0; index < PassPlan<Key>::passes; ++index) {
    const unsigned active = plan->active_pass[index];
    if (active == 0) continue;
    const bool odd = active % 2 != 0, is_last = active == plan->active_passes;
    const Pass<Tile> pass = {odd ? primary : scratch,
                             odd ? scratch : primary,
                             n,
                             index,
                             active == 1,
                             is_last,
                             active == 1 && plan->negative_zeros == 0,
                             plan->first_skew,
                             &plan->next_tile[index],
                             {statuses, active},
                             typename Tile::Word(plan->firsts[index][threadIdx.x % byte_values])};
    const unsigned own_tiles = sweep_tiles(pass, transform);
    if (!is_last) wait_for_all(&plan->tiles_done[index], own_tiles, unsigned((n - 1) / Tile::size + 1));
  }
}

template <class Tile, class Key, class Value>
__global__ void __launch_bounds__(Tile::Shape::threads, Tile::Shape::blocks_per_multiprocessor)
    sweep(Pairs<lab::Bits<Key>, Value> primary, Pairs<lab::Bits<Key>, Value> scratch, std::int64_t n,
          KeyTransform<Key> transform, PassPlan<Key>* plan, volatile typename Tile::Word* statuses) {
  lab::wait_for_earlier_kernels();
  if (plan->negative_zeros == 0) {  // then a digit takes one instruction
    sweep_passes<Tile>(primary, scratch, n, transform.without_negative_zero(), plan, statuses);
  } else if constexpr (!std::is_integral_v<Key>) {
    sweep_passes<Tile>(primary, scratch, n, transform, plan, statuses);
  }
}

// --- the host's part ---

/// The arrays of one sort, in device memory.
template <class Key, class Value>
struct PassMemory {
  Pairs<lab::Bits<Key>, Value> primary, scratch;  ///< the keys are in `primary` before and after
  void* temporary;                                ///< the plan, all 0, and behind it the status words
  const unsigned* unsorted;                       ///< null, or as for sort_pipeline_if
};

/// Queues the passes over n keys.
template <class Tile, class Key, class Value>
void sort_by_passes(PassMemory<Key, Value> memory, std::int64_t n, KeyTransform<Key> transform, lab::LaunchShape shape,
                    cudaStream_t stream) {
  const lab::Device& device = lab::Device::current();
  const unsigned blocks = lab::blocks_or(shape, std::min(n, device.resident_keys<Tile>()), Tile::size);
  auto* const plan = static_cast<PassPlan<Key>*>(memory.temporary);
  auto* const statuses = reinterpret_cast<typename Tile::Word*>(plan + 1);
  const std::int64_t status_bytes = statuses_of<Tile>(n) * sizeof *statuses;
  // Your code: make_pass_plan for the keys in memory.primary, with memory.unsorted, which step 06 sets. It also
  // clears the status words, which it takes as an array of status_bytes / 4 elements of type `unsigned`. Then
  // allow_shared_memory, and sweep with sizeof(Tile) bytes of dynamic shared memory.
  (void)transform, (void)blocks, (void)status_bytes;
  NOT_WRITTEN("step 05");
}

/// The same, with memory that it allocates.
template <class Tile, class Key, class Value>
void sort_with_own_memory(lab::Span<lab::Bits<Key>> keys, lab::Span<Value> values, KeyTransform<Key> transform,
                          lab::LaunchShape shape, cudaStream_t stream) {
  using Bits = lab::Bits<Key>;
  const TemporaryBytes bytes = temporary_bytes<Tile>(keys.n);
  // One array for everything, because each allocation takes time.
  const std::int64_t first = (std::int64_t(bytes.all) + 255) / 256 * 256,
                     key_bytes = keys.n * std::int64_t(sizeof(Bits));
  const lab::DeviceArray<char> array(first + key_bytes + values.n * std::int64_t(sizeof(Value)), stream);
  CUDA_CHECK(cudaMemsetAsync(array.data(), 0, bytes.cleared, stream));
  char* const copies = array.data() + first;
  Pairs<Bits, Value> primary = {keys.data, values.data};
  Pairs<Bits, Value> scratch = {reinterpret_cast<Bits*>(copies), reinterpret_cast<Value*>(copies + key_bytes)};
  if constexpr (PassPlan<Key>::passes % 2 == 1) {  // the only pass must end where the keys began
    CUDA_CHECK(cudaMemcpyAsync(scratch.keys, primary.keys, keys.n * sizeof(Key), cudaMemcpyDeviceToDevice, stream));
    std::swap(primary, scratch);
  }
  const PassMemory<Key, Value> memory = {primary, scratch, array.data(), nullptr};
  sort_by_passes<Tile>(memory, keys.n, transform, shape, stream);
}

/// Queues a sort by one block. Returns false if the keys do not fit into a tile of that shape, or the tile does not fit
/// into shared memory.
template <class Shape, class Key, class Value>
bool sort_in_one_block(lab::Span<lab::Bits<Key>> keys, lab::Span<Value> values, KeyTransform<Key> transform,
                       cudaStream_t stream) {
  using One = Tile<Shape, std::uint32_t, Key, Value>;
  const lab::Device& device = lab::Device::current();
  // Your code, best written right after RankAndScatter, because it sorts few keys. If device.fits<One>(),
  // sort_one_tile<RankAndScatter, One> sorts up to One::size keys in a single block.
  (void)keys, (void)values, (void)transform, (void)stream, (void)device, (void)sizeof(One);
  return false;
}

template <class Word, class Key, class Value>
void sort_with(lab::Span<lab::Bits<Key>> keys, lab::Span<Value> values, KeyTransform<Key> transform,
               lab::LaunchShape shape, cudaStream_t stream) {
  const bool auto_shape = shape.blocks == 0 && shape.threads == 0;
  if (auto_shape && sort_in_one_block<SmallOneTile>(keys, values, transform, stream)) return;
  if (auto_shape && sort_in_one_block<OneTile>(keys, values, transform, stream)) return;
  with_tile<Word, Key, Value>(
      keys.n, auto_shape, [&]<class Tile>() { sort_with_own_memory<Tile>(keys, values, transform, shape, stream); });
}

}  // namespace

template <class Key, class Value>
void sort_pipeline(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                   cudaStream_t stream) {
  if (lab::threads_or(shape, SmallTile::threads) != SmallTile::threads) {
    throw lab::Unsupported("this step has 512 threads per block: choose --threads 512 or leave it out");
  }
  lab::blocks_or(shape, 1, 1);  // refuses impossible numbers
  if (keys.n < 2) return;
  const lab::Span<lab::Bits<Key>> bits{reinterpret_cast<lab::Bits<Key>*>(keys.data), keys.n};
  if (keys.n <= std::int64_t{1} << 30) {
    sort_with<std::uint32_t>(bits, values, transform_for<Key>(order), shape, stream);
  } else {
#ifdef __SIMT__
    throw lab::Unsupported("on a CPU, this step sorts at most 2^30 keys: more need kernels of their own");
#else
    sort_with<unsigned long long>(bits, values, transform_for<Key>(order), shape, stream);
#endif
  }
}

template <class Key>
TemporaryBytes pipeline_temporary_bytes(std::int64_t n) {
  return with_tile<std::uint32_t, KernelKey<Key>, NoValue>(n, true,
                                                           [=]<class Tile>() { return temporary_bytes<Tile>(n); });
}

template <class Key>
void sort_pipeline_if(const unsigned* unsorted, lab::Span<Key> keys, lab::Order order, PipelineMemory<Key> memory,
                      cudaStream_t stream) {
  using Bits = lab::Bits<Key>;
  Bits* const primary = reinterpret_cast<Bits*>(keys.data);
  Bits* const scratch = reinterpret_cast<Bits*>(memory.scratch);
  with_tile<std::uint32_t, KernelKey<Key>, NoValue>(keys.n, true, [=]<class Tile>() {
    const PassMemory<KernelKey<Key>, NoValue> passes = {
        {primary, nullptr}, {scratch, nullptr}, memory.temporary, unsorted};
    sort_by_passes<Tile>(passes, keys.n, transform_for<Key>(order), {}, stream);
  });
}

INSTANTIATE_FOR_ALL_TYPES(sort_pipeline);
#ifndef LAB_OTHER_TYPES
template TemporaryBytes pipeline_temporary_bytes<std::uint32_t>(std::int64_t);
template void sort_pipeline_if(const unsigned*, lab::Span<std::uint32_t>, lab::Order, PipelineMemory<std::uint32_t>,
                               cudaStream_t);
#endif
#ifndef LAB_FIRST_TYPES
template TemporaryBytes pipeline_temporary_bytes<std::int32_t>(std::int64_t);
template TemporaryBytes pipeline_temporary_bytes<float>(std::int64_t);
template void sort_pipeline_if(const unsigned*, lab::Span<std::int32_t>, lab::Order, PipelineMemory<std::int32_t>,
                               cudaStream_t);
template void sort_pipeline_if(const unsigned*, lab::Span<float>, lab::Order, PipelineMemory<float>, cudaStream_t);
#endif

}  // namespace radix

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
// Longer than other steps: its kernel has a phase for each wait of step 04, and its host function serves three shapes of
// tiles, and step 06, which may take the place of the passes.
#include <algorithm>
#include <cstdint>

#include "key_transform.cuh"
#include "pass.cuh"
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

/// Returns the count of all tiles before `tile`, and publishes its inclusive count. Tile 0 has already done so.
template <class Word>
__device__ Word look_back(const TileStatus<Word>& status, std::int64_t tile, unsigned tile_count) {
  Word exclusive_prefix = 0;
  // Your code: as look_back of step 04, but read the words of three predecessors before you use the first, because
  // three reads take hardly longer than one. The kind of a word is word >> count_bits. publish() stores one.
  (void)status, (void)tile, (void)tile_count;
  return exclusive_prefix;
}

// --- the kernels ---

/// Puts the keys of a tile in order in shared memory. A warp in which all keys have the same digit need not rank them.
/// There are many such warps after a pass if values repeat or lie close to each other. Without values, the first active
/// pass need not keep any order, because equal keys cannot be told apart.
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
    // order in which every wait overlaps with work. Claim the next tile. Ask warp_has_one_digit, and count the digits
    // (in the first active pass, transform the keys before). Call scan_bins with a lambda that publishes a count,
    // inclusive for tile 0 and partial for the others. Then put_in_order. Load the next tile's keys. Look back with
    // the first 256 threads, which fill shared.offsets. Call store_runs, which in the last active pass stores the
    // keys as they were (Stored::original). Put a barrier wherever a thread reads elements of `shared` that others
    // have written: three, besides those in scan_bins. At the end, `tile` becomes the next tile.
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

/// Queues the plan, and the passes unless `other` sorts the keys. `other` may be null.
template <class Tile, class Key, class Value>
void sort_by_passes(lab::Span<lab::Bits<Key>> keys, lab::Span<Value> values, KeyTransform<Key> transform,
                    lab::LaunchShape shape, const OtherSort<lab::Bits<Key>>* other, cudaStream_t stream) {
  const lab::Device& device = lab::Device::current();
  const unsigned blocks = lab::blocks_or(shape, std::min(keys.n, device.resident_keys<Tile>()), Tile::size);
  const PassMemory<Tile> memory(keys, values, stream);
  const lab::Span<unsigned> statuses = memory.statuses();
  const unsigned* const skip = other != nullptr ? other->is_chosen : nullptr;
  // Your code: make_pass_plan for the keys in memory.primary, which also clears the status words. If `other` is not
  // null and other->sort(memory.scratch.keys) is true, the keys are sorted. Else allow_shared_memory, and sweep with
  // sizeof(Tile) bytes of dynamic shared memory.
  (void)transform, (void)blocks, (void)statuses, (void)skip;
  NOT_WRITTEN("step 05");
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
      keys.n, auto_shape, [&]<class Tile>() { sort_by_passes<Tile>(keys, values, transform, shape, nullptr, stream); });
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
  } else if constexpr (lab::on_cpu) {
    throw lab::Unsupported("on a CPU, this step sorts at most 2^30 keys: more need kernels of their own");
  } else {
    sort_with<unsigned long long>(bits, values, transform_for<Key>(order), shape, stream);
  }
}

template <class Key>
void sort_pipeline_unless(const OtherSort<Key>& other, lab::Span<Key> keys, lab::Order order, cudaStream_t stream) {
  using Bits = lab::Bits<Key>;
  const OtherSort<Bits> with_bits = {other.is_chosen,
                                     [&](Bits* scratch) { return other.sort(reinterpret_cast<Key*>(scratch)); }};
  with_tile<std::uint32_t, KernelKey<Key>, NoValue>(keys.n, true, [&]<class Tile>() {
    sort_by_passes<Tile>(lab::Span<Bits>{reinterpret_cast<Bits*>(keys.data), keys.n}, lab::Span<NoValue>{},
                         transform_for<Key>(order), {}, &with_bits, stream);
  });
}

INSTANTIATE_FOR_ALL_TYPES(sort_pipeline);
#ifndef LAB_OTHER_TYPES
template void sort_pipeline_unless(const OtherSort<std::uint32_t>&, lab::Span<std::uint32_t>, lab::Order, cudaStream_t);
#endif
#ifndef LAB_FIRST_TYPES
template void sort_pipeline_unless(const OtherSort<std::int32_t>&, lab::Span<std::int32_t>, lab::Order, cudaStream_t);
template void sort_pipeline_unless(const OtherSort<float>&, lab::Span<float>, lab::Order, cudaStream_t);
#endif

}  // namespace radix

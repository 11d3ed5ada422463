// The tiles of step 05: their shapes, what a block keeps in shared memory, the phases of a tile except for its core,
// and the sort of keys that fit into one tile. The student writes the core, a functor RankAndScatter, which is an
// argument of every function that needs it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "key_transform.cuh"
#include "scan.cuh"

namespace radix {

/// Threads per block, how many 4-byte keys each of them has, and how many blocks should share a multiprocessor, which
/// limits the registers per thread.
template <int threads_per_block, int words_per_thread, int blocks>
struct TileShape {
  static constexpr int threads = threads_per_block;
  static constexpr int words = words_per_thread;
  static constexpr int blocks_per_multiprocessor = blocks;
};

// Larger tiles have longer runs, and fewer tiles look back. Smaller ones give every multiprocessor work. The items of a
// large tile just fit into the 64 registers that a thread has if 1024 of them share a multiprocessor.
template <class Key, class Value>
using LargeTile =
    std::conditional_t<sizeof(Key) == 8 || has_values<Value>, TileShape<1024, 32, 1>, TileShape<512, 24, 2>>;
using MediumTile = TileShape<512, 16, 2>;
using SmallTile = TileShape<512, 8, 2>;
// For keys that one block sorts. The fewer warps there are, the less the keys wait at barriers. A CPU runs one thread of
// a block at a time, so a single shape is enough there: each takes time to compile.
using OneTile = TileShape<1024, 28, 1>;
using SmallOneTile = std::conditional_t<lab::on_cpu, OneTile, TileShape<512, 16, 1>>;

/// Keys per thread: fewer of them if a key, with its value, is longer than 4 bytes.
template <class Shape, class Key, class Value>
inline constexpr int items_per_thread = [] {
  constexpr int bytes = sizeof(Key) + (has_values<Value> ? sizeof(Value) : 0);
  return bytes <= 4 ? Shape::words : 4 * Shape::words / bytes;
}();

template <class Shape, class Key, class Value>
inline constexpr int tile_size = Shape::threads * items_per_thread<Shape, Key, Value>;

/// Where a position of the tile is in shared memory. One word in 257 stays unused. Otherwise runs whose lengths are
/// multiples of 32, as in sorted and reversed keys, would all begin in the same bank.
LAB_HOST_DEVICE constexpr unsigned padded(unsigned position) { return position + position / byte_values; }

/// What the threads of a block share while they sort a tile. Word: the type of positions in the output, 32 or 64 bits.
template <class TheShape, class TheWord, class TheKey, class TheValue>
struct Tile {
  using Shape = TheShape;
  using Word = TheWord;
  using Key = TheKey;
  using Bits = lab::Bits<Key>;
  using Value = TheValue;
  static constexpr int items = items_per_thread<Shape, Key, Value>;  ///< per thread
  static constexpr int size = tile_size<Shape, Key, Value>;
  static constexpr int warps = Shape::threads / 32;
  static constexpr int parts =
      Shape::threads / byte_values;  ///< groups of warps. Thread t adds up digit t % 256 over the warps of part t / 256
  static constexpr int warps_per_part = warps / parts;
  static_assert(Shape::threads % byte_values == 0, "every digit has a thread in each part");

  unsigned counts[warps][byte_values];  ///< of each warp's keys; then the position of its next key of a digit
  unsigned part_counts[parts][byte_values];
  unsigned warp_sums[warps];
  Word offsets[byte_values];  ///< where a digit's keys begin in the output, less where they begin in the tile
  unsigned next_tile;         ///< the tile that the block has claimed and processes next
  alignas(16) Bits keys[padded(size)];
  Value values[has_values<Value> ? padded(size) : 1];
};

/// The tile in the block's dynamic shared memory, which may be larger than 48 KiB.
template <class T>
__device__ T& tile_in_shared_memory() {
  extern __shared__ uint4 shared_memory[];
  return *reinterpret_cast<T*>(shared_memory);
}

/// A thread's transformed keys and their values, striped: at the positions first, first + 32, ... of the tile. A warp
/// has `rows` rows of 32 neighbours, so (warp, row, lane) is the order of the keys.
template <class Tile>
struct Items {
  using Bits = typename Tile::Bits;
  using Value = typename Tile::Value;

  int rows, first;
  Bits keys[Tile::items];
  Value values[has_values<Value> ? Tile::items : 1];

  __device__ explicit Items(int rows) : rows(rows), first(threadIdx.x / 32 * 32 * rows + threadIdx.x % 32) {}

  /// Loads them from a tile of `count` keys. Other positions get all ones, a sentinel that no key follows.
  __device__ void load(Pairs<const Bits, const Value> from, int count) {
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      if (row >= rows) break;
      const int i = first + 32 * row;
      keys[row] = i < count ? from.keys[i] : Bits(~Bits(0));
      if constexpr (has_values<Value>) values[row] = from.values[i < count ? i : 0];
    }
  }

  /// Loads them from their positions in shared memory.
  __device__ void load_sorted(const Tile& tile) {
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      if (row >= rows) break;
      keys[row] = tile.keys[padded(first + 32 * row)];
      if constexpr (has_values<Value>) values[row] = tile.values[padded(first + 32 * row)];
    }
  }

  /// Transforms the bits of keys that were loaded from a tile of `count` keys.
  template <class Transform>
  __device__ void transform_keys(Transform transform, int count) {
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      if (row < rows && first + 32 * row < count) keys[row] = transform.forward(keys[row]);
    }
  }

  /// Stores the first `count` of the tile's keys as they were before the transform, and their values.
  template <class Transform>
  __device__ void store(Transform transform, int count, Pairs<Bits, Value> to) const {
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      const int i = first + 32 * row;
      if (row >= rows || i >= count) break;
      to.keys[i] = transform.inverse(keys[row]);
      if constexpr (has_values<Value>) to.values[i] = values[row];
    }
  }
};

// --- the phases of a tile, except for RankAndScatter, which comes between scan_bins and store_runs ---

/// True if all keys of the warp have the same digit, and no row is empty. One operation per key collects the bits in
/// which a thread's keys differ.
template <class Tile, class Transform>
__device__ bool warp_has_one_digit(const Items<Tile>& items, Transform transform, int pass) {
  typename Tile::Bits differences = 0;
#pragma unroll
  for (int row = 1; row < Tile::items; ++row) {
    differences |= transform.rank_bits(items.keys[row]) ^ transform.rank_bits(items.keys[0]);
  }
  const unsigned digit = transform.digit(items.keys[0], pass), of_lane_0 = __shfl_sync(0xffffffffu, digit, 0);
  const bool is_lane_0s = (unsigned(differences >> 8 * pass) & (byte_values - 1)) == 0 && digit == of_lane_0;
  return items.rows == Tile::items && __all_sync(0xffffffffu, is_lane_0s);
}

/// Counts the digits of the warp's keys, before they are ranked. CUB calls this early counts.
template <class Tile, class Transform>
__device__ void count_digits(Tile& tile, const Items<Tile>& items, Transform transform, int pass, bool one_digit) {
  unsigned* const counts = tile.counts[threadIdx.x / 32];
  for (int digit = threadIdx.x % 32; digit < byte_values; digit += 32) counts[digit] = 0;
  __syncwarp();  // a lane adds to elements of `counts` that other lanes have cleared
  if (one_digit) {
    if (threadIdx.x % 32 == 0) counts[transform.digit(items.keys[0], pass)] = 32 * Tile::items;
    return;
  }
#pragma unroll
  for (int row = 0; row < Tile::items; ++row) {
    if (row < items.rows) atomicAdd(&counts[transform.digit(items.keys[row], pass)], 1u);
  }
}

/// How many keys of this thread's digit the tile has, and where they begin in the tile.
struct Run {
  unsigned count, begin;
};

/// Replaces the warps' counts by the positions of their next keys. Calls publish(count) for each digit as soon as its
/// count is known. Thread t has digit t % 256, and the warps of part t / 256. Every part adds up all digits itself,
/// because it would otherwise have to wait for the sums of part 0.
template <class Tile, class Publish>
__device__ Run scan_bins(Tile& tile, Publish publish) {
  const int digit = threadIdx.x % byte_values, part = threadIdx.x / byte_values;
  const int first_warp = part * Tile::warps_per_part;
  unsigned part_count = 0, count = 0, earlier_parts = 0;
  for (int w = 0; w < Tile::warps_per_part; ++w) part_count += tile.counts[first_warp + w][digit];
  tile.part_counts[part][digit] = part_count;
  __syncthreads();  // a thread adds up tile.part_counts of all parts
  for (int p = 0; p < Tile::parts; ++p) {
    if (p == part) earlier_parts = count;
    count += tile.part_counts[p][digit];
  }
  if (part == 0) publish(count);
  const unsigned begin = group_exclusive_sum<byte_values>(count, tile.warp_sums);
  unsigned next = begin + earlier_parts;
  for (int w = 0; w < Tile::warps_per_part; ++w) {
    const unsigned warp_count = tile.counts[first_warp + w][digit];
    tile.counts[first_warp + w][digit] = next;
    next += warp_count;
  }
  return {count, begin};
}

/// Puts the items of a warp in which all keys have the same digit at their positions. They stay in order, and need no
/// votes.
template <class Tile>
__device__ void store_in_order(Tile& tile, const Items<Tile>& items, unsigned digit) {
  const unsigned first = tile.counts[threadIdx.x / 32][digit] + threadIdx.x % 32;
#pragma unroll
  for (int row = 0; row < Tile::items; ++row) {
    tile.keys[padded(first + 32 * row)] = items.keys[row];
    if constexpr (has_values<typename Tile::Value>) tile.values[padded(first + 32 * row)] = items.values[row];
  }
}

/// Puts the keys of a whole tile at positions among those of their digits, in any order, where no order has to be kept.
/// A key takes one atomic, and no votes. Lanes with the same digit wait for each other there, unless they are in groups,
/// which is faster if most keys have the same digit: the lanes with lane 0's digit share an atomic.
template <bool in_groups, class Tile, class Transform>
__device__ void scatter_in_any_order(Tile& tile, const Items<Tile>& items, Transform transform, int pass) {
  unsigned* const next_positions = tile.counts[threadIdx.x / 32];
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (int row = 0; row < Tile::items; ++row) {
    const unsigned digit = transform.digit(items.keys[row], pass);
    const unsigned group = in_groups ? lanes_as_lane_0(digit) : 0;
    const bool in_group = group >> lane & 1;
    unsigned position = 0;
    if (!in_group) position = atomicAdd(&next_positions[digit], 1u);
    if (lane == 0 && in_groups) position = atomicAdd(&next_positions[digit], unsigned(__popc(group)));
    if constexpr (in_groups) {
      const unsigned first = __shfl_sync(0xffffffffu, position, 0);
      if (in_group) position = first + __popc(group & ((1u << lane) - 1));
    }
    tile.keys[padded(position)] = items.keys[row];
  }
}

/// Whether a pass stores keys as it sorts them, or as they were before the transform.
enum class Stored { transformed, original };

/// Stores the tile from shared memory, digit by digit in runs.
template <Stored stored, class Tile, class Transform>
__device__ void store_runs(const Tile& tile, int count, Transform transform, int pass,
                           Pairs<typename Tile::Bits, typename Tile::Value> to) {
#pragma unroll
  for (int row = 0; row < Tile::items; ++row) {
    const int i = row * Tile::Shape::threads + threadIdx.x;
    const auto key = tile.keys[padded(i)];
    const auto position = typename Tile::Word(tile.offsets[transform.digit(key, pass)] + i);
    if (i < count) to.keys[position] = stored == Stored::original ? transform.inverse(key) : key;
    if constexpr (has_values<typename Tile::Value>) {
      if (i < count) to.values[position] = tile.values[padded(i)];
    }
  }
}

// --- keys that fit into one tile never leave the block that sorts them ---

/// Sorts the items of one block by the bytes in which `differences` has a 1, where all others are equal. Sentinels
/// behind the keys stay at the end. RankAndScatter: a functor that is called as
/// rank_and_scatter(tile, items, transform, pass) and puts every item of the warp at its position in tile.keys and
/// tile.values. On entry, tile.counts[warp][digit] is the position of the warp's first key of the digit, which the
/// functor may change. Equal digits keep their order. Rows from items.rows on have no keys. All lanes of the warp call
/// it. It need not have a barrier at its end.
template <class RankAndScatter, class Tile, class Transform>
__device__ void sort_items(Tile& tile, Items<Tile>& items, Transform transform, typename Tile::Bits differences) {
  for (int pass = 0; pass < int(sizeof(typename Tile::Bits)); ++pass) {
    if ((differences >> 8 * pass & (byte_values - 1)) == 0) continue;
    count_digits(tile, items, transform, pass, false);
    __syncthreads();  // a thread adds up tile.counts of all warps
    scan_bins(tile, [](unsigned) {});
    __syncthreads();  // a lane claims positions from tile.counts, which other warps have replaced
    RankAndScatter{}(tile, items, transform, pass);
    __syncthreads();  // a thread loads items that others have put into tile.keys and tile.values
    items.load_sorted(tile);
  }
}

/// Sorts n keys, and their values, which fit into one tile.
template <class RankAndScatter, class Tile, class Key, class Value>
static __global__ void __launch_bounds__(Tile::Shape::threads)
    sort_one_tile(Pairs<lab::Bits<Key>, Value> keys, int n, KeyTransform<Key> transform) {
  auto& tile = tile_in_shared_memory<Tile>();
  Items<Tile> items((n + Tile::Shape::threads - 1) / Tile::Shape::threads);
  items.load({keys.keys, keys.values}, n);
  items.transform_keys(transform, n);
  sort_items<RankAndScatter>(tile, items, transform, lab::Bits<Key>(~lab::Bits<Key>(0)));
  items.store(transform, n, keys);
}

}  // namespace radix

// The tiles of step 05: their shapes, where a block keeps one, and which shape suits n and the device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "plan.cuh"

namespace radix {

/// Threads per block, how many 4-byte keys each of them has, and how many blocks a multiprocessor should run at a time.
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
using OneTile = TileShape<1024, 28, 1>;  ///< for keys that one block sorts

/// Keys per thread: fewer of them if a key, with its value, is longer than 4 bytes.
template <class Shape, class Key, class Value>
inline constexpr int items_per_thread = [] {
  constexpr int bytes = sizeof(Key) + (has_values<Value> ? sizeof(Value) : 0);
  return bytes <= 4 ? Shape::words : 4 * Shape::words / bytes;
}();

template <class Shape, class Key, class Value>
inline constexpr int tile_size = Shape::threads * items_per_thread<Shape, Key, Value>;

/// Where a position of the tile is in shared memory. One word in 257 stays unused: runs whose lengths are multiples of
/// 32, which sorted and reversed keys make, would otherwise all begin in the same bank.
LAB_HOST_DEVICE constexpr unsigned padded(unsigned place) { return place + place / byte_values; }

/// What the threads of a block share while they sort a tile. Word: of positions in the output, 32 or 64 bits.
template <class TheShape, class TheWord, class TheKey, class TheValue>
struct Tile {
  using Shape = TheShape;
  using Word = TheWord;
  using Key = TheKey;
  using Code = lab::Bits<Key>;
  using Value = TheValue;
  static constexpr int items = items_per_thread<Shape, Key, Value>;  ///< per thread
  static constexpr int size = tile_size<Shape, Key, Value>;
  static constexpr int warps = Shape::threads / 32;
  static constexpr int parts = Shape::threads / byte_values;  ///< of the warps; a thread has one digit of one part
  static constexpr int warps_per_part = warps / parts;
  static_assert(Shape::threads % byte_values == 0, "every digit has a thread in each part");

  unsigned counts[warps][byte_values];  ///< of each warp's keys; then the position of its next key of a digit
  unsigned part_counts[parts][byte_values];
  unsigned warp_sums[warps];
  Word offsets[byte_values];  ///< where a digit's keys begin in the output, less where they begin in the tile
  unsigned next_tile;
  alignas(16) Code codes[padded(size)];
  Value values[has_values<Value> ? padded(size) : 1];
};

/// The tile in the block's dynamic shared memory, which may be larger than 48 KiB.
template <class T>
__device__ T& tile_in_shared_memory() {
  extern __shared__ uint4 shared_memory[];
  return *reinterpret_cast<T*>(shared_memory);
}

/// A thread's codes and values, at the positions first, first + 32, ... of the tile. A warp has `rows` rows of 32
/// neighbours, so (warp, row, lane) is the order of the keys.
template <class Tile>
struct Items {
  using Code = typename Tile::Code;
  using Value = typename Tile::Value;

  int rows, first;
  Code codes[Tile::items];
  Value values[has_values<Value> ? Tile::items : 1];

  __device__ explicit Items(int rows) : rows(rows), first(threadIdx.x / 32 * 32 * rows + threadIdx.x % 32) {}

  /// Loads them from a tile of `count` keys. Other positions get the last code, which no key follows.
  __device__ void load(Pairs<const Code, const Value> from, int count) {
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      if (row >= rows) break;
      const int i = first + 32 * row;
      codes[row] = i < count ? from.keys[i] : Code(~Code(0));
      if constexpr (has_values<Value>) values[row] = from.values[i < count ? i : 0];
    }
  }

  /// Takes them from their positions in shared memory.
  __device__ void take(const Tile& tile) {
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      if (row >= rows) break;
      codes[row] = tile.codes[padded(first + 32 * row)];
      if constexpr (has_values<Value>) values[row] = tile.values[padded(first + 32 * row)];
    }
  }

  /// Makes codes of the bits of keys that are loaded from a tile of `count` keys.
  template <class Coding>
  __device__ void encode(Coding coding, int count) {
#pragma unroll
    for (int row = 0; row < Tile::items; ++row) {
      if (row < rows && first + 32 * row < count) codes[row] = coding.encode(codes[row]);
    }
  }
};

// --- the phases of a tile, but for the one between find_places and store_runs ---

/// Counts the digits of the warp's keys.
template <class Tile, class Coding>
__device__ void count_digits(Tile& tile, const Items<Tile>& items, Coding coding, int pass) {
  unsigned* const counts = tile.counts[threadIdx.x / 32];
  for (int digit = threadIdx.x % 32; digit < byte_values; digit += 32) counts[digit] = 0;
  __syncwarp();  // a lane counts in counters that others have cleared
#pragma unroll
  for (int row = 0; row < Tile::items; ++row) {
    if (row < items.rows) atomicAdd(&counts[coding.digit(items.codes[row], pass)], 1u);
  }
}

/// How many keys of this thread's digit the tile has, and where they begin in the tile.
struct Run {
  unsigned count, begin;
};

/// Replaces the warps' counts by the positions of their next keys. Calls publish(count) for each digit as soon as its
/// count is known. Thread t has digit t % 256, and the warps of part t / 256. Each part adds up all digits, because
/// threads that did not would have to wait for the sums.
template <class Tile, class Publish>
__device__ Run find_places(Tile& tile, Publish publish) {
  const int digit = threadIdx.x % byte_values, part = threadIdx.x / byte_values;
  const int first_warp = part * Tile::warps_per_part;
  unsigned part_count = 0, count = 0, earlier_parts = 0;
  for (int w = 0; w < Tile::warps_per_part; ++w) part_count += tile.counts[first_warp + w][digit];
  tile.part_counts[part][digit] = part_count;
  __syncthreads();  // a thread adds up counts of all parts
  for (int p = 0; p < Tile::parts; ++p) {
    if (p == part) earlier_parts = count;
    count += tile.part_counts[p][digit];
  }
  if (part == 0) publish(count);
  const unsigned inclusive = warp_inclusive_sum(count);
  if (threadIdx.x % 32 == 31) tile.warp_sums[threadIdx.x / 32] = inclusive;
  __syncthreads();  // a thread adds the sums of the warps that have lower digits
  unsigned begin = inclusive - count;
  for (int w = part * (byte_values / 32); w < int(threadIdx.x) / 32; ++w) begin += tile.warp_sums[w];
  unsigned next = begin + earlier_parts;
  for (int w = 0; w < Tile::warps_per_part; ++w) {
    const unsigned warp_count = tile.counts[first_warp + w][digit];
    tile.counts[first_warp + w][digit] = next;
    next += warp_count;
  }
  return {count, begin};
}

/// Stores the tile from shared memory, digit by digit in runs: codes, or keys if it is the last pass.
template <bool decoded, class Tile, class Coding>
__device__ void store_runs(const Tile& tile, int count, Coding coding, int pass,
                           Pairs<typename Tile::Code, typename Tile::Value> to) {
#pragma unroll
  for (int row = 0; row < Tile::items; ++row) {
    const int i = row * Tile::Shape::threads + threadIdx.x;
    const auto code = tile.codes[padded(i)];
    const auto place = typename Tile::Word(tile.offsets[coding.digit(code, pass)] + i);
    if (i < count) to.keys[place] = decoded ? coding.decode(code) : code;
    if constexpr (has_values<typename Tile::Value>) {
      if (i < count) to.values[place] = tile.values[padded(i)];
    }
  }
}

}  // namespace radix

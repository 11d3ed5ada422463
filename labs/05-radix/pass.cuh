// A pass of step 05, except for what is taught there: the memory of all passes, the shapes of their tiles, what a tile
// publishes for the look-back, how a block claims tiles, and how blocks wait for each other between passes.
#pragma once

#include <cstdint>
#include <utility>

#include "pass_plan.cuh"
#include "step/device.h"
#include "tile.cuh"

namespace radix {

// --- the host's part ---

/// Rows of status words before that of tile 0. A look-back may read them, so that it can read several rows at a time
/// wherever it is, but must not use them.
inline constexpr int rows_before_tile_0 = 3;

/// The number of status words of all tiles of n keys: one per row and digit.
template <class Tile>
std::int64_t statuses_of(std::int64_t n) {
  return (rows_before_tile_0 + (n + Tile::size - 1) / Tile::size) * byte_values;
}

/// The two arrays between which passes move the keys, and what else they need. What must be allocated is in one array,
/// because each allocation takes time.
template <class Tile>
class PassMemory {
 public:
  using Key = typename Tile::Key;
  using Bits = typename Tile::Bits;
  using Value = typename Tile::Value;

  Pairs<Bits, Value> primary, scratch;  ///< the keys are in `primary` before and after

  /// The keys and values are the caller's. Errors: CudaError.
  PassMemory(lab::Span<Bits> keys, lab::Span<Value> values, cudaStream_t stream)
      : status_count_(statuses_of<Tile>(keys.n)),
        key_bytes_(keys.n * std::int64_t(sizeof(Bits))),
        array_(copies_begin() + key_bytes_ + values.n * std::int64_t(sizeof(Value)), stream) {
    char* const copies = array_.data() + copies_begin();
    primary = {keys.data, values.data};
    scratch = {reinterpret_cast<Bits*>(copies), reinterpret_cast<Value*>(copies + key_bytes_)};
    CUDA_CHECK(cudaMemsetAsync(plan(), 0, sizeof(PassPlan<Key>), stream));
    if constexpr (PassPlan<Key>::passes % 2 == 1) {  // the only pass must end where the keys began
      CUDA_CHECK(cudaMemcpyAsync(scratch.keys, primary.keys, key_bytes_, cudaMemcpyDeviceToDevice, stream));
      std::swap(primary, scratch);
    }
  }

  PassPlan<Key>* plan() const { return reinterpret_cast<PassPlan<Key>*>(array_.data()); }

  /// The status words as an array of `unsigned`, whatever their type is.
  lab::Span<unsigned> statuses() const {
    return {reinterpret_cast<unsigned*>(plan() + 1), status_count_ * std::int64_t(sizeof(typename Tile::Word)) / 4};
  }

 private:
  std::int64_t copies_begin() const {
    const std::int64_t bytes = sizeof(PassPlan<Key>) + status_count_ * std::int64_t(sizeof(typename Tile::Word));
    return (bytes + 255) / 256 * 256;
  }

  std::int64_t status_count_, key_bytes_;
  lab::DeviceArray<char> array_;
};

/// Calls f, a generic function of a tile type, with the smallest tiles of which all can be in progress at the same time,
/// or else with the largest that fit in shared memory. With a launch shape of the user's, a block has 512 threads. On a
/// CPU, all tiles are small, because each shape takes as long to compile as the first.
template <class Word, class Key, class Value, class F>
auto with_tile(std::int64_t n, bool auto_shape, F f) {
  using Small = Tile<SmallTile, Word, Key, Value>;
  if constexpr (lab::on_cpu) {
    return f.template operator()<Small>();
  } else {
    using Large = Tile<LargeTile<Key, Value>, Word, Key, Value>;
    using Medium = Tile<MediumTile, Word, Key, Value>;
    static_assert(sizeof(Medium) <= 64 * 1024, "every GPU since compute capability 7.5 has this much shared memory");
    const lab::Device& device = lab::Device::current();
    if constexpr (sizeof(Word) == 4) {  // 64-bit words are for more keys than the small tiles ever get
      if (n <= device.resident_keys<Small>()) return f.template operator()<Small>();
    }
    const bool is_large = n > device.resident_keys<Medium>() && device.fits<Large>();
    if (auto_shape && is_large) return f.template operator()<Large>();
    return f.template operator()<Medium>();
  }
}

// --- the device's part ---

/// What a tile publishes about one digit: nothing yet (invalid), its own count (partial), or the count of all tiles up
/// to and including it (inclusive). After a pass, all words are inclusive. In the next active pass that must mean
/// "invalid". Therefore the three kinds change their numbers, and no word has to be cleared: they are 0, 1, 2 in the
/// first, third, ... active pass, and 2, 3, 0 in the others. `Word` has 32 bits for n up to 2^30, else 64.
/// libcusort changes its kinds in the same way.
template <class Word>
struct TileStatus {
  static constexpr int count_bits = 8 * int(sizeof(Word)) - 2;
  static constexpr Word one = Word(1) << count_bits;  ///< the difference between a kind and the next
  static constexpr Word count_mask = one - 1;

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
};

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

/// A barrier for the grid, between passes: waits until its blocks have moved all `tiles`, of which this one has moved
/// `own`, and sees what they have written. All threads of the block call it. `done`: 0 at the start. It cannot hang,
/// even if not all blocks run at the same time, because a block waits only when no tile is left to claim. Every tile
/// that it waits for was therefore claimed by a block that is running.
__device__ inline void wait_for_all(unsigned* done, unsigned own, unsigned tiles) {
  __syncthreads();  // the fence of thread 0 comes after all threads have stored their keys
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(done, own);
    while (*static_cast<volatile unsigned*>(done) < tiles) {
    }
    __threadfence();
  }
  __syncthreads();  // the other threads wait for thread 0
}

}  // namespace radix

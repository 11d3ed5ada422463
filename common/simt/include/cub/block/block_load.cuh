// BlockLoad (CUB, "Block-wide Primitives").
#pragma once

#include <type_traits>

#include "block_exchange.cuh"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

// --- without shared memory: of the first `valid` items of a tile, those of a thread ---
template <class T, int Items, class Iterator>
[[gnu::always_inline]] inline void LoadDirectBlocked(int rank, Iterator from, T (&items)[Items], int valid) {
  const detail::Arrangement<1, Items> at{rank};
  for (int i = 0; i < Items; ++i) {
    if (at.blocked(i) < valid) items[i] = from[at.blocked(i)];
  }
}
template <class T, int Items, class Iterator>
[[gnu::always_inline]] inline void LoadDirectBlocked(int rank, Iterator from, T (&items)[Items]) {
  LoadDirectBlocked(rank, from, items, (rank + 1) * Items);
}
template <int Threads, class T, int Items, class Iterator>
[[gnu::always_inline]] inline void LoadDirectStriped(int rank, Iterator from, T (&items)[Items], int valid) {
  const detail::Arrangement<Threads, Items> at{rank};
  for (int i = 0; i < Items; ++i) {
    if (at.striped(i) < valid) items[i] = from[at.striped(i)];
  }
}
template <int Threads, class T, int Items, class Iterator>
[[gnu::always_inline]] inline void LoadDirectStriped(int rank, Iterator from, T (&items)[Items]) {
  LoadDirectStriped<Threads>(rank, from, items, Threads * Items);
}

/// Loads a tile, whose arrangement in the threads is blocked, or with BLOCK_LOAD_STRIPED striped. Items that are not
/// valid stay as they are, or get the default.
template <class T, int BlockX, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int BlockY = 1,
          int BlockZ = 1>
class BlockLoad {
  using Block = detail::Block<BlockX, BlockY, BlockZ>;
  static constexpr bool is_transposed = Algorithm == BLOCK_LOAD_TRANSPOSE;
  static constexpr bool is_transposed_by_warps =
      Algorithm == BLOCK_LOAD_WARP_TRANSPOSE || Algorithm == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED;
  static_assert(!is_transposed_by_warps || Block::threads % 32 == 0, "only whole warps can transpose");

 public:
  using TempStorage = std::conditional_t<is_transposed || is_transposed_by_warps,
                                         detail::Room<T, Block::threads * Items>, detail::NoRoom>;

  explicit BlockLoad(TempStorage& storage, simt::Site site = simt::Site::here())
      : storage_(storage), at_{Block::rank(site)} {}
  explicit BlockLoad(simt::Site site = simt::Site::here()) : BlockLoad(own_storage(), site) {}

  template <class Iterator>
  [[gnu::always_inline]] void Load(Iterator from, T (&items)[Items], simt::Site site = simt::Site::here()) {
    Load(from, items, Block::threads * Items, site);
  }
  template <class Iterator>
  [[gnu::always_inline]] void Load(Iterator from, T (&items)[Items], int valid, simt::Site site = simt::Site::here()) {
    if constexpr (Algorithm == BLOCK_LOAD_STRIPED) {
      LoadDirectStriped<Block::threads>(at_.rank, from, items, valid);
    } else if constexpr (!is_transposed && !is_transposed_by_warps) {
      LoadDirectBlocked(at_.rank, from, items, valid);
    } else {
      load_transposed(from, items, valid, site);
    }
  }
  template <class Iterator, class Default>
  [[gnu::always_inline]] void Load(Iterator from, T (&items)[Items], int valid, Default value,
                                   simt::Site site = simt::Site::here()) {
    for (T& item : items) item = value;
    Load(from, items, valid, site);
  }

 private:
  static TempStorage& own_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  template <class Iterator>
  [[gnu::always_inline]] void load_transposed(Iterator from, T (&items)[Items], int valid, simt::Site site) {
    T* const values = storage_.values();
    for (int i = 0; i < Items; ++i) {
      const int place = is_transposed ? at_.striped(i) : at_.warp_striped(i);
      if (place < valid) values[place] = from[place];
    }
    if (is_transposed) {
      __syncthreads(site);  // the items are there
    } else {
      __syncwarp(0xffffffffu, site);
    }
    for (int i = 0; i < Items; ++i) {
      if (at_.blocked(i) < valid) items[i] = values[at_.blocked(i)];
    }
  }

  TempStorage& storage_;
  detail::Arrangement<Block::threads, Items> at_;
};

}  // namespace cub

// BlockStore (CUB, "Block-wide Primitives").
#pragma once

#include <type_traits>

#include "block_exchange.cuh"

namespace cub {

enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

// --- without shared memory: to the first `valid` items of a tile, those of a thread ---
template <class T, int Items, class Iterator>
[[gnu::always_inline]] inline void StoreDirectBlocked(int rank, Iterator to, T (&items)[Items], int valid) {
  const detail::Arrangement<1, Items> at{rank};
  for (int i = 0; i < Items; ++i) {
    if (at.blocked(i) < valid) to[at.blocked(i)] = items[i];
  }
}
template <class T, int Items, class Iterator>
[[gnu::always_inline]] inline void StoreDirectBlocked(int rank, Iterator to, T (&items)[Items]) {
  StoreDirectBlocked(rank, to, items, (rank + 1) * Items);
}
template <int Threads, class T, int Items, class Iterator>
[[gnu::always_inline]] inline void StoreDirectStriped(int rank, Iterator to, T (&items)[Items], int valid) {
  const detail::Arrangement<Threads, Items> at{rank};
  for (int i = 0; i < Items; ++i) {
    if (at.striped(i) < valid) to[at.striped(i)] = items[i];
  }
}
template <int Threads, class T, int Items, class Iterator>
[[gnu::always_inline]] inline void StoreDirectStriped(int rank, Iterator to, T (&items)[Items]) {
  StoreDirectStriped<Threads>(rank, to, items, Threads * Items);
}

/// Stores the valid items of a tile, whose arrangement in the threads is blocked, or with BLOCK_STORE_STRIPED striped.
template <class T, int BlockX, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int BlockY = 1,
          int BlockZ = 1>
class BlockStore {
  using Block = detail::Block<BlockX, BlockY, BlockZ>;
  static constexpr bool is_transposed = Algorithm == BLOCK_STORE_TRANSPOSE;
  static constexpr bool is_transposed_by_warps =
      Algorithm == BLOCK_STORE_WARP_TRANSPOSE || Algorithm == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED;
  static_assert(!is_transposed_by_warps || Block::threads % 32 == 0, "only whole warps can transpose");

 public:
  using TempStorage = std::conditional_t<is_transposed || is_transposed_by_warps,
                                         detail::Room<T, Block::threads * Items>, detail::NoRoom>;

  explicit BlockStore(TempStorage& storage, simt::Site site = simt::Site::here())
      : storage_(storage), at_{Block::rank(site)} {}
  explicit BlockStore(simt::Site site = simt::Site::here()) : BlockStore(own_storage(), site) {}

  template <class Iterator>
  [[gnu::always_inline]] void Store(Iterator to, T (&items)[Items], simt::Site site = simt::Site::here()) {
    Store(to, items, Block::threads * Items, site);
  }
  template <class Iterator>
  [[gnu::always_inline]] void Store(Iterator to, T (&items)[Items], int valid, simt::Site site = simt::Site::here()) {
    if constexpr (Algorithm == BLOCK_STORE_STRIPED) {
      StoreDirectStriped<Block::threads>(at_.rank, to, items, valid);
    } else if constexpr (!is_transposed && !is_transposed_by_warps) {
      StoreDirectBlocked(at_.rank, to, items, valid);
    } else {
      store_transposed(to, items, valid, site);
    }
  }

 private:
  static TempStorage& own_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  template <class Iterator>
  [[gnu::always_inline]] void store_transposed(Iterator to, T (&items)[Items], int valid, simt::Site site) {
    T* const values = storage_.values();
    for (int i = 0; i < Items; ++i) values[at_.blocked(i)] = items[i];
    if (is_transposed) {
      __syncthreads(site);  // the items are there
    } else {
      __syncwarp(0xffffffffu, site);
    }
    for (int i = 0; i < Items; ++i) {
      const int place = is_transposed ? at_.striped(i) : at_.warp_striped(i);
      if (place < valid) to[place] = values[place];
    }
  }

  TempStorage& storage_;
  detail::Arrangement<Block::threads, Items> at_;
};

}  // namespace cub

// BlockExchange (CUB, "Block-wide Primitives").
#pragma once

#include "../util_ptx.cuh"
#include "../util_type.cuh"

namespace cub {

namespace detail {

/// Where item i of a thread is in the tile of its block.
template <int Threads, int Items>
struct Arrangement {
  int rank;

  int blocked(int i) const { return rank * Items + i; }
  int striped(int i) const { return i * Threads + rank; }
  int warp_striped(int i) const { return rank / 32 * 32 * Items + i * 32 + rank % 32; }
};

}  // namespace detail

/// Input and output may be the same array.
template <class T, int BlockX, int Items, bool /*WARP_TIME_SLICING*/ = false, int BlockY = 1, int BlockZ = 1>
class BlockExchange {
  using Block = detail::Block<BlockX, BlockY, BlockZ>;

 public:
  using TempStorage = detail::Room<T, Block::threads * Items>;

  explicit BlockExchange(TempStorage& storage, simt::Site site = simt::Site::here())
      : values_(storage.values()), at_{Block::rank(site)} {}
  explicit BlockExchange(simt::Site site = simt::Site::here()) : BlockExchange(own_storage(), site) {}

#define SIMT_EXCHANGE(name, from, to)                                           \
  template <class Out>                                                          \
  [[gnu::always_inline]] void name(const T(&input)[Items], Out(&output)[Items], \
                                   simt::Site site = simt::Site::here()) {      \
    for (int i = 0; i < Items; ++i) values_[at_.from(i)] = input[i];            \
    __syncthreads(site); /* the items are there */                              \
    for (int i = 0; i < Items; ++i) output[i] = values_[at_.to(i)];             \
  }                                                                             \
  [[gnu::always_inline]] void name(T(&items)[Items], simt::Site site = simt::Site::here()) { name(items, items, site); }
  SIMT_EXCHANGE(StripedToBlocked, striped, blocked)
  SIMT_EXCHANGE(BlockedToStriped, blocked, striped)
  SIMT_EXCHANGE(WarpStripedToBlocked, warp_striped, blocked)
  SIMT_EXCHANGE(BlockedToWarpStriped, blocked, warp_striped)
#undef SIMT_EXCHANGE

  // --- each item goes to its rank ---
#define SIMT_SCATTER(name, to)                                                                                    \
  template <class Out, class Rank>                                                                                \
  [[gnu::always_inline]] void name(const T(&input)[Items], Out(&output)[Items], Rank(&ranks)[Items],              \
                                   simt::Site site = simt::Site::here()) {                                        \
    for (int i = 0; i < Items; ++i) values_[ranks[i]] = input[i];                                                 \
    __syncthreads(site); /* the items are there */                                                                \
    for (int i = 0; i < Items; ++i) output[i] = values_[at_.to(i)];                                               \
  }                                                                                                               \
  template <class Rank>                                                                                           \
  [[gnu::always_inline]] void name(T(&items)[Items], Rank(&ranks)[Items], simt::Site site = simt::Site::here()) { \
    name(items, items, ranks, site);                                                                              \
  }
  SIMT_SCATTER(ScatterToBlocked, blocked)
  SIMT_SCATTER(ScatterToStriped, striped)
#undef SIMT_SCATTER

 private:
  static TempStorage& own_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  T* values_;
  detail::Arrangement<Block::threads, Items> at_;
};

}  // namespace cub

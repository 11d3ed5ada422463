// BlockReduce (CUB, "Block-wide Primitives").
#pragma once

#include "../detail/logical_warp.cuh"
#include "../thread/thread_operators.cuh"

namespace cub {

/// All do the same here.
enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
  BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC
};

/// The first thread gets the result, others get their own value. `op` is associative.
template <class T, int BlockX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int BlockY = 1, int BlockZ = 1>
class BlockReduce {
  using Block = detail::Block<BlockX, BlockY, BlockZ>;

 public:
  using TempStorage = detail::Room<T, Block::threads>;

  explicit BlockReduce(TempStorage& storage, simt::Site site = simt::Site::here())
      : values_(storage.values()), rank_(Block::rank(site)) {}
  explicit BlockReduce(simt::Site site = simt::Site::here()) : BlockReduce(own_storage(), site) {}

  [[gnu::always_inline]] T Sum(T input, simt::Site site = simt::Site::here()) {
    return Reduce(input, detail::Plus<T>(), Block::threads, site);
  }
  /// Of the first threads.
  [[gnu::always_inline]] T Sum(T input, int num_valid, simt::Site site = simt::Site::here()) {
    return Reduce(input, detail::Plus<T>(), num_valid, site);
  }
  template <int Items>
  [[gnu::always_inline]] T Sum(T (&inputs)[Items], simt::Site site = simt::Site::here()) {
    return Reduce(inputs, detail::Plus<T>(), site);
  }

  template <class Op>
  [[gnu::always_inline]] T Reduce(T input, Op op, simt::Site site = simt::Site::here()) {
    return Reduce(input, op, Block::threads, site);
  }
  template <int Items, class Op>
  [[gnu::always_inline]] T Reduce(T (&inputs)[Items], Op op, simt::Site site = simt::Site::here()) {
    T value = inputs[0];
    for (int i = 1; i < Items; ++i) value = op(value, inputs[i]);
    return Reduce(value, op, Block::threads, site);
  }
  template <class Op>
  [[gnu::always_inline]] T Reduce(T input, Op op, int num_valid, simt::Site site = simt::Site::here()) {
    values_[rank_] = input;
    __syncthreads(site);  // the values are there
    T result = input;
    if (rank_ == 0) {
      for (int i = 1; i < num_valid; ++i) result = op(result, values_[i]);
    }
    return result;
  }

 private:
  static TempStorage& own_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  T* values_;
  int rank_;
};

}  // namespace cub

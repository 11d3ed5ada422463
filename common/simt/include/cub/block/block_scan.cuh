// BlockScan (CUB, "Block-wide Primitives").
#pragma once

#include <type_traits>

#include "../detail/logical_warp.cuh"
#include "../thread/thread_operators.cuh"

namespace cub {

/// All do the same here.
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

/// Scans one item of each thread, or arrays of items, whose arrangement is blocked. `op` is associative. An aggregate is
/// that of all inputs, without an initial value. A callback gets this aggregate in each thread of the first warp; what
/// it returns to the first thread precedes all inputs.
template <class T, int BlockX, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int BlockY = 1, int BlockZ = 1>
class BlockScan {
  using Block = detail::Block<BlockX, BlockY, BlockZ>;
  using Plus = detail::Plus<T>;
  /// An operator, which cannot be converted to T, as an initial value can.
  template <class Op>
  using IsOperator = std::enable_if_t<!std::is_convertible_v<Op, T>, int>;

 public:
  using TempStorage = detail::Room<T, Block::threads + 1>;

  explicit BlockScan(TempStorage& storage, simt::Site site = simt::Site::here())
      : values_(storage.values()), rank_(Block::rank(site)) {}
  explicit BlockScan(simt::Site site = simt::Site::here()) : BlockScan(own_storage(), site) {}

  // --- sums ---
  template <class In, class Out>
  [[gnu::always_inline]] void ExclusiveSum(const In& input, Out& output, simt::Site site = simt::Site::here()) {
    ExclusiveScan(input, output, T{}, Plus(), site);
  }
  template <class In, class Out>
  [[gnu::always_inline]] void ExclusiveSum(const In& input, Out& output, T& block_aggregate,
                                           simt::Site site = simt::Site::here()) {
    ExclusiveScan(input, output, T{}, Plus(), block_aggregate, site);
  }
  template <class In, class Out, class Callback>
  [[gnu::always_inline]] void ExclusiveSum(const In& input, Out& output, Callback& prefix_of_block,
                                           simt::Site site = simt::Site::here()) {
    ExclusiveScan(input, output, Plus(), prefix_of_block, site);
  }
  template <class In, class Out>
  [[gnu::always_inline]] void InclusiveSum(const In& input, Out& output, simt::Site site = simt::Site::here()) {
    InclusiveScan(input, output, Plus(), site);
  }
  template <class In, class Out>
  [[gnu::always_inline]] void InclusiveSum(const In& input, Out& output, T& block_aggregate,
                                           simt::Site site = simt::Site::here()) {
    InclusiveScan(input, output, Plus(), block_aggregate, site);
  }
  template <class In, class Out, class Callback>
  [[gnu::always_inline]] void InclusiveSum(const In& input, Out& output, Callback& prefix_of_block,
                                           simt::Site site = simt::Site::here()) {
    InclusiveScan(input, output, Plus(), prefix_of_block, site);
  }

  // --- exclusive scans; without an initial value, the first output means nothing ---
  template <class In, class Out, class Op>
  [[gnu::always_inline]] void ExclusiveScan(const In& input, Out& output, Op op, simt::Site site = simt::Site::here()) {
    scan<false>(input, output, op, NoPrefix(), site);
  }
  template <class In, class Out, class Op>
  [[gnu::always_inline]] void ExclusiveScan(const In& input, Out& output, Op op, T& block_aggregate,
                                            simt::Site site = simt::Site::here()) {
    block_aggregate = scan<false>(input, output, op, NoPrefix(), site);
  }
  template <class In, class Out, class Op>
  [[gnu::always_inline]] void ExclusiveScan(const In& input, Out& output, T initial_value, Op op,
                                            simt::Site site = simt::Site::here()) {
    scan<false>(input, output, op, Initial{initial_value}, site);
  }
  template <class In, class Out, class Op>
  [[gnu::always_inline]] void ExclusiveScan(const In& input, Out& output, T initial_value, Op op, T& block_aggregate,
                                            simt::Site site = simt::Site::here()) {
    block_aggregate = scan<false>(input, output, op, Initial{initial_value}, site);
  }
  template <class In, class Out, class Op, class Callback, IsOperator<Op> = 0>
  [[gnu::always_inline]] void ExclusiveScan(const In& input, Out& output, Op op, Callback& prefix_of_block,
                                            simt::Site site = simt::Site::here()) {
    scan<false>(input, output, op, Called<Callback>{prefix_of_block, values_, rank_, site}, site);
  }

  // --- inclusive scans ---
  template <class In, class Out, class Op>
  [[gnu::always_inline]] void InclusiveScan(const In& input, Out& output, Op op, simt::Site site = simt::Site::here()) {
    scan<true>(input, output, op, NoPrefix(), site);
  }
  template <class In, class Out, class Op>
  [[gnu::always_inline]] void InclusiveScan(const In& input, Out& output, Op op, T& block_aggregate,
                                            simt::Site site = simt::Site::here()) {
    block_aggregate = scan<true>(input, output, op, NoPrefix(), site);
  }
  template <class In, class Out, class Op>
  [[gnu::always_inline]] void InclusiveScan(const In& input, Out& output, T initial_value, Op op,
                                            simt::Site site = simt::Site::here()) {
    scan<true>(input, output, op, Initial{initial_value}, site);
  }
  template <class In, class Out, class Op>
  [[gnu::always_inline]] void InclusiveScan(const In& input, Out& output, T initial_value, Op op, T& block_aggregate,
                                            simt::Site site = simt::Site::here()) {
    block_aggregate = scan<true>(input, output, op, Initial{initial_value}, site);
  }
  template <class In, class Out, class Op, class Callback, IsOperator<Op> = 0>
  [[gnu::always_inline]] void InclusiveScan(const In& input, Out& output, Op op, Callback& prefix_of_block,
                                            simt::Site site = simt::Site::here()) {
    scan<true>(input, output, op, Called<Callback>{prefix_of_block, values_, rank_, site}, site);
  }

 private:
  // What precedes all inputs.
  struct NoPrefix {};
  struct Initial {
    T value;
    [[gnu::always_inline]] T of(const T&) const { return value; }
  };
  template <class Callback>
  struct Called {
    Callback& callback;
    T* values;
    int rank;
    simt::Site site;
    [[gnu::always_inline]] T of(const T& total) const {
      if (rank < 32) {
        const T prefix = callback(total);
        if (rank == 0) values[Block::threads] = prefix;
      }
      __syncthreads(site);  // the prefix is there
      return values[Block::threads];
    }
  };

  static TempStorage& own_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  template <class Items>
  static constexpr int count = std::is_array_v<Items> ? int(std::extent_v<Items>) : 1;
  template <class Items>
  [[gnu::always_inline]] static auto& item(Items& items, int i) {
    if constexpr (std::is_array_v<Items>) {
      return items[i];
    } else {
      return items;
    }
  }

  /// Returns the aggregate of all inputs.
  template <bool is_inclusive, class In, class Out, class Op, class Prefix>
  [[gnu::always_inline]] T scan(const In& input, Out& output, Op op, const Prefix& prefix, simt::Site site) {
    T running = item(input, 0);
    for (int i = 1; i < count<In>; ++i) running = op(running, item(input, i));
    const T total = scan_threads(running, op, site);
    bool has_predecessor = rank_ > 0;
    if (rank_ > 0) running = values_[rank_ - 1];
    if constexpr (!std::is_same_v<Prefix, NoPrefix>) {
      const T first = prefix.of(total);
      running = has_predecessor ? T(op(first, running)) : first;
      has_predecessor = true;
    }
    for (int i = 0; i < count<In>; ++i) {
      const T value = item(input, i), before = running;  // the output may be the input
      running = has_predecessor ? T(op(before, value)) : value;
      item(output, i) = is_inclusive ? running : before;
      has_predecessor = true;
    }
    return total;
  }

  /// Leaves the inclusive scan of the threads' values in shared memory. Each thread then reads what its predecessor has
  /// written, so that the check build notices if the storage is used again too early.
  template <class Op>
  [[gnu::always_inline]] T scan_threads(const T& value, Op op, simt::Site site) {
    values_[rank_] = value;
    __syncthreads(site);  // the values are there
    if (rank_ == 0) {
      for (int i = 1; i < Block::threads; ++i) values_[i] = op(values_[i - 1], values_[i]);
    }
    __syncthreads(site);  // the sums are there
    return values_[Block::threads - 1];
  }

  T* values_;
  int rank_;
};

}  // namespace cub

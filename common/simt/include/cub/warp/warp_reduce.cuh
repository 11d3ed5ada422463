// WarpReduce (CUB, "Warp-wide Primitives").
#pragma once

#include "../detail/logical_warp.cuh"
#include "../thread/thread_operators.cuh"

namespace cub {

/// The first lane gets the result, others get part of it. `op` is associative.
template <class T, int LogicalWarpThreads = 32>
class WarpReduce {
  using Warp = detail::LogicalWarp<LogicalWarpThreads>;

 public:
  using TempStorage = detail::NoRoom;

  explicit WarpReduce(TempStorage&) {}

  T Sum(T input, simt::Site site = simt::Site::here()) { return Reduce(input, detail::Plus<T>(), site); }
  /// Of the first lanes.
  T Sum(T input, int valid_items, simt::Site site = simt::Site::here()) {
    return Reduce(input, detail::Plus<T>(), valid_items, site);
  }
  template <class Op>
  T Reduce(T input, Op op, simt::Site site = simt::Site::here()) {
    return reduce_to(Warp::count() - 1, input, op, site);
  }
  template <class Op>
  T Reduce(T input, Op op, int valid_items, simt::Site site = simt::Site::here()) {
    return reduce_to(valid_items - 1, input, op, site);
  }

  // The first lane of each segment gets the segment's result.
  template <class Flag>
  T HeadSegmentedSum(T input, Flag is_head, simt::Site site = simt::Site::here()) {
    return HeadSegmentedReduce(input, is_head, detail::Plus<T>(), site);
  }
  template <class Flag>
  T TailSegmentedSum(T input, Flag is_tail, simt::Site site = simt::Site::here()) {
    return TailSegmentedReduce(input, is_tail, detail::Plus<T>(), site);
  }
  template <class Op, class Flag>
  T HeadSegmentedReduce(T input, Flag is_head, Op op, simt::Site site = simt::Site::here()) {
    const unsigned heads = Warp::ballot(bool(is_head), site), behind = heads & ~((2u << Warp::lane()) - 1);
    return reduce_to(behind == 0 ? Warp::count() - 1 : __builtin_ctz(behind) - 1, input, op, site);
  }
  template <class Op, class Flag>
  T TailSegmentedReduce(T input, Flag is_tail, Op op, simt::Site site = simt::Site::here()) {
    const unsigned tails = Warp::ballot(bool(is_tail), site) & ~((1u << Warp::lane()) - 1);
    return reduce_to(tails == 0 ? Warp::count() - 1 : __builtin_ctz(tails), input, op, site);
  }

 private:
  /// Of the lanes from the caller's to `last`.
  template <class Op>
  T reduce_to(int last, T value, Op op, simt::Site site) {
    const int lane = Warp::lane();
    for (int distance = 1; distance < LogicalWarpThreads; distance *= 2) {
      const bool is_valid = lane + distance <= last;
      const T other = Warp::from(value, is_valid ? lane + distance : lane, site);
      if (is_valid) value = op(value, other);
    }
    return value;
  }
};

}  // namespace cub

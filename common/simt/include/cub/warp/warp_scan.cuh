// WarpScan (CUB, "Warp-wide Primitives").
#pragma once

#include "../detail/logical_warp.cuh"
#include "../thread/thread_operators.cuh"

namespace cub {

/// `op` is associative. An aggregate is that of all inputs, without the initial value.
template <class T, int LogicalWarpThreads = 32>
class WarpScan {
  using Warp = detail::LogicalWarp<LogicalWarpThreads>;

 public:
  using TempStorage = detail::NoRoom;

  explicit WarpScan(TempStorage&) {}

  void InclusiveSum(T input, T& output, simt::Site site = simt::Site::here()) {
    output = scanned(input, detail::Plus<T>(), site);
  }
  void InclusiveSum(T input, T& output, T& warp_aggregate, simt::Site site = simt::Site::here()) {
    InclusiveScan(input, output, detail::Plus<T>(), warp_aggregate, site);
  }
  void ExclusiveSum(T input, T& output, simt::Site site = simt::Site::here()) {
    ExclusiveScan(input, output, T{}, detail::Plus<T>(), site);
  }
  void ExclusiveSum(T input, T& output, T& warp_aggregate, simt::Site site = simt::Site::here()) {
    ExclusiveScan(input, output, T{}, detail::Plus<T>(), warp_aggregate, site);
  }

  template <class Op>
  void InclusiveScan(T input, T& output, Op op, simt::Site site = simt::Site::here()) {
    output = scanned(input, op, site);
  }
  template <class Op>
  void InclusiveScan(T input, T& output, Op op, T& warp_aggregate, simt::Site site = simt::Site::here()) {
    output = scanned(input, op, site);
    warp_aggregate = Warp::from(output, Warp::count() - 1, site);
  }
  template <class Op>
  void InclusiveScan(T input, T& output, T initial_value, Op op, simt::Site site = simt::Site::here()) {
    output = op(initial_value, scanned(input, op, site));
  }
  template <class Op>
  void InclusiveScan(T input, T& output, T initial_value, Op op, T& warp_aggregate,
                     simt::Site site = simt::Site::here()) {
    const T inclusive = scanned(input, op, site);
    warp_aggregate = Warp::from(inclusive, Warp::count() - 1, site);
    output = op(initial_value, inclusive);
  }

  /// The first lane's output means nothing.
  template <class Op>
  void ExclusiveScan(T input, T& output, Op op, simt::Site site = simt::Site::here()) {
    output = previous(scanned(input, op, site), site);
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, Op op, T& warp_aggregate, simt::Site site = simt::Site::here()) {
    T inclusive = input;
    Scan(input, inclusive, output, op, site);
    warp_aggregate = Warp::from(inclusive, Warp::count() - 1, site);
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, T initial_value, Op op, simt::Site site = simt::Site::here()) {
    const T before = previous(scanned(input, op, site), site);
    output = Warp::lane() == 0 ? initial_value : T(op(initial_value, before));
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, T initial_value, Op op, T& warp_aggregate,
                     simt::Site site = simt::Site::here()) {
    const T inclusive = scanned(input, op, site);
    warp_aggregate = Warp::from(inclusive, Warp::count() - 1, site);
    const T before = previous(inclusive, site);
    output = Warp::lane() == 0 ? initial_value : T(op(initial_value, before));
  }

  /// Both scans at once. Without an initial value, the first lane's exclusive output means nothing.
  template <class Op>
  void Scan(T input, T& inclusive, T& exclusive, Op op, simt::Site site = simt::Site::here()) {
    inclusive = scanned(input, op, site);
    exclusive = previous(inclusive, site);
  }
  template <class Op>
  void Scan(T input, T& inclusive, T& exclusive, T initial_value, Op op, simt::Site site = simt::Site::here()) {
    inclusive = op(initial_value, scanned(input, op, site));
    const T before = previous(inclusive, site);
    exclusive = Warp::lane() == 0 ? initial_value : before;
  }

  T Broadcast(T input, unsigned lane, simt::Site site = simt::Site::here()) {
    return Warp::from(input, int(lane), site);
  }

 private:
  /// Of the lanes up to the caller's.
  template <class Op>
  T scanned(T value, Op op, simt::Site site) {
    const int lane = Warp::lane();
    for (int distance = 1; distance < LogicalWarpThreads; distance *= 2) {
      const T other = Warp::from(value, lane >= distance ? lane - distance : lane, site);
      if (lane >= distance) value = op(other, value);
    }
    return value;
  }
  T previous(const T& value, simt::Site site) {
    return Warp::from(value, Warp::lane() > 0 ? Warp::lane() - 1 : 0, site);
  }
};

}  // namespace cub

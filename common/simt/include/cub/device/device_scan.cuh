// DeviceScan (CUB, "Device-wide Primitives").
#pragma once

#include "../detail/one_thread.cuh"
#include "../thread/thread_operators.cuh"

namespace cub {

namespace detail {

// One value after another, as a host would do it. The output may be the input.
struct ScanExclusive {
  template <class In, class Out, class Op, class T>
  void operator()(In& in, Out& out, std::size_t& count, Op& op, T& init) const {
    using Result = ResultOf<Op, T, ValueOf<In>>;
    Result running = Result(init);
    for (std::size_t i = 0; i < count; ++i) {
      const ValueOf<In> value = in[i];
      out[i] = running;
      running = Result(op(running, value));
    }
  }
};
struct ScanInclusive {
  template <class In, class Out, class Op>
  void operator()(In& in, Out& out, std::size_t& count, Op& op) const {
    using Result = ResultOf<Op, ValueOf<In>, ValueOf<In>>;
    if (count == 0) return;
    Result running = Result(ValueOf<In>(in[0]));
    out[0] = running;
    for (std::size_t i = 1; i < count; ++i) {
      running = Result(op(running, ValueOf<In>(in[i])));
      out[i] = running;
    }
  }
};
struct ScanInclusiveFrom {
  template <class In, class Out, class Op, class T>
  void operator()(In& in, Out& out, std::size_t& count, Op& op, T& init) const {
    using Result = ResultOf<Op, T, ValueOf<In>>;
    Result running = Result(init);
    for (std::size_t i = 0; i < count; ++i) {
      running = Result(op(running, ValueOf<In>(in[i])));
      out[i] = running;
    }
  }
};

/// A scan of each run of equal keys.
struct ScanRunsExclusive {
  template <class In, class Out, class Op, class T, class Equal>
  void operator()(In& in, Out& out, std::size_t& count, Op& op, T& init, Equal& equal) const {
    using Result = ResultOf<Op, T, decltype(in.value(0))>;
    Result running = Result(init);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0 && !equal(in.key(i - 1), in.key(i))) running = Result(init);
      const auto value = in.value(i);
      out[i] = running;
      running = Result(op(running, value));
    }
  }
};
struct ScanRunsInclusive {
  template <class In, class Out, class Op, class Equal>
  void operator()(In& in, Out& out, std::size_t& count, Op& op, Equal& equal) const {
    using Value = decltype(in.value(0));
    using Result = ResultOf<Op, Value, Value>;
    Result running{};
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_first = i == 0 || !equal(in.key(i - 1), in.key(i));
      running = is_first ? Result(in.value(i)) : Result(op(running, in.value(i)));
      out[i] = running;
    }
  }
};

}  // namespace detail

/// Each first needs to be called without temporary storage; see detail::Call for the errors. `op` is associative. The
/// output may be the input.
struct DeviceScan {
  template <class In, class Out, class Count>
  static cudaError_t ExclusiveSum(void* storage, std::size_t& bytes, In in, Out out, Count count,
                                  cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceScan::ExclusiveSum", storage, bytes, stream, site};
    return call.run(0, detail::ScanExclusive(), in, out, std::size_t(count), Sum(), detail::ValueOf<In>{});
  }
  template <class In, class Out, class Op, class T, class Count, detail::IfNotArithmetic<Op> = 0>
  static cudaError_t ExclusiveScan(void* storage, std::size_t& bytes, In in, Out out, Op op, T init, Count count,
                                   cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceScan::ExclusiveScan", storage, bytes, stream, site};
    return call.run(0, detail::ScanExclusive(), in, out, std::size_t(count), op, init);
  }
  template <class In, class Out, class Count>
  static cudaError_t InclusiveSum(void* storage, std::size_t& bytes, In in, Out out, Count count,
                                  cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceScan::InclusiveSum", storage, bytes, stream, site};
    return call.run(0, detail::ScanInclusive(), in, out, std::size_t(count), Sum());
  }
  template <class In, class Out, class Op, class Count, detail::IfNotArithmetic<Op> = 0>
  static cudaError_t InclusiveScan(void* storage, std::size_t& bytes, In in, Out out, Op op, Count count,
                                   cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceScan::InclusiveScan", storage, bytes, stream, site};
    return call.run(0, detail::ScanInclusive(), in, out, std::size_t(count), op);
  }
  template <class In, class Out, class Op, class T, class Count>
  static cudaError_t InclusiveScanInit(void* storage, std::size_t& bytes, In in, Out out, Op op, T init, Count count,
                                       cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceScan::InclusiveScanInit", storage, bytes, stream, site};
    return call.run(0, detail::ScanInclusiveFrom(), in, out, std::size_t(count), op, init);
  }

  // --- in place ---
  template <class Data, class Count, detail::IfInteger<Count> = 0>
  static cudaError_t ExclusiveSum(void* storage, std::size_t& bytes, Data data, Count count,
                                  cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    return ExclusiveSum(storage, bytes, data, data, count, stream, site);
  }
  template <class Data, class Op, class T, class Count, detail::IsNoIterator<Op> = 0, detail::IfInteger<Count> = 0>
  static cudaError_t ExclusiveScan(void* storage, std::size_t& bytes, Data data, Op op, T init, Count count,
                                   cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    return ExclusiveScan(storage, bytes, data, data, op, init, count, stream, site);
  }
  template <class Data, class Count, detail::IfInteger<Count> = 0>
  static cudaError_t InclusiveSum(void* storage, std::size_t& bytes, Data data, Count count,
                                  cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    return InclusiveSum(storage, bytes, data, data, count, stream, site);
  }
  template <class Data, class Op, class Count, detail::IfInteger<Count> = 0>
  static cudaError_t InclusiveScan(void* storage, std::size_t& bytes, Data data, Op op, Count count,
                                   cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    return InclusiveScan(storage, bytes, data, data, op, count, stream, site);
  }

  // --- of each run of equal keys ---
  template <class Keys, class In, class Out, class Count, class Equal = Equality>
  static cudaError_t ExclusiveSumByKey(void* storage, std::size_t& bytes, Keys keys, In in, Out out, Count count,
                                       Equal equal = {}, cudaStream_t stream = nullptr,
                                       detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceScan::ExclusiveSumByKey", storage, bytes, stream, site};
    return call.run(0, detail::ScanRunsExclusive(), detail::Pairs{keys, in}, out, std::size_t(count), Sum(),
                    detail::ValueOf<In>{}, equal);
  }
  template <class Keys, class In, class Out, class Op, class T, class Count, class Equal = Equality>
  static cudaError_t ExclusiveScanByKey(void* storage, std::size_t& bytes, Keys keys, In in, Out out, Op op, T init,
                                        Count count, Equal equal = {}, cudaStream_t stream = nullptr,
                                        detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceScan::ExclusiveScanByKey", storage, bytes, stream, site};
    return call.run(0, detail::ScanRunsExclusive(), detail::Pairs{keys, in}, out, std::size_t(count), op, init, equal);
  }
  template <class Keys, class In, class Out, class Count, class Equal = Equality>
  static cudaError_t InclusiveSumByKey(void* storage, std::size_t& bytes, Keys keys, In in, Out out, Count count,
                                       Equal equal = {}, cudaStream_t stream = nullptr,
                                       detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceScan::InclusiveSumByKey", storage, bytes, stream, site};
    return call.run(0, detail::ScanRunsInclusive(), detail::Pairs{keys, in}, out, std::size_t(count), Sum(), equal);
  }
  template <class Keys, class In, class Out, class Op, class Count, class Equal = Equality>
  static cudaError_t InclusiveScanByKey(void* storage, std::size_t& bytes, Keys keys, In in, Out out, Op op,
                                        Count count, Equal equal = {}, cudaStream_t stream = nullptr,
                                        detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceScan::InclusiveScanByKey", storage, bytes, stream, site};
    return call.run(0, detail::ScanRunsInclusive(), detail::Pairs{keys, in}, out, std::size_t(count), op, equal);
  }
};

}  // namespace cub

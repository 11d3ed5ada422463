// DeviceReduce (CUB, "Device-wide Primitives").
#pragma once

#include <cstdint>

#include "../detail/limits.cuh"
#include "../detail/one_thread.cuh"
#include "../iterator/transform_input_iterator.cuh"
#include "../thread/thread_operators.cuh"

namespace cub {

namespace detail {

struct ReduceAll {
  template <class In, class Out, class Op, class T>
  void operator()(In& in, Out& out, std::size_t& count, Op& op, T& init) const {
    using Result = ResultOf<Op, T, ValueOf<In>>;
    Result result = Result(init);
    if (count > 0) result = Result(op(result, fold<Result>(in, 0, count, op)));
    out[0] = result;
  }
};

/// The first value for which no other is better, and its position.
struct FindFirst {
  template <class In, class Better, class Write, class T>
  void operator()(In& in, std::size_t& count, Better& is_better, Write& write, T& worst) const {
    T best = count > 0 ? T(in[0]) : worst;
    std::size_t position = count > 0 ? 0 : 1;
    for (std::size_t i = 1; i < count; ++i) {
      const T value = in[i];
      if (!is_better(value, best)) continue;
      best = value;
      position = i;
    }
    write(position, best);
  }
};
template <class Out>
struct WritePair {
  Out out;
  template <class T>
  void operator()(std::size_t position, const T& value) const {
    using Pair = ValueOf<Out, KeyValuePair<int, T>>;
    Pair pair;
    pair.key = decltype(pair.key)(position);
    pair.value = value;
    out[0] = pair;
  }
};
template <class Values, class Positions>
struct WriteBoth {
  Values values;
  Positions positions;
  template <class T>
  void operator()(std::size_t position, const T& value) const {
    values[0] = value;
    positions[0] = ValueOf<Positions, int>(position);
  }
};

struct Greater {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return b < a;
  }
};

struct ReduceRuns {
  template <class In, class Out, class Count, class Op>
  void operator()(In& in, Out& out, Count& runs, Op& op, std::size_t& count) const {
    using Value = decltype(in.value(0));
    std::size_t run = 0;
    for (std::size_t i = 0; i < count; ++run) {
      const auto key = in.key(i);
      ResultOf<Op, Value, Value> result = in.value(i);
      for (++i; i < count && in.key(i) == key; ++i) result = op(result, in.value(i));
      out.keys[run] = key;
      out.values[run] = result;
    }
    runs[0] = ValueOf<Count, int>(run);
  }
};

}  // namespace detail

/// Each first needs to be called without temporary storage; see detail::Call for the errors. `op` is associative.
struct DeviceReduce {
  template <class In, class Out, class Count, class Op, class T>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, In in, Out out, Count count, Op op, T init,
                            cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceReduce::Reduce", storage, bytes, stream, site};
    return call.run(0, detail::ReduceAll(), in, out, std::size_t(count), op, init);
  }
  template <class In, class Out, class Count>
  static cudaError_t Sum(void* storage, std::size_t& bytes, In in, Out out, Count count, cudaStream_t stream = nullptr,
                         detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceReduce::Sum", storage, bytes, stream, site};
    using T = detail::ValueOf<Out, detail::ValueOf<In>>;
    return call.run(0, detail::ReduceAll(), in, out, std::size_t(count), cub::Sum(), T{});
  }
  template <class In, class Out, class Count>
  static cudaError_t Min(void* storage, std::size_t& bytes, In in, Out out, Count count, cudaStream_t stream = nullptr,
                         detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceReduce::Min", storage, bytes, stream, site};
    using T = detail::ValueOf<In>;
    return call.run(0, detail::ReduceAll(), in, out, std::size_t(count), cub::Min(), detail::Limits<T>::highest());
  }
  template <class In, class Out, class Count>
  static cudaError_t Max(void* storage, std::size_t& bytes, In in, Out out, Count count, cudaStream_t stream = nullptr,
                         detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceReduce::Max", storage, bytes, stream, site};
    using T = detail::ValueOf<In>;
    return call.run(0, detail::ReduceAll(), in, out, std::size_t(count), cub::Max(), detail::Limits<T>::lowest());
  }

  /// The result is a KeyValuePair of the position and the value. Of no values, the position is 1.
  template <class In, class Out>
  static cudaError_t ArgMin(void* storage, std::size_t& bytes, In in, Out out, int count, cudaStream_t stream = nullptr,
                            detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceReduce::ArgMin", storage, bytes, stream, site};
    using T = detail::ValueOf<In>;
    return call.run(0, detail::FindFirst(), in, std::size_t(count), detail::Less(), detail::WritePair<Out>{out},
                    detail::Limits<T>::highest());
  }
  template <class In, class Out>
  static cudaError_t ArgMax(void* storage, std::size_t& bytes, In in, Out out, int count, cudaStream_t stream = nullptr,
                            detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceReduce::ArgMax", storage, bytes, stream, site};
    using T = detail::ValueOf<In>;
    return call.run(0, detail::FindFirst(), in, std::size_t(count), detail::Greater(), detail::WritePair<Out>{out},
                    detail::Limits<T>::lowest());
  }
  /// The value and the position, in an array each.
  template <class In, class Out, class Position, detail::IfNotArithmetic<Position> = 0>
  static cudaError_t ArgMin(void* storage, std::size_t& bytes, In in, Out value, Position position, std::int64_t count,
                            cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceReduce::ArgMin", storage, bytes, stream, site};
    using T = detail::ValueOf<In>;
    return call.run(0, detail::FindFirst(), in, std::size_t(count), detail::Less(),
                    detail::WriteBoth<Out, Position>{value, position}, detail::Limits<T>::highest());
  }
  template <class In, class Out, class Position, detail::IfNotArithmetic<Position> = 0>
  static cudaError_t ArgMax(void* storage, std::size_t& bytes, In in, Out value, Position position, std::int64_t count,
                            cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceReduce::ArgMax", storage, bytes, stream, site};
    using T = detail::ValueOf<In>;
    return call.run(0, detail::FindFirst(), in, std::size_t(count), detail::Greater(),
                    detail::WriteBoth<Out, Position>{value, position}, detail::Limits<T>::lowest());
  }

  template <class In, class Out, class Count, class Op, class Transform, class T>
  static cudaError_t TransformReduce(void* storage, std::size_t& bytes, In in, Out out, Count count, Op op,
                                     Transform transform, T init, cudaStream_t stream = nullptr,
                                     detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceReduce::TransformReduce", storage, bytes, stream, site};
    using Value = detail::ResultOf<Transform, detail::ValueOf<In>>;
    const TransformInputIterator<Value, Transform, In> values(in, transform);
    return call.run(0, detail::ReduceAll(), values, out, std::size_t(count), op, init);
  }

  /// Of each run of equal keys: the key, and its values combined.
  template <class Keys, class Unique, class Values, class Out, class Runs, class Op, class Count>
  static cudaError_t ReduceByKey(void* storage, std::size_t& bytes, Keys keys, Unique unique, Values values, Out out,
                                 Runs runs, Op op, Count count, cudaStream_t stream = nullptr,
                                 detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceReduce::ReduceByKey", storage, bytes, stream, site};
    return call.run(0, detail::ReduceRuns(), detail::Pairs{keys, values}, detail::Pairs{unique, out}, runs, op,
                    std::size_t(count));
  }
};

}  // namespace cub

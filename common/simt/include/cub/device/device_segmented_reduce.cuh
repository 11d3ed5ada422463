// DeviceSegmentedReduce (CUB, "Device-wide Primitives").
#pragma once

#include <cstdint>

#include "../detail/limits.cuh"
#include "../detail/one_thread.cuh"
#include "../thread/thread_operators.cuh"

namespace cub {

namespace detail {

/// The number of segments, and where each begins and ends.
template <class Begin, class End>
struct Segments {
  std::size_t count;
  Begin begin;
  End end;
};
template <class Begin, class End>
Segments(std::size_t, Begin, End) -> Segments<Begin, End>;

struct ReduceSegments {
  template <class In, class Out, class All, class Op, class T>
  void operator()(In& in, Out& out, All& segments, Op& op, T& init) const {
    using Result = ResultOf<Op, T, ValueOf<In>>;
    for (std::size_t segment = 0; segment < segments.count; ++segment) {
      const auto first = std::size_t(segments.begin[segment]), behind = std::size_t(segments.end[segment]);
      Result result = Result(init);
      if (first < behind) result = Result(op(result, fold<Result>(in, first, behind - first, op)));
      out[segment] = result;
    }
  }
};

}  // namespace detail

/// Each first needs to be called without temporary storage; see detail::Call for the errors. `op` is associative.
struct DeviceSegmentedReduce {
  template <class In, class Out, class Begin, class End, class Op, class T>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, In in, Out out, std::int64_t segments, Begin begin,
                            End end, Op op, T init, cudaStream_t stream = nullptr,
                            detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceSegmentedReduce::Reduce", storage, bytes, stream, site};
    return call.run(0, detail::ReduceSegments(), in, out, detail::Segments{std::size_t(segments), begin, end}, op,
                    init);
  }
  template <class In, class Out, class Begin, class End>
  static cudaError_t Sum(void* storage, std::size_t& bytes, In in, Out out, std::int64_t segments, Begin begin, End end,
                         cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceSegmentedReduce::Sum", storage, bytes, stream, site};
    using T = detail::ValueOf<Out, detail::ValueOf<In>>;
    return call.run(0, detail::ReduceSegments(), in, out, detail::Segments{std::size_t(segments), begin, end},
                    cub::Sum(), T{});
  }
  template <class In, class Out, class Begin, class End>
  static cudaError_t Min(void* storage, std::size_t& bytes, In in, Out out, std::int64_t segments, Begin begin, End end,
                         cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceSegmentedReduce::Min", storage, bytes, stream, site};
    using T = detail::ValueOf<In>;
    return call.run(0, detail::ReduceSegments(), in, out, detail::Segments{std::size_t(segments), begin, end},
                    cub::Min(), detail::Limits<T>::highest());
  }
  template <class In, class Out, class Begin, class End>
  static cudaError_t Max(void* storage, std::size_t& bytes, In in, Out out, std::int64_t segments, Begin begin, End end,
                         cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceSegmentedReduce::Max", storage, bytes, stream, site};
    using T = detail::ValueOf<In>;
    return call.run(0, detail::ReduceSegments(), in, out, detail::Segments{std::size_t(segments), begin, end},
                    cub::Max(), detail::Limits<T>::lowest());
  }
};

}  // namespace cub

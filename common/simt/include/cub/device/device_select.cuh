// DeviceSelect (CUB, "Device-wide Primitives").
#pragma once

#include <cstdint>

#include "../detail/one_thread.cuh"
#include "../thread/thread_operators.cuh"

namespace cub {

namespace detail {

// Predicates of positions.
template <class Flags>
struct IsFlagged {
  template <class In>
  bool operator()(In&, Flags& flags, std::size_t i) const {
    return bool(flags[i]);
  }
};
struct IsChosen {
  template <class In, class Op>
  bool operator()(In& in, Op& op, std::size_t i) const {
    return bool(op(ValueOf<In>(in[i])));
  }
};

/// The output may be the input.
template <class Chooses>
struct SelectAll {
  template <class In, class By, class Out, class Count>
  void operator()(In& in, By& by, Out& out, Count& selected, std::size_t& count) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (Chooses()(in, by, i)) out[found++] = in[i];
    }
    selected[0] = ValueOf<Count, int>(found);
  }
};

/// The first of each run of equal keys, and the value there.
struct SelectFirsts {
  template <class In, class Out, class Count, class Equal>
  void operator()(In& in, Out& out, Count& selected, std::size_t& count, Equal& equal) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i == 0 || !equal(in.key(i - 1), in.key(i))) out.copy(found++, in, i);
    }
    selected[0] = ValueOf<Count, int>(found);
  }
};

}  // namespace detail

/// Each first needs to be called without temporary storage; see detail::Call for the errors. What is selected keeps its
/// order.
struct DeviceSelect {
  template <class In, class Flags, class Out, class Selected>
  static cudaError_t Flagged(void* storage, std::size_t& bytes, In in, Flags flags, Out out, Selected selected,
                             std::int64_t count, cudaStream_t stream = nullptr,
                             detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceSelect::Flagged", storage, bytes, stream, site};
    return call.run(0, detail::SelectAll<detail::IsFlagged<Flags>>(), in, flags, out, selected, std::size_t(count));
  }
  template <class Data, class Flags, class Selected>
  static cudaError_t Flagged(void* storage, std::size_t& bytes, Data data, Flags flags, Selected selected,
                             std::int64_t count, cudaStream_t stream = nullptr,
                             detail::Site site = detail::Site::here()) {
    return Flagged(storage, bytes, data, flags, data, selected, count, stream, site);
  }
  template <class In, class Out, class Selected, class Op>
  static cudaError_t If(void* storage, std::size_t& bytes, In in, Out out, Selected selected, std::int64_t count, Op op,
                        cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceSelect::If", storage, bytes, stream, site};
    return call.run(0, detail::SelectAll<detail::IsChosen>(), in, op, out, selected, std::size_t(count));
  }
  template <class Data, class Selected, class Op>
  static cudaError_t If(void* storage, std::size_t& bytes, Data data, Selected selected, std::int64_t count, Op op,
                        cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    return If(storage, bytes, data, data, selected, count, op, stream, site);
  }
  template <class In, class Out, class Selected>
  static cudaError_t Unique(void* storage, std::size_t& bytes, In in, Out out, Selected selected, std::int64_t count,
                            cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceSelect::Unique", storage, bytes, stream, site};
    NullType* const none = nullptr;
    return call.run(0, detail::SelectFirsts(), detail::Pairs{in, none}, detail::Pairs{out, none}, selected,
                    std::size_t(count), Equality());
  }
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Selected, class Count>
  static cudaError_t UniqueByKey(void* storage, std::size_t& bytes, Keys keys, Values values, KeysOut keys_out,
                                 ValuesOut values_out, Selected selected, Count count, cudaStream_t stream = nullptr,
                                 detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceSelect::UniqueByKey", storage, bytes, stream, site};
    return call.run(0, detail::SelectFirsts(), detail::Pairs{keys, values}, detail::Pairs{keys_out, values_out},
                    selected, std::size_t(count), Equality());
  }
};

}  // namespace cub

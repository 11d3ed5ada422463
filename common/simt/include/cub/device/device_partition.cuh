// DevicePartition (CUB, "Device-wide Primitives").
#pragma once

#include "device_select.cuh"

namespace cub {

namespace detail {

/// What is not selected goes to the end, in reverse order.
template <class Chooses>
struct PartitionAll {
  template <class In, class By, class Out, class Count>
  void operator()(In& in, By& by, Out& out, Count& selected, std::size_t& count) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (Chooses()(in, by, i)) {
        out[found++] = in[i];
      } else {
        out[count - 1 - (i - found)] = in[i];
      }
    }
    selected[0] = ValueOf<Count, int>(found);
  }
};

}  // namespace detail

/// Each first needs to be called without temporary storage; see detail::Call for the errors. Input and output do not
/// overlap.
struct DevicePartition {
  template <class In, class Flags, class Out, class Selected, class Count>
  static cudaError_t Flagged(void* storage, std::size_t& bytes, In in, Flags flags, Out out, Selected selected,
                             Count count, cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DevicePartition::Flagged", storage, bytes, stream, site};
    return call.run(0, detail::PartitionAll<detail::IsFlagged<Flags>>(), in, flags, out, selected, std::size_t(count));
  }
  template <class In, class Out, class Selected, class Op, class Count>
  static cudaError_t If(void* storage, std::size_t& bytes, In in, Out out, Selected selected, Count count, Op op,
                        cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DevicePartition::If", storage, bytes, stream, site};
    return call.run(0, detail::PartitionAll<detail::IsChosen>(), in, op, out, selected, std::size_t(count));
  }
};

}  // namespace cub

// DeviceRunLengthEncode (CUB, "Device-wide Primitives").
#pragma once

#include "../iterator/constant_input_iterator.cuh"
#include "device_reduce.cuh"

namespace cub {

/// First needs to be called without temporary storage; see detail::Call for the errors.
struct DeviceRunLengthEncode {
  /// Of each run of equal values: the value, and the run's length.
  template <class In, class Unique, class Lengths, class Runs>
  static cudaError_t Encode(void* storage, std::size_t& bytes, In in, Unique unique, Lengths lengths, Runs runs,
                            int count, cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceRunLengthEncode::Encode", storage, bytes, stream, site};
    const ConstantInputIterator<detail::ValueOf<Lengths, int>> one(1);
    return call.run(0, detail::ReduceRuns(), detail::Pairs{in, one}, detail::Pairs{unique, lengths}, runs, Sum(),
                    std::size_t(count));
  }
};

}  // namespace cub

// A stream that destroys itself.
#pragma once

#include <cuda_runtime.h>

#include "step/error.h"

namespace lab {

/// A stream that is not ordered with the default stream, so that work which a step wrongly puts there does not count as
/// done. Errors: lab::CudaError.
class Stream {
 public:
  Stream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // Errors are left to the next checked call: a destructor must not throw.
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace lab

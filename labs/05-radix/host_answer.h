// An answer of the device that the host waits for while the device goes on.
#pragma once

#include <cuda_runtime.h>

#include "step/error.h"

namespace radix {

/// Copies a word from device memory to the host, behind the kernels that write it. Kernels that are queued behind the
/// copy run while the host waits, so that the device has work until the host has decided what comes next. A thread has
/// one answer at a time. Errors: CudaError.
class HostAnswer {
 public:
  HostAnswer(const unsigned* word, cudaStream_t stream) {
    CUDA_CHECK(cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming));
    CUDA_CHECK(cudaMemcpyAsync(pinned(), word, sizeof *word, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaEventRecord(copied_, stream));
  }
  HostAnswer(const HostAnswer&) = delete;
  HostAnswer& operator=(const HostAnswer&) = delete;
  ~HostAnswer() { cudaEventDestroy(copied_); }

  /// Waits for the copy. Returns true if the word is not 0.
  bool get() const {
    CUDA_CHECK(cudaEventSynchronize(copied_));
    return *pinned() != 0;
  }

 private:
  /// A word of pinned host memory, without which a copy would wait for the device. It takes long to allocate, so that
  /// the thread keeps it. It is never freed, because the thread may end after the CUDA runtime.
  static unsigned* pinned() {
    thread_local unsigned* const word = [] {
      unsigned* allocated;
      CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&allocated), sizeof *allocated));
      return allocated;
    }();
    return word;
  }

  cudaEvent_t copied_;
};

}  // namespace radix

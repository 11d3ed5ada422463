// Pinned host memory that frees itself.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "step/error.h"

namespace lab {

/// n values of T in pinned host memory, uninitialized. Only copies from or to pinned memory run at the same time as the
/// host and other streams. Errors: lab::CudaError.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(std::int64_t n) : n_(n) {
    if (n > 0) CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&data_), n * sizeof(T)));
  }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  // Waits for copies that still use the memory. Errors are left to the next checked call.
  ~PinnedArray() {
    if (data_) cudaFreeHost(data_);
  }

  T* data() const { return data_; }
  std::int64_t size() const { return n_; }

 private:
  T* data_ = nullptr;
  std::int64_t n_ = 0;
};

}  // namespace lab

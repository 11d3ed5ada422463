// Memory that kernels write and checks read.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// n values of T in managed memory, each T(); freed at the end of its scope.
template <class T>
class Managed {
 public:
  explicit Managed(std::size_t n) : n_(n) {
    cudaMallocManaged(&data_, n * sizeof(T));
    for (std::size_t i = 0; i < n; ++i) data_[i] = T();
  }
  ~Managed() { cudaFree(data_); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  T* data() { return data_; }
  std::size_t size() const { return n_; }
  T& operator[](std::size_t i) { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t n_;
};

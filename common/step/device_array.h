// Device memory that frees itself, for a step's scratch.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <utility>

#include "step/error.h"
#include "step/step.h"

namespace lab {

/// The memory that an array of `bytes` bytes occupies. Device memory is allocated in whole pages of 4 KiB.
constexpr std::int64_t allocated_bytes(std::int64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

/// n values of T in device memory, uninitialized. Allocation and release are ordered on `stream`. Work queued there
/// between the two may use the memory, so the array may go out of scope while kernels that use it still wait.
/// A step may allocate in its timed part: the runner keeps freed memory in the pool, which makes it cheap.
/// Errors: lab::CudaError.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(std::int64_t n, cudaStream_t stream) : n_(n), stream_(stream) {
    if (n > 0) CUDA_CHECK(cudaMallocAsync(reinterpret_cast<void**>(&data_), n * sizeof(T), stream));
  }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray(std::move(other)).swap(*this);
    return *this;
  }
  // Errors are left to the next checked call: a destructor must not throw.
  ~DeviceArray() {
    if (data_) cudaFreeAsync(data_, stream_);
  }

  T* data() const { return data_; }
  std::int64_t size() const { return n_; }
  Span<T> span() const { return {data_, n_}; }

 private:
  void swap(DeviceArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(n_, other.n_);
    std::swap(stream_, other.stream_);
  }

  T* data_ = nullptr;
  std::int64_t n_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace lab

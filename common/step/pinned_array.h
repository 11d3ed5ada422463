// Pinned host memory that frees itself.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "step/error.h"

namespace lab {

/// A block of pinned memory that the thread keeps for its next array, as the runner keeps freed device memory. Pinning
/// a few kilobytes takes about a millisecond (reports/records/06-beyond-memory.md). It is never freed, because the
/// thread may end after the CUDA runtime.
struct SparePinnedMemory {
  // On the CPU each array is new, so that the check build reports reads of memory that was never written.
#if __has_include(<simt/launch.h>)
  static constexpr std::size_t most_bytes = 0;
#else
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;
#endif

  void* data = nullptr;
  std::size_t bytes = 0;
};

inline constinit thread_local SparePinnedMemory spare_pinned_memory{};

/// n values of T in pinned host memory, uninitialized. Only copies from or to pinned memory run at the same time as the
/// host and other streams. Errors: lab::CudaError.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(std::int64_t n) : n_(n), bytes_(n * sizeof(T)) {
    if (n <= 0) return;
    if (bytes_ <= spare_pinned_memory.bytes) {
      data_ = static_cast<T*>(std::exchange(spare_pinned_memory.data, nullptr));
      bytes_ = std::exchange(spare_pinned_memory.bytes, 0);
    } else {
      CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&data_), bytes_));
    }
  }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  // Waits for the current device, whose copies may still use the memory. Errors are left to the next checked call.
  ~PinnedArray() {
    void* unused = data_;
    if (spare_pinned_memory.bytes < bytes_ && bytes_ <= SparePinnedMemory::most_bytes) {
      cudaDeviceSynchronize();
      unused = std::exchange(spare_pinned_memory.data, unused);
      spare_pinned_memory.bytes = bytes_;
    }
    if (unused) cudaFreeHost(unused);
  }

  T* data() const { return data_; }
  std::int64_t size() const { return n_; }

 private:
  T* data_ = nullptr;
  std::int64_t n_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace lab

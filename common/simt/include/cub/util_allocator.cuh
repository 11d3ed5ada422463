// CachingDeviceAllocator (CUB, "Utilities"). It caches nothing, because cudaMalloc() is cheap here.
#pragma once

#include <cstddef>

#include "util_debug.cuh"

namespace cub {

/// Memory is usable in every stream. DeviceFree() waits for the device, as cudaFree() does.
class CachingDeviceAllocator {
 public:
  static constexpr int INVALID_DEVICE_ORDINAL = -1;

  explicit CachingDeviceAllocator(bool /*skip_cleanup*/ = false, bool /*debug*/ = false) {}
  explicit CachingDeviceAllocator(unsigned /*bin_growth*/, unsigned /*min_bin*/ = 1, unsigned /*max_bin*/ = 0,
                                  std::size_t /*max_cached_bytes*/ = 0, bool /*skip_cleanup*/ = false,
                                  bool /*debug*/ = false) {}

  /// Errors: those of cudaMalloc().
  template <class T>
  cudaError_t DeviceAllocate(T** pointer, std::size_t bytes, cudaStream_t = nullptr) {
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
  }
  template <class T>
  cudaError_t DeviceAllocate(int /*device*/, T** pointer, std::size_t bytes, cudaStream_t = nullptr) {
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
  }
  /// Errors: those of cudaFree().
  cudaError_t DeviceFree(void* pointer) { return cudaFree(pointer); }
  cudaError_t DeviceFree(int /*device*/, void* pointer) { return cudaFree(pointer); }
  cudaError_t FreeAllCached() { return cudaSuccess; }
};

}  // namespace cub

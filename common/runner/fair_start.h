// What makes timed runs comparable: memory from the pool, and nothing in the cache.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "runner/cuda_handles.h"
#include "step/device_array.h"
#include "step/device_attribute.h"
#include "step/error.h"

namespace lab {

/// Freed memory stays in the pool, so that a step's allocations cost next to nothing after the warm-up.
inline void keep_freed_memory() {
  cudaMemPool_t pool;
  std::uint64_t everything = ~std::uint64_t{0};
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
}

/// Writes twice the size of the L2 cache, so that no key is in it when the step's time starts.
inline void flush_cache(cudaStream_t stream) {
  if (!on_gpu) return;
  static const int l2_bytes = device_attribute(cudaDevAttrL2CacheSize);
  DeviceArray<char> flush(std::int64_t{2} * l2_bytes, stream);
  CUDA_CHECK(cudaMemsetAsync(flush.data(), 0, flush.size(), stream));
}

}  // namespace lab

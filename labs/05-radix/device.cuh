// What step 05 asks of the device, so that its choices suit every GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "step/error.h"

namespace radix {

/// The device that is in use.
struct Device {
  int multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  int shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);

  template <class Tile>
  bool fits() const {
    return shared_bytes_per_block >= int(sizeof(Tile));
  }

  /// How many keys are in the tiles of as many blocks as run at a time.
  template <class Tile>
  std::int64_t resident_keys() const {
    return std::int64_t(multiprocessors) * Tile::Shape::blocks_per_multiprocessor * Tile::size;
  }

  static int attribute(cudaDeviceAttr which) {
    int device, value;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return value;
  }
};

/// Lets a kernel be launched with so much dynamic shared memory, which may be more than 48 KiB.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, std::size_t bytes) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
}

}  // namespace radix

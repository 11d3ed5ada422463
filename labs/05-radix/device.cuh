// What step 05 asks of the device, so that its choices suit every GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "step/device_attribute.h"
#include "step/error.h"

namespace radix {

/// The device that is in use.
struct Device {
  int number = -1, multiprocessors = 0, shared_bytes_per_block = 0;

  /// Asks each device only once: for few keys, answers take as long as kernels.
  static const Device& current() {
    thread_local Device device;
    int number;
    CUDA_CHECK(cudaGetDevice(&number));
    if (device.number != number) {
      device = {number, lab::device_attribute(cudaDevAttrMultiProcessorCount),
                lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
    }
    return device;
  }

  template <class Tile>
  bool fits() const {
    return shared_bytes_per_block >= int(sizeof(Tile));
  }

  /// How many keys are in the tiles of as many blocks as run at a time.
  template <class Tile>
  std::int64_t resident_keys() const {
    return std::int64_t(multiprocessors) * Tile::Shape::blocks_per_multiprocessor * Tile::size;
  }
};

/// Lets a kernel be launched with so much dynamic shared memory. Up to 48 KiB are always allowed.
template <auto kernel>
void allow_shared_memory(std::size_t bytes, const Device& device) {
  thread_local int allowed_on = -1;
  thread_local std::size_t allowed = 48 * 1024;
  if (bytes <= 48 * 1024 || (allowed_on == device.number && bytes <= allowed)) return;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
  allowed_on = device.number, allowed = bytes;
}

}  // namespace radix

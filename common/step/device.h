// What a step asks of the device, so that its choices suit every GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "step/device_attribute.h"
#include "step/error.h"
#include "step/on_cpu.h"

namespace lab {

/// The device in use.
struct Device {
  int id = -1, multiprocessors = 0, shared_bytes_per_block = 0;
  int cache_bytes = 0;  ///< of the level 2 cache; 0 on the CPU, where no GPU's cache makes repeated passes cheap

  /// Asks each device only once: for few keys, the queries take as long as the kernels. Errors: CudaError.
  static const Device& current() {
    thread_local Device device;
    int id;
    CUDA_CHECK(cudaGetDevice(&id));
    if (device.id != id) {
      device = {id, device_attribute(cudaDevAttrMultiProcessorCount),
                device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
      if (!on_cpu) device.cache_bytes = device_attribute(cudaDevAttrL2CacheSize);
    }
    return device;
  }

  /// True if a block can have a T in its shared memory.
  template <class T>
  bool fits() const {
    return shared_bytes_per_block >= int(sizeof(T));
  }

  /// The number of keys in the tiles of all blocks that run at the same time. A Tile has a `size`, in keys, and a Shape
  /// that states how many blocks share a multiprocessor.
  template <class Tile>
  std::int64_t resident_keys() const {
    return std::int64_t(multiprocessors) * Tile::Shape::blocks_per_multiprocessor * Tile::size;
  }
};

/// Allows a kernel to be launched with `bytes` of dynamic shared memory. Up to 48 KiB are always allowed. Remembers
/// what it has allowed on a device, because the call takes time. Errors: CudaError.
template <auto kernel>
void allow_shared_memory(std::size_t bytes, const Device& device) {
  thread_local int allowed_on = -1;
  thread_local std::size_t allowed = 48 * 1024;
  if (bytes <= 48 * 1024 || (allowed_on == device.id && bytes <= allowed)) return;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
  allowed_on = device.id, allowed = bytes;
}

/// Whether the device in use runs code of a kernel that was compiled for compute capability 9.0 or more. A newer GPU may
/// run code for an older one, which lacks what that cannot do, such as clusters. Remembers the answer for a device,
/// because the call takes time. Errors: CudaError.
template <auto kernel>
bool runs_code_of_sm_90() {
  thread_local int asked_of = -1;
  thread_local bool answer = false;
  if (const int device = Device::current().id; asked_of != device) {
    cudaFuncAttributes attributes;
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    asked_of = device, answer = attributes.ptxVersion >= 90;
  }
  return answer;
}

}  // namespace lab

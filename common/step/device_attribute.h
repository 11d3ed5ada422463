// What a step asks of the device, so that its choices suit every GPU.
#pragma once

#include <cuda_runtime.h>

#include "step/error.h"

namespace lab {

/// An attribute of the device in use. Errors: CudaError.
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

}  // namespace lab

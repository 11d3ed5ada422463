// Launches of kernels that begin before the kernel in front of them has ended (programmatic dependent launch). It takes
// a few microseconds until all blocks of a kernel run, and until the next kernel sees that they have ended. For few keys,
// this is a part of the time that matters.
// Source: NVIDIA, CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".
#pragma once

#include <cuda_runtime.h>

#include "step/device.h"
#include "step/error.h"

namespace lab {

/// Lets the next kernel of the stream begin, if it is launched early, as soon as all blocks have called this or ended.
__device__ inline void let_next_kernel_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Waits until the kernel in front of this one has ended, and sees what it has written. Before, a kernel that is
/// launched early must not access anything that earlier kernels write, nor write anything that they access. It calls
/// this in all blocks, so that the kernel behind it also waits for those in front of it.
__device__ inline void wait_for_earlier_kernels() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// What cudaLaunchKernelEx needs to launch a kernel early. Where a GPU cannot, or code for an older one runs on it, in
/// which wait_for_earlier_kernels does nothing, the kernel begins when the one in front of it has ended. Errors:
/// CudaError.
template <auto kernel>
cudaLaunchConfig_t early_launch(unsigned blocks, unsigned threads, std::size_t shared_bytes, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks, config.blockDim = threads, config.dynamicSmemBytes = shared_bytes, config.stream = stream;
  static cudaLaunchAttribute attribute = [] {
    cudaLaunchAttribute serialization{};
    serialization.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    serialization.val.programmaticStreamSerializationAllowed = 1;
    return serialization;
  }();
  config.attrs = &attribute, config.numAttrs = runs_code_of_sm_90<kernel>() ? 1 : 0;
  return config;
}

}  // namespace lab

// cuRAND's functions for kernels: its own headers, which come with the CUDA Toolkit and as a package of their own, with
// what they need besides. They are read as device code, whose tables are in the device's memory.
#pragma once

#include "cuda_runtime.h"
#include "curand.h"

#if !__has_include_next(<curand_kernel.h>)
#error "cuRAND's headers were not found: install the CUDA Toolkit, or nvidia-curand and nvidia-cuda-cccl in .venv"
#else
#define __NV_SILENCE_DEPRECATION_BEGIN _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wdeprecated\"")
#define __NV_SILENCE_DEPRECATION_END _Pragma("GCC diagnostic pop")
#define __CUDA_ARCH__ 900
#define curand_init simt_curand_init
#include_next <curand_kernel.h>
#undef curand_init
#undef __CUDA_ARCH__
#undef __NV_SILENCE_DEPRECATION_BEGIN
#undef __NV_SILENCE_DEPRECATION_END

/// A state has members that are not set before they are used. Kernels copy whole states, which would read them.
template <class A, class State>
__device__ void curand_init(A seed, unsigned long long offset, State* state) {
  *state = {};
  simt_curand_init(seed, offset, state);
}
template <class A, class State>
__device__ void curand_init(A seed, unsigned long long sequence, unsigned long long offset, State* state) {
  *state = {};
  simt_curand_init(seed, sequence, offset, state);
}
#endif

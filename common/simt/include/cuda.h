// What programs that use the runtime need of the driver's interface: its version, and the types that both share. Its
// functions (cuInit ...) are not declared.
#pragma once

#include "cuda_runtime.h"

#define __cuda_cuda_h__
#define CUDA_VERSION CUDART_VERSION

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
using CUmemoryPool = cudaMemPool_t;

enum CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_UNKNOWN = 999,
};

// Macros that check calls of CUDA's runtime (CUB, "Utilities").
#pragma once

#include <cstdio>
#include <cstdlib>

#include "../cuda_runtime.h"

namespace cub {

/// Prints an error to standard error, and returns it.
inline cudaError_t Debug(cudaError_t error, const char* file, int line) {
  if (error != cudaSuccess) std::fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(error));
  return error;
}

}  // namespace cub

#define CubDebug(call) cub::Debug(cudaError_t(call), __FILE__, __LINE__)
#define CubDebugExit(call)                                                              \
  do {                                                                                  \
    if (cub::Debug(cudaError_t(call), __FILE__, __LINE__) != cudaSuccess) std::exit(1); \
  } while (0)

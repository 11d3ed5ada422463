// The primitives for asynchronous copies (CUDA C++ Programming Guide, "Pipeline Primitives Interface"). The copies are
// made at once.
#pragma once

#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0) {
  memcpy(to, from, bytes - zeros);
  if (zeros > 0) memset(static_cast<char*>(to) + (bytes - zeros), 0, zeros);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(std::size_t) {}

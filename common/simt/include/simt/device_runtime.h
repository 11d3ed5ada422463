// Copies and fills that kernels may ask for as host code does. A child grid makes them, in its stream's order (CUDA C++
// Programming Guide, "CUDA Dynamic Parallelism").
#pragma once

#include <string.h>

#include "simt/launch.h"
#include "simt/runtime/copies.h"

namespace simt {

inline cudaError_t copy_by_child(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  const auto copy = [](void* to, const void* from, std::size_t bytes) { memcpy(to, from, bytes); };
  launch(copy, "cudaMemcpyAsync", __FILE__, __LINE__, LaunchConfig(1, 1, 0, stream), to, from, bytes);
  return cudaPeekAtLastError();
}

inline cudaError_t fill_by_child(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  const auto fill = [](void* pointer, int value, std::size_t bytes) { memset(pointer, value, bytes); };
  launch(fill, "cudaMemsetAsync", __FILE__, __LINE__, LaunchConfig(1, 1, 0, stream), pointer, value, bytes);
  return cudaPeekAtLastError();
}

}  // namespace simt

// Always inlined, so that the functions which they call see the line that calls these.
[[gnu::always_inline]] inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                                          cudaMemcpyKind kind, cudaStream_t stream) {
  return simt::is_in_kernel() ? simt::copy_by_child(to, from, bytes, stream)
                              : simt::copy_async(to, from, bytes, kind, stream);
}
[[gnu::always_inline]] inline cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes,
                                                          cudaStream_t stream) {
  return simt::is_in_kernel() ? simt::fill_by_child(pointer, value, bytes, stream)
                              : simt::fill_async(pointer, value, bytes, stream);
}

// Attributes of kernels, and their occupancy.
#pragma once

#include "simt/runtime/types.h"

/// More than 49152 bytes of dynamic shared memory, up to 232448, must be requested here before the launch.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config);
cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig config);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                          std::size_t dynamic_shared);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int block_size,
                                                                   std::size_t dynamic_shared, unsigned flags);
/// The most that leaves room for so many blocks on a multiprocessor.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* dynamic_shared, const void* kernel, int blocks,
                                                      int block_size);

namespace simt {

/// How many multiprocessors the device has.
int multiprocessors();
/// How many blocks of so many threads, with so many bytes of dynamic shared memory each, a multiprocessor has room for.
/// The registers and the __shared__ arrays that a kernel uses are not known here, so that a GPU may have less room.
int resident_blocks(int threads, std::size_t dynamic_shared);

/// Bytes of dynamic shared memory that a launch of `kernel` may use. Null: the largest number that cudaFuncSetAttribute
/// has allowed any kernel. A launch passes null, because it knows a kernel only by its name; so a program that raises
/// the limit of one kernel may launch another one with it, which a GPU refuses.
std::size_t max_dynamic_shared(const void* kernel = nullptr);

/// Forgets what cudaFuncSetAttribute has set.
void reset_kernel_attributes();

template <class T>
const void* kernel_address(T* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

}  // namespace simt

// --- typed versions ---

template <class T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(simt::kernel_address(kernel), attribute, value);
}
template <class T>
cudaError_t cudaFuncSetCacheConfig(T* kernel, cudaFuncCache config) {
  return cudaFuncSetCacheConfig(simt::kernel_address(kernel), config);
}
template <class T>
cudaError_t cudaFuncSetSharedMemConfig(T* kernel, cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig(simt::kernel_address(kernel), config);
}
template <class T>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
  return cudaFuncGetAttributes(attributes, simt::kernel_address(kernel));
}
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T* kernel, int block_size,
                                                          std::size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, simt::kernel_address(kernel), block_size,
                                                       dynamic_shared);
}
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T* kernel, int block_size,
                                                                   std::size_t dynamic_shared, unsigned flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, simt::kernel_address(kernel), block_size,
                                                                dynamic_shared, flags);
}
template <class T>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* dynamic_shared, T* kernel, int blocks,
                                                      int block_size) {
  return cudaOccupancyAvailableDynamicSMemPerBlock(dynamic_shared, simt::kernel_address(kernel), blocks, block_size);
}

/// Finds the largest block whose dynamic shared memory, `shared_of(block size)` bytes, the kernel may have.
template <class SharedOf, class T>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid_size, int* block_size, T* kernel,
                                                           SharedOf shared_of, int limit = 0) {
  for (int size = limit > 0 && limit < 1024 ? limit : 1024; size > 0;
       size = size > 32 ? (size - 1) / 32 * 32 : size - 1) {
    int blocks = 0;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, size, shared_of(size));
    if (error != cudaSuccess) return error;
    if (blocks == 0) continue;
    *block_size = size;
    *grid_size = blocks * simt::multiprocessors();
    return cudaSuccess;
  }
  return cudaErrorInvalidConfiguration;
}
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, T* kernel,
                                               std::size_t dynamic_shared = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid_size, block_size, kernel, [dynamic_shared](int) { return dynamic_shared; }, limit);
}
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size, T* kernel,
                                                        std::size_t dynamic_shared = 0, int limit = 0, unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid_size, block_size, kernel, dynamic_shared, limit);
}

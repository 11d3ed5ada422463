#include "simt/runtime/kernels.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "../environment.h"
#include "call.h"

namespace simt {
namespace {

struct DynamicSharedLimits {
  std::mutex mutex;
  std::map<const void*, int> of_kernel;  ///< as set by cudaFuncSetAttribute
  int largest = default_shared_bytes;
};

DynamicSharedLimits& dynamic_shared_limits() {
  static auto* const limits = new DynamicSharedLimits;  // never destroyed: a static's destructor may launch a kernel
  return *limits;
}

}  // namespace

std::size_t max_dynamic_shared(const void* kernel) {
  DynamicSharedLimits& limits = dynamic_shared_limits();
  const std::lock_guard lock(limits.mutex);
  if (kernel == nullptr) return std::size_t(limits.largest);
  const auto entry = limits.of_kernel.find(kernel);
  return std::size_t(entry == limits.of_kernel.end() ? default_shared_bytes : entry->second);
}

void reset_kernel_attributes() {
  const std::lock_guard lock(dynamic_shared_limits().mutex);
  dynamic_shared_limits().of_kernel.clear();
  dynamic_shared_limits().largest = default_shared_bytes;
}

int resident_blocks(int threads, std::size_t dynamic_shared) {
  const int rounded = (threads + lanes_per_warp - 1) / lanes_per_warp * lanes_per_warp;  // warps are whole
  const std::size_t shared = dynamic_shared + reserved_shared_bytes,
                    shared_of_all = max_shared_bytes + reserved_shared_bytes;
  return std::min(
      {max_blocks_per_multiprocessor, max_threads_per_multiprocessor / rounded, int(shared_of_all / shared)});
}

}  // namespace simt

using namespace simt;

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return call(__func__, [&] {
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    switch (attribute) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize: {
        if (value < 0 || value > shared_bytes_per_block(max_shared_bytes)) return cudaErrorInvalidValue;
        const std::lock_guard lock(dynamic_shared_limits().mutex);
        dynamic_shared_limits().of_kernel[kernel] = value;
        dynamic_shared_limits().largest = std::max(dynamic_shared_limits().largest, value);
        return cudaSuccess;
      }
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        return value == 0 || value == 1 ? cudaSuccess : cudaErrorInvalidValue;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig) {
  return call(__func__, [&] { return kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess; });
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache) {
  return call(__func__, [&] { return kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess; });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return call_on_both_sides(__func__, attributes, [&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    *attributes = {};  // an ordinary compiler does not report a kernel's shared memory or registers
    attributes->maxThreadsPerBlock = max_threads_per_block;
    attributes->ptxVersion = attributes->binaryVersion = 10 * compute_capability_major + compute_capability_minor;
    attributes->maxDynamicSharedSizeBytes = int(max_dynamic_shared(kernel));
    attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                          std::size_t dynamic_shared) {
  return call_on_both_sides(__func__, blocks, [&] {
    if (blocks == nullptr || block_size <= 0) return cudaErrorInvalidValue;
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    const bool is_possible = block_size <= max_threads_per_block && dynamic_shared <= max_dynamic_shared(kernel);
    *blocks = is_possible ? resident_blocks(block_size, dynamic_shared) : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int block_size,
                                                                   std::size_t dynamic_shared, unsigned flags) {
  if (flags > cudaOccupancyDisableCachingOverride) {
    return call_on_both_sides(__func__, blocks, [] { return cudaErrorInvalidValue; });
  }
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, dynamic_shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* dynamic_shared, const void* kernel, int blocks,
                                                      int block_size) {
  return call(__func__, [&] {
    if (dynamic_shared == nullptr || blocks <= 0 || block_size <= 0) return cudaErrorInvalidValue;
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    if (block_size > max_threads_per_block || resident_blocks(block_size, 0) < blocks) return cudaErrorInvalidValue;
    const int share = (max_shared_bytes + reserved_shared_bytes) / blocks - reserved_shared_bytes;
    *dynamic_shared = std::min(std::size_t(share), max_dynamic_shared(kernel));
    return cudaSuccess;
  });
}

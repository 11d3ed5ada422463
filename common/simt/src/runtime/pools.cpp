#include "simt/runtime/pools.h"

#include <mutex>
#include <shared_mutex>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../emulation.h"
#include "../memory/pool.h"
#include "call.h"
#include "captures.h"
#include "graph_memory.h"
#include "simt/runtime/streams.h"

namespace simt {
namespace {

/// In a capture, a node that allocates; otherwise an allocation now.
cudaError_t allocate_in(cudaStream_t stream, Pool* pool, void** pointer, std::size_t bytes) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  cudaError_t error = cudaSuccess;
  const auto as_node = [&] {
    NodeWork work;
    error = make_allocation_work(pointer, bytes, work);
    return work;
  };
  if (const auto refused = captured(stream, as_node)) return error != cudaSuccess ? error : *refused;
  return allocate_from(pool, pointer, bytes);
}

}  // namespace
}  // namespace simt

using namespace simt;

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return call(__func__, [&] {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    return allocate_in(stream, nullptr, pointer, bytes);
  });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return call(__func__, [&] {
    if (pointer == nullptr || pool == nullptr) return cudaErrorInvalidValue;
    return allocate_in(stream, pool, pointer, bytes);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    const auto as_node = [&] { return free_work({"cudaFreeAsync", caller}, pointer); };
    if (const auto error = captured(stream, as_node)) return *error;
    SIMT_OBSERVE(check::freed_in_stream(pointer, {"cudaFreeAsync", stream, false, caller});)
    return free_memory({"cudaFreeAsync", caller}, pointer, {MemoryKind::device, MemoryKind::managed});
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call(__func__, [&] {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *pool = Pools::instance().default_pool();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call(__func__, [&] {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    const std::shared_lock lock(Heap::instance().mutex);
    *pool = Pools::instance().current();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call(__func__, [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    const std::lock_guard lock(Heap::instance().mutex);
    return Pools::instance().make_current(pool) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call(__func__, [&] {
    if (pool == nullptr || properties == nullptr || properties->allocType != cudaMemAllocationTypePinned) {
      return cudaErrorInvalidValue;
    }
    if (properties->location.type != cudaMemLocationTypeDevice || properties->location.id != 0) {
      return cudaErrorInvalidDevice;
    }
    const std::lock_guard lock(Heap::instance().mutex);
    *pool = Pools::instance().create();
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call(__func__, [&] {
    const std::lock_guard lock(Heap::instance().mutex);
    return Pools::instance().destroy(pool) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call(__func__, [&] {
    const std::lock_guard lock(Heap::instance().mutex);
    if (!Pools::instance().exists(pool) || value == nullptr) return cudaErrorInvalidValue;
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        pool->reuse[attribute - 1] = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        pool->threshold = *static_cast<std::uint64_t*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:  // a high-water mark can only be reset
      case cudaMemPoolAttrUsedMemHigh:
        if (*static_cast<std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
        (attribute == cudaMemPoolAttrUsedMemHigh ? pool->used_high : pool->reserved_high) =
            attribute == cudaMemPoolAttrUsedMemHigh ? pool->used : pool->reserved;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call(__func__, [&] {
    const std::shared_lock lock(Heap::instance().mutex);
    if (!Pools::instance().exists(pool) || value == nullptr) return cudaErrorInvalidValue;
    const auto give = [value](std::uint64_t bytes) {
      *static_cast<std::uint64_t*>(value) = bytes;
      return cudaSuccess;
    };
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int*>(value) = pool->reuse[attribute - 1];
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        return give(pool->threshold);
      case cudaMemPoolAttrReservedMemCurrent:
        return give(pool->reserved);
      case cudaMemPoolAttrReservedMemHigh:
        return give(pool->reserved_high);
      case cudaMemPoolAttrUsedMemCurrent:
        return give(pool->used);
      case cudaMemPoolAttrUsedMemHigh:
        return give(pool->used_high);
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes_to_keep) {
  return call(__func__, [&] {
    const std::lock_guard lock(Heap::instance().mutex);
    if (!Pools::instance().exists(pool)) return cudaErrorInvalidValue;
    Pools::instance().shrink(*pool, bytes_to_keep);
    return cudaSuccess;
  });
}

#include "graph_memory.h"

#include <mutex>
#include <shared_mutex>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../emulation.h"
#include "../memory/pool.h"
#include "graph_nodes.h"

namespace simt {

GraphMemory::~GraphMemory() {
  if (pool_ == nullptr) return;
  const std::lock_guard lock(Heap::instance().mutex);
  Pools::instance().destroy(pool_);  // what is in use stays until the program frees it
}

cudaError_t GraphMemory::reserve(std::size_t bytes) {
  bytes_ = bytes;
  {
    const std::lock_guard lock(Heap::instance().mutex);
    pool_ = Pools::instance().create();
    pool_->threshold = ~std::uint64_t(0);
  }
  const cudaError_t error = allocate_from(pool_, &address_, bytes);
  if (error != cudaSuccess) return error;
  const cudaError_t freed = free();
  pool_->is_of_graph = true;  // from now on: what is created has not been allocated
  return freed;
}

cudaError_t GraphMemory::allocate() {
  void* address = nullptr;
  const cudaError_t error = allocate_from(pool_, &address, bytes_);
  return error == cudaSuccess && address != address_ ? cudaErrorMemoryAllocation : error;
}

cudaError_t GraphMemory::free() { return release(address_, {MemoryKind::device}, nullptr); }

bool GraphMemory::is_in_use() const {
  const std::shared_lock lock(Heap::instance().mutex);
  const Record* const record = Heap::instance().starting_at(address_);
  return record != nullptr && !record->allocation.freed;
}

cudaError_t make_allocation_work(void** pointer, std::size_t bytes, NodeWork& work) {
  const auto memory = std::make_shared<GraphMemory>();
  if (bytes == 0) return cudaErrorInvalidValue;
  if (const cudaError_t error = memory->reserve(bytes); error != cudaSuccess) return error;
  *pointer = memory->address();
  work = {.type = cudaGraphNodeTypeMemAlloc, .run = [memory](cudaStream_t) { return memory->allocate(); }};
  work.memory = memory;
  return cudaSuccess;
}

NodeWork free_work(const HostCall& call, void* pointer) {
  NodeWork work{.type = cudaGraphNodeTypeMemFree, .run = [=]([[maybe_unused]] cudaStream_t stream) {
                  SIMT_OBSERVE(check::freed_in_stream(pointer, {call.name, stream, false, call.caller});)
                  return free_memory(call, pointer, {MemoryKind::device, MemoryKind::managed});
                }};
  work.freed = pointer;
  return work;
}

}  // namespace simt

using namespace simt;

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t handle, cudaMemAllocNodeParams* parameters) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const Node* const node = node_of(handle);
    if (node == nullptr || node->work.memory == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = {};
    parameters->poolProps.allocType = cudaMemAllocationTypePinned;
    parameters->poolProps.location = {cudaMemLocationTypeDevice, 0};
    parameters->bytesize = node->work.memory->bytes();
    parameters->dptr = node->work.memory->address();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t handle, void* pointer) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const Node* const node = node_of(handle);
    if (node == nullptr || node->work.freed == nullptr || pointer == nullptr) return cudaErrorInvalidValue;
    *static_cast<void**>(pointer) = node->work.freed;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return call(__func__, [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    if (value == nullptr) return cudaErrorInvalidValue;
    const std::shared_lock lock(Heap::instance().mutex);
    const GraphMemoryUse& use = Pools::instance().of_graphs;
    const auto give = [value](std::uint64_t bytes) {
      *static_cast<std::uint64_t*>(value) = bytes;
      return cudaSuccess;
    };
    switch (attribute) {
      case cudaGraphMemAttrUsedMemCurrent:
        return give(use.used());
      case cudaGraphMemAttrUsedMemHigh:
        return give(use.used_high());
      case cudaGraphMemAttrReservedMemCurrent:
        return give(use.reserved());
      case cudaGraphMemAttrReservedMemHigh:
        return give(use.reserved_high());
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return call(__func__, [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    if (value == nullptr || *static_cast<const std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
    const std::lock_guard lock(Heap::instance().mutex);
    GraphMemoryUse& use = Pools::instance().of_graphs;
    switch (attribute) {
      case cudaGraphMemAttrUsedMemHigh:
        use.reset_used_high();
        return cudaSuccess;
      case cudaGraphMemAttrReservedMemHigh:
        use.reset_reserved_high();
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return call(__func__, [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    const std::lock_guard lock(Heap::instance().mutex);
    Pools::instance().trim_graphs();
    return cudaSuccess;
  });
}

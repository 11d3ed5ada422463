#include "simt/runtime/allocations.h"

#include <cstdlib>
#include <mutex>
#include <shared_mutex>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../faults/source_lines.h"
#include "../memory/access.h"
#include "../memory/globals.h"
#include "../memory/pages.h"
#include "../memory/pool.h"
#include "call.h"
#include "captures.h"

namespace simt {

cudaError_t free_memory(const HostCall& call, void* pointer, std::initializer_list<MemoryKind> kinds) {
  const cudaError_t error = release(pointer, kinds, call.caller);
  if (error != cudaSuccess) report_refused_free(call, pointer, kinds);
  return error;
}

namespace {

/// A new allocation, unless a capture forbids that.
cudaError_t allocate_now(void** pointer, std::size_t bytes, MemoryKind kind) {
  const cudaError_t error = refused_in_capture();
  return error != cudaSuccess ? error : allocate(pointer, bytes, kind);
}

cudaError_t free_now(const HostCall& call, void* pointer, std::initializer_list<MemoryKind> kinds) {
  if (const cudaError_t error = refused_in_capture(); error != cudaSuccess) return error;
  SIMT_OBSERVE(check::host_waits_for_all();)
  return free_memory(call, pointer, kinds);
}

cudaError_t allocate_in_kernel(Worker& worker, void** pointer, std::size_t bytes, [[maybe_unused]] void* caller) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  SIMT_OBSERVE(check::kernel_gets(pointer, sizeof *pointer, caller);)
  worker.uninterrupted([&] {
#ifdef SIMT_CHECK
    *pointer = check::allocated_by_kernel(bytes, caller);
#else
    *pointer = std::malloc(bytes);
#endif
  });
  return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t free_in_kernel(Worker& worker, void* pointer, void* caller) {
#ifdef SIMT_CHECK
  worker.uninterrupted([&] { check::freed_by_kernel(pointer, caller); });
#else
  bool is_hosts = false;
  Site site;
  worker.uninterrupted([&] {
    is_hosts = allocation_of(pointer) != nullptr || is_global(pointer, 1);
    if (is_hosts) site = line_of_call(caller);
    if (!is_hosts) std::free(pointer);
  });
  if (is_hosts) {
    worker.fail({"invalid-free",
                 "calls cudaFree() for memory that the host has allocated; in a kernel, it frees what kernels allocate",
                 site, cudaErrorInvalidDevicePointer});
  }
#endif
  return cudaSuccess;
}

}  // namespace

#ifdef SIMT_CHECK
void share_device_memory() { check::share_device_memory(); }
#endif

}  // namespace simt

using namespace simt;

// In a kernel, these use the device's own heap, as malloc() and free() do there.
cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  if (Worker* const worker = Worker::running()) {
    return allocate_in_kernel(*worker, pointer, bytes, __builtin_return_address(0));
  }
  return call(__func__, [&] { return allocate_now(pointer, bytes, MemoryKind::device); });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return call(__func__, [&] {
    if (pitch == nullptr) return cudaErrorInvalidValue;
    *pitch = round_up(width, 512);
    return allocate_now(pointer, *pitch * height, MemoryKind::device);
  });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    watch_shared_memory({"cudaMallocManaged", caller}, bytes);
    return allocate_now(pointer, bytes, MemoryKind::managed);
  });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    if (flags > (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
      return cudaErrorInvalidValue;
    watch_shared_memory({"cudaHostAlloc", caller}, bytes);
    return allocate_now(pointer, bytes, MemoryKind::pinned);
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(pointer, bytes, flags);
}

cudaError_t cudaFree(void* pointer) {
  if (Worker* const worker = Worker::running()) return free_in_kernel(*worker, pointer, __builtin_return_address(0));
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    return free_now({"cudaFree", caller}, pointer, {MemoryKind::device, MemoryKind::managed});
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    return free_now({"cudaFreeHost", caller}, pointer, {MemoryKind::pinned});
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    watch_shared_memory({"cudaHostRegister", caller}, bytes);
    const std::lock_guard lock(Heap::instance().mutex);
    const bool added = Heap::instance().add_registered(static_cast<char*>(pointer), bytes);
    return added ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call(__func__, [&] {
    const std::lock_guard lock(Heap::instance().mutex);
    return Heap::instance().remove_registered(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call(__func__, [&] {
    if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
    const Access access = access_of(host, 1);
    if (!access.host || !access.device || is_global(host, 1)) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call(__func__, [&] {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    const std::shared_lock lock(Heap::instance().mutex);
    *total = device_memory();
    *free = Heap::instance().available();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call(__func__, [&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    void* const address = const_cast<void*>(pointer);
    *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, address};
    const std::shared_lock lock(Heap::instance().mutex);
    const Record* record = Heap::instance().find(pointer);
    if (record == nullptr || record->allocation.freed || !record->contains(pointer, 1)) {
      return cudaSuccess;
    }
    switch (record->allocation.kind) {
      case MemoryKind::device:
        *attributes = {cudaMemoryTypeDevice, 0, address, nullptr};
        break;
      case MemoryKind::managed:
        *attributes = {cudaMemoryTypeManaged, 0, address, address};
        break;
      case MemoryKind::pinned:
      case MemoryKind::registered:
        *attributes = {cudaMemoryTypeHost, 0, address, address};
        break;
    }
    return cudaSuccess;
  });
}

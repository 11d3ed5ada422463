// In place of Thrust's header of this name, from which the sequential system has the memory of a device_vector: kernels
// need device memory.
#pragma once

#include <thrust/mr/memory_resource.h>

#include <cstddef>
#include <new>

#include "simt/runtime/allocations.h"

THRUST_NAMESPACE_BEGIN
namespace mr {

/// cudaMalloc aligns for every type. Throws std::bad_alloc if the memory does not suffice.
class new_delete_resource : public memory_resource<> {
 public:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* pointer = nullptr;
    if (cudaMalloc(&pointer, bytes) != cudaSuccess) throw std::bad_alloc();
    return pointer;
  }
  void do_deallocate(void* pointer, std::size_t, std::size_t) override { cudaFree(pointer); }
};
using new_delete_resource_base = new_delete_resource;

}  // namespace mr
THRUST_NAMESPACE_END

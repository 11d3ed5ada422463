// Which memory the host and the device may access.
#pragma once

#include <cstddef>

#include "heap.h"

namespace simt {

/// Who may access a range of memory.
struct Access {
  bool host, device;
};

/// Neither, if the range leaves its allocation or has been freed.
Access access_of(const void* pointer, std::size_t bytes);

/// May a kernel follow this pointer? True inside live allocations, __managed__ variables, and those __device__ and
/// __constant__ variables whose address the program got from cudaGetSymbolAddress.
bool is_device(const void* pointer);

/// The allocation, live or recently freed, that `pointer` lies in, or whose guard zones (64 KiB on both sides) it lies
/// in; null if there is none. Allocates nothing: a signal handler may call it.
const Allocation* allocation_of(const void* pointer);

}  // namespace simt

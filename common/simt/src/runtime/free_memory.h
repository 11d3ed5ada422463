// What all functions that free memory do.
#pragma once

#include "../faults/host_faults.h"

namespace simt {

/// Frees the allocation that begins at `pointer`, and reports a pointer that is not one of these kinds'.
cudaError_t free_memory(const HostCall& call, void* pointer, std::initializer_list<MemoryKind> kinds);

}  // namespace simt

// What the calls of the runtime report about the host's work.
#pragma once

#include <cstddef>

#include "../faults/host_faults.h"

namespace simt {

/// A copy, which has been found possible.
void watch_copy(const HostCall& call, const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes);

/// Memory that kernels and the host share was allocated.
void watch_shared_memory(const HostCall& call, std::size_t bytes);

}  // namespace simt

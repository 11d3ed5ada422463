// A copy, for functions that find out themselves what is to be copied.
#pragma once

#include "../faults/host_faults.h"

namespace simt {

/// What cudaMemcpyAsync does, or cudaMemcpy.
cudaError_t copy(const HostCall& call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool is_async);

}  // namespace simt

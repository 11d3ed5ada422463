// A copy, for functions that find out themselves what is to be copied.
#pragma once

#include <optional>

#include "../faults/host_faults.h"

namespace simt {

/// What cudaMemcpyAsync does; without a stream, what cudaMemcpy does.
cudaError_t copy(const HostCall& call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 std::optional<cudaStream_t> stream);

}  // namespace simt

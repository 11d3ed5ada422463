// Whether the host does the kernels' work: for a program that runs code of others, such as the judge's runner.
#pragma once

#include <cstddef>
#include <string>

namespace simt {

struct MemoryRange {
  const void* begin = nullptr;
  std::size_t bytes = 0;
};

/// While it exists, host code that accesses device memory faults, as with a GPU (the check build's observers report it
/// instead); and what the host copies is watched: kernels must write `result`, and must not hand most of `keys` to the
/// host. A launch on the default stream is refused, because the caller of the host code passes it another stream. At
/// most one may exist at a time.
class HostWatch {
 public:
  HostWatch(MemoryRange keys, MemoryRange result);
  ~HostWatch();
  HostWatch(const HostWatch&) = delete;
  HostWatch& operator=(const HostWatch&) = delete;

  /// What the host has done in the kernels' place, with the line of the call: "FILE:LINE: cudaMemcpy() ..."; or empty.
  std::string fault() const;
};

/// Whether there is one.
bool is_host_watched();

/// Whether host code that accesses device memory faults.
bool is_device_memory_closed();

}  // namespace simt

// Device memory that host code cannot access, as on a GPU.
#pragma once

namespace simt {

/// Closes the device's memory to host code, or opens it again. Only host code that runs no kernel may call it.
void close_device_memory(bool closed);

/// While it exists, the memory is open: for kernels, copies and fills.
class OpenMemory {
 public:
  OpenMemory();
  ~OpenMemory();
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;
};

}  // namespace simt

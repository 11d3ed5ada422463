// Memory that nodes of a graph allocate and free. An allocation has the same address in all launches.
#pragma once

#include <memory>

#include "call.h"
#include "graph.h"

namespace simt {

class GraphMemory {
 public:
  GraphMemory() = default;
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  /// Finds the address. Until a launch allocates it, nothing may access the memory.
  cudaError_t reserve(std::size_t bytes);
  void* address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

  cudaError_t allocate();
  cudaError_t free();
  /// Whether a launch has allocated it, and nothing has freed it since.
  bool is_in_use() const;

 private:
  cudaMemPool_t pool_ = nullptr;  // its own, which keeps the addresses
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Sets `pointer` to the address of what the node will allocate.
cudaError_t make_allocation_work(void** pointer, std::size_t bytes, NodeWork& work);
/// Frees what cudaFreeAsync() could free.
NodeWork free_work(const HostCall& call, void* pointer);

}  // namespace simt

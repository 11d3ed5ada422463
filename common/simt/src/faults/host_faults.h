// What is wrong with a call of the host's that was refused: a copy, a fill, or a call that frees memory.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "../memory/heap.h"
#include "simt/runtime/types.h"

namespace simt {

/// A call of a CUDA function by the program.
struct HostCall {
  const char* name;  ///< of the function
  void* caller;      ///< its return address
};

/// A copy that was refused because of the memory that it names. The bytes go from the first to the last one.
void report_refused_copy(const HostCall& call, const void* to, std::size_t to_bytes, const void* from,
                         std::size_t from_bytes, cudaMemcpyKind kind);
void report_refused_fill(const HostCall& call, const void* to, std::size_t bytes);
/// A copy that leaves the variable that it names.
void report_copy_past_symbol(const HostCall& call, std::size_t symbol_bytes, std::size_t offset, std::size_t bytes);
/// Freeing `pointer` was refused. `kinds`: the kinds of memory that the function frees.
void report_refused_free(const HostCall& call, const void* pointer, std::initializer_list<MemoryKind> kinds);

}  // namespace simt

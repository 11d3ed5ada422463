// The device's memory, as the launch and its messages see it.
#pragma once

#include <cstddef>

namespace simt {

/// Where an allocation came from.
enum class MemoryKind {
  device,      ///< cudaMalloc, cudaMallocAsync: only the device may touch it
  managed,     ///< cudaMallocManaged
  pinned,      ///< cudaMallocHost, cudaHostAlloc
  registered,  ///< the program's own memory after cudaHostRegister
};

struct Allocation {
  char* begin;
  std::size_t bytes;  ///< as asked for
  bool freed;         ///< kept a while after cudaFree, so that a message can tell
  MemoryKind kind;
};

/// May a kernel follow this pointer? True inside live allocations, __managed__ variables, and those __device__ and
/// __constant__ variables that cudaGetSymbolAddress has been asked for.
bool is_device(const void* pointer);

/// The allocation, live or recently freed, in which or in whose guard zone (64 KiB on both sides) `pointer` lies; null
/// if there is none. Takes no memory from the heap, so that a fault's handler may call it.
const Allocation* allocation_of(const void* pointer);

/// Value of every byte that a new allocation holds.
inline constexpr unsigned char poison = 0xCD;

}  // namespace simt

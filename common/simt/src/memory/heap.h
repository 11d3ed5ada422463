// The allocations of the device's memory. Each lies between two guard zones that nothing can access, so that an access
// past its end faults; a freed one stays mapped without access for a while, so that a use after free faults as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <shared_mutex>

#include "simt/error.h"

struct CUmemPoolHandle_st;

namespace simt {

/// The value of every byte in a new allocation.
inline constexpr unsigned char poison = 0xCD;

/// Where an allocation came from.
enum class MemoryKind {
  device,      ///< cudaMalloc, cudaMallocAsync: only the device may touch it
  managed,     ///< cudaMallocManaged
  pinned,      ///< cudaMallocHost, cudaHostAlloc
  registered,  ///< the program's own memory, after cudaHostRegister
};

struct Allocation {
  char* begin;
  std::size_t bytes;  ///< as requested
  bool freed;         ///< kept for a while after cudaFree, so that a message can name it
  MemoryKind kind;
};

/// An allocation and the address range that belongs to it.
struct Record {
  static constexpr std::size_t guard = std::size_t(1) << 16;  ///< bytes of each guard zone

  Allocation allocation;
  char* zone;  ///< guard, body, guard; for registered memory, the memory itself
  std::size_t zone_bytes;
  std::size_t body_bytes;              ///< whole pages
  CUmemPoolHandle_st* pool = nullptr;  ///< that the memory came from, if any

  char* body() const { return zone + guard; }
  bool contains(const void* pointer, std::size_t bytes) const {
    const char* const address = static_cast<const char*>(pointer);
    return address >= allocation.begin && bytes <= allocation.bytes &&
           address <= allocation.begin + (allocation.bytes - bytes);
  }
};

/// All allocations of the process. Callers of member functions hold the mutex.
class Heap {
 public:
  static Heap& instance();

  std::shared_mutex mutex;  ///< guards the heap and the pools

  /// Maps memory for an allocation. Null if there is not enough.
  Record* map(std::size_t bytes, MemoryKind kind, CUmemPoolHandle_st* pool);
  /// Opens the freed allocation that began at `begin` again, for one of `bytes` whose body has the same size.
  Record* map_again(std::uintptr_t begin, std::size_t bytes);
  /// Closes a freed allocation to every access, but keeps its pages.
  void close(Record& record);
  /// Returns a freed allocation's pages to the system, but keeps its addresses for a while.
  void retire(Record& record);
  /// Registers memory of the program's own. False: part of it is already an allocation.
  bool add_registered(char* begin, std::size_t bytes);
  bool remove_registered(const void* begin);
  void clear();

  /// The record whose zone holds `pointer`, or null. Allocates nothing: a signal handler may call it.
  Record* find(const void* pointer);
  /// The record of the allocation that begins at `pointer`, or null.
  Record* starting_at(const void* pointer);

  std::size_t available() const;  ///< bytes of device memory

  /// Takes away the access to what only the device may touch, or gives it back.
  void protect_device_memory(bool closed);

 private:
  void unmap(std::uintptr_t begin);

  std::map<std::uintptr_t, Record> records_;  ///< by Allocation::begin
  std::deque<std::uintptr_t> quarantine_;     ///< retired records, oldest first
  std::size_t quarantined_bytes_ = 0;
  std::size_t used_ = 0;  ///< bytes of device memory
};

/// The size in bytes of the body of an allocation of `bytes`.
std::size_t body_bytes(std::size_t bytes);

void fill_with_poison(const Record& record);

/// What cudaMalloc, cudaMallocManaged and cudaHostAlloc do.
cudaError_t allocate(void** pointer, std::size_t bytes, MemoryKind kind);

/// Bytes of memory that the device has.
std::size_t device_memory();

}  // namespace simt

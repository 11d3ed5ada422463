// The device's own heap: what kernels allocate with new and malloc, and free with delete and free.
//
// The memory is never used twice, so that an access of what has been freed is always found. Gaps between the blocks
// catch accesses outside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "access.h"

namespace simt::check {

class DeviceHeap {
 public:
  struct Block {
    std::uintptr_t begin;
    std::size_t bytes;
    Code made_by, freed_by = 0;
  };
  static constexpr std::size_t arena_bytes = std::size_t(1) << 30;
  static constexpr std::size_t gap = 64;  ///< bytes between two blocks, at least

  /// Null: the heap would have more than `limit` bytes in use, or is full.
  void* allocate(std::size_t bytes, std::size_t limit, Code by);
  bool owns(const void* pointer) const { return std::uintptr_t(pointer) - arena_ < arena_bytes && arena_ != 0; }
  /// The block that begins at this address, or null.
  Block* starting_at(const void* pointer);
  void free(Block& block, Code by);
  /// The block in which, or after which, the address lies; null if it is before all of them.
  const Block* near(std::uintptr_t address) const;

 private:
  std::uintptr_t arena_ = 0;
  std::size_t end_ = gap;  ///< of the last block, in the arena
  std::size_t used_ = 0;   ///< bytes that are not freed
  std::map<std::uintptr_t, Block> blocks_;
};

}  // namespace simt::check

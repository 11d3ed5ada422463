#include "device_heap.h"

#include <sys/mman.h>

#include <iterator>

#include "state.h"

namespace simt::check {

void* DeviceHeap::allocate(std::size_t bytes, std::size_t limit, Code by) {
  if (used_ > limit || bytes > limit - used_) return nullptr;
  if (arena_ == 0) {
    constexpr std::size_t margin = guard_bytes + chunk_bytes;  // what is near is taken for an access outside a block
    void* const whole = mmap(nullptr, arena_bytes + 2 * margin, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (whole == MAP_FAILED) return nullptr;
    arena_ = std::uintptr_t(whole) + margin;
    state().ownership.allocated_heap(reinterpret_cast<void*>(arena_), arena_bytes);
  }
  constexpr std::size_t alignment = 16;
  if (bytes > arena_bytes - 2 * gap - alignment || end_ > arena_bytes - bytes - 2 * gap - alignment) return nullptr;
  const std::uintptr_t begin = arena_ + (end_ + gap + alignment - 1) / alignment * alignment;
  end_ = begin + bytes - arena_;
  used_ += bytes;
  blocks_[begin] = {.begin = begin, .bytes = bytes, .made_by = by};
  return reinterpret_cast<void*>(begin);
}

DeviceHeap::Block* DeviceHeap::starting_at(const void* pointer) {
  const auto block = blocks_.find(std::uintptr_t(pointer));
  return block == blocks_.end() ? nullptr : &block->second;
}

void DeviceHeap::free(Block& block, Code by) {
  block.freed_by = by;
  used_ -= block.bytes;
}

const DeviceHeap::Block* DeviceHeap::near(std::uintptr_t address) const {
  const auto after = blocks_.upper_bound(address);
  return after == blocks_.begin() ? nullptr : &std::prev(after)->second;
}

}  // namespace simt::check

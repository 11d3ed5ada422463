#include "access.h"

#include <mutex>
#include <shared_mutex>

#include "globals.h"

namespace simt {

Access access_of(const void* pointer, std::size_t bytes) {
  const std::shared_lock lock(Heap::instance().mutex);
  if (const Record* record = Heap::instance().find(pointer)) {
    const bool valid = !record->allocation.freed && record->contains(pointer, bytes);
    return {valid && record->allocation.kind != MemoryKind::device, valid};
  }
  return {true, is_global(pointer, 1)};
}

bool is_device(const void* pointer) {
  const std::shared_lock lock(Heap::instance().mutex);
  if (const Record* record = Heap::instance().find(pointer)) {
    return !record->allocation.freed && record->contains(pointer, 1);
  }
  return is_device_variable(pointer);
}

const Allocation* allocation_of(const void* pointer) {
  const std::shared_lock lock(Heap::instance().mutex);
  const Record* record = Heap::instance().find(pointer);
  return record == nullptr ? nullptr : &record->allocation;
}

}  // namespace simt

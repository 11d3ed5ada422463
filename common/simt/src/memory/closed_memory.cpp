#include "closed_memory.h"

#include <atomic>
#include <mutex>

#include "heap.h"
#include "simt/host_watch.h"

namespace simt {
namespace {

// Read by the handler of faults.
std::atomic<bool> is_closed = false;
int open_depth = 0;  // an OpenMemory may lie within another

void protect(bool closed) {
  const std::lock_guard lock(Heap::instance().mutex);
  Heap::instance().protect_device_memory(closed);
}

}  // namespace

void close_device_memory(bool closed) {
  is_closed = closed;
  protect(closed);
}

bool is_device_memory_closed() { return is_closed; }

OpenMemory::OpenMemory() {
  if (is_closed && open_depth++ == 0) protect(false);
}
OpenMemory::~OpenMemory() {
  if (is_closed && --open_depth == 0) protect(true);
}

}  // namespace simt

#include "handles.h"

#include <atomic>

std::uintptr_t simt::new_handle() {
  static std::atomic<std::uintptr_t> handles = 0;
  return 0x10000 + 16 * ++handles;
}

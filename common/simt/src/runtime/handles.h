// Streams and events as the program holds them: handles, which are numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "simt/error.h"

namespace simt {

/// A number that is never used again, so that the handle of a destroyed object is always refused.
inline std::uintptr_t new_handle() {
  static std::atomic<std::uintptr_t> handles = 0;
  return 0x10000 + 16 * ++handles;
}

/// The living objects of one type.
template <class Handle, class Object>
class Handles {
 public:
  Handle add(const Object& object) {
    const std::lock_guard lock(mutex_);
    const auto handle = reinterpret_cast<Handle>(new_handle());
    objects_.emplace(handle, object);
    return handle;
  }

  cudaError_t remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    return objects_.erase(handle) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  }

  bool contains(Handle handle) {
    const std::lock_guard lock(mutex_);
    return objects_.count(handle) != 0;
  }

  /// Runs `use(object)` if the object exists; otherwise cudaErrorInvalidResourceHandle.
  template <class Use>
  cudaError_t with(Handle handle, Use&& use) {
    const std::lock_guard lock(mutex_);
    const auto entry = objects_.find(handle);
    return entry == objects_.end() ? cudaErrorInvalidResourceHandle : use(entry->second);
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    objects_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<Handle, Object> objects_;
};

}  // namespace simt

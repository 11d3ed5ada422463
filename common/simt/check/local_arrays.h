// Arrays that a thread has for itself, and which of their bytes it has written. In place of a __shared__ array, such an
// array lacks what the other threads have written to theirs.
//
// Compilers and libraries write some bytes without telling the observers, such as those of a short memset(). Therefore
// an array begins with a pattern, and only bytes that still have it may be unwritten.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "access.h"
#include "simt/device.h"

namespace simt::check {

class LocalArrays {
 public:
  struct Array {
    std::size_t bytes;
    const char* name;
    Site site;  ///< of its declaration
    std::vector<bool> written;
  };

  bool exist() const { return !arrays_.empty(); }
  void begin(std::uintptr_t address, Array array);
  void end(std::uintptr_t address) { arrays_.erase(address); }
  /// A block begins, which has no arrays yet.
  void clear() { arrays_.clear(); }
  /// Whether the access is of one of the arrays. Reports the read of bytes that have not been written.
  bool observe(const Access& access);

 private:
  std::map<std::uintptr_t, Array> arrays_;  // of all threads of the running block, by address
};

}  // namespace simt::check

// A copy of memory that nothing can read while it is sealed.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>

#include "step/error.h"

namespace lab {

/// Keeps what the check build compares with after a step, but that the step must not see. Errors: lab::Error if there is
/// no memory.
class SealedCopy {
 public:
  SealedCopy(const char* data, std::size_t bytes) : bytes_(bytes > 0 ? bytes : 1) {
    void* const place = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw Error("no memory for a copy of the input");
    data_ = static_cast<char*>(place);
    std::memcpy(data_, data, bytes);
    mprotect(data_, bytes_, PROT_NONE);
  }
  ~SealedCopy() { munmap(data_, bytes_); }
  SealedCopy(const SealedCopy&) = delete;
  SealedCopy& operator=(const SealedCopy&) = delete;

  /// The copy, which can be read from now on.
  const char* open() const {
    mprotect(data_, bytes_, PROT_READ);
    return data_;
  }

 private:
  char* data_;
  std::size_t bytes_;
};

}  // namespace lab

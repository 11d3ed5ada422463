// Serving one case: input to the device, the step's call and its time, output back.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runner/protocol.h"
#include "step/error.h"
#include "step/table.h"

namespace lab {

/// A kernel or call of the step failed, and the step did not check it.
class StepFailed : public Error {
 public:
  using Error::Error;
};

/// The host has done what kernels must do.
class HostWorked : public Error {
 public:
  using Error::Error;
};

/// Host memory that is pinned as long as this object exists. Errors: lab::CudaError.
class Pinned {
 public:
  Pinned(char* data, std::int64_t bytes);
  Pinned(Pinned&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Pinned& operator=(Pinned&&) = delete;
  ~Pinned();

  bool covers(const char* data, std::int64_t bytes) const { return data >= data_ && data + bytes <= data_ + bytes_; }

 private:
  char* data_;
  std::int64_t bytes_;
};

/// The memory shared with the judge, mapped again whenever its size has changed.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { unmap(); }

  char* at(std::int64_t offset) const { return data_ + offset; }
  void resize(std::int64_t bytes);

  /// Pins a part of the memory, unless it is pinned already. It stays so until unpin(), or until the size changes.
  void pin(char* data, std::int64_t bytes);
  void unpin() { pinned_.clear(); }

 private:
  void unmap();

  char* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<Pinned> pinned_;
};

/// Sends `ready`, `sorted` and `finished`. Errors are the caller's to report: those of the step, lab::Unsupported,
/// lab::CudaError, StepFailed, HostWorked.
void serve_sort(std::span<const Step> steps, const Request& request, SharedMemory& memory);

/// Sends a document, if there is anything to send, and then `finished`. `recorded`: members of the document, as JSON;
/// the check build adds its findings so far.
void finish(Status status, double milliseconds = 0, const std::string& text = "", const std::string& recorded = "");

}  // namespace lab

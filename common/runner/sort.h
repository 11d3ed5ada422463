// Serving one case: input to the device, the step's call and its time, output back.
#pragma once

#include <cstdint>
#include <span>

#include "runner/protocol.h"
#include "step/error.h"
#include "step/step.h"

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

/// The memory shared with the judge, mapped again whenever its size has changed.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { unmap(); }

  char* at(std::int64_t offset) const { return data_ + offset; }
  void resize(std::int64_t bytes);

 private:
  void unmap();

  char* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Sends `ready`, `sorted` and `finished`. Errors are the caller's to report: those of the step, lab::Unsupported,
/// lab::CudaError, StepFailed, HostWorked.
void serve_sort(std::span<const Step> steps, const Request& request, SharedMemory& memory);

/// Sends the check build's findings so far, if this is that build, and then `finished`.
void finish(Status status, double milliseconds = 0, const std::string& text = "",
            std::span<const KernelTime> kernels = {});

}  // namespace lab

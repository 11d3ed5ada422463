// A case whose keys are sorted in host memory: they stay in the memory shared with the judge.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "runner/call.h"
#include "runner/protocol.h"
#include "runner/sort.h"
#include "step/error.h"

namespace lab {

/// The step had more device memory allocated than the case allows.
class TooMuchMemory : public Error {
 public:
  using Error::Error;
};

/// The keys and the scratch of a case, and the device memory that the step uses.
class HostImages {
 public:
  HostImages(const Request& request, SharedMemory& memory, cudaStream_t stream);
  HostImages(const HostImages&) = delete;
  HostImages& operator=(const HostImages&) = delete;

  /// Unpins the memory, unless this was a piece: another may follow, and pinning takes longer than sorting.
  ~HostImages();

  /// Bytes of device memory that the step may allocate, as far as they are worth filling with noise.
  std::int64_t poisoned_bytes() const;

  /// Copies the input to where it is sorted, and pins the memory. Returns the milliseconds of pinning.
  double copy_in();

  /// The output is where the judge reads it. Of a timed case, returns the milliseconds that one trip's copies alone
  /// take: all keys to the device, and as many bytes from there to the scratch, at the same time; of others, 0.
  double copy_out() const;

  void narrow() const {}
  void require_kernels() const {}  ///< the host merges what the device has sorted
  std::string why_unchanged() const { return ""; }
  StepArguments arguments() const;

  /// From here on, what the step allocates counts.
  void begin() const;

  /// Throws TooMuchMemory if the step had more memory allocated at a time than the case allows. Only memory of the
  /// default pool is known, from which lab::DeviceArray takes it.
  void end() const;

 private:
  const Request& request_;
  SharedMemory& memory_;
  char* keys_;
  char* scratch_;
  const char* input_;
  cudaStream_t stream_;
};

}  // namespace lab

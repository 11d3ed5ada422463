// Owners of CUDA's streams (step/stream.h) and events.
#pragma once

#include <cuda_runtime.h>

#include "step/error.h"
#include "step/stream.h"

namespace lab {

class Event {
 public:
  Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Waits for `stop`.
inline double milliseconds_between(const Event& start, const Event& stop) {
  float milliseconds = 0;
  CUDA_CHECK(cudaEventSynchronize(stop));
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  return milliseconds;
}

/// False where CUDA runs on the CPU.
#if __has_include(<simt/launch.h>)
inline constexpr bool on_gpu = false;
#else
inline constexpr bool on_gpu = true;
#endif

}  // namespace lab

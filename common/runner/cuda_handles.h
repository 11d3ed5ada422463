// Owners of CUDA's streams and events.
#pragma once

#include <cuda_runtime.h>

#include "step/error.h"

namespace lab {

class Stream {
 public:
  // Not ordered with the default stream: work that a step wrongly puts there does not count as done.
  Stream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

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

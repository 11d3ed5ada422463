// Device keys in host memory, for a step that works on the host.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <type_traits>

#include "step/error.h"
#include "step/step.h"
#if __has_include(<simt/host_watch.h>)
#include <simt/host_watch.h>
#endif

namespace lab {

/// The keys of a span in host memory, as they are when the work queued on `stream` so far is done. On a GPU they are
/// copied there, and store() copies them back; on the CPU device memory is the host's, and nothing is copied (except
/// where host code must not read device memory).
/// Errors: lab::CudaError.
template <class T>
class HostView {
 public:
  HostView(Span<T> device, cudaStream_t stream) : device_(device), stream_(stream) {
#if __has_include(<simt/launch.h>) && !defined(SIMT_CHECK)
    if (!simt::is_device_memory_closed()) {
      data_ = const_cast<Value*>(device.data);
      CUDA_CHECK(cudaStreamSynchronize(stream));
      return;
    }
#endif
    copy_ = std::make_unique_for_overwrite<Value[]>(device.n);
    data_ = copy_.get();
    CUDA_CHECK(cudaMemcpyAsync(data_, device.data, device.n * sizeof(T), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  std::remove_const_t<T>* data() const { return data_; }
  std::int64_t size() const { return device_.n; }

  /// Copies the keys back to where they came from, and waits for it.
  void store() const {
    if (copy_ == nullptr) return;
    CUDA_CHECK(cudaMemcpyAsync(device_.data, data_, device_.n * sizeof(T), cudaMemcpyHostToDevice, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

 private:
  using Value = std::remove_const_t<T>;

  Span<T> device_;
  cudaStream_t stream_;
  std::unique_ptr<Value[]> copy_;
  Value* data_ = nullptr;
};

}  // namespace lab

// Device memory that CUB's calls need in addition to their arguments.
#pragma once

#include <cub/util_type.cuh>

#include "gold/cub.h"
#include "step/device_array.h"

namespace gold {

/// Memory that grows when more is needed and never shrinks. It belongs to no call's stream, so every stream may use it.
class Scratch {
 public:
  char* at_least(std::int64_t bytes) {
    if (bytes > memory_.size()) {
      memory_ = {};
      memory_ = lab::DeviceArray<char>(bytes, nullptr);
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    return memory_.data();
  }

 private:
  lab::DeviceArray<char> memory_;
};

/// A second array of n elements, for CUB to sort back and forth.
template <class T>
T* second_array(std::int64_t n) {
  static Scratch scratch;
  return reinterpret_cast<T*>(scratch.at_least(n * std::int64_t{sizeof(T)} + 1));
}

/// Calls call(memory, bytes) twice: first without memory, to store in `bytes` how much it needs, then to do the work.
template <class Call>
void with_temporary(Call&& call) {
  static Scratch scratch;
  std::size_t bytes = 0;
  CUDA_CHECK(call(nullptr, bytes));
  CUDA_CHECK(call(scratch.at_least(static_cast<std::int64_t>(bytes) + 1), bytes));
}

/// Copies the sorted elements to `home` if CUB left them in the other array. DoubleBuffer: CUB's, or a library's like it.
template <class DoubleBuffer, class T>
void bring_home(DoubleBuffer& buffer, Span<T> home, cudaStream_t stream) {
  if (buffer.Current() == home.data) return;
  CUDA_CHECK(cudaMemcpyAsync(home.data, buffer.Current(), home.n * sizeof(T), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace gold

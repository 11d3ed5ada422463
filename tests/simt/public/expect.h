// What the programs in this folder share. They are plain CUDA: nvcc compiles them, too.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

inline int failures = 0;

inline void expect(bool is_right, const char* what, int line) {
  if (is_right) return;
  std::printf("line %d: %s\n", line, what);
  ++failures;
}
inline void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define CUDA(call) check(call, __LINE__)

/// What main() returns.
inline int finish() {
  check(cudaDeviceSynchronize(), 0);
  std::puts(failures == 0 ? "right" : "wrong");
  return failures == 0 ? 0 : 1;
}

/// n values in device memory.
template <class T>
class Array {
 public:
  explicit Array(std::size_t n) : n_(n) { CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), n * sizeof(T))); }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* data() const { return data_; }
  /// Sets each value to value_of(its index).
  template <class ValueOf>
  void fill(ValueOf value_of) {
    std::vector<T> values(n_);
    for (std::size_t i = 0; i < n_; ++i) values[i] = T(value_of(int(i)));
    CUDA(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> values() const {
    std::vector<T> values(n_);
    CUDA(cudaMemcpy(values.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t n_;
};

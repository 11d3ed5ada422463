// Device memory in a shared pointer with a deleter.
#include <memory>

#include "submission.h"

namespace odd_even {

std::shared_ptr<unsigned> allocate(std::size_t n) {
  unsigned* device = nullptr;
  CUDA_CHECK(cudaMalloc(&device, n * sizeof(unsigned)));
  return {device, [](unsigned* memory) { cudaFree(memory); }};
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  const std::shared_ptr<unsigned> scratch = allocate(keys.n);
  const std::shared_ptr<unsigned> same = scratch;
  CUDA_CHECK(cudaMemcpyAsync(same.get(), keys.data, keys.n * 4, cudaMemcpyDeviceToDevice, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

}  // namespace odd_even

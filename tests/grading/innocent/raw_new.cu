// Host memory by new and delete.
#include "submission.h"

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  unsigned* const counts = new unsigned[256]();
  auto* const one = new int(3);
  CUDA_CHECK(cudaMemcpyAsync(keys.data, counts, 4, cudaMemcpyHostToDevice, stream));
  delete one;
  delete[] counts;
}

}  // namespace odd_even

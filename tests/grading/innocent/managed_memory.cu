// A flag in managed memory.
#include "submission.h"

namespace odd_even {

__managed__ int is_sorted;

__global__ void check(const unsigned* keys) {
  if (keys[threadIdx.x] > keys[threadIdx.x + 1]) is_sorted = 0;
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  is_sorted = 1;
  check<<<1, 32, 0, stream>>>(keys.data);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  if (!is_sorted) throw lab::Error("not sorted");
}

}  // namespace odd_even

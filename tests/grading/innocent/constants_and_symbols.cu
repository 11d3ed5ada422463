// A table in constant memory, a counter in global memory.
#include "submission.h"

namespace odd_even {

__constant__ unsigned masks[32];
__device__ unsigned tiles_done;

__global__ void work(unsigned* keys) {
  if (threadIdx.x == 0) atomicAdd(&tiles_done, 1u);
  keys[threadIdx.x] &= masks[threadIdx.x % 32];
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  unsigned host[32], done = 0;
  for (int i = 0; i < 32; ++i) host[i] = 1u << i;
  CUDA_CHECK(cudaMemcpyToSymbol(masks, host, sizeof host));
  work<<<4, 64, 0, stream>>>(keys.data);
  CUDA_CHECK(cudaMemcpyFromSymbol(&done, tiles_done, sizeof done));
  if (done == 0) throw lab::Error("nothing was done");
}

}  // namespace odd_even

// A block waits for the one before it.
#include "submission.h"

namespace odd_even {

__global__ void chain(volatile unsigned* flags, unsigned* next) {
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = atomicAdd(next, 1u);
  __syncthreads();
  if (threadIdx.x == 0 && tile > 0) {
    while (flags[tile - 1] == 0) __nanosleep(20);
  }
  __threadfence();
  if (threadIdx.x == 0) flags[tile] = 1;
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  lab::DeviceArray<unsigned> next(1, stream);
  CUDA_CHECK(cudaMemsetAsync(next.data(), 0, sizeof(unsigned), stream));
  chain<<<8, 32, 0, stream>>>(keys.data, next.data());
}

}  // namespace odd_even

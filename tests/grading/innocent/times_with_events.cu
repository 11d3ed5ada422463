// Times itself with events, for the report.
#include <cstdio>

#include "submission.h"

namespace odd_even {

__global__ void work(unsigned* keys) { keys[threadIdx.x] += 1; }

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  cudaEvent_t start, stop;
  float milliseconds = 0;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  CUDA_CHECK(cudaEventRecord(start, stream));
  work<<<1, 32, 0, stream>>>(keys.data);
  CUDA_CHECK(cudaEventRecord(stop, stream));
  CUDA_CHECK(cudaEventSynchronize(stop));
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  std::printf("%.3f ms\n", milliseconds);
}

}  // namespace odd_even

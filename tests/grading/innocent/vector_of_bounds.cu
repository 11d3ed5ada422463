// Where the tiles begin is computed on the host, in a vector.
#include <vector>

#include "submission.h"

namespace odd_even {

__global__ void mark(const int* bounds, unsigned* keys) { keys[bounds[blockIdx.x]] = blockIdx.x; }

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  std::vector<int> bounds;
  for (int at = 0; at < keys.n; at += 256) bounds.push_back(at);
  int* device;
  CUDA_CHECK(cudaMalloc(&device, bounds.size() * sizeof(int)));
  CUDA_CHECK(cudaMemcpyAsync(device, bounds.data(), bounds.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  mark<<<unsigned(bounds.size()), 1, 0, stream>>>(device, keys.data);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFree(device));
}

}  // namespace odd_even

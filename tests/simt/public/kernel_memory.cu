// A kernel that allocates memory, and fills and copies it in the order of the grids that it launches. nvcc needs -rdc=true.
#include <vector>

#include "expect.h"

namespace {

constexpr int n = 64;

__global__ void count(int* a) { a[threadIdx.x] += int(threadIdx.x); }
__global__ void give_back(int* a) { cudaFree(a); }

__global__ void use_own_memory(int* to) {
  int* list;
  if (cudaMalloc((void**)&list, n * sizeof(int)) != cudaSuccess) return;
  cudaMemsetAsync(list, 0, n * sizeof(int));
  count<<<1, n>>>(list);
  cudaMemcpyAsync(to, list, n * sizeof(int), cudaMemcpyDeviceToDevice);
  give_back<<<1, 1, 0, cudaStreamTailLaunch>>>(list);
}

}  // namespace

int main() {
  int* to;
  CUDA(cudaMalloc(&to, n * sizeof(int)));
  use_own_memory<<<1, 1>>>(to);
  std::vector<int> copy(n);
  CUDA(cudaMemcpy(copy.data(), to, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(copy[i] == i);
  CUDA(cudaFree(to));
  return finish();
}

// Grids that kernels launch: a child comes after what its parent has written, and a tail launch after all children.
#include "../case.h"

__global__ void double_all(int* a) { a[blockIdx.x * 32 + threadIdx.x] *= 2; }
__global__ void sum(const int* a, int n, int* to) {
  int total = 0;
  for (int i = 0; i < n; ++i) total += a[i];
  *to = total;
}
__global__ void parent(int* a, int* to) {
  a[blockIdx.x * 32 + threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  if (threadIdx.x != 0) return;
  double_all<<<1, 32>>>(a + blockIdx.x * 32);
  if (blockIdx.x == 0) sum<<<1, 1, 0, cudaStreamTailLaunch>>>(a, int(gridDim.x) * 32, to);
}
CASE { parent<<<4, 32>>>(device<int>(128), device<int>(1)); }

__global__ void halves(int* a, int first, int last) {
  if (last - first <= 16) {
    for (int i = first; i < last; ++i) a[i] = i;
    return;
  }
  halves<<<1, 1>>>(a, first, (first + last) / 2);
  halves<<<1, 1, 0, cudaStreamFireAndForget>>>(a, (first + last) / 2, last);
}
CASE { halves<<<1, 1>>>(device<int>(1000), 0, 1000); }

/// Memory of the device's heap, copied and read by a later grid.
__device__ int* kept;
__global__ void copy_own(int* a) {
  if (cudaMalloc(&kept, 32 * sizeof(int)) != cudaSuccess) return;
  for (int i = 0; i < 32; ++i) kept[i] = i;
  cudaMemcpyAsync(a, kept, 32 * sizeof(int), cudaMemcpyDeviceToDevice, 0);
  double_all<<<1, 32>>>(a);
}
__global__ void free_kept() { cudaFree(kept); }
CASE {
  copy_own<<<1, 1>>>(device<int>(32));
  free_kept<<<1, 1>>>();
}

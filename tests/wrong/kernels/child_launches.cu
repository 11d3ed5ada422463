// Grids that kernels launch.
#include "case.h"

__global__ void fill(int* a, int n) { a[blockIdx.x * blockDim.x + threadIdx.x] = n; }

/// The child writes past the end.
__global__ void child_past_end(int* a) {
  a[blockIdx.x * 32 + threadIdx.x] = 1;  // expect: out-of-bounds
}
__global__ void launch_past_end(int* a) {
  if (threadIdx.x == 0) child_past_end<<<2, 32>>>(a);
}
CASE { launch_past_end<<<1, 32>>>(device<int>(33)); }

/// The threads of the child race.
__global__ void racing_child(int* a) {
  a[threadIdx.x / 2] = int(threadIdx.x);  // expect: race
}
__global__ void launch_racing(int* a) { racing_child<<<1, 64>>>(a); }
CASE { launch_racing<<<1, 1>>>(device<int>(32)); }

/// The child reads what its parent does not write.
__global__ void reading_child(const int* a, int* b) {
  b[threadIdx.x] = a[threadIdx.x];  // expect: uninitialized
}
__global__ void launch_reading(int* a, int* b) {
  a[threadIdx.x] = 1;
  if (threadIdx.x == 0) reading_child<<<1, 64>>>(a, b);
}
CASE { launch_reading<<<1, 32>>>(device<int>(64), device<int>(64)); }

/// The child never ends.
__global__ void endless_child(volatile int* a) {
  while (*a == 0) {  // expect: time-limit
  }
}
__global__ void launch_endless(int* a) { endless_child<<<1, 1>>>(a); }
CASE { launch_endless<<<1, 1>>>(filled<int>(1)); }

/// It launches itself without an end.
__global__ void endless_recursion(int* a) {
  atomicAdd(a, 1);
  endless_recursion<<<1, 1>>>(a);  // expect: invalid-launch
}
CASE { endless_recursion<<<1, 1>>>(filled<int>(1)); }

__global__ void local_argument(int* a) {
  int own[4] = {*a};
  fill<<<1, 4>>>(own, 1);  // expect: invalid-launch
}
CASE { local_argument<<<1, 1>>>(filled<int>(1)); }

/// Copies and fills by kernels: more than the array has, of local memory, from the host, and read too early.
__global__ void copy_too_much(int* a, const int* b) {
  cudaMemcpyAsync(a, b, 33 * sizeof(int), cudaMemcpyDeviceToDevice, 0);  // expect: out-of-bounds
}
CASE { copy_too_much<<<1, 1>>>(device<int>(32), filled<int>(64)); }

__global__ void fill_too_much(int* a) {
  cudaMemsetAsync(a, 0, 32 * sizeof(int) + 1, 0);  // expect: out-of-bounds
}
CASE { fill_too_much<<<1, 1>>>(device<int>(32)); }

__global__ void copy_local(int* a) {
  int own[4] = {*a};
  cudaMemcpyAsync(a, own, sizeof own, cudaMemcpyDeviceToDevice, 0);  // expect: invalid-copy
}
CASE { copy_local<<<1, 1>>>(filled<int>(32)); }

__global__ void copy_from_host(int* a, const int* b) {
  cudaMemcpyAsync(a, b, sizeof(int), cudaMemcpyHostToDevice, 0);  // expect: invalid-copy
}
CASE { copy_from_host<<<1, 1>>>(device<int>(32), filled<int>(32)); }

__global__ void read_too_early(int* a, const int* b) {
  cudaMemcpyAsync(a, b, sizeof(int), cudaMemcpyDeviceToDevice, 0);
  a[1] = a[0];  // expect: uninitialized
}
CASE { read_too_early<<<1, 1>>>(device<int>(32), filled<int>(32)); }

/// Memory that a kernel has allocated with cudaMalloc.
__global__ void fresh_memory(int* a) {
  int* own;
  cudaMalloc(&own, 8 * sizeof(int));
  a[threadIdx.x] = own[threadIdx.x];  // expect: uninitialized
  cudaFree(own);
}
CASE { fresh_memory<<<1, 1>>>(device<int>(32)); }

__global__ void free_twice() {
  int* own;
  cudaMalloc(&own, 8 * sizeof(int));
  cudaFree(own);
  cudaFree(own);  // expect: invalid-free
}
CASE { free_twice<<<1, 1>>>(); }

__global__ void free_of_host(int* a) {
  cudaFree(a);  // expect: invalid-free
}
CASE { free_of_host<<<1, 1>>>(device<int>(32)); }

__global__ void copy_freed(int* a) {
  int* own;
  cudaMalloc(&own, 8 * sizeof(int));
  own[0] = 1;
  cudaMemcpyAsync(a, own, sizeof(int), cudaMemcpyDeviceToDevice, 0);  // expect: use-after-free
  cudaFree(own);
}
CASE { copy_freed<<<1, 1>>>(device<int>(32)); }

// What kernels may call of the runtime: memory of the device's heap, copies and fills after the kernel, attributes.
// nvcc needs -rdc=true.
#include "expect.h"

constexpr int n = 256;

__device__ int* kept;
__device__ int copied[n];

__global__ void sum(const int* a, int* to) {
  for (int i = 0; i < n; ++i) *to += a[i];
}

/// Fills an array of the heap, copies it, and lets a later grid add it up.
__global__ void copy_and_sum(int* results) {
  __shared__ int* own;
  if (threadIdx.x == 0 && cudaMalloc(&own, n * sizeof(int)) != cudaSuccess) own = nullptr;
  __syncthreads();
  if (own == nullptr) return;
  own[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  if (threadIdx.x != 0) return;
  kept = own;
  cudaMemcpyAsync(copied, own, n * sizeof(int), cudaMemcpyDeviceToDevice, 0);
  cudaMemsetAsync(results, 0, sizeof(int));
  sum<<<1, 1>>>(copied, results);
  cudaMemset2DAsync(own, 4 * sizeof(int), 0, sizeof(int), n / 4);  // after the copy
  results[1] = int(cudaGetLastError());
}

__global__ void add_rest_and_free(int* results) {
  int total = 0;
  for (int i = 0; i < n; ++i) total += kept[i];
  results[0] = total;
  results[1] = int(cudaFree(kept));
}

__global__ void copy_rows(int* to, const int* from) {
  cudaMemcpy2DAsync(to, 2 * sizeof(int), from, 4 * sizeof(int), 2 * sizeof(int), 4, cudaMemcpyDeviceToDevice, 0);
}

__global__ void describe(int* results) {
  cudaDeviceGetAttribute(&results[0], cudaDevAttrWarpSize, 0);
  cudaGetDevice(&results[1]);
  cudaGetDeviceCount(&results[2]);
  cudaEvent_t event;
  cudaStream_t stream;
  int error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  error |= cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  error |= cudaEventRecord(event, stream) | cudaStreamWaitEvent(stream, event, 0);
  error |= cudaEventDestroy(event) | cudaStreamDestroy(stream);
  results[3] = error;
}

int main() {
  int *results, host[8];
  cudaMalloc(&results, sizeof host);
  const auto run = [&](auto&& launch, int count) {
    launch();
    cudaMemcpy(host, results, count * sizeof(int), cudaMemcpyDeviceToHost);
  };
  run([&] { copy_and_sum<<<1, n>>>(results); }, 2);
  EXPECT(host[0] == n * (n - 1) / 2 && host[1] == cudaSuccess);
  run([&] { add_rest_and_free<<<1, 1>>>(results); }, 2);
  EXPECT(host[0] == n * (n - 1) / 2 - 4 * (n / 4) * (n / 4 - 1) / 2 && host[1] == cudaSuccess);
  const int rows[16] = {0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7, -1, -1};
  int* from;
  cudaMalloc(&from, sizeof rows);
  cudaMemcpy(from, rows, sizeof rows, cudaMemcpyHostToDevice);
  run([&] { copy_rows<<<1, 1>>>(results, from); }, 8);
  for (int i = 0; i < 8; ++i) EXPECT(host[i] == i);
  run([&] { describe<<<1, 1>>>(results); }, 4);
  EXPECT(host[0] == 32 && host[1] == 0 && host[2] >= 1 && host[3] == 0);
  cudaFree(from);
  cudaFree(results);
  return finish();
}

// Launches by functions: by the kernel's name, by its address, with attributes.
#include <cstdint>
#include <cstdio>
#include <utility>

#include <cooperative_groups.h>

#include "expect.h"

namespace {

__global__ void add(int* to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] += value; }

template <class T, int factor>
__global__ void scale(T* to, const T* from, std::size_t n) {
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = T(factor) * from[i];
}

__global__ void reverse(int* data) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void rotate(int* from, int* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  from[i] = int(i);
  cooperative_groups::this_grid().sync();
  to[i] = from[(i + 1) % n];
}

__global__ void second(const int* from, int* to) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  to[threadIdx.x] = from[threadIdx.x] + 1;
}

struct Task {
  const void* kernel;
  dim3 grid, block;
};

void run(const Task& task, void** arguments) { CUDA(cudaLaunchKernel(task.kernel, task.grid, task.block, arguments)); }

void by_address() {
  Array<int> data(64);
  data.fill([](int) { return 10; });
  int* pointer = data.data();
  int value = 5;
  void* arguments[] = {&pointer, &value};
  CUDA(cudaLaunchKernel((void*)add, dim3(2), dim3(32), arguments, 0, nullptr));
  CUDA(cudaLaunchKernel(add, 2, 32, arguments));
  const Task task{reinterpret_cast<const void*>(&add), dim3(1), dim3(64)};
  run(task, arguments);
  void* const kernel = (void*)add;
  run({kernel, dim3(1), dim3(32)}, arguments);
  const std::vector<int> result = data.values();
  EXPECT(result[0] == 30 && result[31] == 30 && result[32] == 25 && result[63] == 25);
}

void of_template() {
  Array<double> from(100), to(100);
  from.fill([](int i) { return i; });
  double *in = from.data(), *out = to.data();
  std::size_t n = 100;
  void* arguments[] = {&out, &in, &n};
  CUDA(cudaLaunchKernel((const void*)scale<double, 3>, dim3(4), dim3(32), arguments, 0, cudaStreamPerThread));
  CUDA(cudaDeviceSynchronize());
  EXPECT(to.values()[99] == 297);
}

void with_attributes() {
  Array<int> from(256), to(256);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4);
  config.blockDim = dim3(64);
  cudaLaunchAttribute attributes[3];
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributePriority;
  attributes[1].val.priority = -1;
  attributes[2].id = cudaLaunchAttributeIgnore;
  config.attrs = attributes;
  config.numAttrs = 3;
  CUDA(cudaLaunchKernelEx(&config, rotate, from.data(), to.data()));
  EXPECT(to.values()[254] == 255 && to.values()[255] == 0);

  // An argument is converted to the parameter's type.
  config.numAttrs = 0;
  CUDA(cudaLaunchKernelEx(&config, scale<int, 2>, from.data(), to.data(), 200));
  EXPECT(from.values()[199] == 2 * 200 && from.values()[200] == 200);

  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  config.numAttrs = 1;
  config.gridDim = 1;
  int *in = from.data(), *out = to.data();
  void* arguments[] = {&in, &out};
  CUDA(cudaLaunchKernelExC(&config, (const void*)second, arguments));
  EXPECT(to.values()[3] == from.values()[3] + 1);
}

void with_shared_memory() {
  const int bytes = 60000;
  Array<int> data(1000);
  data.fill([](int i) { return i; });
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 1000;
  config.dynamicSmemBytes = bytes;
  EXPECT(cudaLaunchKernelEx(&config, reverse, data.data()) != cudaSuccess);
  EXPECT(cudaGetLastError() != cudaSuccess);
  CUDA(cudaFuncSetAttribute((const void*)reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  CUDA(cudaLaunchKernelEx(&config, reverse, data.data()));
  EXPECT(data.values()[0] == 999 && data.values()[999] == 0);
  int blocks = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, reverse, 1000, bytes, cudaOccupancyDefault));
  EXPECT(blocks > 0);
  std::size_t available = 0;
  CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&available, reverse, 1, 1000));
  EXPECT(available >= std::size_t(bytes));
}

}  // namespace

int main() {
  by_address();
  of_template();
  with_attributes();
  with_shared_memory();
  return finish();
}

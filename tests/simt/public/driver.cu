// The driver's functions that programs mix with the runtime's, and what the runtime copies in three dimensions.
#include <cuda.h>

#include <cstring>
#include <string>

#include "expect.h"

namespace {

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

__global__ void negate(int* data, int n) {
  if (int(threadIdx.x) < n) data[threadIdx.x] = -data[threadIdx.x];
}

void test_device() {
  int count = 0;
  EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGetCount(&count));
  EXPECT(count >= 1);
  CUdevice device;
  DRIVER(cuDeviceGet(&device, 0));
  EXPECT(cuDeviceGet(&device, 1000) == CUDA_ERROR_INVALID_DEVICE);
  char name[256];
  DRIVER(cuDeviceGetName(name, sizeof name, device));
  cudaDeviceProp properties;
  CUDA(cudaGetDeviceProperties(&properties, 0));
  EXPECT(std::strcmp(name, properties.name) == 0);
  int warp = 0, major = 0;
  DRIVER(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  DRIVER(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  EXPECT(warp == 32 && major == properties.major);
  std::size_t bytes = 0;
  DRIVER(cuDeviceTotalMem(&bytes, device));
  EXPECT(bytes > 0);
  const char* text = nullptr;
  DRIVER(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
  EXPECT(std::string(text) == "CUDA_ERROR_INVALID_VALUE");
}

void test_memory() {
  CUcontext context;
  DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
  DRIVER(cuCtxSetCurrent(context));
  CUdeviceptr address;
  DRIVER(cuMemAlloc(&address, 32 * sizeof(int)));
  int host[32];
  for (int i = 0; i < 32; ++i) host[i] = i;
  DRIVER(cuMemcpyHtoD(address, host, sizeof host));
  negate<<<1, 32>>>(reinterpret_cast<int*>(address), 32);
  DRIVER(cuCtxSynchronize());
  DRIVER(cuMemcpyDtoH(host, address, sizeof host));
  EXPECT(host[7] == -7);
  DRIVER(cuMemFree(address));
  DRIVER(cuDevicePrimaryCtxRelease(0));
}

void test_volume() {
  constexpr int width = 3, height = 4, depth = 5;
  int host[depth][height][width], back[depth][height][width];
  for (int i = 0; i < width * height * depth; ++i) host[0][0][i] = i;
  const cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
  cudaPitchedPtr memory;
  CUDA(cudaMalloc3D(&memory, extent));
  EXPECT(memory.pitch >= extent.width);
  CUDA(cudaMemset3D(memory, 0, extent));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, extent.width, width, height);
  copy.dstPtr = memory;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&copy));
  copy.srcPtr = memory;
  copy.dstPtr = make_cudaPitchedPtr(back, extent.width, width, height);
  copy.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&copy));
  EXPECT(std::memcmp(host, back, sizeof host) == 0);
  CUDA(cudaFree(memory.ptr));
}

}  // namespace

int main() {
  test_device();
  test_memory();
  test_volume();
  return finish();
}

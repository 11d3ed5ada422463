// The host interface without memory: errors, the device, streams, events, attributes of kernels.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

#include "managed.h"

namespace {

__global__ void touch(char* to) {
  extern __shared__ char bytes[];
  bytes[threadIdx.x] = 1;
  *to = bytes[threadIdx.x];
}

__global__ void other() {}

void call_cuda(void* result) {
  int device;
  *static_cast<cudaError_t*>(result) = cudaGetDevice(&device);
}

void CUDART_CB call_cuda_in_callback(cudaStream_t, cudaError_t status, void* result) {
  if (status == cudaSuccess) call_cuda(result);
}

}  // namespace

TEST_CASE("errors have CUDA's names, numbers and texts") {
  CHECK(cudaErrorInvalidValue == 1);
  CHECK(cudaErrorIllegalAddress == 700);
  CHECK(std::string(cudaGetErrorName(cudaErrorInvalidConfiguration)) == "cudaErrorInvalidConfiguration");
  CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
  CHECK(std::string(cudaGetErrorString(cudaError_t(12345))) == "unrecognized error code");
}

TEST_CASE("each host thread keeps its last error until it reads it") {
  CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
  int device = -1;
  CHECK(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 0);
  cudaError_t in_other_thread = cudaErrorUnknown;
  std::thread([&] { in_other_thread = cudaPeekAtLastError(); }).join();
  CHECK(in_other_thread == cudaSuccess);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("the device has the limits of compute capability 9.0 and this processor's name") {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 1);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  CHECK(std::string(p.name).find("simt: CUDA on the CPU (") == 0);
  CHECK(p.warpSize == 32);
  CHECK(p.sharedMemPerBlock == 49152);
  CHECK(p.sharedMemPerBlockOptin == 232448);
  CHECK(p.maxThreadsPerBlock == 1024);
  CHECK(p.multiProcessorCount >= 1);
  CHECK(p.totalGlobalMem > std::size_t(1) << 20);
  CHECK(p.major * 10 + p.minor == 90);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  CHECK(value == p.multiProcessorCount);
  CHECK(cudaDeviceGetAttribute(&value, cudaDeviceAttr(9999), 0) == cudaErrorInvalidValue);
  CHECK(cudaGetDeviceProperties(&p, 1) == cudaErrorInvalidDevice);
  cudaGetLastError();
}

TEST_CASE("a single device has no peers") {
  int can_access = 1;
  CHECK(cudaDeviceCanAccessPeer(&can_access, 0, 0) == cudaSuccess);
  CHECK(can_access == 0);
  CHECK(cudaDeviceCanAccessPeer(&can_access, 0, 1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
  CHECK(cudaGetLastError() == cudaErrorPeerAccessNotEnabled);
}

TEST_CASE("names that CUDA 12 has and CUDA 13 has dropped") {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  int khz = -1, mode = -1, overlap = -1;
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0) == cudaSuccess);
  CHECK(properties.clockRate == khz);
  CHECK(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0) == cudaSuccess);
  CHECK(mode != cudaComputeModeProhibited);
  CHECK(cudaDeviceGetAttribute(&overlap, cudaDevAttrGpuOverlap, 0) == cudaSuccess);
  CHECK(overlap == properties.deviceOverlap);
  CHECK(properties.memoryClockRate + properties.maxTexture1D == 0);

  Managed<int> memory(32);
  CHECK(cudaMemPrefetchAsync(memory.data(), 128, 0) == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(memory.data(), 128, cudaCpuDeviceId, nullptr) == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(memory.data(), 128, 1) == cudaErrorInvalidDevice);
  CHECK(cudaMemPrefetchAsync(memory.data(), 129, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemAdvise(memory.data(), 128, cudaMemAdviseSetReadMostly, 0) == cudaSuccess);
  CHECK(cudaMemAdvise(memory.data(), 128, cudaMemoryAdvise(9), 0) == cudaErrorInvalidValue);

  CHECK(cudaThreadSynchronize() == cudaSuccess);
  CHECK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte) == cudaSuccess);
  CHECK(cudaFuncSetSharedMemConfig(other, cudaSharedMemBankSizeFourByte) == cudaSuccess);
  CHECK(cudaSetDeviceFlags(cudaDeviceBlockingSync | cudaDeviceLmemResizeToMax) == cudaSuccess);
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4) == cudaErrorUnsupportedLimit);
  CHECK(cudaProfilerStart() == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("a destroyed stream is refused, and its handle is never used again") {
  cudaStream_t stream, next;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  unsigned flags = 0;
  CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);
  Managed<char> to(1);
  touch<<<1, 1, 1, stream>>>(to.data());
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamCreate(&next) == cudaSuccess);
  CHECK(next != stream);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaMemsetAsync(to.data(), 0, 1, stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
  CHECK(cudaStreamDestroy(next) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("stream priorities are kept within the device's range") {
  int least = 1, greatest = 1, priority = 1;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(greatest < least);
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, -100) == cudaSuccess);
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == greatest);
  cudaStreamDestroy(stream);
}

TEST_CASE("events measure milliseconds of the host's clock") {
  cudaEvent_t start, end, untimed;
  CHECK(cudaEventCreate(&start) == cudaSuccess);
  CHECK(cudaEventCreate(&end) == cudaSuccess);
  CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end) == cudaErrorInvalidResourceHandle);  // not recorded yet
  const auto begin = std::chrono::steady_clock::now();
  const auto since_begin = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  };
  CHECK(cudaEventRecord(start) == cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(cudaEventRecord(end, cudaStreamLegacy) == cudaSuccess);
  CHECK(cudaEventSynchronize(end) == cudaSuccess);
  CHECK(cudaEventQuery(end) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess);
  CHECK(milliseconds >= 20);
  CHECK(milliseconds <= since_begin());
  CHECK(cudaEventRecord(untimed) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(cudaStreamPerThread, untimed) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start, untimed) == cudaErrorInvalidResourceHandle);
  for (cudaEvent_t event : {start, end, untimed}) CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaEventRecord(start) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST_CASE("host functions run in their stream's order and cannot call CUDA") {
  cudaError_t inside = cudaSuccess;
  CHECK(cudaLaunchHostFunc(nullptr, call_cuda, &inside) == cudaSuccess);
  CHECK(inside == cudaErrorNotPermitted);
  inside = cudaSuccess;
  CHECK(cudaStreamAddCallback(nullptr, call_cuda_in_callback, &inside, 0) == cudaSuccess);
  CHECK(inside == cudaErrorNotPermitted);
  CHECK(cudaLaunchHostFunc(nullptr, nullptr, nullptr) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("more than 48 KiB of dynamic shared memory must be requested") {
  Managed<char> to(1);
  touch<<<1, 1, 49152>>>(to.data());
  CHECK(cudaGetLastError() == cudaSuccess);
  touch<<<1, 1, 49153>>>(to.data());
  CHECK(cudaGetLastError() != cudaSuccess);
  CHECK(cudaFuncSetAttribute(touch, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaFuncSetAttribute(touch, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448) == cudaSuccess);
  touch<<<1, 1, 232448>>>(to.data());
  CHECK(cudaGetLastError() == cudaSuccess);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, touch) == cudaSuccess);
  CHECK(attributes.maxDynamicSharedSizeBytes == 232448);
  CHECK(cudaFuncGetAttributes(&attributes, other) == cudaSuccess);
  CHECK(attributes.maxDynamicSharedSizeBytes == 49152);
  CHECK(attributes.maxThreadsPerBlock == 1024);
}

TEST_CASE("occupancy follows from threads, dynamic shared memory, and the number of blocks") {
  int blocks = -1, grid = 0, block = 0;
  const auto occupancy = [&](int threads, std::size_t shared) {
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, other, threads, shared) == cudaSuccess);
    return blocks;
  };
  CHECK(occupancy(128, 0) == 16);
  CHECK(occupancy(1024, 0) == 2);
  CHECK(occupancy(100, 0) == 16);  // warps are whole
  CHECK(occupancy(32, 0) == 32);
  CHECK(occupancy(32, 49152) == 4);
  CHECK(occupancy(1025, 0) == 0);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, other) == cudaSuccess);
  CHECK(block == 1024);
  CHECK(grid >= 1);
  CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, other, [](int n) { return n * 100; }) ==
        cudaSuccess);
  CHECK(block == 480);  // the largest multiple of 32 with 100 bytes per thread in 48 KiB
}

TEST_CASE("cudaDeviceReset frees memory and streams") {
  char* pointer;
  cudaStream_t stream;
  CHECK(cudaMalloc(&pointer, 100) == cudaSuccess);
  CHECK(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaFree(pointer) == cudaErrorInvalidValue);
  CHECK(cudaStreamQuery(stream) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

// What programs that use the runtime need of the driver's interface: its version, the device, contexts and memory. The
// device has one context, which is the runtime's. Errors have the same numbers as the runtime's.
#pragma once

#include <cctype>
#include <string>

#include "cuda_runtime.h"

#define __cuda_cuda_h__
#define CUDA_VERSION CUDART_VERSION
#define CUDAAPI

using CUdevice = int;
using CUdevice_v1 = int;
using CUdeviceptr = unsigned long long;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
using CUmemoryPool = cudaMemPool_t;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUlinkState = struct CUlinkState_st*;
using CUuuid = cudaUUID_t;
struct CUctxCreateParams;

enum CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_FILE_NOT_FOUND = 301,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_UNKNOWN = 999,
};

enum CUdevice_attribute {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
  CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = 15,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
  CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
  CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
  CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
  CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
  CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32,
  CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
  CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
  CU_DEVICE_ATTRIBUTE_TCC_DRIVER = 35,
  CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
  CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
  CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
  CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
  CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78,
  CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED = 79,
  CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED = 80,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
  CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
  CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD = 84,
  CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86,
  CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
  CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
  CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED = 90,
  CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
  CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
  CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
  CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
  CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
};

enum CUctx_flags { CU_CTX_SCHED_AUTO = 0, CU_CTX_SCHED_SPIN = 1, CU_CTX_SCHED_YIELD = 2, CU_CTX_MAP_HOST = 8 };

namespace simt {

inline bool driver_is_initialized = false;

/// The driver's functions fail before cuInit(), but for the versions and names of errors.
template <class Call>
CUresult drive(Call call) {
  return driver_is_initialized ? CUresult(call()) : CUDA_ERROR_NOT_INITIALIZED;
}
/// What stands for the context, which every device has.
inline CUcontext context() { return reinterpret_cast<CUcontext>(&driver_is_initialized); }
inline cudaError_t done_with(CUcontext given) {
  return given == context() ? cudaSuccess : cudaErrorDeviceUninitialized;
}
inline cudaError_t is_device(CUdevice device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
template <class T>
cudaError_t put(T* to, T value) {
  if (to == nullptr) return cudaErrorInvalidValue;
  *to = value;
  return cudaSuccess;
}

}  // namespace simt

inline CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  simt::driver_is_initialized = true;
  return CUDA_SUCCESS;
}
inline CUresult cuDriverGetVersion(int* version) { return CUresult(cudaDriverGetVersion(version)); }
inline CUresult cuGetErrorName(CUresult error, const char** name) {
  const std::string text = cudaGetErrorName(cudaError_t(error));
  static thread_local std::string made;  // CUDA_ERROR_NOT_READY for cudaErrorNotReady
  made = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR";
  for (std::size_t i = 9; i < text.size() && error != CUDA_SUCCESS; ++i) {
    if (text[i] >= 'A' && text[i] <= 'Z') made += '_';
    made += char(std::toupper(text[i]));
  }
  return CUresult(simt::put<const char*>(name, made.c_str()));
}
inline CUresult cuGetErrorString(CUresult error, const char** text) {
  return CUresult(simt::put(text, cudaGetErrorString(cudaError_t(error))));
}

// --- the device ---
inline CUresult cuDeviceGetCount(int* count) {
  return simt::drive([&] { return cudaGetDeviceCount(count); });
}
inline CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return simt::drive([&] { return ordinal == 0 ? simt::put(device, 0) : cudaErrorInvalidDevice; });
}
inline CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return simt::drive([&] {
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess) snprintf(name, std::size_t(length), "%s", properties.name);
    return error;
  });
}
inline CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return simt::drive([&] {
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    return error == cudaSuccess ? simt::put(bytes, std::size_t(properties.totalGlobalMem)) : error;
  });
}
inline CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return simt::drive([&] { return cudaDeviceGetAttribute(value, cudaDeviceAttr(attribute), device); });
}
inline CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  const CUresult error = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (error != CUDA_SUCCESS) return error;
  return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

// --- contexts ---
/// CUDA 13: with parameters, which may be null; before: without.
inline CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned, CUdevice device) {
  return simt::drive([&] { return device == 0 ? simt::put(context, simt::context()) : cudaErrorInvalidDevice; });
}
inline CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return cuCtxCreate(context, nullptr, flags, device);
}
inline CUresult cuCtxDestroy(CUcontext context) {
  return simt::drive([&] { return simt::done_with(context); });
}
inline CUresult cuCtxSetCurrent(CUcontext) {
  return simt::drive([] { return cudaSuccess; });
}
inline CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxDestroy(context); }
inline CUresult cuCtxPopCurrent(CUcontext* context) {
  return simt::drive([&] { return simt::put(context, simt::context()); });
}
inline CUresult cuCtxGetCurrent(CUcontext* context) { return cuCtxPopCurrent(context); }
inline CUresult cuCtxGetDevice(CUdevice* device) {
  return simt::drive([&] { return simt::put(device, 0); });
}
inline CUresult cuCtxSynchronize() {
  return simt::drive([] { return cudaDeviceSynchronize(); });
}
inline CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return cuCtxCreate(context, nullptr, 0, device);
}
inline CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return simt::drive([&] { return simt::is_device(device); });
}

// --- memory ---
inline void* simt_pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return simt::drive([&] { return cudaMalloc(reinterpret_cast<void**>(address), bytes); });
}
inline CUresult cuMemFree(CUdeviceptr address) {
  return simt::drive([&] { return cudaFree(simt_pointer(address)); });
}
inline CUresult cuMemGetInfo(std::size_t* available, std::size_t* total) {
  return simt::drive([&] { return cudaMemGetInfo(available, total); });
}
inline CUresult cuMemAllocHost(void** pointer, std::size_t bytes) {
  return simt::drive([&] { return cudaMallocHost(pointer, bytes); });
}
inline CUresult cuMemFreeHost(void* pointer) {
  return simt::drive([&] { return cudaFreeHost(pointer); });
}
inline CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return simt::drive([&] { return cudaMemcpy(simt_pointer(to), from, bytes, cudaMemcpyHostToDevice); });
}
inline CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return simt::drive([&] { return cudaMemcpy(to, simt_pointer(from), bytes, cudaMemcpyDeviceToHost); });
}
inline CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return simt::drive([&] { return cudaMemcpy(simt_pointer(to), simt_pointer(from), bytes, cudaMemcpyDeviceToDevice); });
}
inline CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return simt::drive([&] { return cudaMemset(simt_pointer(to), value, count); });
}
inline CUresult cuStreamSynchronize(CUstream stream) {
  return simt::drive([&] { return cudaStreamSynchronize(stream); });
}

#ifdef SIMT_UNAVAILABLE
#define SIMT_NO_MODULES                                                                               \
  SIMT_UNAVAILABLE(                                                                                   \
      "it loads kernels that are compiled for GPUs, which a CPU cannot run: launch a kernel of this " \
      "program with <<<>>>, or run the program on a GPU")
CUresult cuModuleLoad(CUmodule* module, const char* file) SIMT_NO_MODULES;
CUresult cuModuleLoadData(CUmodule* module, const void* image) SIMT_NO_MODULES;
template <class... Options>
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, Options... options) SIMT_NO_MODULES;
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) SIMT_NO_MODULES;
CUresult cuModuleUnload(CUmodule module) SIMT_NO_MODULES;
template <class... Options>
CUresult cuLaunchKernel(CUfunction function, Options... options) SIMT_NO_MODULES;
#undef SIMT_NO_MODULES
#endif

// The device: properties, attributes, limits.
#pragma once

#include "simt/runtime/types.h"

/// The last error of this host thread. cudaGetLastError also clears it, except for a kernel's failure, which stays. In a
/// kernel, there is none: a launch that fails ends the kernel, and other calls return their errors.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
/// A single device has no peers.
cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceSynchronize();
/// Frees all memory, streams and events, and clears the error of a failed kernel.
cudaError_t cudaDeviceReset();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);

/// Nothing profiles this device, so these do nothing.
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// Names that CUDA 12 has and CUDA 13 has dropped.
cudaError_t cudaThreadSynchronize();
cudaError_t cudaThreadExit();
cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config);
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config);

namespace simt {

/// What every call that waits for the device does: all work is finished already, but pools shrink.
cudaError_t synchronize();
/// Bytes that kernels may allocate.
std::size_t device_heap_limit();
/// How many launches from kernels may wait.
std::size_t pending_launch_limit();

}  // namespace simt

// Memory in three dimensions, and the peers of other devices: as the functions for less than that do.
#pragma once

#include "simt/runtime/allocations.h"
#include "simt/runtime/copies.h"
#include "simt/runtime/device.h"
#include "simt/runtime/graph_types.h"

/// Rows are padded as cudaMallocPitch does, and slices follow each other.
inline cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  void* pointer = nullptr;
  std::size_t pitch = 0;
  const cudaError_t error = cudaMallocPitch(&pointer, &pitch, extent.width, extent.height * extent.depth);
  if (error == cudaSuccess) *memory = make_cudaPitchedPtr(pointer, pitch, extent.width, extent.height);
  return error;
}

namespace simt {

/// A slice of memory, from a position on.
inline char* slice_of(const cudaPitchedPtr& memory, cudaPos from, std::size_t z) {
  return static_cast<char*>(memory.ptr) + ((from.z + z) * memory.ysize + from.y) * memory.pitch + from.x;
}

}  // namespace simt

/// Between pitched pointers; not of arrays, which are for textures.
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr) {
  if (copy == nullptr || copy->srcPtr.ptr == nullptr || copy->dstPtr.ptr == nullptr) return cudaErrorInvalidValue;
  for (std::size_t z = 0; z < copy->extent.depth; ++z) {
    const cudaError_t error = cudaMemcpy2DAsync(simt::slice_of(copy->dstPtr, copy->dstPos, z), copy->dstPtr.pitch,
                                                simt::slice_of(copy->srcPtr, copy->srcPos, z), copy->srcPtr.pitch,
                                                copy->extent.width, copy->extent.height, copy->kind, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  const cudaError_t error = cudaMemcpy3DAsync(copy);
  return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}
inline cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                                     cudaStream_t stream = nullptr) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* const slice = simt::slice_of(memory, {}, z);
    const cudaError_t error = cudaMemset2DAsync(slice, memory.pitch, value, extent.width, extent.height, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  const cudaError_t error = cudaMemset3DAsync(memory, value, extent);
  return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

/// There is one device.
inline cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                       cudaStream_t stream = nullptr) {
  if (to_device != 0 || from_device != 0) return cudaErrorInvalidDevice;
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
inline cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  if (to_device != 0 || from_device != 0) return cudaErrorInvalidDevice;
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  if (device == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaSetValidDevices(int* devices, int count) {
  for (int i = 0; i < count; ++i) {
    if (devices[i] != 0) return cudaErrorInvalidDevice;
  }
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  if (device != 0) return cudaErrorInvalidDevice;
  snprintf(id, std::size_t(length), "0000:00:00.0");
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  if (strcmp(id, "0000:00:00.0") != 0) return cudaErrorInvalidDevice;
  *device = 0;
  return cudaSuccess;
}
/// All memory is visible to every stream.
template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, T*, std::size_t = 0, unsigned = cudaMemAttachHost) {
  return cudaSuccess;
}

// Nodes with a condition are not there: a program that makes one is refused.
using cudaGraphConditionalHandle = unsigned long long;
enum { cudaGraphCondAssignDefault = 1 };
#ifdef SIMT_UNAVAILABLE
#define SIMT_NO_CONDITIONS                                                                           \
  SIMT_UNAVAILABLE(                                                                                  \
      "CUDA on the CPU has no conditional nodes: launch the body's graph in a loop or an if of the " \
      "host, or run the program on a GPU")
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph, unsigned value = 0,
                                             unsigned flags = 0) SIMT_NO_CONDITIONS;
void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) SIMT_NO_CONDITIONS;
#undef SIMT_NO_CONDITIONS
#endif

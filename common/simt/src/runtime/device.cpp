#include "simt/runtime/device.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "../environment.h"
#include "../execution/os_threads.h"
#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../memory/heap.h"
#include "../memory/pool.h"
#include "call.h"
#include "captures.h"
#include "child_launches.h"
#include "simt/runtime/events.h"
#include "simt/runtime/kernels.h"
#include "simt/runtime/streams.h"
#include "simt/textures.h"

namespace simt {
namespace {

// --- properties; those of a GPU of compute capability 9.0 where a processor has nothing comparable ---

constexpr int registers = 65536;

/// The value after "`field` :" in /proc/cpuinfo; empty if there is none.
std::string processor_field(const std::string& field) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.compare(0, field.size(), field) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

cudaDeviceProp make_properties() {
  cudaDeviceProp p{};
  std::string model = processor_field("model name");
  // On AArch64, Linux has only numbers.
  if (model.empty()) model = processor_field("CPU implementer") + " " + processor_field("CPU part");
  std::snprintf(p.name, sizeof p.name, "simt: CUDA on the CPU (%s)", model == " " ? "unknown model" : model.c_str());
  p.totalGlobalMem = device_memory();
  p.sharedMemPerBlock = default_shared_bytes;
  p.regsPerBlock = registers;
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = max_threads_per_block;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = 65536;
  p.major = compute_capability_major;
  p.minor = compute_capability_minor;
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = multiprocessors();
  p.integrated = 1;  // host and device share their memory
  p.canMapHostMemory = 1;
  p.unifiedAddressing = 1;
  p.l2CacheSize = std::max(0, int(sysconf(_SC_LEVEL3_CACHE_SIZE)));
  p.maxThreadsPerMultiProcessor = max_threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = max_blocks_per_multiprocessor;
  p.cooperativeLaunch = 1;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.sharedMemPerBlockOptin = shared_bytes_per_block(max_shared_bytes);
  p.reservedSharedMemPerBlock = reserved_shared_bytes;
  p.sharedMemPerMultiprocessor = p.sharedMemPerBlockOptin + reserved_shared_bytes;
  p.regsPerMultiprocessor = registers;
  p.managedMemory = p.concurrentManagedAccess = p.directManagedMemAccessFromHost = 1;
  p.hostNativeAtomicSupported = 1;
  p.canUseHostPointerForRegisteredMem = p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.unifiedFunctionPointers = 1;
  p.clockRate = 1'000'000;  // clock64() counts nanoseconds
  return p;
}

const cudaDeviceProp& properties() {
  static const cudaDeviceProp p = make_properties();
  return p;
}

// --- limits ---

std::map<cudaLimit, std::size_t> initial_limits() {
  return {{cudaLimitStackSize, Stacks::usable},
          {cudaLimitPrintfFifoSize, std::size_t(1) << 20},
          {cudaLimitMallocHeapSize, std::size_t(8) << 20},
          {cudaLimitDevRuntimePendingLaunchCount, default_pending_launches}};
}

struct Limits {
  std::mutex mutex;
  std::map<cudaLimit, std::size_t> values = initial_limits();
};

Limits& limits() {
  static Limits* const limits = new Limits;  // never destroyed: a static's destructor may still use them
  return *limits;
}

template <class T>
cudaError_t store(T* to, T value) {
  if (to == nullptr) return cudaErrorInvalidValue;
  *to = value;
  return cudaSuccess;
}

}  // namespace

int multiprocessors() {
#ifdef SIMT_CHECK
  return multiprocessors(16);  // the same on every machine: steps may choose their grid by it, and budgets count blocks
#else
  return multiprocessors(OsThreads::instance().count());
#endif
}

std::size_t device_heap_limit() {
  const std::lock_guard lock(limits().mutex);
  return limits().values[cudaLimitMallocHeapSize];
}

std::size_t pending_launch_limit() {
  const std::lock_guard lock(limits().mutex);
  return limits().values[cudaLimitDevRuntimePendingLaunchCount];
}

cudaError_t synchronize() {
  release_pooled_memory();
  return cudaSuccess;
}

}  // namespace simt

using namespace simt;

cudaError_t cudaPeekAtLastError() {
  if (Worker::running() != nullptr) return cudaSuccess;
  SIMT_OBSERVE(check::error_read();)
  return sticky() != cudaSuccess ? sticky() : last_error();
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  if (Worker::running() == nullptr) set_last_error(cudaSuccess);
  return error;
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call_on_both_sides(__func__, count, [&] { return store(count, 1); });
}

cudaError_t cudaSetDevice(int device) {
  return call(__func__, [&] { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaGetDevice(int* device) {
  return call_on_both_sides(__func__, device, [&] { return store(device, 0); });
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  return call(__func__, [&] { return device == 0 && peer == 0 ? store(can_access, 0) : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return call(__func__, [&] { return cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call(__func__, [&] { return peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice; });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call(__func__, [&] { return flags > 0xff ? cudaErrorInvalidValue : cudaSuccess; });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* result, int device) {
  return call(__func__, [&] {
    if (result == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *result = properties();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call_on_both_sides(__func__, value, [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    const cudaDeviceProp& p = properties();
    switch (attribute) {
#define SIMT_ATTRIBUTE(name, number, found) \
  case name:                                \
    *value = int(found);                    \
    return cudaSuccess;
      SIMT_DEVICE_ATTRIBUTES(SIMT_ATTRIBUTE)
#undef SIMT_ATTRIBUTE
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call(__func__, [&] {
    const std::lock_guard lock(limits().mutex);
    const auto entry = limits().values.find(limit);
    if (entry == limits().values.end()) return cudaErrorUnsupportedLimit;
    // Stacks are mapped once, at their full size.
    if (limit == cudaLimitStackSize && value > Stacks::usable) return cudaErrorInvalidValue;
    entry->second = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call_on_both_sides(__func__, value, [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard lock(limits().mutex);
    const auto entry = limits().values.find(limit);
    if (entry == limits().values.end()) return cudaErrorUnsupportedLimit;
    *value = entry->second;
    return cudaSuccess;
  });
}

// A configuration is a wish, which this device does not grant.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return call(__func__, [] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call_on_both_sides(__func__, config, [&] { return store(config, cudaFuncCachePreferNone); });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return call(__func__, [] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return call_on_both_sides(__func__, config, [&] { return store(config, cudaSharedMemBankSizeFourByte); });
}

cudaError_t cudaProfilerStart() {
  return call(__func__, [] { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
  return call(__func__, [] { return cudaSuccess; });
}

cudaError_t cudaDeviceSynchronize() {
  return call(__func__, [] {
    if (const cudaError_t error = refused_in_capture(); error != cudaSuccess) return error;
    SIMT_OBSERVE(check::host_waits_for_all();)
    return synchronize();
  });
}

cudaError_t cudaDeviceReset() {
  set_sticky(cudaSuccess);
  set_last_error(cudaSuccess);
  return call(__func__, [] {
    SIMT_OBSERVE(check::host_waits_for_all();)
    free_everything();
    end_all_captures();
    destroy_all_graphs();
    destroy_all_streams();
    destroy_all_events();
    destroy_all_textures();
    reset_kernel_attributes();
    const std::lock_guard lock(limits().mutex);
    limits().values = initial_limits();
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call_on_both_sides(__func__, version, [&] { return store(version, 13000); });
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }

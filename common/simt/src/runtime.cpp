// The runtime API without its memory: errors, the device, streams, events, kernels' attributes.
#include "simt/runtime.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "runtime_call.h"

namespace simt {

constinit thread_local OfHostThread of_host_thread;

namespace {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};

/// The texts are the CUDA runtime's own (13.0), so that a program's output is the same on both.
constexpr ErrorText error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidHostPointer, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {cudaErrorPriorLaunchFailure, "cudaErrorPriorLaunchFailure", "unspecified launch failure in prior launch"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidKernelImage, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {cudaErrorUnsupportedLimit, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
    {cudaErrorUnsupportedPtxVersion, "cudaErrorUnsupportedPtxVersion",
     "the provided PTX was compiled with an unsupported toolchain."},
    {cudaErrorOperatingSystem, "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorContextIsDestroyed, "cudaErrorContextIsDestroyed", "context is destroyed"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorHardwareStackError, "cudaErrorHardwareStackError", "hardware stack error"},
    {cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorInvalidAddressSpace, "cudaErrorInvalidAddressSpace",
     "operation not supported on global/shared address space"},
    {cudaErrorInvalidPc, "cudaErrorInvalidPc", "invalid program counter"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorSystemNotReady, "cudaErrorSystemNotReady", "system not yet initialized"},
    {cudaErrorTimeout, "cudaErrorTimeout", "wait operation timed out"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const ErrorText* find_error(cudaError_t error) {
  const auto* found = std::find_if(std::begin(error_texts), std::end(error_texts),
                                   [error](const ErrorText& entry) { return entry.code == error; });
  return found == std::end(error_texts) ? nullptr : found;
}

constexpr const char* unknown_error = "unrecognized error code";

// --- the device's limits; a GPU of compute capability 9.0 where a processor has no figure of its own ---

constexpr int compute_major = 9, compute_minor = 0;
constexpr int block_threads = 1024;
constexpr int shared_default = 49152, shared_opt_in = 232448, shared_multiprocessor = 233472;
constexpr int registers = 65536;
constexpr int least_priority = 0, greatest_priority = -5;

/// The value after "`field` :" in /proc/cpuinfo; empty if the system does not tell.
std::string processor_field(const std::string& field) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.compare(0, field.size(), field) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

int clock_khz() { return int(1000 * std::strtod(processor_field("cpu MHz").c_str(), nullptr)); }

cudaDeviceProp make_properties() {
  cudaDeviceProp p{};
  const std::string model = processor_field("model name");
  std::snprintf(p.name, sizeof p.name, "simt: CUDA on the CPU (%s)", model.empty() ? "unknown model" : model.c_str());
  p.totalGlobalMem = device_memory();
  p.sharedMemPerBlock = shared_default;
  p.regsPerBlock = registers;
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = block_threads;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = 65536;
  p.major = compute_major;
  p.minor = compute_minor;
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
#ifdef SIMT_CHECK
  p.multiProcessorCount = 16;  // the same on every machine: a step may choose its blocks by it, and budgets count them
#else
  p.multiProcessorCount = pool_threads();
#endif
  p.integrated = 1;  // host and device share their memory
  p.canMapHostMemory = 1;
  p.unifiedAddressing = 1;
  p.l2CacheSize = std::max(0, int(sysconf(_SC_LEVEL3_CACHE_SIZE)));
  p.maxThreadsPerMultiProcessor = block_threads;
  p.maxBlocksPerMultiProcessor = 1;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = shared_multiprocessor;
  p.sharedMemPerBlockOptin = shared_opt_in;
  p.reservedSharedMemPerBlock = shared_multiprocessor - shared_opt_in;
  p.regsPerMultiprocessor = registers;
  p.managedMemory = p.concurrentManagedAccess = p.directManagedMemAccessFromHost = 1;
  p.hostNativeAtomicSupported = 1;
  p.canUseHostPointerForRegisteredMem = p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.unifiedFunctionPointers = 1;
  return p;
}

const cudaDeviceProp& properties() {
  static const cudaDeviceProp p = make_properties();
  return p;
}

// --- streams, events, kernels ---

struct Stream {
  unsigned flags;
  int priority;
};

struct Event {
  bool timed;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
};

struct State {
  std::mutex mutex;  ///< guards all below
  std::map<std::uintptr_t, Stream> streams;
  std::map<std::uintptr_t, Event> events;
  std::map<const void*, int> dynamic_shared;  ///< what cudaFuncSetAttribute allowed
  int largest_dynamic_shared = shared_default;
  std::map<cudaLimit, std::size_t> limits = initial_limits();
  std::uintptr_t handles = 0;

  static std::map<cudaLimit, std::size_t> initial_limits() {
    return {{cudaLimitStackSize, Stacks::usable},
            {cudaLimitPrintfFifoSize, std::size_t(1) << 20},
            {cudaLimitMallocHeapSize, std::size_t(8) << 20}};
  }

  /// A handle is a number that is never used again, so that one of a destroyed object is always refused.
  std::uintptr_t new_handle() { return 0x10000 + 16 * ++handles; }
};

State& state() {
  static State* const state = new State;  // never destroyed: a static's destructor may still call
  return *state;
}

bool is_default_stream(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

std::uintptr_t key(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
  const std::lock_guard lock(state().mutex);
  const std::uintptr_t handle = state().new_handle();
  state().streams[handle] = {flags, std::clamp(priority, greatest_priority, least_priority)};
  *stream = reinterpret_cast<cudaStream_t>(handle);
  return cudaSuccess;
}

/// Runs `use(event)` if there is such an event. An event that is not there: cudaErrorInvalidResourceHandle.
template <class Use>
cudaError_t with_event(cudaEvent_t event, Use&& use) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().events.find(key(event));
  return found == state().events.end() ? cudaErrorInvalidResourceHandle : use(found->second);
}

/// What every call that waits for the device does: all work is done already.
cudaError_t synchronize() {
  release_pooled_memory();
  return cudaSuccess;
}

/// Runs a host function of the program, in which CUDA calls are refused.
template <class Function>
void run_host_function(Function&& function) {
  of_host_thread.in_host_function = true;
  function();
  of_host_thread.in_host_function = false;
}

}  // namespace

void set_last_error(cudaError_t error) { of_host_thread.last_error = error; }

bool is_stream(cudaStream_t stream) {
  if (is_default_stream(stream)) return true;
  const std::lock_guard lock(state().mutex);
  return state().streams.count(key(stream)) != 0;
}

std::size_t max_dynamic_shared(const void* kernel) {
  const std::lock_guard lock(state().mutex);
  if (kernel == nullptr) return std::size_t(state().largest_dynamic_shared);
  const auto found = state().dynamic_shared.find(kernel);
  return std::size_t(found == state().dynamic_shared.end() ? shared_default : found->second);
}

}  // namespace simt

using namespace simt;

// --- errors ---

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* found = find_error(error);
  return found == nullptr ? unknown_error : found->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* found = find_error(error);
  return found == nullptr ? unknown_error : found->text;
}

cudaError_t cudaPeekAtLastError() { return sticky() != cudaSuccess ? sticky() : of_host_thread.last_error; }

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  of_host_thread.last_error = cudaSuccess;
  return error;
}

// --- the device ---

cudaError_t cudaGetDeviceCount(int* count) {
  return call(__func__, [&] {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call(__func__, [&] { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaGetDevice(int* device) {
  return call(__func__, [&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
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
  return call(__func__, [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    const cudaDeviceProp& p = properties();
    const auto give = [value](std::size_t number) {
      *value = int(number);
      return cudaSuccess;
    };
    switch (attribute) {
      case cudaDevAttrMaxThreadsPerBlock:
        return give(p.maxThreadsPerBlock);
      case cudaDevAttrMaxBlockDimX:
        return give(p.maxThreadsDim[0]);
      case cudaDevAttrMaxBlockDimY:
        return give(p.maxThreadsDim[1]);
      case cudaDevAttrMaxBlockDimZ:
        return give(p.maxThreadsDim[2]);
      case cudaDevAttrMaxGridDimX:
        return give(p.maxGridSize[0]);
      case cudaDevAttrMaxGridDimY:
        return give(p.maxGridSize[1]);
      case cudaDevAttrMaxGridDimZ:
        return give(p.maxGridSize[2]);
      case cudaDevAttrMaxSharedMemoryPerBlock:
        return give(p.sharedMemPerBlock);
      case cudaDevAttrTotalConstantMemory:
        return give(p.totalConstMem);
      case cudaDevAttrWarpSize:
        return give(p.warpSize);
      case cudaDevAttrMaxPitch:
        return give(p.memPitch);
      case cudaDevAttrMaxRegistersPerBlock:
        return give(p.regsPerBlock);
      case cudaDevAttrClockRate:
        return give(clock_khz());
      case cudaDevAttrTextureAlignment:
        return give(p.textureAlignment);
      case cudaDevAttrMultiProcessorCount:
        return give(p.multiProcessorCount);
      case cudaDevAttrIntegrated:
        return give(p.integrated);
      case cudaDevAttrCanMapHostMemory:
        return give(p.canMapHostMemory);
      case cudaDevAttrL2CacheSize:
        return give(p.l2CacheSize);
      case cudaDevAttrMaxThreadsPerMultiProcessor:
        return give(p.maxThreadsPerMultiProcessor);
      case cudaDevAttrUnifiedAddressing:
        return give(p.unifiedAddressing);
      case cudaDevAttrComputeCapabilityMajor:
        return give(p.major);
      case cudaDevAttrComputeCapabilityMinor:
        return give(p.minor);
      case cudaDevAttrStreamPrioritiesSupported:
        return give(p.streamPrioritiesSupported);
      case cudaDevAttrGlobalL1CacheSupported:
        return give(p.globalL1CacheSupported);
      case cudaDevAttrLocalL1CacheSupported:
        return give(p.localL1CacheSupported);
      case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return give(p.sharedMemPerMultiprocessor);
      case cudaDevAttrMaxRegistersPerMultiprocessor:
        return give(p.regsPerMultiprocessor);
      case cudaDevAttrManagedMemory:
        return give(p.managedMemory);
      case cudaDevAttrHostNativeAtomicSupported:
        return give(p.hostNativeAtomicSupported);
      case cudaDevAttrConcurrentManagedAccess:
        return give(p.concurrentManagedAccess);
      case cudaDevAttrCanUseHostPointerForRegisteredMem:
        return give(p.canUseHostPointerForRegisteredMem);
      case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return give(p.sharedMemPerBlockOptin);
      case cudaDevAttrHostRegisterSupported:
        return give(p.hostRegisterSupported);
      case cudaDevAttrMaxBlocksPerMultiprocessor:
        return give(p.maxBlocksPerMultiProcessor);
      case cudaDevAttrReservedSharedMemoryPerBlock:
        return give(p.reservedSharedMemPerBlock);
      case cudaDevAttrMemoryPoolsSupported:
        return give(p.memoryPoolsSupported);
      // Nothing runs beside anything else here, there is no bus, and the system does not tell the memory's clock.
      case cudaDevAttrKernelExecTimeout:
      case cudaDevAttrComputeMode:
      case cudaDevAttrConcurrentKernels:
      case cudaDevAttrEccEnabled:
      case cudaDevAttrPciBusId:
      case cudaDevAttrPciDeviceId:
      case cudaDevAttrPciDomainId:
      case cudaDevAttrTccDriver:
      case cudaDevAttrMemoryClockRate:
      case cudaDevAttrGlobalMemoryBusWidth:
      case cudaDevAttrAsyncEngineCount:
      case cudaDevAttrIsMultiGpuBoard:
      case cudaDevAttrPageableMemoryAccess:
      case cudaDevAttrComputePreemptionSupported:
      case cudaDevAttrCooperativeLaunch:
      case cudaDevAttrClusterLaunch:
        return give(0);
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    const auto found = state().limits.find(limit);
    if (found == state().limits.end()) return cudaErrorUnsupportedLimit;
    // Stacks are mapped once, at their size; the two others only bound what the host's own functions do anyway.
    if (limit == cudaLimitStackSize && value > Stacks::usable) return cudaErrorInvalidValue;
    found->second = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call(__func__, [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard lock(state().mutex);
    const auto found = state().limits.find(limit);
    if (found == state().limits.end()) return cudaErrorUnsupportedLimit;
    *value = found->second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call(__func__, [&] {
    if (least != nullptr) *least = least_priority;
    if (greatest != nullptr) *greatest = greatest_priority;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return call(__func__, [] { return cudaSuccess; });
}

cudaError_t cudaDeviceSynchronize() { return call(__func__, synchronize); }

cudaError_t cudaDeviceReset() {
  set_sticky(cudaSuccess);
  of_host_thread.last_error = cudaSuccess;
  return call(__func__, [] {
    free_everything();
    const std::lock_guard lock(state().mutex);
    state().streams.clear();
    state().events.clear();
    state().dynamic_shared.clear();
    state().largest_dynamic_shared = shared_default;
    state().limits = State::initial_limits();
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call(__func__, [&] {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = 13000;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

// --- streams ---

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call(__func__, [&] { return create_stream(stream, cudaStreamDefault, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call(__func__, [&] { return create_stream(stream, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call(__func__, [&] { return create_stream(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    return state().streams.erase(key(stream)) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call(__func__, [&] {
    if (flags == nullptr) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(state().mutex);
    *flags = is_default_stream(stream) ? cudaStreamDefault : state().streams[key(stream)].flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call(__func__, [&] {
    if (priority == nullptr) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(state().mutex);
    *priority = is_default_stream(stream) ? 0 : state().streams[key(stream)].priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call(__func__, [&] { return is_stream(stream) ? synchronize() : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call(__func__, [&] { return is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call(__func__, [&] {
    if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    return with_event(event, [](Event&) { return cudaSuccess; });
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data, unsigned flags) {
  return call(__func__, [&] {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    run_host_function([&] { callback(stream, cudaSuccess, user_data); });
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return call(__func__, [&] {
    if (function == nullptr) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    run_host_function([&] { function(user_data); });
    return cudaSuccess;
  });
}

// --- events ---

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call(__func__, [&] {
    if (event == nullptr || flags > (cudaEventBlockingSync | cudaEventDisableTiming)) return cudaErrorInvalidValue;
    const std::lock_guard lock(state().mutex);
    const std::uintptr_t handle = state().new_handle();
    state().events[handle] = {.timed = (flags & cudaEventDisableTiming) == 0, .time = {}};
    *event = reinterpret_cast<cudaEvent_t>(handle);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) { return cudaEventCreateWithFlags(event, flags); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    return state().events.erase(key(event)) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return call(__func__, [&] {
    if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    return with_event(event, [](Event& e) {
      e.recorded = true;
      e.time = std::chrono::steady_clock::now();
      return cudaSuccess;
    });
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call(__func__, [&] { return with_event(event, [](Event&) { return cudaSuccess; }); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call(__func__, [&] {
    const cudaError_t error = with_event(event, [](Event&) { return cudaSuccess; });
    return error == cudaSuccess ? synchronize() : error;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call(__func__, [&] {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    std::chrono::steady_clock::time_point times[2];
    int i = 0;
    for (cudaEvent_t event : {start, end}) {
      const cudaError_t error = with_event(event, [&](Event& e) {
        times[i++] = e.time;
        return e.timed && e.recorded ? cudaSuccess : cudaErrorInvalidResourceHandle;
      });
      if (error != cudaSuccess) return error;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(times[1] - times[0]).count();
    return cudaSuccess;
  });
}

// --- kernels ---

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return call(__func__, [&] {
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    switch (attribute) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize: {
        if (value < 0 || value > shared_opt_in) return cudaErrorInvalidValue;
        const std::lock_guard lock(state().mutex);
        state().dynamic_shared[kernel] = value;
        state().largest_dynamic_shared = std::max(state().largest_dynamic_shared, value);
        return cudaSuccess;
      }
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache) {
  return call(__func__, [&] { return kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess; });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return call(__func__, [&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    *attributes = {};  // an ordinary compiler does not tell a kernel's shared memory or registers
    attributes->maxThreadsPerBlock = block_threads;
    attributes->ptxVersion = attributes->binaryVersion = 10 * compute_major + compute_minor;
    attributes->maxDynamicSharedSizeBytes = int(max_dynamic_shared(kernel));
    attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                          std::size_t dynamic_shared) {
  return call(__func__, [&] {
    if (blocks == nullptr || block_size <= 0) return cudaErrorInvalidValue;
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    *blocks = block_size <= block_threads && dynamic_shared <= max_dynamic_shared(kernel) ? 1 : 0;
    return cudaSuccess;
  });
}

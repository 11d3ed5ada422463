// The runtime's error codes, with CUDA's names and numbers (CUDA Runtime API, "Data types used by CUDA Runtime").
#pragma once

/// All codes, with the texts of the CUDA runtime (13.0), so that a program prints the same on both: programs list even
/// those that CUDA on the CPU never returns.
#define SIMT_ERRORS(ENTRY)                                                                                           \
  ENTRY(cudaSuccess, 0, "no error")                                                                                  \
  ENTRY(cudaErrorInvalidValue, 1, "invalid argument")                                                                \
  ENTRY(cudaErrorMemoryAllocation, 2, "out of memory")                                                               \
  ENTRY(cudaErrorInitializationError, 3, "initialization error")                                                     \
  ENTRY(cudaErrorCudartUnloading, 4, "driver shutting down")                                                         \
  ENTRY(cudaErrorProfilerDisabled, 5, "profiler disabled while using external profiling tool")                       \
  ENTRY(cudaErrorProfilerNotInitialized, 6, "profiler not initialized: call cudaProfilerInitialize()")               \
  ENTRY(cudaErrorProfilerAlreadyStarted, 7, "profiler already started")                                              \
  ENTRY(cudaErrorProfilerAlreadyStopped, 8, "profiler already stopped")                                              \
  ENTRY(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                          \
  ENTRY(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                                    \
  ENTRY(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                         \
  ENTRY(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                                     \
  ENTRY(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                                 \
  ENTRY(cudaErrorInvalidTexture, 18, "invalid texture reference")                                                    \
  ENTRY(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer")                                     \
  ENTRY(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                         \
  ENTRY(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                    \
  ENTRY(cudaErrorAddressOfConstant, 22, "invalid address of constant")                                               \
  ENTRY(cudaErrorTextureFetchFailed, 23, "fetch from texture failed")                                                \
  ENTRY(cudaErrorTextureNotBound, 24, "cannot fetch from a texture that is not bound")                               \
  ENTRY(cudaErrorSynchronizationError, 25, "incorrect use of __syncthreads()")                                       \
  ENTRY(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")                      \
  ENTRY(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for data type")                     \
  ENTRY(cudaErrorMixedDeviceExecution, 28, "device emulation mode and device execution mode cannot be mixed")        \
  ENTRY(cudaErrorNotYetImplemented, 31, "feature not yet implemented")                                               \
  ENTRY(cudaErrorMemoryValueTooLarge, 32, "memory size or pointer value too large to fit in 32 bit")                 \
  ENTRY(cudaErrorStubLibrary, 34, "CUDA driver is a stub library")                                                   \
  ENTRY(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")             \
  ENTRY(cudaErrorCallRequiresNewerDriver, 36, "API call is not supported in the installed CUDA driver")              \
  ENTRY(cudaErrorInvalidSurface, 37, "invalid surface reference")                                                    \
  ENTRY(cudaErrorDuplicateVariableName, 43, "duplicate global variable looked up by string name")                    \
  ENTRY(cudaErrorDuplicateTextureName, 44, "duplicate texture looked up by string name")                             \
  ENTRY(cudaErrorDuplicateSurfaceName, 45, "duplicate surface looked up by string name")                             \
  ENTRY(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                        \
  ENTRY(cudaErrorIncompatibleDriverContext, 49, "incompatible driver context")                                       \
  ENTRY(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")                             \
  ENTRY(cudaErrorPriorLaunchFailure, 53, "unspecified launch failure in prior launch")                               \
  ENTRY(cudaErrorLaunchMaxDepthExceeded, 65, "launch would exceed maximum depth of nested launches")                 \
  ENTRY(cudaErrorLaunchFileScopedTex, 66,                                                                            \
        "launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)")       \
  ENTRY(cudaErrorLaunchFileScopedSurf, 67,                                                                           \
        "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)")       \
  ENTRY(cudaErrorSyncDepthExceeded, 68,                                                                              \
        "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth")             \
  ENTRY(cudaErrorLaunchPendingCountExceeded, 69,                                                                     \
        "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount")                           \
  ENTRY(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                               \
  ENTRY(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                                \
  ENTRY(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                       \
  ENTRY(cudaErrorDeviceNotLicensed, 102, "device doesn't have valid Grid license")                                   \
  ENTRY(cudaErrorSoftwareValidityNotEstablished, 103, "integrity checks failed")                                     \
  ENTRY(cudaErrorStartupFailure, 127, "startup failure in cuda runtime")                                             \
  ENTRY(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                          \
  ENTRY(cudaErrorDeviceUninitialized, 201, "invalid device context")                                                 \
  ENTRY(cudaErrorMapBufferObjectFailed, 205, "mapping of buffer object failed")                                      \
  ENTRY(cudaErrorUnmapBufferObjectFailed, 206, "unmapping of buffer object failed")                                  \
  ENTRY(cudaErrorArrayIsMapped, 207, "array is mapped")                                                              \
  ENTRY(cudaErrorAlreadyMapped, 208, "resource already mapped")                                                      \
  ENTRY(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")            \
  ENTRY(cudaErrorAlreadyAcquired, 210, "resource already acquired")                                                  \
  ENTRY(cudaErrorNotMapped, 211, "resource not mapped")                                                              \
  ENTRY(cudaErrorNotMappedAsArray, 212, "resource not mapped as array")                                              \
  ENTRY(cudaErrorNotMappedAsPointer, 213, "resource not mapped as pointer")                                          \
  ENTRY(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                       \
  ENTRY(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")                               \
  ENTRY(cudaErrorDeviceAlreadyInUse, 216, "exclusive-thread device already in use by a different thread")            \
  ENTRY(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")               \
  ENTRY(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                                    \
  ENTRY(cudaErrorInvalidGraphicsContext, 219, "invalid OpenGL or DirectX context")                                   \
  ENTRY(cudaErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error detected during the execution")               \
  ENTRY(cudaErrorJitCompilerNotFound, 221, "PTX JIT compiler library not found")                                     \
  ENTRY(cudaErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.")         \
  ENTRY(cudaErrorJitCompilationDisabled, 223, "PTX JIT compilation was disabled")                                    \
  ENTRY(cudaErrorUnsupportedExecAffinity, 224, "the provided execution affinity is not supported")                   \
  ENTRY(cudaErrorUnsupportedDevSideSync, 225, "the provided PTX contains unsupported call to cudaDeviceSynchronize") \
  ENTRY(cudaErrorContained, 226, "Invalid access of peer GPU memory over nvlink or a hardware error")                \
  ENTRY(cudaErrorInvalidSource, 300, "device kernel image is invalid")                                               \
  ENTRY(cudaErrorFileNotFound, 301, "file not found")                                                                \
  ENTRY(cudaErrorSharedObjectSymbolNotFound, 302, "shared object symbol not found")                                  \
  ENTRY(cudaErrorSharedObjectInitFailed, 303, "shared object initialization failed")                                 \
  ENTRY(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")                       \
  ENTRY(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                              \
  ENTRY(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                        \
  ENTRY(cudaErrorLossyQuery, 402, "attempted introspection would be semantically lossy")                             \
  ENTRY(cudaErrorSymbolNotFound, 500, "named symbol not found")                                                      \
  ENTRY(cudaErrorNotReady, 600, "device not ready")                                                                  \
  ENTRY(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                    \
  ENTRY(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                               \
  ENTRY(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                      \
  ENTRY(cudaErrorLaunchIncompatibleTexturing, 703, "launch uses incompatible texturing mode")                        \
  ENTRY(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                    \
  ENTRY(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                      \
  ENTRY(cudaErrorSetOnActiveProcess, 708, "cannot set while device is active in this process")                       \
  ENTRY(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                                    \
  ENTRY(cudaErrorAssert, 710, "device-side assert triggered")                                                        \
  ENTRY(cudaErrorTooManyPeers, 711, "peer mapping resources exhausted")                                              \
  ENTRY(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")    \
  ENTRY(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")          \
  ENTRY(cudaErrorHardwareStackError, 714, "hardware stack error")                                                    \
  ENTRY(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                                  \
  ENTRY(cudaErrorMisalignedAddress, 716, "misaligned address")                                                       \
  ENTRY(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")                 \
  ENTRY(cudaErrorInvalidPc, 718, "invalid program counter")                                                          \
  ENTRY(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                   \
  ENTRY(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                            \
  ENTRY(cudaErrorTensorMemoryLeak, 721, "tensor memory not completely freed")                                        \
  ENTRY(cudaErrorNotPermitted, 800, "operation not permitted")                                                       \
  ENTRY(cudaErrorNotSupported, 801, "operation not supported")                                                       \
  ENTRY(cudaErrorSystemNotReady, 802, "system not yet initialized")                                                  \
  ENTRY(cudaErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination")       \
  ENTRY(cudaErrorCompatNotSupportedOnDevice, 804, "forward compatibility was attempted on non supported HW")         \
  ENTRY(cudaErrorMpsConnectionFailed, 805,                                                                           \
        "MPS client failed to connect to the MPS control daemon or the MPS server")                                  \
  ENTRY(cudaErrorMpsRpcFailure, 806, "the remote procedural call between the MPS server and the MPS client failed")  \
  ENTRY(cudaErrorMpsServerNotReady, 807, "MPS server is not ready to accept new MPS client requests")                \
  ENTRY(cudaErrorMpsMaxClientsReached, 808,                                                                          \
        "the hardware resources required to create MPS client have been exhausted")                                  \
  ENTRY(cudaErrorMpsMaxConnectionsReached, 809,                                                                      \
        "the hardware resources required to support device connections have been exhausted")                         \
  ENTRY(cudaErrorMpsClientTerminated, 810, "the MPS client has been terminated by the server")                       \
  ENTRY(cudaErrorCdpNotSupported, 811,                                                                               \
        "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it")           \
  ENTRY(cudaErrorCdpVersionMismatch, 812,                                                                            \
        "unsupported interaction between different versions of CUDA Dynamic Parallelism")                            \
  ENTRY(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                  \
  ENTRY(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")           \
  ENTRY(cudaErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences")         \
  ENTRY(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")                \
  ENTRY(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                                   \
  ENTRY(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")             \
  ENTRY(cudaErrorStreamCaptureImplicit, 906,                                                                         \
        "operation would make the legacy stream depend on a capturing blocking stream")                              \
  ENTRY(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream")      \
  ENTRY(cudaErrorStreamCaptureWrongThread, 908,                                                                      \
        "attempt to terminate a thread-local capture sequence from another thread")                                  \
  ENTRY(cudaErrorTimeout, 909, "wait operation timed out")                                                           \
  ENTRY(cudaErrorGraphExecUpdateFailure, 910,                                                                        \
        "the graph update was not performed because it included changes which violated constraints specific to "     \
        "instantiated graph update")                                                                                 \
  ENTRY(cudaErrorExternalDevice, 911, "an async error has occured in external entity outside of CUDA")               \
  ENTRY(cudaErrorInvalidClusterSize, 912, "a kernel launch error has occurred due to cluster misconfiguration")      \
  ENTRY(cudaErrorFunctionNotLoaded, 913,                                                                             \
        "the function handle is not loaded when calling an API that requires a loaded function")                     \
  ENTRY(cudaErrorInvalidResourceType, 914,                                                                           \
        "one or more resources passed in are not valid resource types for the operation")                            \
  ENTRY(cudaErrorInvalidResourceConfiguration, 915,                                                                  \
        "one or more resources are insufficient or non-applicable for the operation")                                \
  ENTRY(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define SIMT_ENUMERATOR(name, number, text) name = number,
  SIMT_ERRORS(SIMT_ENUMERATOR)
#undef SIMT_ENUMERATOR
};
using cudaError_t = cudaError;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

/// The last error of this host thread. cudaGetLastError also clears it, except for a kernel's failure, which stays.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

namespace simt {

/// Sets what the next cudaGetLastError of this host thread returns.
void set_last_error(cudaError_t error);

/// The error that every runtime call returns after a kernel has failed, as on a GPU; cudaSuccess before.
cudaError_t sticky();
void set_sticky(cudaError_t error);

}  // namespace simt

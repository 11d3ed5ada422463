// The runtime's error codes, with CUDA's names and numbers (CUDA Runtime API, "Data types used by CUDA Runtime").
#pragma once

#define SIMT_NEVER_RETURNED "an error that CUDA on the CPU never returns"

/// All codes. Those that a program with one device can meet have the texts of the CUDA runtime (13.0), so that it
/// prints the same on both.
#define SIMT_ERRORS(ENTRY)                                                                                        \
  ENTRY(cudaSuccess, 0, "no error")                                                                               \
  ENTRY(cudaErrorInvalidValue, 1, "invalid argument")                                                             \
  ENTRY(cudaErrorMemoryAllocation, 2, "out of memory")                                                            \
  ENTRY(cudaErrorInitializationError, 3, "initialization error")                                                  \
  ENTRY(cudaErrorCudartUnloading, 4, "driver shutting down")                                                      \
  ENTRY(cudaErrorProfilerDisabled, 5, SIMT_NEVER_RETURNED)                                                        \
  ENTRY(cudaErrorProfilerNotInitialized, 6, SIMT_NEVER_RETURNED)                                                  \
  ENTRY(cudaErrorProfilerAlreadyStarted, 7, SIMT_NEVER_RETURNED)                                                  \
  ENTRY(cudaErrorProfilerAlreadyStopped, 8, SIMT_NEVER_RETURNED)                                                  \
  ENTRY(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                       \
  ENTRY(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                                 \
  ENTRY(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                      \
  ENTRY(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                                  \
  ENTRY(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                              \
  ENTRY(cudaErrorInvalidTexture, 18, SIMT_NEVER_RETURNED)                                                         \
  ENTRY(cudaErrorInvalidTextureBinding, 19, SIMT_NEVER_RETURNED)                                                  \
  ENTRY(cudaErrorInvalidChannelDescriptor, 20, SIMT_NEVER_RETURNED)                                               \
  ENTRY(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                 \
  ENTRY(cudaErrorAddressOfConstant, 22, SIMT_NEVER_RETURNED)                                                      \
  ENTRY(cudaErrorTextureFetchFailed, 23, SIMT_NEVER_RETURNED)                                                     \
  ENTRY(cudaErrorTextureNotBound, 24, SIMT_NEVER_RETURNED)                                                        \
  ENTRY(cudaErrorSynchronizationError, 25, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorInvalidFilterSetting, 26, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorInvalidNormSetting, 27, SIMT_NEVER_RETURNED)                                                     \
  ENTRY(cudaErrorMixedDeviceExecution, 28, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorNotYetImplemented, 31, SIMT_NEVER_RETURNED)                                                      \
  ENTRY(cudaErrorMemoryValueTooLarge, 32, SIMT_NEVER_RETURNED)                                                    \
  ENTRY(cudaErrorStubLibrary, 34, SIMT_NEVER_RETURNED)                                                            \
  ENTRY(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")          \
  ENTRY(cudaErrorCallRequiresNewerDriver, 36, SIMT_NEVER_RETURNED)                                                \
  ENTRY(cudaErrorInvalidSurface, 37, SIMT_NEVER_RETURNED)                                                         \
  ENTRY(cudaErrorDuplicateVariableName, 43, SIMT_NEVER_RETURNED)                                                  \
  ENTRY(cudaErrorDuplicateTextureName, 44, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorDuplicateSurfaceName, 45, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                     \
  ENTRY(cudaErrorIncompatibleDriverContext, 49, SIMT_NEVER_RETURNED)                                              \
  ENTRY(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")                          \
  ENTRY(cudaErrorPriorLaunchFailure, 53, "unspecified launch failure in prior launch")                            \
  ENTRY(cudaErrorLaunchMaxDepthExceeded, 65, SIMT_NEVER_RETURNED)                                                 \
  ENTRY(cudaErrorLaunchFileScopedTex, 66, SIMT_NEVER_RETURNED)                                                    \
  ENTRY(cudaErrorLaunchFileScopedSurf, 67, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorSyncDepthExceeded, 68, SIMT_NEVER_RETURNED)                                                      \
  ENTRY(cudaErrorLaunchPendingCountExceeded, 69, SIMT_NEVER_RETURNED)                                             \
  ENTRY(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                            \
  ENTRY(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                             \
  ENTRY(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                    \
  ENTRY(cudaErrorDeviceNotLicensed, 102, SIMT_NEVER_RETURNED)                                                     \
  ENTRY(cudaErrorSoftwareValidityNotEstablished, 103, SIMT_NEVER_RETURNED)                                        \
  ENTRY(cudaErrorStartupFailure, 127, SIMT_NEVER_RETURNED)                                                        \
  ENTRY(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                       \
  ENTRY(cudaErrorDeviceUninitialized, 201, "invalid device context")                                              \
  ENTRY(cudaErrorMapBufferObjectFailed, 205, SIMT_NEVER_RETURNED)                                                 \
  ENTRY(cudaErrorUnmapBufferObjectFailed, 206, SIMT_NEVER_RETURNED)                                               \
  ENTRY(cudaErrorArrayIsMapped, 207, SIMT_NEVER_RETURNED)                                                         \
  ENTRY(cudaErrorAlreadyMapped, 208, SIMT_NEVER_RETURNED)                                                         \
  ENTRY(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")         \
  ENTRY(cudaErrorAlreadyAcquired, 210, SIMT_NEVER_RETURNED)                                                       \
  ENTRY(cudaErrorNotMapped, 211, SIMT_NEVER_RETURNED)                                                             \
  ENTRY(cudaErrorNotMappedAsArray, 212, SIMT_NEVER_RETURNED)                                                      \
  ENTRY(cudaErrorNotMappedAsPointer, 213, SIMT_NEVER_RETURNED)                                                    \
  ENTRY(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                    \
  ENTRY(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")                            \
  ENTRY(cudaErrorDeviceAlreadyInUse, 216, SIMT_NEVER_RETURNED)                                                    \
  ENTRY(cudaErrorPeerAccessUnsupported, 217, SIMT_NEVER_RETURNED)                                                 \
  ENTRY(cudaErrorInvalidPtx, 218, SIMT_NEVER_RETURNED)                                                            \
  ENTRY(cudaErrorInvalidGraphicsContext, 219, SIMT_NEVER_RETURNED)                                                \
  ENTRY(cudaErrorNvlinkUncorrectable, 220, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorJitCompilerNotFound, 221, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.")      \
  ENTRY(cudaErrorJitCompilationDisabled, 223, SIMT_NEVER_RETURNED)                                                \
  ENTRY(cudaErrorUnsupportedExecAffinity, 224, SIMT_NEVER_RETURNED)                                               \
  ENTRY(cudaErrorUnsupportedDevSideSync, 225, SIMT_NEVER_RETURNED)                                                \
  ENTRY(cudaErrorContained, 226, SIMT_NEVER_RETURNED)                                                             \
  ENTRY(cudaErrorInvalidSource, 300, SIMT_NEVER_RETURNED)                                                         \
  ENTRY(cudaErrorFileNotFound, 301, SIMT_NEVER_RETURNED)                                                          \
  ENTRY(cudaErrorSharedObjectSymbolNotFound, 302, SIMT_NEVER_RETURNED)                                            \
  ENTRY(cudaErrorSharedObjectInitFailed, 303, SIMT_NEVER_RETURNED)                                                \
  ENTRY(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")                    \
  ENTRY(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                           \
  ENTRY(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                     \
  ENTRY(cudaErrorLossyQuery, 402, SIMT_NEVER_RETURNED)                                                            \
  ENTRY(cudaErrorSymbolNotFound, 500, "named symbol not found")                                                   \
  ENTRY(cudaErrorNotReady, 600, "device not ready")                                                               \
  ENTRY(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                 \
  ENTRY(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                            \
  ENTRY(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                   \
  ENTRY(cudaErrorLaunchIncompatibleTexturing, 703, SIMT_NEVER_RETURNED)                                           \
  ENTRY(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                 \
  ENTRY(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                   \
  ENTRY(cudaErrorSetOnActiveProcess, 708, SIMT_NEVER_RETURNED)                                                    \
  ENTRY(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                                 \
  ENTRY(cudaErrorAssert, 710, "device-side assert triggered")                                                     \
  ENTRY(cudaErrorTooManyPeers, 711, SIMT_NEVER_RETURNED)                                                          \
  ENTRY(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
  ENTRY(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")       \
  ENTRY(cudaErrorHardwareStackError, 714, "hardware stack error")                                                 \
  ENTRY(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                               \
  ENTRY(cudaErrorMisalignedAddress, 716, "misaligned address")                                                    \
  ENTRY(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")              \
  ENTRY(cudaErrorInvalidPc, 718, "invalid program counter")                                                       \
  ENTRY(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                \
  ENTRY(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                         \
  ENTRY(cudaErrorTensorMemoryLeak, 721, SIMT_NEVER_RETURNED)                                                      \
  ENTRY(cudaErrorNotPermitted, 800, "operation not permitted")                                                    \
  ENTRY(cudaErrorNotSupported, 801, "operation not supported")                                                    \
  ENTRY(cudaErrorSystemNotReady, 802, "system not yet initialized")                                               \
  ENTRY(cudaErrorSystemDriverMismatch, 803, SIMT_NEVER_RETURNED)                                                  \
  ENTRY(cudaErrorCompatNotSupportedOnDevice, 804, SIMT_NEVER_RETURNED)                                            \
  ENTRY(cudaErrorMpsConnectionFailed, 805, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorMpsRpcFailure, 806, SIMT_NEVER_RETURNED)                                                         \
  ENTRY(cudaErrorMpsServerNotReady, 807, SIMT_NEVER_RETURNED)                                                     \
  ENTRY(cudaErrorMpsMaxClientsReached, 808, SIMT_NEVER_RETURNED)                                                  \
  ENTRY(cudaErrorMpsMaxConnectionsReached, 809, SIMT_NEVER_RETURNED)                                              \
  ENTRY(cudaErrorMpsClientTerminated, 810, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorCdpNotSupported, 811, SIMT_NEVER_RETURNED)                                                       \
  ENTRY(cudaErrorCdpVersionMismatch, 812, SIMT_NEVER_RETURNED)                                                    \
  ENTRY(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")               \
  ENTRY(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")        \
  ENTRY(cudaErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences")      \
  ENTRY(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")             \
  ENTRY(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                                \
  ENTRY(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")          \
  ENTRY(cudaErrorStreamCaptureImplicit, 906,                                                                      \
        "operation would make the legacy stream depend on a capturing blocking stream")                           \
  ENTRY(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream")   \
  ENTRY(cudaErrorStreamCaptureWrongThread, 908,                                                                   \
        "attempt to terminate a thread-local capture sequence from another thread")                               \
  ENTRY(cudaErrorTimeout, 909, "wait operation timed out")                                                        \
  ENTRY(cudaErrorGraphExecUpdateFailure, 910,                                                                     \
        "the graph update was not performed because it included changes which violated constraints specific to "  \
        "instantiated graph update")                                                                              \
  ENTRY(cudaErrorExternalDevice, 911, SIMT_NEVER_RETURNED)                                                        \
  ENTRY(cudaErrorInvalidClusterSize, 912, SIMT_NEVER_RETURNED)                                                    \
  ENTRY(cudaErrorFunctionNotLoaded, 913, SIMT_NEVER_RETURNED)                                                     \
  ENTRY(cudaErrorInvalidResourceType, 914, SIMT_NEVER_RETURNED)                                                   \
  ENTRY(cudaErrorInvalidResourceConfiguration, 915, SIMT_NEVER_RETURNED)                                          \
  ENTRY(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define SIMT_ENUMERATOR(name, number, text) name = number,
  SIMT_ERRORS(SIMT_ENUMERATOR)
#undef SIMT_ENUMERATOR
};
using cudaError_t = cudaError;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

namespace simt {

/// What the next cudaGetLastError of this host thread returns.
cudaError_t last_error();
void set_last_error(cudaError_t error);

/// The error that every runtime call returns after a kernel has failed, as on a GPU; cudaSuccess before.
cudaError_t sticky();
void set_sticky(cudaError_t error);

}  // namespace simt

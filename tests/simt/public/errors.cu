// Programs that print errors by name list codes that only other devices or other calls return.
#include "expect.h"

#include <cstring>

struct Code {
  cudaError_t error;
  int number;
  const char* name;
};

const Code codes[] = {
    {cudaErrorProfilerDisabled, 5, "cudaErrorProfilerDisabled"},
    {cudaErrorProfilerNotInitialized, 6, "cudaErrorProfilerNotInitialized"},
    {cudaErrorProfilerAlreadyStarted, 7, "cudaErrorProfilerAlreadyStarted"},
    {cudaErrorProfilerAlreadyStopped, 8, "cudaErrorProfilerAlreadyStopped"},
    {cudaErrorInvalidTexture, 18, "cudaErrorInvalidTexture"},
    {cudaErrorInvalidTextureBinding, 19, "cudaErrorInvalidTextureBinding"},
    {cudaErrorInvalidChannelDescriptor, 20, "cudaErrorInvalidChannelDescriptor"},
    {cudaErrorAddressOfConstant, 22, "cudaErrorAddressOfConstant"},
    {cudaErrorTextureFetchFailed, 23, "cudaErrorTextureFetchFailed"},
    {cudaErrorTextureNotBound, 24, "cudaErrorTextureNotBound"},
    {cudaErrorSynchronizationError, 25, "cudaErrorSynchronizationError"},
    {cudaErrorInvalidFilterSetting, 26, "cudaErrorInvalidFilterSetting"},
    {cudaErrorInvalidNormSetting, 27, "cudaErrorInvalidNormSetting"},
    {cudaErrorMixedDeviceExecution, 28, "cudaErrorMixedDeviceExecution"},
    {cudaErrorNotYetImplemented, 31, "cudaErrorNotYetImplemented"},
    {cudaErrorMemoryValueTooLarge, 32, "cudaErrorMemoryValueTooLarge"},
    {cudaErrorStubLibrary, 34, "cudaErrorStubLibrary"},
    {cudaErrorCallRequiresNewerDriver, 36, "cudaErrorCallRequiresNewerDriver"},
    {cudaErrorInvalidSurface, 37, "cudaErrorInvalidSurface"},
    {cudaErrorDuplicateVariableName, 43, "cudaErrorDuplicateVariableName"},
    {cudaErrorDuplicateTextureName, 44, "cudaErrorDuplicateTextureName"},
    {cudaErrorDuplicateSurfaceName, 45, "cudaErrorDuplicateSurfaceName"},
    {cudaErrorIncompatibleDriverContext, 49, "cudaErrorIncompatibleDriverContext"},
    {cudaErrorLaunchMaxDepthExceeded, 65, "cudaErrorLaunchMaxDepthExceeded"},
    {cudaErrorLaunchFileScopedTex, 66, "cudaErrorLaunchFileScopedTex"},
    {cudaErrorLaunchFileScopedSurf, 67, "cudaErrorLaunchFileScopedSurf"},
    {cudaErrorSyncDepthExceeded, 68, "cudaErrorSyncDepthExceeded"},
    {cudaErrorLaunchPendingCountExceeded, 69, "cudaErrorLaunchPendingCountExceeded"},
    {cudaErrorDeviceNotLicensed, 102, "cudaErrorDeviceNotLicensed"},
    {cudaErrorSoftwareValidityNotEstablished, 103, "cudaErrorSoftwareValidityNotEstablished"},
    {cudaErrorStartupFailure, 127, "cudaErrorStartupFailure"},
    {cudaErrorMapBufferObjectFailed, 205, "cudaErrorMapBufferObjectFailed"},
    {cudaErrorUnmapBufferObjectFailed, 206, "cudaErrorUnmapBufferObjectFailed"},
    {cudaErrorArrayIsMapped, 207, "cudaErrorArrayIsMapped"},
    {cudaErrorAlreadyMapped, 208, "cudaErrorAlreadyMapped"},
    {cudaErrorAlreadyAcquired, 210, "cudaErrorAlreadyAcquired"},
    {cudaErrorNotMapped, 211, "cudaErrorNotMapped"},
    {cudaErrorNotMappedAsArray, 212, "cudaErrorNotMappedAsArray"},
    {cudaErrorNotMappedAsPointer, 213, "cudaErrorNotMappedAsPointer"},
    {cudaErrorDeviceAlreadyInUse, 216, "cudaErrorDeviceAlreadyInUse"},
    {cudaErrorPeerAccessUnsupported, 217, "cudaErrorPeerAccessUnsupported"},
    {cudaErrorInvalidPtx, 218, "cudaErrorInvalidPtx"},
    {cudaErrorInvalidGraphicsContext, 219, "cudaErrorInvalidGraphicsContext"},
    {cudaErrorNvlinkUncorrectable, 220, "cudaErrorNvlinkUncorrectable"},
    {cudaErrorJitCompilerNotFound, 221, "cudaErrorJitCompilerNotFound"},
    {cudaErrorJitCompilationDisabled, 223, "cudaErrorJitCompilationDisabled"},
    {cudaErrorUnsupportedExecAffinity, 224, "cudaErrorUnsupportedExecAffinity"},
    {cudaErrorUnsupportedDevSideSync, 225, "cudaErrorUnsupportedDevSideSync"},
    {cudaErrorContained, 226, "cudaErrorContained"},
    {cudaErrorInvalidSource, 300, "cudaErrorInvalidSource"},
    {cudaErrorFileNotFound, 301, "cudaErrorFileNotFound"},
    {cudaErrorSharedObjectSymbolNotFound, 302, "cudaErrorSharedObjectSymbolNotFound"},
    {cudaErrorSharedObjectInitFailed, 303, "cudaErrorSharedObjectInitFailed"},
    {cudaErrorLossyQuery, 402, "cudaErrorLossyQuery"},
    {cudaErrorLaunchIncompatibleTexturing, 703, "cudaErrorLaunchIncompatibleTexturing"},
    {cudaErrorSetOnActiveProcess, 708, "cudaErrorSetOnActiveProcess"},
    {cudaErrorTooManyPeers, 711, "cudaErrorTooManyPeers"},
    {cudaErrorTensorMemoryLeak, 721, "cudaErrorTensorMemoryLeak"},
    {cudaErrorSystemDriverMismatch, 803, "cudaErrorSystemDriverMismatch"},
    {cudaErrorCompatNotSupportedOnDevice, 804, "cudaErrorCompatNotSupportedOnDevice"},
    {cudaErrorMpsConnectionFailed, 805, "cudaErrorMpsConnectionFailed"},
    {cudaErrorMpsRpcFailure, 806, "cudaErrorMpsRpcFailure"},
    {cudaErrorMpsServerNotReady, 807, "cudaErrorMpsServerNotReady"},
    {cudaErrorMpsMaxClientsReached, 808, "cudaErrorMpsMaxClientsReached"},
    {cudaErrorMpsMaxConnectionsReached, 809, "cudaErrorMpsMaxConnectionsReached"},
    {cudaErrorMpsClientTerminated, 810, "cudaErrorMpsClientTerminated"},
    {cudaErrorCdpNotSupported, 811, "cudaErrorCdpNotSupported"},
    {cudaErrorCdpVersionMismatch, 812, "cudaErrorCdpVersionMismatch"},
    {cudaErrorExternalDevice, 911, "cudaErrorExternalDevice"},
    {cudaErrorInvalidClusterSize, 912, "cudaErrorInvalidClusterSize"},
    {cudaErrorFunctionNotLoaded, 913, "cudaErrorFunctionNotLoaded"},
    {cudaErrorInvalidResourceType, 914, "cudaErrorInvalidResourceType"},
    {cudaErrorInvalidResourceConfiguration, 915, "cudaErrorInvalidResourceConfiguration"},
};

int main() {
  for (const Code& code : codes) {
    EXPECT(code.error == code.number);
    EXPECT(std::strcmp(cudaGetErrorName(code.error), code.name) == 0);
    EXPECT(std::strcmp(cudaGetErrorString(code.error), "unrecognized error code") != 0);
  }
  return finish();
}

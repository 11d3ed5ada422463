// The types and constants of CUDA's host interface.
#pragma once

#include <cstddef>

#include "simt/types.h"

struct CUstream_st;
struct CUevent_st;
struct CUmemPoolHandle_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
using cudaMemPool_t = CUmemPoolHandle_st*;

#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
// For launches from kernels: after the grid and all that it launches; in no order.
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

inline constexpr unsigned cudaStreamDefault = 0x00;
inline constexpr unsigned cudaStreamNonBlocking = 0x01;
inline constexpr unsigned cudaEventDefault = 0x00;
inline constexpr unsigned cudaEventBlockingSync = 0x01;
inline constexpr unsigned cudaEventDisableTiming = 0x02;
inline constexpr unsigned cudaEventRecordDefault = 0x00;
inline constexpr unsigned cudaEventWaitDefault = 0x00;
inline constexpr unsigned cudaHostAllocDefault = 0x00;
inline constexpr unsigned cudaHostAllocPortable = 0x01;
inline constexpr unsigned cudaHostAllocMapped = 0x02;
inline constexpr unsigned cudaHostAllocWriteCombined = 0x04;
inline constexpr unsigned cudaHostRegisterDefault = 0x00;
inline constexpr unsigned cudaHostRegisterPortable = 0x01;
inline constexpr unsigned cudaHostRegisterMapped = 0x02;
inline constexpr unsigned cudaHostRegisterReadOnly = 0x08;
inline constexpr unsigned cudaMemAttachGlobal = 0x01;
inline constexpr unsigned cudaMemAttachHost = 0x02;
inline constexpr unsigned cudaOccupancyDefault = 0x00;
inline constexpr unsigned cudaOccupancyDisableCachingOverride = 0x01;
inline constexpr unsigned cudaDeviceScheduleAuto = 0x00;
inline constexpr unsigned cudaDeviceScheduleSpin = 0x01;
inline constexpr unsigned cudaDeviceScheduleYield = 0x02;
inline constexpr unsigned cudaDeviceScheduleBlockingSync = 0x04;
inline constexpr unsigned cudaDeviceBlockingSync = 0x04;
inline constexpr unsigned cudaDeviceScheduleMask = 0x07;
inline constexpr unsigned cudaDeviceMapHost = 0x08;
inline constexpr unsigned cudaDeviceLmemResizeToMax = 0x10;
inline constexpr unsigned cudaDeviceSyncMemops = 0x80;
inline constexpr unsigned cudaDeviceMask = 0xff;
inline constexpr int cudaCpuDeviceId = -1;
inline constexpr int cudaInvalidDeviceId = -2;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,  ///< derived from the pointers
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3,
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
};

enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxL1 = 0,
  cudaSharedmemCarveoutMaxShared = 100,
};

enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3,
};

struct cudaFuncAttributes {
  std::size_t sharedSizeBytes;
  std::size_t constSizeBytes;
  std::size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};

enum cudaMemAllocationType { cudaMemAllocationTypeInvalid = 0, cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone = 0 };
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2,
};

struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};

/// When a copy reads its source: in the order of its stream, before the call returns, or at any time.
enum cudaMemcpySrcAccessOrder {
  cudaMemcpySrcAccessOrderInvalid = 0,
  cudaMemcpySrcAccessOrderStream = 1,
  cudaMemcpySrcAccessOrderDuringApiCall = 2,
  cudaMemcpySrcAccessOrderAny = 3,
};

struct cudaMemcpyAttributes {
  cudaMemcpySrcAccessOrder srcAccessOrder;
  cudaMemLocation srcLocHint;
  cudaMemLocation dstLocHint;
  unsigned flags;
};

struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,    ///< int
  cudaMemPoolReuseAllowOpportunistic = 2,         ///< int
  cudaMemPoolReuseAllowInternalDependencies = 3,  ///< int
  cudaMemPoolAttrReleaseThreshold = 4,            ///< unsigned long long, like all that follow
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8,
};

enum cudaLimit {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  // This device supports none of those that follow.
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4,
  cudaLimitMaxL2FetchGranularity = 5,
  cudaLimitPersistingL2CacheSize = 6,
};

enum cudaComputeMode {
  cudaComputeModeDefault = 0,
  cudaComputeModeExclusive = 1,
  cudaComputeModeProhibited = 2,
  cudaComputeModeExclusiveProcess = 3,
};

enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2,
};

enum cudaMemoryAdvise : int {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6,
};

struct cudaUUID_t {
  char bytes[16];
};

struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int memoryPoolsSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;

  // The sizes of textures and surfaces have no limits of their own here: all 0.
  int maxTexture1D, maxTexture1DMipmap, maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3];
  int maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];
  int maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3];
  int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];

  // CUDA 13 has dropped these; CUDA 12 has them.
  int clockRate;        ///< kHz
  int memoryClockRate;  ///< kHz
  int deviceOverlap;
  int kernelExecTimeoutEnabled;
  int computeMode;
  int maxTexture1DLinear;
  int singleToDoublePrecisionPerfRatio;
  int cooperativeMultiDeviceLaunch;
};

/// The attributes of a device, each with its value in terms of the cudaDeviceProp `p`; clock rates are in kHz. Some are
/// 0: work does not overlap here, there is no bus, and the system does not report the memory's clock.
#define SIMT_DEVICE_ATTRIBUTES(ENTRY)                                                          \
  ENTRY(cudaDevAttrMaxThreadsPerBlock, 1, p.maxThreadsPerBlock)                                \
  ENTRY(cudaDevAttrMaxBlockDimX, 2, p.maxThreadsDim[0])                                        \
  ENTRY(cudaDevAttrMaxBlockDimY, 3, p.maxThreadsDim[1])                                        \
  ENTRY(cudaDevAttrMaxBlockDimZ, 4, p.maxThreadsDim[2])                                        \
  ENTRY(cudaDevAttrMaxGridDimX, 5, p.maxGridSize[0])                                           \
  ENTRY(cudaDevAttrMaxGridDimY, 6, p.maxGridSize[1])                                           \
  ENTRY(cudaDevAttrMaxGridDimZ, 7, p.maxGridSize[2])                                           \
  ENTRY(cudaDevAttrMaxSharedMemoryPerBlock, 8, p.sharedMemPerBlock)                            \
  ENTRY(cudaDevAttrTotalConstantMemory, 9, p.totalConstMem)                                    \
  ENTRY(cudaDevAttrWarpSize, 10, p.warpSize)                                                   \
  ENTRY(cudaDevAttrMaxPitch, 11, p.memPitch)                                                   \
  ENTRY(cudaDevAttrMaxRegistersPerBlock, 12, p.regsPerBlock)                                   \
  ENTRY(cudaDevAttrClockRate, 13, p.clockRate)                                                 \
  ENTRY(cudaDevAttrTextureAlignment, 14, p.textureAlignment)                                   \
  ENTRY(cudaDevAttrGpuOverlap, 15, 0)                                                          \
  ENTRY(cudaDevAttrMultiProcessorCount, 16, p.multiProcessorCount)                             \
  ENTRY(cudaDevAttrKernelExecTimeout, 17, 0)                                                   \
  ENTRY(cudaDevAttrIntegrated, 18, p.integrated)                                               \
  ENTRY(cudaDevAttrCanMapHostMemory, 19, p.canMapHostMemory)                                   \
  ENTRY(cudaDevAttrComputeMode, 20, 0)                                                         \
  ENTRY(cudaDevAttrConcurrentKernels, 31, 0)                                                   \
  ENTRY(cudaDevAttrEccEnabled, 32, 0)                                                          \
  ENTRY(cudaDevAttrPciBusId, 33, 0)                                                            \
  ENTRY(cudaDevAttrPciDeviceId, 34, 0)                                                         \
  ENTRY(cudaDevAttrTccDriver, 35, 0)                                                           \
  ENTRY(cudaDevAttrMemoryClockRate, 36, 0)                                                     \
  ENTRY(cudaDevAttrGlobalMemoryBusWidth, 37, 0)                                                \
  ENTRY(cudaDevAttrL2CacheSize, 38, p.l2CacheSize)                                             \
  ENTRY(cudaDevAttrMaxThreadsPerMultiProcessor, 39, p.maxThreadsPerMultiProcessor)             \
  ENTRY(cudaDevAttrAsyncEngineCount, 40, 0)                                                    \
  ENTRY(cudaDevAttrUnifiedAddressing, 41, p.unifiedAddressing)                                 \
  ENTRY(cudaDevAttrPciDomainId, 50, 0)                                                         \
  ENTRY(cudaDevAttrComputeCapabilityMajor, 75, p.major)                                        \
  ENTRY(cudaDevAttrComputeCapabilityMinor, 76, p.minor)                                        \
  ENTRY(cudaDevAttrStreamPrioritiesSupported, 78, p.streamPrioritiesSupported)                 \
  ENTRY(cudaDevAttrGlobalL1CacheSupported, 79, p.globalL1CacheSupported)                       \
  ENTRY(cudaDevAttrLocalL1CacheSupported, 80, p.localL1CacheSupported)                         \
  ENTRY(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, p.sharedMemPerMultiprocessor)         \
  ENTRY(cudaDevAttrMaxRegistersPerMultiprocessor, 82, p.regsPerMultiprocessor)                 \
  ENTRY(cudaDevAttrManagedMemory, 83, p.managedMemory)                                         \
  ENTRY(cudaDevAttrIsMultiGpuBoard, 84, 0)                                                     \
  ENTRY(cudaDevAttrHostNativeAtomicSupported, 86, p.hostNativeAtomicSupported)                 \
  ENTRY(cudaDevAttrPageableMemoryAccess, 88, 0)                                                \
  ENTRY(cudaDevAttrConcurrentManagedAccess, 89, p.concurrentManagedAccess)                     \
  ENTRY(cudaDevAttrComputePreemptionSupported, 90, 0)                                          \
  ENTRY(cudaDevAttrCanUseHostPointerForRegisteredMem, 91, p.canUseHostPointerForRegisteredMem) \
  ENTRY(cudaDevAttrCooperativeLaunch, 95, p.cooperativeLaunch)                                 \
  ENTRY(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, p.sharedMemPerBlockOptin)                 \
  ENTRY(cudaDevAttrHostRegisterSupported, 99, p.hostRegisterSupported)                         \
  ENTRY(cudaDevAttrMaxBlocksPerMultiprocessor, 106, p.maxBlocksPerMultiProcessor)              \
  ENTRY(cudaDevAttrReservedSharedMemoryPerBlock, 111, p.reservedSharedMemPerBlock)             \
  ENTRY(cudaDevAttrMemoryPoolsSupported, 115, p.memoryPoolsSupported)                          \
  ENTRY(cudaDevAttrClusterLaunch, 120, 0)

enum cudaDeviceAttr : int {
#define SIMT_ENUMERATOR(name, number, value) name = number,
  SIMT_DEVICE_ATTRIBUTES(SIMT_ENUMERATOR)
#undef SIMT_ENUMERATOR
};

using cudaHostFn_t = void (*)(void* user_data);
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* user_data);

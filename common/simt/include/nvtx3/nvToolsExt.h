// Marks and ranges for NVIDIA's profilers (NVTX, "NVTX C API Reference"). Here they do nothing, as in a program that no
// profiler observes. The header is C as well as C++.
#pragma once

#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_SUCCESS 0
#define NVTX_NO_PUSH_POP_TRACKING (-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st* nvtxStringHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

// A parameter that nothing uses has a name in C.
#define SIMT_NOTHING(Result, value, name, ...) \
  static inline Result name(__VA_ARGS__) { return value; }
#define SIMT_MARKS(Letter, Char)                                                                                  \
  SIMT_NOTHING(void, (void)message, nvtxMark##Letter, const Char* message)                                        \
  SIMT_NOTHING(int, ((void)message, NVTX_NO_PUSH_POP_TRACKING), nvtxRangePush##Letter, const Char* message)       \
  SIMT_NOTHING(nvtxRangeId_t, ((void)message, 0), nvtxRangeStart##Letter, const Char* message)                    \
  SIMT_NOTHING(void, ((void)category, (void)name), nvtxNameCategory##Letter, uint32_t category, const Char* name) \
  SIMT_NOTHING(void, ((void)thread, (void)name), nvtxNameOsThread##Letter, uint32_t thread, const Char* name)     \
  SIMT_NOTHING(nvtxDomainHandle_t, ((void)name, (nvtxDomainHandle_t)0), nvtxDomainCreate##Letter, const Char* name)
SIMT_MARKS(A, char)
SIMT_MARKS(W, wchar_t)
SIMT_NOTHING(void, (void)event, nvtxMarkEx, const nvtxEventAttributes_t* event)
SIMT_NOTHING(int, ((void)event, NVTX_NO_PUSH_POP_TRACKING), nvtxRangePushEx, const nvtxEventAttributes_t* event)
SIMT_NOTHING(nvtxRangeId_t, ((void)event, 0), nvtxRangeStartEx, const nvtxEventAttributes_t* event)
SIMT_NOTHING(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePop, void)
SIMT_NOTHING(void, (void)range, nvtxRangeEnd, nvtxRangeId_t range)

SIMT_NOTHING(void, (void)domain, nvtxDomainDestroy, nvtxDomainHandle_t domain)
SIMT_NOTHING(void, ((void)domain, (void)event), nvtxDomainMarkEx, nvtxDomainHandle_t domain,
             const nvtxEventAttributes_t* event)
SIMT_NOTHING(int, ((void)domain, (void)event, NVTX_NO_PUSH_POP_TRACKING), nvtxDomainRangePushEx,
             nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event)
SIMT_NOTHING(int, ((void)domain, NVTX_NO_PUSH_POP_TRACKING), nvtxDomainRangePop, nvtxDomainHandle_t domain)
SIMT_NOTHING(nvtxRangeId_t, ((void)domain, (void)event, 0), nvtxDomainRangeStartEx, nvtxDomainHandle_t domain,
             const nvtxEventAttributes_t* event)
SIMT_NOTHING(void, ((void)domain, (void)range), nvtxDomainRangeEnd, nvtxDomainHandle_t domain, nvtxRangeId_t range)
#undef SIMT_MARKS
#undef SIMT_NOTHING

#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA

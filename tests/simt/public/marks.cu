// Marks and ranges for profilers.
#include <nvtx3/nvToolsExt.h>

#include "expect.h"

namespace {

__global__ void set(int* to) { *to = 7; }

}  // namespace

int main() {
  Array<int> value(1);
  nvtxNameOsThreadA(1, "host");
  nvtxRangePush("program");
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff00ff00;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "kernel";
  nvtxRangePushEx(&event);
  set<<<1, 1>>>(value.data());
  nvtxRangePop();
  const nvtxRangeId_t range = nvtxRangeStartA("copy");
  EXPECT(value.values()[0] == 7);
  nvtxRangeEnd(range);
  nvtxMark("end");
  nvtxMarkA("end");
  nvtxRangePop();
  return finish();
}

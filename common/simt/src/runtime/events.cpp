#include "simt/runtime/events.h"

#include <chrono>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../emulation.h"
#include "call.h"
#include "captures.h"
#include "handles.h"
#include "simt/runtime/device.h"
#include "simt/runtime/streams.h"

namespace simt {
namespace {

struct Event {
  bool timed;
  bool recorded = false;
  std::chrono::steady_clock::time_point time = {};
};

Handles<cudaEvent_t, Event>& events() {
  static auto* const events = new Handles<cudaEvent_t, Event>;  // never destroyed, like the heap
  return *events;
}

}  // namespace

bool is_event(cudaEvent_t event) { return events().contains(event); }

void destroy_all_events() { events().clear(); }

}  // namespace simt

using namespace simt;

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call_on_both_sides(__func__, event, [&] {
    if (event == nullptr || flags > (cudaEventBlockingSync | cudaEventDisableTiming)) return cudaErrorInvalidValue;
    *event = events().add({.timed = (flags & cudaEventDisableTiming) == 0});
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) { return cudaEventCreateWithFlags(event, flags); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call_on_both_sides(__func__, no_result, [&] { return events().remove(event); });
}

// What a kernel launches runs in the order of its launches, so that its events have nothing to do.
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return call_on_both_sides(__func__, no_result, [&] {
    if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
    if (!is_stream(stream) || !is_event(event)) return cudaErrorInvalidResourceHandle;
    if (Worker::running() != nullptr) return cudaSuccess;
    if (const auto error = captured_record(stream, event)) return *error;
    return events().with(event, [&](Event& e) {
      SIMT_OBSERVE(check::event_recorded(event, stream);)
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
  return call(__func__, [&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refused_in_capture(event); error != cudaSuccess) return error;
    SIMT_OBSERVE(check::host_waits_for(event);)
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call(__func__, [&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refused_in_capture(event); error != cudaSuccess) return error;
    SIMT_OBSERVE(check::host_waits_for(event);)
    return synchronize();
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call(__func__, [&] {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    std::chrono::steady_clock::time_point times[2];
    int i = 0;
    for (cudaEvent_t event : {start, end}) {
      const cudaError_t error = events().with(event, [&](Event& e) {
        times[i++] = e.time;
        return e.timed && e.recorded ? cudaSuccess : cudaErrorInvalidResourceHandle;
      });
      if (error != cudaSuccess) return error;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(times[1] - times[0]).count();
    return cudaSuccess;
  });
}

#include "simt/runtime/streams.h"

#include <algorithm>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../emulation.h"
#include "call.h"
#include "captures.h"
#include "handles.h"
#include "simt/runtime/device.h"
#include "simt/runtime/events.h"

namespace simt {
namespace {

constexpr int least_priority = 0, greatest_priority = -5;

struct Stream {
  unsigned flags;
  int priority;
};

Handles<cudaStream_t, Stream>& streams() {
  static auto* const streams = new Handles<cudaStream_t, Stream>;  // never destroyed, like the heap
  return *streams;
}

/// Runs `use(stream)` if there is such a stream.
template <class Use>
cudaError_t with_stream(cudaStream_t stream, Use&& use) {
  return is_default_stream(stream) ? use(Stream{cudaStreamDefault, 0}) : streams().with(stream, use);
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
  *stream = streams().add({flags, std::clamp(priority, greatest_priority, least_priority)});
  host_may_intervene = true;
  SIMT_OBSERVE(check::stream_created(*stream, flags != cudaStreamNonBlocking);)
  return cudaSuccess;
}

}  // namespace

// CUDA calls in it are refused.
void run_host_function([[maybe_unused]] const HostCall& call, [[maybe_unused]] cudaStream_t stream,
                       const std::function<void()>& function) {
  SIMT_OBSERVE(check::begin_host_function({call.name, stream, false, call.caller});)
  host_thread.in_host_function = true;
  function();
  host_thread.in_host_function = false;
  SIMT_OBSERVE(check::end_host_function();)
}

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  create_stream(&stream, cudaStreamNonBlocking, 0);
  return stream;
}
void remove_stream(cudaStream_t stream) { streams().remove(stream); }
bool is_blocking_stream(cudaStream_t stream) {
  bool is_blocking = false;
  with_stream(stream, [&](const Stream& s) {
    is_blocking = s.flags == cudaStreamDefault;
    return cudaSuccess;
  });
  return is_blocking;
}

bool is_default_stream(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

bool is_stream_of_kernels(cudaStream_t stream) {
  return is_stream(stream) || stream == cudaStreamTailLaunch || stream == cudaStreamFireAndForget;
}

bool is_stream(cudaStream_t stream) { return is_default_stream(stream) || streams().contains(stream); }

void destroy_all_streams() { streams().clear(); }

}  // namespace simt

using namespace simt;

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call(__func__, [&] {
    if (least != nullptr) *least = least_priority;
    if (greatest != nullptr) *greatest = greatest_priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call(__func__, [&] { return create_stream(stream, cudaStreamDefault, 0); });
}

// Kernels may make streams for their launches, and destroy them.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call_on_both_sides(__func__, stream, [&] {
    if (Worker::running() == nullptr) return create_stream(stream, flags, 0);
    if (stream == nullptr || flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *stream = streams().add({flags, 0});
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call(__func__, [&] { return create_stream(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call_on_both_sides(__func__, no_result, [&] { return streams().remove(stream); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call(__func__, [&] {
    if (flags == nullptr) return cudaErrorInvalidValue;
    return with_stream(stream, [&](const Stream& s) {
      *flags = s.flags;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call(__func__, [&] {
    if (priority == nullptr) return cudaErrorInvalidValue;
    return with_stream(stream, [&](const Stream& s) {
      *priority = s.priority;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call(__func__, [&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refused_wait_in_capture(stream); error != cudaSuccess) return error;
    SIMT_OBSERVE(check::host_waits_for(stream);)
    return synchronize();
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call(__func__, [&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refused_wait_in_capture(stream); error != cudaSuccess) return error;
    SIMT_OBSERVE(check::host_waits_for(stream);)
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call_on_both_sides(__func__, no_result, [&] {
    if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
    if (!is_stream(stream) || !is_event(event)) return cudaErrorInvalidResourceHandle;
    if (Worker::running() != nullptr) return cudaSuccess;  // see cudaEventRecordWithFlags
    if (const auto error = captured_wait(stream, event)) return *error;
    SIMT_OBSERVE(check::stream_waits(stream, event);)
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data, unsigned flags) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refused_wait_in_capture(stream); error != cudaSuccess) return error;
    run_host_function({"cudaStreamAddCallback", caller}, stream, [&] { callback(stream, cudaSuccess, user_data); });
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    if (function == nullptr) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    const HostCall self{"cudaLaunchHostFunc", caller};
    if (const auto error = captured(stream, [&] { return host_work(self, function, user_data); })) return *error;
    run_host_function(self, stream, [&] { function(user_data); });
    return cudaSuccess;
  });
}

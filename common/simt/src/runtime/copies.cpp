#include "simt/runtime/copies.h"

#include <cstring>
#include <string>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../faults/source_lines.h"
#include "../memory/access.h"
#include "call.h"
#include "simt/runtime/streams.h"

namespace simt {
namespace {

/// cudaSuccess if a copy in direction `kind` may access both ranges.
cudaError_t check_copy(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
                       cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  const Access target = access_of(to, to_bytes), source = access_of(from, from_bytes);
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool any = kind == cudaMemcpyDefault;
  const bool target_fits = any ? target.host || target.device : to_device ? target.device : target.host;
  const bool source_fits = any ? source.host || source.device : from_device ? source.device : source.host;
  return target_fits && source_fits ? cudaSuccess : cudaErrorInvalidValue;
}

#ifdef SIMT_CHECK
void observe_copy(const void* to, const void* from, std::size_t bytes) {
  check::written(to, bytes);
  if (is_device(to) && is_device(from)) check::copied_on_device(bytes);
}
#endif

/// Reports what the host copies although nothing has written it. `caller`: what the CUDA function returns to.
void observe_read([[maybe_unused]] const void* to, [[maybe_unused]] const void* from,
                  [[maybe_unused]] std::size_t bytes, [[maybe_unused]] const void* caller) {
  SIMT_OBSERVE(if (!is_device(to)) check::read_by_host(from, bytes, caller);)
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, cudaStream_t stream, const void* caller) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  if (width == 0 || height == 0) return cudaSuccess;
  const cudaError_t error =
      check_copy(to, (height - 1) * to_pitch + width, from, (height - 1) * from_pitch + width, kind);
  if (error != cudaSuccess) return error;
  for (std::size_t row = 0; row < height; ++row) {
    char* const target = static_cast<char*>(to) + row * to_pitch;
    const char* const source = static_cast<const char*>(from) + row * from_pitch;
    observe_read(target, source, width, caller);
    std::memmove(target, source, width);
    SIMT_OBSERVE(observe_copy(target, source, width);)
  }
  return cudaSuccess;
}

cudaError_t fill_rows(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                      cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (height > 1 && width > pitch) return cudaErrorInvalidPitchValue;
  if (width == 0 || height == 0) return cudaSuccess;
  if (pointer == nullptr || !access_of(pointer, (height - 1) * pitch + width).device) return cudaErrorInvalidValue;
  for (std::size_t row = 0; row < height; ++row) {
    std::memset(static_cast<char*>(pointer) + row * pitch, value, width);
    SIMT_OBSERVE(check::written(static_cast<char*>(pointer) + row * pitch, width);)
  }
  return cudaSuccess;
}

const char* name_of(cudaMemcpyKind kind) {
  constexpr const char* names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                   "cudaMemcpyDeviceToDevice"};
  return names[kind];
}

/// Reports the copy that `function` has refused if only its direction is wrong. It returns to `caller`.
void report_direction(const char* function, void* caller, const void* to, const void* from, std::size_t bytes,
                      cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind >= cudaMemcpyDefault || to == nullptr || from == nullptr) return;
  const Access target = access_of(to, bytes), source = access_of(from, bytes);
  const bool to_device = target.device && !target.host, from_device = source.device && !source.host;
  const auto right = from_device ? (to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost)
                                 : (to_device ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost);
  if (right == kind || check_copy(to, bytes, from, bytes, right) != cudaSuccess) return;
  const auto memory = [](bool device) { return std::string(device ? "device" : "host") + " memory"; };
  const std::string text = std::string(function) + " copies from " + memory(from_device) + " to " + memory(to_device) +
                           ", but its kind is " + name_of(kind) + ": write " + name_of(right) +
                           ", or exchange the two pointers if they are in the wrong order";
  report_error("invalid-copy", line_of_call(caller), text);
}

/// What cudaMemcpy and cudaMemcpyAsync do. `caller`: what `function` returns to.
cudaError_t copy_and_report(const char* function, void* caller, void* to, const void* from, std::size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  const cudaError_t error = copy(to, from, bytes, kind, stream);
  if (error == cudaSuccess && bytes != 0) observe_read(to, from, bytes, caller);
  if (error == cudaErrorInvalidValue) report_direction(function, caller, to, from, bytes, kind);
  return error;
}

}  // namespace

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (bytes == 0) return cudaSuccess;
  const cudaError_t error = check_copy(to, bytes, from, bytes, kind);
  if (error == cudaSuccess) std::memmove(to, from, bytes);
  SIMT_OBSERVE(if (error == cudaSuccess) observe_copy(to, from, bytes);)
  return error;
}

}  // namespace simt

using namespace simt;

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    return copy_and_report("cudaMemcpy", caller, to, from, bytes, kind, nullptr);
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    return copy_and_report("cudaMemcpyAsync", caller, to, from, bytes, kind, stream);
  });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, nullptr, caller);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, caller);
  });
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  return call(__func__, [&] { return fill_rows(pointer, bytes, value, bytes, 1, nullptr); });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  return call(__func__, [&] { return fill_rows(pointer, bytes, value, bytes, 1, stream); });
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return call(__func__, [&] { return fill_rows(pointer, pitch, value, width, height, nullptr); });
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  return call(__func__, [&] { return fill_rows(pointer, pitch, value, width, height, stream); });
}

namespace {

cudaMemLocation location_of(int device) {
  return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
}

/// Host and device share one memory: where data lie, and who will use them, is only checked.
cudaError_t check_location(const void* pointer, std::size_t bytes, cudaMemLocation location) {
  if (location.type == cudaMemLocationTypeDevice && location.id != 0) return cudaErrorInvalidDevice;
  const Access access = access_of(pointer, bytes);
  return access.host && access.device ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
  return call(__func__, [&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    return flags == 0 ? check_location(pointer, bytes, location) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, location_of(device), 0, stream);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return call(__func__, [&] {
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) return cudaErrorInvalidValue;
    return check_location(pointer, bytes, location);
  });
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(pointer, bytes, advice, location_of(device));
}

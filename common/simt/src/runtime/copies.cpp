#include "simt/runtime/copies.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../execution/os_threads.h"
#include "../memory/access.h"
#include "../memory/closed_memory.h"
#include "call.h"
#include "captures.h"
#include "child_launches.h"
#include "simt/runtime/streams.h"

namespace simt {
namespace {

std::atomic<CopyListener> listener = nullptr;

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
/// Not pinned memory of the host, although the device may access that, too.
bool is_in_device_memory(const void* pointer) {
  const Allocation* const allocation = allocation_of(pointer);
  const bool is_hosts =
      allocation != nullptr && (allocation->kind == MemoryKind::pinned || allocation->kind == MemoryKind::registered);
  return is_device(pointer) && !is_hosts;
}
#endif

/// One of CUDA's functions that copies or fills memory, as the program calls it.
struct Call {
  const char* name;
  void* caller;  ///< its return address
  cudaStream_t stream = nullptr;
  bool is_async = true;
  bool is_of_kernel = false;  ///< a kernel makes the call, of which all memory is the device's
};

/// While it lives, the observers take part in a copy or fill, and in nothing else: they know one operation at a time,
/// and another thread of the host may launch kernels or copy.
class Observed {
 private:
  SIMT_OBSERVE(std::unique_lock<std::mutex> lock_ = Worker::running() == nullptr
                                                        ? OsThreads::instance().between_launches()
                                                        : std::unique_lock<std::mutex>();)

 public:
  /// `from` is null for a fill.
  Observed([[maybe_unused]] const Call& call, [[maybe_unused]] const void* to, [[maybe_unused]] const void* from) {
    SIMT_OBSERVE(
        const bool is_of_device = !access_of(to, 1).host && (from == nullptr || !access_of(from, 1).host);
        check::begin_transfer({call.name, call.stream, !call.is_async && !is_of_device, call.caller,
                               allocation_of(to) != nullptr && allocation_of(to)->kind == MemoryKind::registered});)
  }
  ~Observed() { SIMT_OBSERVE(check::end_transfer();) }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;
};

/// While streams are captured: the error, unless the call has to run now.
std::optional<cudaError_t> captured_or_refused(const Call& call, const std::function<NodeWork()>& work) {
  if (const cudaError_t error = refused_in_capture(call.is_async ? call.stream : nullptr); error != cudaSuccess) {
    return error;
  }
  return captured(call.stream, work);
}

/// Whether these bytes are not of the device's own heap, or all in one block of it, as far as is known.
bool is_in_heap_block([[maybe_unused]] const Call& call, [[maybe_unused]] const void* begin,
                      [[maybe_unused]] std::size_t bytes) {
  SIMT_OBSERVE(if (call.is_of_kernel) return check::is_in_heap_block(begin, bytes, call.name, call.caller);)
  return true;
}

void copy_row([[maybe_unused]] const Call& call, char* to, const char* from, std::size_t bytes) {
  SIMT_OBSERVE(if (!is_device(to) && !call.is_of_kernel) check::read_by_host(from, bytes, to, call.caller);)
  SIMT_OBSERVE(check::transfer_reads(from, bytes);)
  std::memmove(to, from, bytes);
  SIMT_OBSERVE(check::transfer_writes(to, bytes, from);)
  SIMT_OBSERVE(if (is_in_device_memory(to) && is_in_device_memory(from)) check::copied_on_device(bytes);)
}

cudaError_t copy_rows(const Call& call, const Rows& rows, cudaMemcpyKind kind) {
  if (!is_stream(call.stream)) return cudaErrorInvalidResourceHandle;
  if (rows.width > rows.to_pitch || rows.width > rows.from_pitch) return cudaErrorInvalidPitchValue;
  if (rows.width == 0 || rows.height == 0) return cudaSuccess;
  const std::size_t to_bytes = rows.to_bytes(), from_bytes = rows.from_bytes();
  if (const cudaError_t error = check_copy(rows.to, to_bytes, rows.from, from_bytes, kind); error != cudaSuccess) {
    if (error == cudaErrorInvalidValue)
      report_refused_copy({call.name, call.caller}, rows.to, to_bytes, rows.from, from_bytes, kind);
    return error;
  }
  if (const auto error = captured_or_refused(call, [&] { return copy_work({call.name, call.caller}, {rows}, kind); })) {
    return *error;
  }
  watch_copy({call.name, call.caller}, rows.to, to_bytes, rows.from, from_bytes);
  if (!is_in_heap_block(call, rows.to, to_bytes) || !is_in_heap_block(call, rows.from, from_bytes)) {
    return cudaErrorInvalidValue;
  }
  const OpenMemory open;
  const Observed observed(call, rows.to, rows.from);
  const auto started = std::chrono::steady_clock::now();
  for (std::size_t row = 0; row < rows.height; ++row) {
    copy_row(call, static_cast<char*>(rows.to) + row * rows.to_pitch,
             static_cast<const char*>(rows.from) + row * rows.from_pitch, rows.width);
  }
  if (const CopyListener notify = listener) {
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - started;
    notify(rows.to, rows.from, rows.width * rows.height, kind, call.stream, elapsed.count());
  }
  return cudaSuccess;
}

cudaError_t copy_bytes(const Call& call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy_rows(call, {to, bytes, from, bytes, bytes, 1}, kind);
}

void fill_row(const Fill& fill, char* row) {
  if (fill.element_bytes == 1) {
    std::memset(row, int(fill.value), fill.width);
    return;
  }
  for (std::size_t at = 0; at < fill.row_bytes(); at += fill.element_bytes) {
    std::memcpy(row + at, &fill.value, fill.element_bytes);  // the first bytes are the lowest ones
  }
}

cudaError_t fill_rows(const Call& call, const Fill& fill) {
  if (!is_stream(call.stream)) return cudaErrorInvalidResourceHandle;
  if (fill.height > 1 && fill.row_bytes() > fill.pitch) return cudaErrorInvalidPitchValue;
  if (fill.width == 0 || fill.height == 0) return cudaSuccess;
  const std::size_t bytes = (fill.height - 1) * fill.pitch + fill.row_bytes();
  const Access access = access_of(fill.to, bytes);
  if (fill.to == nullptr || !(access.device || (call.is_of_kernel && access.host))) {
    report_refused_fill({call.name, call.caller}, fill.to, bytes);
    return cudaErrorInvalidValue;
  }
  if (const auto error = captured_or_refused(call, [&] { return fill_work({call.name, call.caller}, fill); })) {
    return *error;
  }
  if (!is_in_heap_block(call, fill.to, bytes)) return cudaErrorInvalidValue;
  const OpenMemory open;
  const Observed observed(call, fill.to, nullptr);
  for (std::size_t row = 0; row < fill.height; ++row) {
    char* const begin = static_cast<char*>(fill.to) + row * fill.pitch;
    fill_row(fill, begin);
    SIMT_OBSERVE(check::transfer_writes(begin, fill.row_bytes(), nullptr);)
  }
  return cudaSuccess;
}

}  // namespace

void listen_to_copies(CopyListener new_listener) { listener = new_listener; }

cudaError_t copy(const HostCall& call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 std::optional<cudaStream_t> stream) {
  return copy_bytes({call.name, call.caller, stream.value_or(nullptr), stream.has_value()}, to, from, bytes, kind);
}

cudaError_t copy_2d(const HostCall& call, const Rows& rows, cudaMemcpyKind kind, std::optional<cudaStream_t> stream) {
  return copy_rows({call.name, call.caller, stream.value_or(nullptr), stream.has_value()}, rows, kind);
}

cudaError_t run_transfer_of_kernel(const Transfer& transfer, cudaStream_t stream) {
  const Call call{transfer.call.name, transfer.call.caller, stream, true, true};
  if (const Rows* const rows = std::get_if<Rows>(&transfer.work)) return copy_rows(call, *rows, cudaMemcpyDefault);
  return fill_rows(call, std::get<Fill>(transfer.work));
}

cudaError_t fill(const HostCall& call, const Fill& fill, cudaStream_t stream) {
  return fill_rows({call.name, call.caller, stream}, fill);
}

namespace {

/// What cudaMemcpyAsync and cudaMemcpy2DAsync do; kernels may call them, too.
[[gnu::always_inline]] inline cudaError_t copy_on_both_sides(const Call& c, const Rows& rows, cudaMemcpyKind kind) {
  Worker* const worker = Worker::running();
  if (worker == nullptr) return call(c.name, [&] { return copy_rows(c, rows, kind); });
  const bool is_permitted = kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
  transfer_from_kernel(*worker, {{c.name, c.caller}, rows}, c.stream,
                       is_permitted ? nullptr : "a kernel can only copy from device memory to device memory");
  return cudaSuccess;
}

[[gnu::always_inline]] inline cudaError_t fill_on_both_sides(const Call& c, const Fill& fill) {
  Worker* const worker = Worker::running();
  if (worker == nullptr) return call(c.name, [&] { return fill_rows(c, fill); });
  transfer_from_kernel(*worker, {{c.name, c.caller}, fill}, c.stream, nullptr);
  return cudaSuccess;
}

}  // namespace

}  // namespace simt

using namespace simt;

// (A macro, because the return address is that of the function that uses it.)
#define CALL(...) {__func__, __builtin_return_address(0), __VA_ARGS__}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Call c CALL(nullptr, false);
  return call(__func__, [&] { return copy_bytes(c, to, from, bytes, kind); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_on_both_sides(CALL(stream), {to, bytes, from, bytes, bytes, 1}, kind);
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  const Call c CALL(nullptr, false);
  return call(__func__, [&] { return copy_rows(c, {to, to_pitch, from, from_pitch, width, height}, kind); });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_on_both_sides(CALL(stream), {to, to_pitch, from, from_pitch, width, height}, kind);
}

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes, std::size_t count,
                                 cudaMemcpyAttributes* attributes, std::size_t* first_copies,
                                 std::size_t attribute_count, cudaStream_t stream) {
  const Call c CALL(stream);
  return call(__func__, [&] {
    if (stream == nullptr || attribute_count == 0 || attribute_count > count) return cudaErrorInvalidValue;
    for (std::size_t k = 0; k < attribute_count; ++k) {
      const cudaMemcpySrcAccessOrder order = attributes[k].srcAccessOrder;
      const bool is_in_order = k == 0 ? first_copies[0] == 0 : first_copies[k] > first_copies[k - 1];
      if (!is_in_order || first_copies[k] >= count || order < cudaMemcpySrcAccessOrderStream ||
          order > cudaMemcpySrcAccessOrderAny) {
        return cudaErrorInvalidValue;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const cudaError_t error = copy_bytes(c, to[i], from[i], sizes[i], cudaMemcpyDefault);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  const Call c CALL(nullptr, false);
  return call(__func__, [&] { return fill_rows(c, {pointer, bytes, unsigned(value), bytes, 1}); });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  return fill_on_both_sides(CALL(stream), {pointer, bytes, unsigned(value), bytes, 1});
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  const Call c CALL(nullptr, false);
  return call(__func__, [&] { return fill_rows(c, {pointer, pitch, unsigned(value), width, height}); });
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  return fill_on_both_sides(CALL(stream), {pointer, pitch, unsigned(value), width, height});
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

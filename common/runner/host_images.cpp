#include "runner/host_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "step/device_array.h"
#include "step/stream.h"

namespace lab {
namespace {

using Clock = std::chrono::steady_clock;

// Enough for the full rate of the bus.
constexpr std::int64_t bytes_per_copy = std::int64_t{32} << 20;

double elapsed_milliseconds(Clock::time_point started) {
  return std::chrono::duration<double, std::milli>(Clock::now() - started).count();
}

cudaMemPool_t default_pool() {
  cudaMemPool_t pool;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  return pool;
}

}  // namespace

HostImages::HostImages(const Request& request, SharedMemory& memory, cudaStream_t stream)
    : request_(request),
      memory_(memory),
      keys_(memory.at(request.keys.output)),
      scratch_(memory.at(request.scratch.output)),
      input_(memory.at(request.keys.input)),
      stream_(stream) {
  if (!request.is_piece) memory.unpin();
}

HostImages::~HostImages() {
  if (!request_.is_piece) memory_.unpin();
}

std::int64_t HostImages::poisoned_bytes() const {
  if (request_.is_piece) return 0;  // the keys of other pieces, left in the memory, are no answer
  const std::int64_t max_bytes = std::int64_t{1} << 30;
  return std::min(2 * request_.keys.bytes, request_.device_bytes > 0 ? request_.device_bytes : max_bytes);
}

double HostImages::copy_in() {
  if (input_ != keys_) std::memcpy(keys_, input_, request_.keys.bytes);
  if (request_.pageable) return 0;
  const auto started = Clock::now();
  memory_.pin(keys_ + request_.keys.span, request_.keys.span_bytes);
  memory_.pin(scratch_ + request_.scratch.span, request_.scratch.span_bytes);
  return elapsed_milliseconds(started);
}

double HostImages::copy_out() const {
  const std::int64_t bytes = request_.keys.span_bytes;
  if (!request_.time_copies || bytes == 0) return 0;
  const std::int64_t piece = std::min(bytes, bytes_per_copy);
  const Stream in, out;
  const DeviceArray<char> arrived(piece, in), leaving(piece, out);
  CUDA_CHECK(cudaMemsetAsync(leaving.data(), 0, piece, out));
  CUDA_CHECK(cudaDeviceSynchronize());
  const auto started = Clock::now();
  for (std::int64_t at = 0; at < bytes; at += piece) {
    const std::int64_t count = std::min(piece, bytes - at);
    CUDA_CHECK(cudaMemcpyAsync(arrived.data(), keys_ + request_.keys.span + at, count, cudaMemcpyHostToDevice, in));
    CUDA_CHECK(
        cudaMemcpyAsync(scratch_ + request_.scratch.span + at, leaving.data(), count, cudaMemcpyDeviceToHost, out));
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  return elapsed_milliseconds(started);
}

StepArguments HostImages::arguments() const {
  return {request_.type,
          {keys_ + request_.keys.span, request_.keys.span_bytes},
          {scratch_ + request_.scratch.span, request_.scratch.span_bytes},
          request_.n,
          request_.order,
          request_.shape,
          stream_,
          request_.device_bytes};
}

void HostImages::begin() const {
  std::uint64_t zero = 0;  // the mark becomes what is in use now: nothing
  CUDA_CHECK(cudaMemPoolSetAttribute(default_pool(), cudaMemPoolAttrUsedMemHigh, &zero));
}

void HostImages::end() const {
  if (request_.device_bytes == 0) return;
  std::uint64_t peak_bytes = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(default_pool(), cudaMemPoolAttrUsedMemHigh, &peak_bytes));
  if (std::int64_t(peak_bytes) <= request_.device_bytes) return;
  throw TooMuchMemory(fmt::format(
      "the step had {} bytes of device memory allocated at a time; the case allows {}. An array occupies whole pages",
      peak_bytes, request_.device_bytes));
}

}  // namespace lab

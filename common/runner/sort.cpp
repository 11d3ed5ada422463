#include "runner/sort.h"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runner/call.h"
#include "runner/channel.h"
#include "runner/cuda_handles.h"
#include "runner/fair_start.h"
#include "runner/host_images.h"
#include "runner/kernel_times.h"
#ifdef SIMT_CHECK
#include "runner/sealed_copy.h"
#endif
#include "step/device_array.h"
#include "step/error.h"
#include "step/segments.h"
#ifdef __SIMT__
#include <simt/host_watch.h>
#endif
#ifdef SIMT_CHECK
#include <simt/observed.h>
#endif

namespace lab {
namespace {

using Clock = std::chrono::steady_clock;

// The time of a copy includes the host's part of it, so the host's clock measures it, on an idle device.
double milliseconds_since(Clock::time_point started) {
  CUDA_CHECK(cudaDeviceSynchronize());
  return std::chrono::duration<double, std::milli>(Clock::now() - started).count();
}

// Waits until everything that the step has started, on any stream, has finished. Only then is the output valid, and
// only then does the judge's clock stop. Also finds a failed launch that the step did not check for.
void check_device() {
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    throw StepFailed(fmt::format("a kernel or CUDA call of the step failed: {} ({})", cudaGetErrorName(error),
                                 cudaGetErrorString(error)));
  }
}

// Fills the memory that the step's own allocations will get, so that what it reads there without having written it is
// noise, never the output of the previous case. Too little memory for this is not an error.
void poison_scratch(std::int64_t bytes, int poison, cudaStream_t stream) {
  try {
    DeviceArray<char> scratch(bytes, stream);
    CUDA_CHECK(cudaMemsetAsync(scratch.data(), poison, bytes, stream));
  } catch (const CudaError& error) {
    if (error.code != cudaErrorMemoryAllocation) throw;
    cudaGetLastError();
  }
}

DeviceArray<char> allocate(std::int64_t bytes, cudaStream_t stream) {
  try {
    return {bytes, stream};
  } catch (const CudaError& error) {
    if (error.code != cudaErrorMemoryAllocation) throw;
    cudaGetLastError();
    throw Unsupported(fmt::format("{} MiB do not fit into the device's memory: choose a smaller --n", bytes >> 20));
  }
}

// While it exists, CUDA on the CPU counts the blocks that end in the judge's memory.
class BlockCount {
 public:
#ifdef __SIMT__
  explicit BlockCount(char* counter) { simt::count_blocks_in(reinterpret_cast<std::uint64_t*>(counter)); }
  ~BlockCount() { simt::count_blocks_in(nullptr); }
#else
  explicit BlockCount(char*) {}
#endif
};

// A case's keys and values on the device.
struct DeviceImages {
  const Request& request;
  SharedMemory& memory;
  cudaStream_t stream;
  DeviceArray<char> keys = allocate(request.keys.bytes, stream);
  DeviceArray<char> values = allocate(request.values.bytes, stream);
  std::vector<int> host_begins =
      request.task == Task::segments ? segment_begins(request.task, request.n) : std::vector<int>();
  DeviceArray<int> begins = {std::ssize(host_begins), stream};
#ifdef SIMT_CHECK
  std::optional<SealedCopy> keys_before = {}, values_before = {};  // as they came: the judge overwrites its own
#endif

  double copy_in() {
    const auto started = Clock::now();
    copy(keys.data(), memory.at(request.keys.input), request.keys.bytes, cudaMemcpyHostToDevice);
    copy(values.data(), memory.at(request.values.input), request.values.bytes, cudaMemcpyHostToDevice);
    copy(begins.data(), host_begins.data(), begins.size() * std::int64_t{sizeof(int)}, cudaMemcpyHostToDevice);
    const double milliseconds = milliseconds_since(started);
#ifdef SIMT_CHECK
    keys_before.emplace(memory.at(request.keys.input), std::size_t(request.keys.bytes));
    values_before.emplace(memory.at(request.values.input), std::size_t(request.values.bytes));
#endif
    flush_cache(stream);
    return milliseconds;
  }

  double copy_out() const {
    const auto started = Clock::now();
    copy(memory.at(request.keys.output), keys.data(), request.keys.bytes, cudaMemcpyDeviceToHost);
    copy(memory.at(request.values.output), values.data(), request.values.bytes, cudaMemcpyDeviceToHost);
    return milliseconds_since(started);
  }

  // Errors: HostWorked, in the check build. What it did not see, it can find nothing wrong with.
  void require_kernels() const {
#ifdef SIMT_CHECK
    const auto require = [&](const DeviceArray<char>& array, const Image& image, const SealedCopy& before,
                             const char* what) {
      if (image.bytes == 0) return;
      const std::int64_t at = std::int64_t(simt::check::first_not_by_device(
          array.data() + image.span, std::size_t(image.span_bytes), before.open() + image.span));
      if (at >= image.span_bytes) return;
      throw HostWorked(
          fmt::format("no kernel was seen to write byte {} of the {}, which has changed: kernels must "
                      "write them, and must not be hidden from the check build",
                      at, what));
    };
    const TaskNames names = names_of(request.task);
    require(keys, request.keys, *keys_before, names.input);
    require(values, request.values, *values_before, names.result);
#endif
  }

  // In the check build: why the keys are as they were (simt/observed.h). "" elsewhere.
  std::string why_unchanged() const {
#ifdef SIMT_CHECK
    if (is_in_place(request.task) && request.n > 0) {
      return simt::check::why_unchanged(keys.data() + request.keys.span, std::size_t(request.keys.span_bytes));
    }
#endif
    return "";
  }

  StepArguments arguments() const {
    return {request.type,
            {keys.data() + request.keys.span, keys.size()},
            {values.data() + request.values.span, values.size()},
            request.n,
            request.order,
            request.shape,
            stream,
            0,
            {begins.data(), begins.size()}};
  }

  std::int64_t poisoned_bytes() const { return request.keys.bytes + request.values.bytes; }

  // What a step allocates is not limited.
  void begin() const {}
  void end() const {}

  // The check build must report accesses to the guards around the keys.
  void narrow() const {
#ifdef SIMT_CHECK
    const TaskNames names = names_of(request.task);
    simt::check::narrow(keys.data() + request.keys.span, request.keys.span_bytes, names.input);
    simt::check::narrow(values.data() + request.values.span, request.values.span_bytes, names.result);
    simt::check::narrow(begins.data(), begins.size() * sizeof(int), "begins");
#endif
  }

 private:
  void copy(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind) const {
    if (bytes > 0) CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream));
  }
};

// While it exists, the stream does not advance. The keys arrive behind what keeps it busy, so what a step queues in
// another stream sorts something else. A host function keeps it busy, not a kernel: it takes no multiprocessor from
// the step, whatever the size of the GPU, and it ends by itself if the step waits for the stream. Where CUDA runs on the
// CPU, simt::HostWatch refuses such a launch.
class BusyStream {
 public:
#ifdef __SIMT__
  BusyStream(const Step&, const Request&, void*, cudaStream_t) {}
#else
  BusyStream(const Step& step, const Request& request, void* keys, cudaStream_t stream) {
    const std::int64_t bytes = request.keys.span_bytes;
    // The clock of kernels would count the copies.
    if (!request.watch_host || request.time_kernels) return;
    if (step.on_host || step.in_host_memory() || bytes == 0 || bytes > max_bytes) return;
    DeviceArray<char> kept;
    try {
      kept = allocate(bytes, stream);
    } catch (const Unsupported&) {  // the step may need what is left
      return;
    }
    CUDA_CHECK(cudaMemcpyAsync(kept.data(), keys, bytes, cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaMemsetAsync(keys, request.poison, bytes, stream));
    CUDA_CHECK(cudaDeviceSynchronize());
    is_busy() = true;
    CUDA_CHECK(cudaLaunchHostFunc(stream, wait, nullptr));
    CUDA_CHECK(cudaMemcpyAsync(keys, kept.data(), bytes, cudaMemcpyDeviceToDevice, stream));
    // The step's own allocations may get this memory, in which they must not find the keys.
    CUDA_CHECK(cudaMemsetAsync(kept.data(), request.poison, bytes, stream));
  }
  ~BusyStream() { is_busy() = false; }
#endif
  BusyStream(const BusyStream&) = delete;
  BusyStream& operator=(const BusyStream&) = delete;

 private:
#ifndef __SIMT__
  static constexpr std::int64_t max_bytes = std::int64_t{64} << 20;
  // For steps that wait for the stream themselves, or for a call that waits for the whole device, as loading a kernel may.
  static constexpr std::chrono::milliseconds longest{5};

  static std::atomic<bool>& is_busy() {
    static std::atomic<bool> busy = false;
    return busy;
  }
  // Must not call CUDA.
  static void wait(void*) {
    const auto started = Clock::now();
    while (is_busy() && Clock::now() - started < longest) std::this_thread::yield();
  }
#endif
};

// Calls the step. On the CPU, where host code could sort the keys as well, kernels must do the work.
void call_watched(const Step& step, const Request& request, const StepArguments& arguments) {
#ifdef __SIMT__
  if (request.watch_host && !step.on_host && !step.in_host_memory()) {
    const simt::MemoryRange keys{arguments.keys.data, std::size_t(request.keys.span_bytes)};
    const simt::MemoryRange values{arguments.values.data, std::size_t(request.values.span_bytes)};
    const simt::HostWatch watch(keys, is_in_place(request.task) ? keys : values);
    call(step, arguments);
    if (const std::string fault = watch.fault(); !fault.empty()) throw HostWorked(fault);
    return;
  }
#else
  (void)request;
#endif
  call(step, arguments);
}

nlohmann::json json_of(const std::vector<KernelTime>& kernels) {
  nlohmann::json lines = nlohmann::json::array();
  for (const KernelTime& k : kernels) {
    lines.push_back({{"name", k.name.substr(0, 120)},
                     {"launches", k.launches},
                     {"milliseconds", k.milliseconds},
                     {"blocks", k.blocks},
                     {"threads", k.threads},
                     {"dynamic_shared", k.dynamic_shared},
                     {"static_shared", k.static_shared},
                     {"registers", k.registers}});
  }
  return lines;
}

nlohmann::json json_of(const Timeline& timeline) {
  nlohmann::json spans = nlohmann::json::array();
  for (const TimelineSpan& span : timeline.spans) {
    spans.push_back({{"stream", span.stream},
                     {"what", span.what.substr(0, 120)},
                     {"begin_ms", span.begin},
                     {"end_ms", span.end},
                     {"bytes", span.bytes}});
  }
  return {{"spans", std::move(spans)}, {"left_out", timeline.left_out}};
}

std::string text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The members of the document on a sort that was timed.
std::string members_of(const Recording& recording) {
  return "\"kernels\":" + text(json_of(recording.kernels)) + ",\"timeline\":" + text(json_of(recording.timeline));
}

template <class Images>
void serve_images(const Step& step, const Request& request, SharedMemory& memory, cudaStream_t stream,
                  Images&& images) {
  const Event start, stop;
  images.narrow();
  poison_scratch(images.poisoned_bytes(), request.poison, stream);
  CUDA_CHECK(cudaDeviceSynchronize());
  const double copied = images.copy_in();
  CUDA_CHECK(cudaDeviceSynchronize());

  Request go;
  send(Progress::ready, Status::verified, copied);
  if (!receive(go)) return;
  const BlockCount count(memory.at(request.blocks_ended));
  std::optional<KernelClock> clock;
  if (request.time_kernels) clock.emplace();
  try {
    images.begin();
    std::optional<BusyStream> busy(std::in_place, step, request, images.arguments().keys.data, stream);
    CUDA_CHECK(cudaEventRecord(start, stream));
    call_watched(step, request, images.arguments());
    busy.reset();
#ifdef SIMT_CHECK
    simt::check::report_unread_launch();
#endif
    cudaEventRecord(stop, stream);
    check_device();
    images.end();
    if (!step.on_host) images.require_kernels();
    send(Progress::sorted, Status::verified, milliseconds_between(start, stop));
  } catch (const Unsupported& error) {
    images.copy_out();  // the judge checks whether anything was touched
    return finish(Status::unsupported, 0, error.what());
  }
  std::string recorded = clock ? members_of(clock->recording()) : "";
  // If the host may write the keys, it explains nothing that no kernel has written them.
  if (const std::string why = step.on_host ? "" : images.why_unchanged(); !why.empty()) {
    recorded += (recorded.empty() ? "" : ",") + ("\"unchanged\":" + text(why));
  }
  finish(Status::verified, images.copy_out(), "", recorded);
}

}  // namespace

Pinned::Pinned(char* data, std::int64_t bytes) : data_(data), bytes_(bytes) {
  CUDA_CHECK(cudaHostRegister(data, bytes, cudaHostRegisterDefault));
}

// A step that has failed may have left copies behind, which still use the memory.
Pinned::~Pinned() {
  if (data_ == nullptr) return;
  cudaDeviceSynchronize();
  cudaHostUnregister(data_);
}

void SharedMemory::resize(std::int64_t bytes) {
  if (bytes == bytes_) return;
  unmap();
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  if (data == MAP_FAILED) throw Error("cannot map the judge's memory");
  data_ = static_cast<char*>(data);
  bytes_ = bytes;
}

void SharedMemory::pin(char* data, std::int64_t bytes) {
  const auto covers = [&](const Pinned& pinned) { return pinned.covers(data, bytes); };
  if (bytes > 0 && std::none_of(pinned_.begin(), pinned_.end(), covers)) pinned_.emplace_back(data, bytes);
}

void SharedMemory::unmap() {
  unpin();
  if (data_) munmap(data_, bytes_);
  data_ = nullptr;
  bytes_ = 0;
}

void finish(Status status, double milliseconds, const std::string& text, const std::string& recorded) {
  std::string document = recorded;
#ifdef SIMT_CHECK
  document += (document.empty() ? "" : ",") + ("\"observed\":" + simt::check::findings_json());
#endif
  if (!document.empty()) send_document("{" + document + "}");
  send(Progress::finished, status, milliseconds, text);
}

void serve_sort(std::span<const Step> steps, const Request& request, SharedMemory& memory) {
  const Step& step = find_step(steps, request.step, request.task);
  memory.resize(request.memory_bytes);
  const Stream stream;
  if (step.in_host_memory()) return serve_images(step, request, memory, stream, HostImages(request, memory, stream));
  serve_images(step, request, memory, stream, DeviceImages{request, memory, stream});
}

}  // namespace lab

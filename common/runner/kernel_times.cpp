// On the CPU the emulation reports each launch and copy. On a GPU the linker redirects the calls that `<<<>>>` becomes,
// and those of copies, to the functions below (--wrap), which record an event before and after. The student's code
// stays unchanged.
#include "runner/kernel_times.h"

#include <cuda_runtime.h>
#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "step/error.h"

#if __has_include(<simt/launch.h>)
#include <simt/launch.h>
#define LAB_EMULATED
#endif

namespace lab {
namespace {

std::mutex mutex;  // of all below: a step may have several host threads
Recording recorded;
std::vector<cudaStream_t> streams;

// "void lab::(anonymous namespace)::sort_tile<(lab::Order)0, unsigned int>(lab::Span<unsigned int>)" -> "sort_tile"
std::string plain_name(std::string name) {
  for (std::size_t at; (at = name.find("(anonymous namespace)::")) != std::string::npos;) name.erase(at, 23);
  name = name.substr(0, name.find('('));  // the arguments; those of a template may hold one as well
  name = name.substr(0, name.find('<'));
  const std::size_t begin = name.find_last_of(": ");
  if (begin != std::string::npos) name.erase(0, begin + 1);
  return name.empty() ? "kernel" : name;
}

bool is_in_device_memory(const void* pointer) {
  cudaPointerAttributes facts{};
  if (cudaPointerGetAttributes(&facts, pointer) == cudaSuccess) return facts.type == cudaMemoryTypeDevice;
  cudaGetLastError();
  return false;
}

// copy_in or copy_out; null for a copy that does not cross the bus.
const char* direction(const void* to, const void* from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToDevice) return copy_in;
  if (kind == cudaMemcpyDeviceToHost) return copy_out;
  if (kind != cudaMemcpyDefault || is_in_device_memory(to) == is_in_device_memory(from)) return nullptr;
  return is_in_device_memory(to) ? copy_in : copy_out;
}

int index_of(cudaStream_t stream) {
  auto known = std::find(streams.begin(), streams.end(), stream);
  if (known == streams.end()) known = streams.insert(streams.end(), stream);
  return int(known - streams.begin());
}

void add(const KernelTime& launch) {
  std::vector<KernelTime>& kernels = recorded.kernels;
  const auto known = std::find_if(kernels.begin(), kernels.end(), [&](auto& k) { return k.name == launch.name; });
  if (known == kernels.end()) {
    kernels.push_back(launch);
    return;
  }
  known->launches += launch.launches;
  known->milliseconds += launch.milliseconds;
  if (launch.blocks > known->blocks) known->blocks = launch.blocks, known->threads = launch.threads;
  known->dynamic_shared = std::max(known->dynamic_shared, launch.dynamic_shared);
  known->static_shared = std::max(known->static_shared, launch.static_shared);
  known->registers = std::max(known->registers, launch.registers);
}

void add(TimelineSpan span) {
  Timeline& timeline = recorded.timeline;
  if (timeline.spans.size() < max_timeline_spans) {
    timeline.spans.push_back(std::move(span));
  } else {
    ++timeline.left_out;
  }
}

}  // namespace

#ifdef LAB_EMULATED

namespace {

std::chrono::steady_clock::time_point origin;

// A span that has just ended.
TimelineSpan ended_span(std::string what, cudaStream_t stream, double milliseconds, std::size_t bytes = 0) {
  const std::chrono::duration<double, std::milli> now = std::chrono::steady_clock::now() - origin;
  return {index_of(stream), std::move(what), std::max(0.0, now.count() - milliseconds), now.count(),
          std::int64_t(bytes)};
}

void launched(const simt::Kernel& kernel, const simt::LaunchConfig& config, double milliseconds) {
  const std::lock_guard lock(mutex);
  KernelTime launch;
  launch.name = plain_name(kernel.name);
  launch.launches = 1;
  launch.milliseconds = milliseconds;
  launch.blocks = std::int64_t(config.grid.x) * config.grid.y * config.grid.z;
  launch.threads = std::int64_t(config.block.x) * config.block.y * config.block.z;
  launch.dynamic_shared = std::int64_t(config.dynamic_shared);
  add(launch);
  add(ended_span(launch.name, config.stream, milliseconds));
}

void copied(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
            double milliseconds) {
  const char* const what = direction(to, from, kind);
  if (!what) return;
  const std::lock_guard lock(mutex);
  add(ended_span(what, stream, milliseconds, bytes));
}

}  // namespace

KernelClock::KernelClock() {
  recorded = {};
  streams.clear();
  origin = std::chrono::steady_clock::now();
  simt::listen_to_launches(launched);
  simt::listen_to_copies(copied);
}

KernelClock::~KernelClock() {
  simt::listen_to_launches(nullptr);
  simt::listen_to_copies(nullptr);
}

Recording KernelClock::recording() { return std::exchange(recorded, {}); }

#else

namespace {

struct Timed {
  std::optional<KernelTime> kernel;  // none: a copy
  TimelineSpan span;
  cudaEvent_t before, after;
};

bool listening = false;
cudaEvent_t origin;
std::vector<Timed> timed_calls;

std::string name_of_kernel(const void* kernel) {
#if CUDART_VERSION >= 12030
  const char* mangled = nullptr;
  if (cudaFuncGetName(&mangled, kernel) == cudaSuccess && mangled) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                           &std::free);
    return plain_name(status == 0 ? name.get() : mangled);
  }
#endif
  cudaGetLastError();
  const std::lock_guard lock(mutex);
  static std::vector<const void*> nameless;  // distinguished by their order
  auto known = std::find(nameless.begin(), nameless.end(), kernel);
  if (known == nameless.end()) known = nameless.insert(nameless.end(), kernel);
  return "kernel_" + std::to_string(known - nameless.begin() + 1);
}

// Makes the call whatever happens to our events, and returns its error. Nothing is locked during the call: a copy of
// pageable memory takes as long as it takes.
template <class F>
cudaError_t timed(Timed item, cudaStream_t stream, F&& call) {
  const bool ready = cudaEventCreate(&item.before) == cudaSuccess && cudaEventCreate(&item.after) == cudaSuccess &&
                     cudaEventRecord(item.before, stream) == cudaSuccess;
  const cudaError_t error = call();
  if (error != cudaSuccess || !ready) return error;
  cudaEventRecord(item.after, stream);
  const std::lock_guard lock(mutex);
  item.span.stream = index_of(stream);
  timed_calls.push_back(std::move(item));
  return error;
}

template <class F>
cudaError_t timed_launch(const void* kernel, dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream,
                         F&& launch) {
  if (!listening) return launch();
  Timed item{};
  KernelTime& facts = item.kernel.emplace();
  facts.name = item.span.what = name_of_kernel(kernel);
  facts.launches = 1;
  facts.blocks = std::int64_t(grid.x) * grid.y * grid.z;
  facts.threads = std::int64_t(block.x) * block.y * block.z;
  facts.dynamic_shared = std::int64_t(shared);
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess) {
    facts.static_shared = std::int64_t(attributes.sharedSizeBytes);
    facts.registers = attributes.numRegs;
  } else {
    cudaGetLastError();
  }
  return timed(std::move(item), stream, std::forward<F>(launch));
}

template <class F>
cudaError_t timed_copy(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                       F&& copy) {
  const char* const what = listening && bytes > 0 ? direction(to, from, kind) : nullptr;
  if (!what) return copy();
  Timed item{};
  item.span.what = what;
  item.span.bytes = std::int64_t(bytes);
  return timed(std::move(item), stream, std::forward<F>(copy));
}

double milliseconds_between(cudaEvent_t from, cudaEvent_t to) {
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, from, to));
  return std::max(0.0, double(milliseconds));
}

}  // namespace

KernelClock::KernelClock() {
  timed_calls.clear();
  streams.clear();
  CUDA_CHECK(cudaEventCreate(&origin));
  CUDA_CHECK(cudaEventRecord(origin, nullptr));
  CUDA_CHECK(cudaEventSynchronize(origin));
  listening = true;
}

KernelClock::~KernelClock() {
  listening = false;
  cudaEventDestroy(origin);
}

Recording KernelClock::recording() {
  listening = false;
  recorded = {};
  for (Timed& item : timed_calls) {
    item.span.begin = milliseconds_between(origin, item.before);
    item.span.end = std::max(item.span.begin, milliseconds_between(origin, item.after));
    if (item.kernel) {
      item.kernel->milliseconds = milliseconds_between(item.before, item.after);
      add(*item.kernel);
    }
    add(std::move(item.span));
    cudaEventDestroy(item.before);
    cudaEventDestroy(item.after);
  }
  timed_calls.clear();
  return std::exchange(recorded, {});
}

#endif

}  // namespace lab

#ifndef LAB_EMULATED
extern "C" {

// What `<<<>>>` becomes: cudaLaunchKernel up to CUDA 12, __cudaLaunchKernel from 13 on.
cudaError_t __real_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                    cudaStream_t stream) {
  return lab::timed_launch(kernel, grid, block, shared, stream,
                           [&] { return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream); });
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  return lab::timed_launch(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,
                           [&] { return __real_cudaLaunchKernelExC(config, kernel, arguments); });
}

#if CUDART_VERSION >= 13000
cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                      cudaStream_t stream) {
  return lab::timed_launch(kernel, grid, block, shared, stream,
                           [&] { return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream); });
}
#endif

cudaError_t __real_cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return lab::timed_copy(to, from, bytes, kind, stream,
                         [&] { return __real_cudaMemcpyAsync(to, from, bytes, kind, stream); });
}

#if CUDART_VERSION >= 13000
// A span for the whole batch: the copies in it have no events of their own. All have the direction of the first.
cudaError_t __real_cudaMemcpyBatchAsync(void* const*, const void* const*, const std::size_t*, std::size_t,
                                        cudaMemcpyAttributes*, std::size_t*, std::size_t, cudaStream_t);
cudaError_t __wrap_cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes,
                                        std::size_t count, cudaMemcpyAttributes* attributes, std::size_t* first_copies,
                                        std::size_t attribute_count, cudaStream_t stream) {
  const auto copy = [&] {
    return __real_cudaMemcpyBatchAsync(to, from, sizes, count, attributes, first_copies, attribute_count, stream);
  };
  if (count == 0) return copy();
  return lab::timed_copy(to[0], from[0], std::accumulate(sizes, sizes + count, std::size_t{0}), cudaMemcpyDefault,
                         stream, copy);
}
#endif

cudaError_t __real_cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind);
cudaError_t __wrap_cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return lab::timed_copy(to, from, bytes, kind, nullptr, [&] { return __real_cudaMemcpy(to, from, bytes, kind); });
}

}  // extern "C"
#endif

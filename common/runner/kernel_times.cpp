// On the CPU the emulation reports each launch. On a GPU the linker redirects the calls that `<<<>>>` becomes to the
// functions below (--wrap), which record an event before and after the launch. The student's code stays unchanged.
#include "runner/kernel_times.h"

#include <cuda_runtime.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "step/error.h"

#if __has_include(<simt/launch.h>)
#include <simt/launch.h>
#define LAB_EMULATED
#endif

namespace lab {
namespace {

std::mutex guard;
std::vector<KernelTime> finished;

// "void lab::(anonymous namespace)::sort_tile<(lab::Order)0, unsigned int>(lab::Span<unsigned int>)" -> "sort_tile"
std::string plain_name(std::string name) {
  for (std::size_t at; (at = name.find("(anonymous namespace)::")) != std::string::npos;) name.erase(at, 23);
  name = name.substr(0, name.find('('));  // the arguments; those of a template may hold one as well
  name = name.substr(0, name.find('<'));
  const std::size_t begin = name.find_last_of(": ");
  if (begin != std::string::npos) name.erase(0, begin + 1);
  return name.empty() ? "kernel" : name;
}

void add(const KernelTime& launch) {
  const auto known = std::find_if(finished.begin(), finished.end(), [&](auto& k) { return k.name == launch.name; });
  if (known == finished.end()) {
    finished.push_back(launch);
    return;
  }
  known->launches += launch.launches;
  known->milliseconds += launch.milliseconds;
  if (launch.blocks > known->blocks) known->blocks = launch.blocks, known->threads = launch.threads;
  known->dynamic_shared = std::max(known->dynamic_shared, launch.dynamic_shared);
  known->static_shared = std::max(known->static_shared, launch.static_shared);
  known->registers = std::max(known->registers, launch.registers);
}

}  // namespace

#ifdef LAB_EMULATED

KernelClock::KernelClock() {
  finished.clear();
  simt::listen_to_launches([](const simt::Kernel& kernel, const simt::LaunchConfig& config, double milliseconds) {
    const std::lock_guard lock(guard);
    KernelTime launch;
    launch.name = plain_name(kernel.name);
    launch.launches = 1;
    launch.milliseconds = milliseconds;
    launch.blocks = std::int64_t(config.grid.x) * config.grid.y * config.grid.z;
    launch.threads = std::int64_t(config.block.x) * config.block.y * config.block.z;
    launch.dynamic_shared = std::int64_t(config.dynamic_shared);
    add(launch);
  });
}

KernelClock::~KernelClock() { simt::listen_to_launches(nullptr); }

std::vector<KernelTime> KernelClock::times() { return finished; }

#else

namespace {

struct Launch {
  KernelTime kernel;
  cudaEvent_t before, after;
};

bool listening = false;
std::vector<Launch> launches;

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
  static std::vector<const void*> nameless;  // distinguished by their order
  auto known = std::find(nameless.begin(), nameless.end(), kernel);
  if (known == nameless.end()) known = nameless.insert(nameless.end(), kernel);
  return "kernel_" + std::to_string(known - nameless.begin() + 1);
}

// Calls `launch` whatever happens to our events, and returns its error.
template <class F>
cudaError_t timed(const void* kernel, dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, F&& launch) {
  if (!listening) return launch();
  const std::lock_guard lock(guard);
  Launch recorded{};
  recorded.kernel.name = name_of_kernel(kernel);
  recorded.kernel.launches = 1;
  recorded.kernel.blocks = std::int64_t(grid.x) * grid.y * grid.z;
  recorded.kernel.threads = std::int64_t(block.x) * block.y * block.z;
  recorded.kernel.dynamic_shared = std::int64_t(shared);
  cudaFuncAttributes facts;
  if (cudaFuncGetAttributes(&facts, kernel) == cudaSuccess) {
    recorded.kernel.static_shared = std::int64_t(facts.sharedSizeBytes);
    recorded.kernel.registers = facts.numRegs;
  } else {
    cudaGetLastError();
  }
  const bool ready = cudaEventCreate(&recorded.before) == cudaSuccess &&
                     cudaEventCreate(&recorded.after) == cudaSuccess &&
                     cudaEventRecord(recorded.before, stream) == cudaSuccess;
  const cudaError_t error = launch();
  if (error != cudaSuccess || !ready) return error;
  cudaEventRecord(recorded.after, stream);
  launches.push_back(recorded);
  return error;
}

}  // namespace

KernelClock::KernelClock() {
  launches.clear();
  listening = true;
}

KernelClock::~KernelClock() { listening = false; }

std::vector<KernelTime> KernelClock::times() {
  listening = false;
  finished.clear();
  for (Launch& launch : launches) {
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, launch.before, launch.after));
    cudaEventDestroy(launch.before);
    cudaEventDestroy(launch.after);
    launch.kernel.milliseconds = milliseconds;
    add(launch.kernel);
  }
  launches.clear();
  return finished;
}

#endif

}  // namespace lab

#ifndef LAB_EMULATED
extern "C" {

// What `<<<>>>` becomes: cudaLaunchKernel up to CUDA 12, __cudaLaunchKernel from 13 on.
cudaError_t __real_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                    cudaStream_t stream) {
  return lab::timed(kernel, grid, block, shared, stream,
                    [&] { return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream); });
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  return lab::timed(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,
                    [&] { return __real_cudaLaunchKernelExC(config, kernel, arguments); });
}

#if CUDART_VERSION >= 13000
cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                      cudaStream_t stream) {
  return lab::timed(kernel, grid, block, shared, stream,
                    [&] { return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream); });
}
#endif

}  // extern "C"
#endif

// On the CPU the emulation tells of each launch. On a GPU the linker leads the calls that `<<<>>>` becomes to the
// functions below (--wrap), which record an event before and after the launch: nothing of a student's code changes.
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

void add(const KernelTime& one) {
  const auto known = std::find_if(finished.begin(), finished.end(), [&](auto& k) { return k.name == one.name; });
  if (known == finished.end()) {
    finished.push_back(one);
    return;
  }
  known->launches += one.launches;
  known->milliseconds += one.milliseconds;
  if (one.blocks > known->blocks) known->blocks = one.blocks, known->threads = one.threads;
  known->dynamic_shared = std::max(known->dynamic_shared, one.dynamic_shared);
  known->static_shared = std::max(known->static_shared, one.static_shared);
  known->registers = std::max(known->registers, one.registers);
}

}  // namespace

#ifdef LAB_EMULATED

KernelClock::KernelClock() {
  finished.clear();
  simt::listen_to_launches([](const simt::Kernel& kernel, const simt::LaunchConfig& config, double milliseconds) {
    const std::lock_guard lock(guard);
    KernelTime one;
    one.name = plain_name(kernel.name);
    one.launches = 1;
    one.milliseconds = milliseconds;
    one.blocks = std::int64_t(config.grid.x) * config.grid.y * config.grid.z;
    one.threads = std::int64_t(config.block.x) * config.block.y * config.block.z;
    one.dynamic_shared = std::int64_t(config.dynamic_shared);
    add(one);
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
  static std::vector<const void*> nameless;  // told apart by their order
  auto known = std::find(nameless.begin(), nameless.end(), kernel);
  if (known == nameless.end()) known = nameless.insert(nameless.end(), kernel);
  return "kernel_" + std::to_string(known - nameless.begin() + 1);
}

// `launch` is called whatever happens to our events; its error is the caller's.
template <class F>
cudaError_t timed(const void* kernel, dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, F&& launch) {
  if (!listening) return launch();
  const std::lock_guard lock(guard);
  Launch one{};
  one.kernel.name = name_of_kernel(kernel);
  one.kernel.launches = 1;
  one.kernel.blocks = std::int64_t(grid.x) * grid.y * grid.z;
  one.kernel.threads = std::int64_t(block.x) * block.y * block.z;
  one.kernel.dynamic_shared = std::int64_t(shared);
  cudaFuncAttributes facts;
  if (cudaFuncGetAttributes(&facts, kernel) == cudaSuccess) {
    one.kernel.static_shared = std::int64_t(facts.sharedSizeBytes);
    one.kernel.registers = facts.numRegs;
  } else {
    cudaGetLastError();
  }
  const bool ready = cudaEventCreate(&one.before) == cudaSuccess && cudaEventCreate(&one.after) == cudaSuccess &&
                     cudaEventRecord(one.before, stream) == cudaSuccess;
  const cudaError_t error = launch();
  if (error != cudaSuccess || !ready) return error;
  cudaEventRecord(one.after, stream);
  launches.push_back(one);
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
  for (Launch& one : launches) {
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, one.before, one.after));
    cudaEventDestroy(one.before);
    cudaEventDestroy(one.after);
    one.kernel.milliseconds = milliseconds;
    add(one.kernel);
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

// Launches by functions, which take the addresses of the arguments: cudaLaunchKernel and its relatives. The rewriter
// (common/simt/rewrite/kernel_arguments.py) gives them the kernel itself, or remembers the kernel where its address is
// turned into a pointer to void, which does not say which arguments the kernel has.
#pragma once

#include "simt/launch.h"
#include "simt/runtime/launch_types.h"

namespace simt {

/// What the rewriter turns a kernel's name in a call of these functions into, and drops a cast from.
template <class... Parameters>
struct NamedKernel {
  const char* name;
  void (*function)(Parameters...);
  Site site;
};
template <class... Parameters>
NamedKernel<Parameters...> named_kernel(const char* name, void (*function)(Parameters...), Site site = Site::here()) {
  return {name, function, site};
}

/// The same for a pointer to void.
struct KernelAddress {
  const void* function;
  Site site;
};
inline KernelAddress named_kernel(const char*, const void* function, Site site = Site::here()) {
  return {function, site};
}

/// How a kernel is launched of which only the address is known.
struct KnownKernel {
  const char* name;
  cudaError_t (*launch)(const void* function, const char* name, Site site, const LaunchConfig& config,
                        void** arguments);
};
void remember_kernel(const void* function, const KnownKernel& kernel);
/// Reports an unknown address (cudaErrorInvalidDeviceFunction).
cudaError_t launch_known(const KernelAddress& kernel, const LaunchConfig& config, void** arguments);

/// `arguments`: the address of each.
template <class... Parameters, std::size_t... Numbers>
cudaError_t launch_by_addresses(const NamedKernel<Parameters...>& kernel, const LaunchConfig& config, void** arguments,
                                std::index_sequence<Numbers...>) {
  using Call =
      std::conditional_t<(is_destroyed<Parameters> || ...), CalledWithBits<Parameters...>, void (*)(Parameters...)>;
  Bound<Call, Kept<Parameters>...> bound{{kernel.function},
                                         {kept(*static_cast<std::decay_t<Parameters>*>(arguments[Numbers]))...}};
  LaunchConfig own = config;
  own.returns_error = true;
  return run_bound(bound, kernel.name, kernel.site, own);
}
template <class... Parameters>
cudaError_t launch_by_addresses(const NamedKernel<Parameters...>& kernel, const LaunchConfig& config,
                                void** arguments) {
  return launch_by_addresses(kernel, config, arguments, std::index_sequence_for<Parameters...>());
}
inline cudaError_t launch_by_addresses(const KernelAddress& kernel, const LaunchConfig& config, void** arguments) {
  return launch_known(kernel, config, arguments);
}

template <class... Parameters>
cudaError_t launch_remembered(const void* function, const char* name, Site site, const LaunchConfig& config,
                              void** arguments) {
  const auto kernel = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(function));
  return launch_by_addresses(NamedKernel<Parameters...>{name, kernel, site}, config, arguments);
}

/// What the rewriter turns a cast of a kernel to a pointer to void into.
template <class... Parameters>
void* kernel_pointer(const char* name, void (*function)(Parameters...)) {
  void* const address = reinterpret_cast<void*>(function);
  remember_kernel(address, {name, launch_remembered<Parameters...>});
  return address;
}
/// A variable that has a kernel's name.
template <class T>
void* kernel_pointer(const char*, T&& other) {
  return (void*)(other);
}

/// The configuration with its attributes. Attributes that change nothing here are accepted; reports those that CUDA on
/// the CPU does not have.
cudaError_t configuration_of(const cudaLaunchConfig_t* given, Site site, LaunchConfig& config);

template <class Kernel>
cudaError_t launch_with_attributes(const cudaLaunchConfig_t* given, const Kernel& kernel, void** arguments) {
  LaunchConfig config(1, 1);
  const cudaError_t error = configuration_of(given, kernel.site, config);
  return error != cudaSuccess ? error : launch_by_addresses(kernel, config, arguments);
}

}  // namespace simt

/// `arguments`: the address of each. The launch is that of kernel<<<grid, block, dynamic_shared, stream>>>().
template <class... Parameters>
cudaError_t cudaLaunchKernel(simt::NamedKernel<Parameters...> kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr) {
  return simt::launch_by_addresses(kernel, simt::LaunchConfig(grid, block, dynamic_shared, stream), arguments);
}
inline cudaError_t cudaLaunchKernel(simt::KernelAddress kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr) {
  return simt::launch_by_addresses(kernel, simt::LaunchConfig(grid, block, dynamic_shared, stream), arguments);
}

/// Runs all blocks at once, so that this_grid().sync() may be called. Refused with cudaErrorCooperativeLaunchTooLarge
/// if the blocks do not fit on the device.
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(simt::NamedKernel<Parameters...> kernel, dim3 grid, dim3 block,
                                        void** arguments, std::size_t dynamic_shared = 0,
                                        cudaStream_t stream = nullptr) {
  simt::LaunchConfig config(grid, block, dynamic_shared, stream);
  config.is_cooperative = true;
  return simt::launch_by_addresses(kernel, config, arguments);
}
inline cudaError_t cudaLaunchCooperativeKernel(simt::KernelAddress kernel, dim3 grid, dim3 block, void** arguments,
                                               std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr) {
  simt::LaunchConfig config(grid, block, dynamic_shared, stream);
  config.is_cooperative = true;
  return simt::launch_by_addresses(kernel, config, arguments);
}

template <class... Parameters>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, simt::NamedKernel<Parameters...> kernel,
                                void** arguments) {
  return simt::launch_with_attributes(config, kernel, arguments);
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, simt::KernelAddress kernel, void** arguments) {
  return simt::launch_with_attributes(config, kernel, arguments);
}
/// `arguments`: as in a call of the kernel.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, simt::NamedKernel<Parameters...> kernel,
                               Arguments&&... arguments) {
  return [&](Parameters... converted) {
    void* addresses[] = {const_cast<void*>(reinterpret_cast<const volatile void*>(&converted))..., nullptr};
    return simt::launch_with_attributes(config, kernel, addresses);
  }(static_cast<Arguments&&>(arguments)...);
}

/// On a GPU, a kernel that was launched with programmatic stream serialization may begin before the one in front of it
/// ends, and waits here for it. On the CPU, that one has ended.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

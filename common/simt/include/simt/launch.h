// What the rewriter turns `kernel<<<grid, block, shared, stream>>>(arguments)` and `extern __shared__` into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "simt/device.h"
#include "simt/host_pointers.h"
#include "simt/runtime.h"

namespace simt {

/// The arguments between <<< and >>>, evaluated once.
struct LaunchConfig {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared = 0;  ///< bytes
  cudaStream_t stream = nullptr;

  LaunchConfig(dim3 grid, dim3 block, std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr)
      : grid(grid), block(block), dynamic_shared(dynamic_shared), stream(stream) {}
};

/// A kernel with its arguments bound, to be called once per thread.
struct Kernel {
  const char* name;                     ///< as written at the launch, with template arguments
  Site site;                            ///< of the launch
  void (*call)(const void* arguments);  ///< runs one thread
  const void* arguments;
  /// Where it reads them: memory of the host.
  struct Range {
    const void* begin;
    std::size_t bytes;
  };
  std::array<Range, 2> ranges;
};

/// Runs all threads of all blocks to completion before it returns. A launch that a device would refuse sets the last
/// error (cudaErrorInvalidConfiguration or cudaErrorInvalidResourceHandle), reports the line of the launch, and runs
/// nothing.
void run(const Kernel& kernel, const LaunchConfig& config);

/// From now on, `listener` is called after each launch; null (the default) for no listener.
using LaunchListener = void (*)(const Kernel& kernel, const LaunchConfig& config, double milliseconds);
void listen_to_launches(LaunchListener listener);

/// From now on, each block that ends adds 1 to this counter; null (the default): to none.
void count_blocks_in(std::uint64_t* counter);

template <class Call, class... Arguments>
void launch(const Call& call, const char* name, const char* file, int line, const LaunchConfig& config,
            Arguments&&... arguments) {
  std::tuple<std::decay_t<Arguments>...> copies(static_cast<Arguments&&>(arguments)...);
  std::apply(
      [](auto&... copy) {
        int position = 0;
        (guard_argument(copy, ++position), ...);
      },
      copies);
  struct Bound {
    const Call& call;
    decltype(copies)& arguments;
  } bound{call, copies};
  const Kernel kernel{name,
                      {file, line},
                      [](const void* pointer) {
                        const Bound& bound = *static_cast<const Bound*>(pointer);
                        std::apply([&](auto&... arguments) { bound.call(passed(arguments)...); }, bound.arguments);
                      },
                      &bound,
                      {{{&bound, sizeof bound}, {&copies, sizeof copies}}}};
  run(kernel, config);
}

/// `extern __shared__ T name[]` at file scope: converts to a pointer to the running block's memory.
template <class T>
struct DynamicShared {
  operator T*() const { return static_cast<T*>(dynamic_shared()); }
};

}  // namespace simt

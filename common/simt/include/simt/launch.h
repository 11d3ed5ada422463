// What the rewriter makes of `kernel<<<grid, block, shared, stream>>>(arguments)` and of `extern __shared__`.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include "simt/device.h"
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
};

/// Runs all threads of all blocks, to the end, before it returns. An impossible shape sets the last error
/// (cudaErrorInvalidConfiguration or cudaErrorInvalidValue), prints a line that names the launch, and runs nothing.
void run(const Kernel& kernel, const LaunchConfig& config);

/// Told of each launch, after its end, from now on; null (as at first) for nobody.
using LaunchListener = void (*)(const Kernel& kernel, const LaunchConfig& config, double milliseconds);
void listen_to_launches(LaunchListener listener);

/// A pointer into host memory cannot be followed on a device: gives back an address that faults when it is, so that
/// the message can name argument `position` (from 1). Pointers a device may follow come back as they are.
const volatile void* guard_pointer(const volatile void* pointer, int position);

/// The same for what looks like pointers to the host's heap and stack among an object's words.
void guard_words(void* object, std::size_t bytes, int position);

/// An aggregate with a pointer named `data`, such as lab::Span.
template <class T>
concept View = std::is_class_v<T> && std::is_trivially_copyable_v<T> &&
               requires(T view) { requires std::is_pointer_v<std::remove_reference_t<decltype(view.data)>>; };

template <class T>
void guard_argument(T& argument, int position) {
  if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
    argument = static_cast<T>(const_cast<void*>(guard_pointer(argument, position)));
  } else if constexpr (std::is_class_v<T> && std::is_trivially_copy_constructible_v<T>) {
    // (Not is_trivially_copyable, which g++ 12 denies some lambdas.)
    if constexpr (View<T>) guard_argument(argument.data, position);
    guard_words(&argument, sizeof argument, position);
  }
}

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
                        std::apply(bound.call, bound.arguments);
                      },
                      &bound};
  run(kernel, config);
}

/// The running block's dynamic shared memory; aligned for any vector type.
void* dynamic_shared();

/// `extern __shared__ T name[]` at file scope: converts to a pointer to the running block's memory.
template <class T>
struct DynamicShared {
  operator T*() const { return static_cast<T*>(dynamic_shared()); }
};

}  // namespace simt

// What the rewriter turns `kernel<<<grid, block, shared, stream>>>(arguments)` and `extern __shared__` into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "simt/device.h"
#include "simt/host_pointers.h"
#include "simt/object_arguments.h"
#include "simt/runtime.h"

#if defined(__GNUC__) && !defined(__clang__)
#define SIMT_KEPT_APART __attribute__((no_icf))
#else
#define SIMT_KEPT_APART
#endif

namespace simt {

/// The arguments between <<< and >>>, evaluated once.
struct LaunchConfig {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared = 0;  ///< bytes
  cudaStream_t stream = nullptr;
  bool is_cooperative = false;  ///< all blocks run at once, and have a barrier
  bool returns_error = false;   ///< the call that launches the kernel, or its graph, returns the error

  LaunchConfig(dim3 grid, dim3 block, std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr)
      : grid(grid), block(block), dynamic_shared(dynamic_shared), stream(stream) {}
};

/// The first arguments of a launch: their number, which of them are whole numbers, and those.
struct Numbers {
  static constexpr int most = 8;
  int count = 0;
  bool is_number[most] = {};
  std::int64_t values[most] = {};
};

/// A kernel with its arguments bound, to be called once per thread.
struct Kernel {
  const char* name;                     ///< as written at the launch, with template arguments
  Site site;                            ///< of the launch
  void (*call)(const void* arguments);  ///< runs one thread
  const void* arguments;
  std::size_t bytes;                ///< of the arguments
  bool refers_to_caller = false;    ///< it is of no use when the function that launches it has returned
  bool has_local_argument = false;  ///< of a launch from a kernel: a pointer to what only that thread or block has
  /// Writes down the arguments that are whole numbers, for the trace of a run; null where that is not known.
  void (*list_numbers)(const void* arguments, Numbers& numbers) = nullptr;
};

/// Runs all threads of all blocks to completion before it returns. A launch that a device would refuse sets the last
/// error (cudaErrorInvalidConfiguration, cudaErrorInvalidResourceHandle or cudaErrorCooperativeLaunchTooLarge), reports
/// the line of the launch, and runs nothing. Returns the error of the launch, not of the kernel.
///
/// In a kernel, the launch waits until the running grid has ended, and runs before the host continues.
cudaError_t run(const Kernel& kernel, const LaunchConfig& config);
[[gnu::const]] bool is_in_kernel();  // no function is left on another side than it was called on
/// Whether the pointer is to local memory of the running thread or to shared memory of its block.
bool is_local_or_shared(const void* pointer);

/// From now on, `listener` is called after each launch; null (the default) for no listener.
using LaunchListener = void (*)(const Kernel& kernel, const LaunchConfig& config, double milliseconds);
void listen_to_launches(LaunchListener listener);

/// From now on, each block that ends adds 1 to this counter; null (the default): to none.
void count_blocks_in(std::uint64_t* counter);

/// Who uses a function for host and device in constants.
enum class Side { host, device, either };

/// Not constexpr, so that the compiler refuses a constant for which host and device would need different versions.
inline void a_constant_that_differs_between_host_and_device_code() {}

/// The rewriter lets it choose the version of a constexpr function that tests __CUDA_ARCH__.
template <Side side>
constexpr bool is_on_device() {
  if (!__builtin_is_constant_evaluated()) return is_in_kernel();
  if constexpr (side == Side::either) a_constant_that_differs_between_host_and_device_code();
  return side == Side::device;
}
/// The rewriter puts it in front of the host's version: common/simt/calls does not look at the calls behind it.
constexpr void host_version() {}

/// A kernel and its own copies of its arguments. A launch from a kernel copies it bit by bit.
template <class Call, class... Arguments>
struct Bound {
  Call call;
  std::tuple<Arguments...> arguments;
};

/// Runs one thread. Like kernels, those of two launches stay apart: a merged one would have no line of the program.
template <class Call, class... Arguments>
SIMT_KEPT_APART void run_thread(const void* pointer) {
  auto& bound = *static_cast<Bound<Call, Arguments...>*>(const_cast<void*>(pointer));
  std::apply([&](auto&... arguments) { bound.call(passed(arguments)...); }, bound.arguments);
}

template <class Call, class... Arguments>
void list_numbers(const void* pointer, Numbers& numbers) {
  const auto add = [&](const auto& argument) {
    const int position = numbers.count++;
    if constexpr (std::is_integral_v<std::decay_t<decltype(argument)>>) {
      if (position >= Numbers::most) return;
      numbers.is_number[position] = true;
      numbers.values[position] = std::int64_t(argument);
    }
  };
  std::apply([&](const auto&... arguments) { (add(arguments), ...); },
             static_cast<const Bound<Call, Arguments...>*>(pointer)->arguments);
}

/// The same for a pointer in an argument. (What is not a pointer may look like one, as padding does.)
template <class T>
bool points_to_own_memory(const T& argument) {
  if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
    return is_local_or_shared(const_cast<const void*>(static_cast<const volatile void*>(argument)));
  } else if constexpr (is_view<T>) {
    return points_to_own_memory(argument.data);
  } else {
    return false;
  }
}

template <class Call>
inline constexpr bool is_pointer_to_kernel = std::is_pointer_v<Call>;
template <class... Parameters>
inline constexpr bool is_pointer_to_kernel<CalledWithBits<Parameters...>> = true;

template <class Call, class... Arguments>
cudaError_t run_bound(Bound<Call, Arguments...>& bound, const char* name, Site site, const LaunchConfig& config) {
  bool has_local_argument = false;
  if (is_in_kernel()) {
    std::apply([&](auto&... copy) { has_local_argument = (points_to_own_memory(copy) || ...); }, bound.arguments);
  } else {
    std::apply(
        [](auto&... copy) {
          int position = 0;
          (guard_argument(copy, ++position), ...);
        },
        bound.arguments);
  }
  // A function object with members holds references to variables that name the kernel, such as a pointer to it.
  constexpr bool refers_to_caller = !std::is_empty_v<Call> && !is_pointer_to_kernel<Call>;
  return run({name, site, run_thread<Call, Arguments...>, &bound, sizeof bound, refers_to_caller, has_local_argument,
              list_numbers<Call, Arguments...>},
             config);
}

template <class Call, class... Arguments>
void launch(const Call& call, const char* name, const char* file, int line, const LaunchConfig& config,
            Arguments&&... arguments) {
  Bound<Call, std::decay_t<Arguments>...> bound{
      call, std::tuple<std::decay_t<Arguments>...>(static_cast<Arguments&&>(arguments)...)};
  run_bound(bound, name, {file, line}, config);
}

/// With objects that are destroyed when this returns.
template <class... Parameters, class... Arguments>
void launch_with_bits(void (*kernel)(Parameters...), const char* name, Site site, const LaunchConfig& config,
                      Arguments&&... arguments) {
  const std::tuple<HostCopy<Parameters, Arguments>...> copies(static_cast<Arguments&&>(arguments)...);
  std::apply(
      [&](const auto&... copy) {
        Bound<CalledWithBits<Parameters...>, Kept<HostCopy<Parameters, Arguments>>...> bound{{kernel}, {kept(copy)...}};
        run_bound(bound, name, site, config);
      },
      copies);
}

/// Of a kernel that may have parameters of classes with a destructor.
template <class Call, class Select, class... Arguments>
void launch(const Selectable<Call, Select>& call, const char* name, const char* file, int line,
            const LaunchConfig& config, Arguments&&... arguments) {
  const auto kernel = selected_kernel<std::decay_t<Arguments>...>(call.select);
  if constexpr (takes<Arguments...>(std::remove_const_t<decltype(kernel)>())) {
    launch_with_bits(kernel, name, {file, line}, config, static_cast<Arguments&&>(arguments)...);
  } else {
    launch(call.call, name, file, line, config, static_cast<Arguments&&>(arguments)...);
  }
}

/// `extern __shared__ T name[]` at file scope: converts to a pointer to the running block's memory.
template <class T>
struct DynamicShared {
  operator T*() const { return static_cast<T*>(dynamic_shared()); }
};

}  // namespace simt

#include "simt/launch.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "../emulation.h"
#include "../environment.h"
#include "../execution/os_threads.h"
#include "../faults/signals.h"
#include "../memory/closed_memory.h"
#include "call.h"
#include "captures.h"
#include "child_launches.h"
#include "simt/runtime/kernels.h"
#include "simt/runtime/streams.h"

namespace simt {
namespace {

std::atomic<LaunchListener> launch_listener = nullptr;

/// Why a device would refuse this launch, or an empty text. Limits: CUDA C++ Programming Guide, "Compute Capabilities".
std::string refusal(const LaunchConfig& config, std::size_t dynamic_limit) {
  const dim3 g = config.grid, b = config.block;
  if (g.x == 0 || g.y == 0 || g.z == 0) return "grid " + coordinates(g) + " has no blocks";
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
    return "grid " + coordinates(g) + " exceeds (2147483647,65535,65535)";
  }
  if (b.x == 0 || b.y == 0 || b.z == 0) return "block " + coordinates(b) + " has no threads";
  constexpr unsigned most = max_threads_per_block;  // in each dimension, too, or the product could overflow
  if (b.x > most || b.y > most || b.z > most || std::uint64_t(b.x) * b.y * b.z > most) {
    return "block " + coordinates(b) + " has more than " + std::to_string(most) +
           " threads; for more threads, launch more blocks; in <<<blocks, threads>>>, the threads come second";
  }
  if (b.z > 64) return "block " + coordinates(b) + " has more than 64 threads in the third dimension";
  if (config.dynamic_shared > dynamic_limit) {
    return std::to_string(config.dynamic_shared) + " bytes of dynamic shared memory exceed the limit of " +
           std::to_string(dynamic_limit) + " (cudaFuncSetAttribute raises it to 232448)";
  }
  return {};
}

cudaError_t refuse(const Kernel& kernel, const LaunchConfig& config, const std::string& reason, cudaError_t error,
                   const char* kind = "invalid-launch") {
  report_error(kind, kernel.site, std::string("kernel ") + kernel.name + ": " + reason,
               {.kernel = kernel.name,
                .launch = kernel.site,
                .numbers = {{"dynamic_shared", config.dynamic_shared}},
                .shapes = {{"grid", config.grid}, {"block", config.block}}});
  set_last_error(error);
  return error;
}

constexpr const char* not_by_name =
    "launched by a variable, which may have another value when the graph is launched; in a captured stream, launch the "
    "kernel by its name, or with cudaLaunchKernel()";

/// How many blocks like these the device has room for.
std::uint64_t blocks_that_fit(const LaunchConfig& config, int threads) {
  return std::uint64_t(multiprocessors()) * std::uint64_t(resident_blocks(threads, config.dynamic_shared));
}

std::string too_large(const Launch& launch) {
  const int threads = launch.threads;
  const std::size_t shared = launch.config.dynamic_shared;
  return "a cooperative launch of " + std::to_string(launch.blocks) + " blocks, which must all run at once; with " +
         std::to_string(threads) + " threads" +
         (shared == 0 ? "" : " and " + std::to_string(shared) + " bytes of dynamic shared memory") + ", " +
         std::to_string(blocks_that_fit(launch.config, threads)) +
         " blocks fit on this device: " + std::to_string(resident_blocks(threads, shared)) + " on each of " +
         std::to_string(multiprocessors()) +
         " multiprocessors; take the number of blocks from cudaOccupancyMaxActiveBlocksPerMultiprocessor() and "
         "cudaDevAttrMultiProcessorCount, and let each thread do more in a loop";
}

/// Whether blocks that wait for others leave them their turn. CUDA promises that for cooperative launches. Many programs
/// rely on it in others that fit on the device, which is reported where something checks the program.
bool are_resident(const Launch& launch) {
  if (launch.config.is_cooperative) return true;
  SIMT_OBSERVE(return check::Schedule::is_on();)
  return !is_judged() && !reverse_blocks() && launch.blocks > 1 &&
         launch.blocks <= blocks_that_fit(launch.config, launch.threads);
}

Launch launch_of(const Kernel& kernel, const LaunchConfig& config, int depth) {
  static std::atomic<std::uint64_t> launches = 0;
  const std::uint64_t number = ++launches;
  return {kernel,
          config,
          std::uint64_t(config.grid.x) * config.grid.y * config.grid.z,
          int(config.block.x * config.block.y * config.block.z),
          number,
          order_seed() == 0 ? 0 : order_seed() + (number << 32),
          depth};
}

/// Runs a launch, then what it has launched, and so on.
void run_family(Launch launch) {
  launch.are_resident = are_resident(launch);
  OsThreads::instance().run(launch);
  for (const ChildLaunch& child : take_child_launches()) {
    if (sticky() != cudaSuccess) return;
    if (child.transfer) {
      if (run_transfer_of_kernel(*child.transfer, child.config.stream) != cudaSuccess)
        set_sticky(cudaErrorIllegalAddress);
      continue;
    }
    run_family(launch_of(child.kernel, child.config, launch.depth + 1));
  }
}

/// If the launch becomes a node of a graph instead of running now: the error.
std::optional<cudaError_t> as_node_of_graph(const Kernel& kernel, const LaunchConfig& config) {
  if (NodeWork* const node = std::exchange(host_thread.kernel_node, nullptr)) {
    *node = kernel_work(kernel, config);
    return cudaSuccess;
  }
  if (const cudaError_t error = refused_in_capture(config.stream); error != cudaSuccess) {
    set_last_error(error);
    return error;
  }
  const auto as_node = [&] {
    if (!kernel.refers_to_caller) return kernel_work(kernel, config);
    return NodeWork{.type = cudaGraphNodeTypeKernel, .run = [](cudaStream_t) { return cudaErrorNotSupported; }};
  };
  if (const auto error = captured(config.stream, as_node)) {
    if (*error == cudaSuccess && kernel.refers_to_caller)
      return refuse(kernel, config, not_by_name, cudaErrorNotSupported);
    return error;
  }
  return {};
}

/// Why a kernel cannot make this launch, or an empty text.
std::string refusal_in_kernel(const LaunchConfig& config) {
  const cudaStream_t stream = config.stream;
  if (config.is_cooperative) return "a kernel cannot make a cooperative launch";
  if (!is_stream_of_kernels(stream)) {
    return "the stream does not exist or has been destroyed";
  }
  return refusal(config, max_dynamic_shared());
}

}  // namespace

void listen_to_launches(LaunchListener new_listener) { launch_listener = new_listener; }

bool is_in_kernel() { return Worker::running() != nullptr; }
bool is_local_or_shared(const void* pointer) { return Worker::running()->is_local_or_shared(pointer); }

cudaError_t run(const Kernel& kernel, const LaunchConfig& config) {
  if (Worker* const worker = Worker::running()) {
    std::string refused;
    std::optional<ChildLaunch> child;
    worker->uninterrupted([&] {
      refused = refusal_in_kernel(config);
      child.emplace(kernel, config, worker->launch());
    });
    launch_from_kernel(*worker, *std::move(child), refused);
    return cudaSuccess;
  }
  if (const cudaError_t error = sticky(); error != cudaSuccess) return error;  // as after a fault on a GPU
  if (const std::string reason = refusal(config, max_dynamic_shared()); !reason.empty()) {
    return refuse(kernel, config, reason, cudaErrorInvalidConfiguration);
  }
  if (!is_stream(config.stream)) {
    return refuse(kernel, config, "the stream does not exist or has been destroyed", cudaErrorInvalidResourceHandle);
  }
  if (is_default_stream(config.stream) && is_host_watched()) {
    return refuse(kernel, config,
                  "launched on the default stream, which does not wait for the stream that the step was given; name "
                  "that stream in every launch: <<<grid, block, 0, stream>>>",
                  cudaErrorNotPermitted, "default-stream");
  }
  const Launch launch = launch_of(kernel, config, 0);
  if (config.is_cooperative && launch.blocks > blocks_that_fit(config, launch.threads)) {
    return refuse(kernel, config, too_large(launch), cudaErrorCooperativeLaunchTooLarge);
  }
  if (const auto error = as_node_of_graph(kernel, config)) return *error;
  catch_faults();
  const OpenMemory open;
  const auto started = std::chrono::steady_clock::now();
  run_family(launch);
  if (const LaunchListener notify = launch_listener) {
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - started;
    notify(kernel, config, elapsed.count());
  }
  return cudaSuccess;
}

}  // namespace simt

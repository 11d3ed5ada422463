#include "runner/describe.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/call.h"
#include "runner/cuda_handles.h"
#include "step/device_array.h"
#include "step/error.h"
#include "step/key_type.h"

namespace lab {
namespace {

using Json = nlohmann::json;

// Bytes read plus bytes written per second by a copy within the device, the best of a few.
double measure_copy_bandwidth() {
  if (!on_gpu) return 0;
  const std::int64_t bytes = std::int64_t{1} << 30;
  Stream stream;
  const Event start, stop;
  const DeviceArray<char> from(bytes, stream), to(bytes, stream);
  double best_milliseconds = 1e30;
  for (int run = 0; run < 5; ++run) {
    CUDA_CHECK(cudaEventRecord(start, stream));
    CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaEventRecord(stop, stream));
    best_milliseconds = std::min(best_milliseconds, milliseconds_between(start, stop));
  }
  return 2.0 * bytes / (best_milliseconds * 1e-3);
}

std::string summary_of(const cudaDeviceProp& device) {
  int driver = 0, runtime = 0;
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return fmt::format("{}, compute capability {}.{}, {} multiprocessors, {:.0f} GiB, CUDA {}.{} (driver {}.{})",
                     device.name, device.major, device.minor, device.multiProcessorCount,
                     double(device.totalGlobalMem) / (1 << 30), runtime / 1000, runtime % 1000 / 10, driver / 1000,
                     driver % 1000 / 10);
}

// For the table of hardware in a report: what a fact is about, and its value.
Json facts_of(const cudaDeviceProp& device) {
  Json facts = Json::array();
  const auto add = [&](const char* what, const auto& value) { facts.push_back({what, fmt::format("{}", value)}); };
  const auto three = [](const int (&size)[3]) { return fmt::format("{} x {} x {}", size[0], size[1], size[2]); };
  add("device", on_gpu ? device.name : "none: CUDA on the CPU, which reports these properties:");
  add("compute capability", fmt::format("{}.{}", device.major, device.minor));
  add("multiprocessors", device.multiProcessorCount);
  add("global memory, bytes", device.totalGlobalMem);
  add("level 2 cache, bytes", device.l2CacheSize);
  add("constant memory, bytes", device.totalConstMem);
  add("shared memory per block, bytes", device.sharedMemPerBlock);
  add("shared memory per block on request, bytes", device.sharedMemPerBlockOptin);
  add("shared memory per multiprocessor, bytes", device.sharedMemPerMultiprocessor);
  add("registers per block", device.regsPerBlock);
  add("registers per multiprocessor", device.regsPerMultiprocessor);
  add("threads per block, at most", fmt::format("{} ({})", device.maxThreadsPerBlock, three(device.maxThreadsDim)));
  add("blocks per launch, at most", three(device.maxGridSize));
  add("threads per multiprocessor, at most", device.maxThreadsPerMultiProcessor);
  add("threads per warp", device.warpSize);
  add("memory bus, bits", device.memoryBusWidth);
  return facts;
}

Json steps_of(std::span<const Step> steps) {
  Json lines = Json::array();
  for (const Step& step : steps) {
    if (const Step& other = find_step(steps, step.number, step.task()); &other != &step) {
      throw Error(fmt::format("lines {} and {} of this table have the same number and task", other.name, step.name));
    }
    Json types = Json::array();
    for (KeyType type : all_key_types) {
      if (step.takes(type)) types.push_back(name_of(type));
    }
    lines.push_back({{"number", step.number},
                     {"name", step.name},
                     {"idea", step.idea},
                     {"stable", step.stable},
                     {"tile", step.tile},
                     {"max_n", step.max_n},
                     {"task", name_of(step.task())},
                     {"memory", step.in_host_memory() ? "host" : "device"},
                     {"min_device_bytes", step.min_device_bytes},
                     {"types", types}});
  }
  return lines;
}

}  // namespace

std::string describe(std::span<const Step> steps, bool measure_bandwidth) {
  cudaDeviceProp device;
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  const Json document = {{"device", summary_of(device)},
                         {"on_gpu", on_gpu},
                         {"copy_bytes_per_second", measure_bandwidth ? measure_copy_bandwidth() : 0.0},
                         {"facts", facts_of(device)},
                         {"steps", steps_of(steps)}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lab

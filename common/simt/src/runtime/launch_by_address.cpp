#include "simt/launch_by_address.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "../execution/failure.h"
#include "call.h"

namespace simt {
namespace {

struct KnownKernels {
  std::mutex mutex;
  std::map<const void*, KnownKernel> by_address;
};

KnownKernels& known_kernels() {
  static auto* const known = new KnownKernels;  // never destroyed: a static's destructor may launch a kernel
  return *known;
}

std::optional<KnownKernel> known_kernel(const void* function) {
  const std::lock_guard lock(known_kernels().mutex);
  const auto entry = known_kernels().by_address.find(function);
  if (entry == known_kernels().by_address.end()) return {};
  return entry->second;
}

cudaError_t refuse(Site site, const std::string& reason, cudaError_t error) {
  report_error("invalid-launch", site, reason);
  set_last_error(error);
  return error;
}

template <class Shape>
std::string text_of(const Shape& shape) {
  return "(" + std::to_string(shape.x) + "," + std::to_string(shape.y) + "," + std::to_string(shape.z) + ")";
}

/// What an attribute asks for that does not exist here, or an empty text.
std::string missing(const cudaLaunchAttribute& attribute) {
  switch (attribute.id) {
    case cudaLaunchAttributeClusterDimension: {
      const auto& cluster = attribute.val.clusterDim;
      if (cluster.x == 1 && cluster.y == 1 && cluster.z == 1) return {};
      return "clusters of " + text_of(cluster) + " blocks: CUDA on the CPU has no thread block clusters";
    }
    case cudaLaunchAttributeProgrammaticEvent:
    case cudaLaunchAttributeLaunchCompletionEvent:
      return "an event that a launch records: CUDA on the CPU has none, call cudaEventRecord() after the launch";
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
      return "a node that kernels may change: CUDA on the CPU has none";
    default:
      return {};
  }
}

bool is_attribute(const cudaLaunchAttribute& attribute) {
  return attribute.id >= cudaLaunchAttributeIgnore && attribute.id <= cudaLaunchAttributeNvlinkUtilCentricScheduling;
}

}  // namespace

void remember_kernel(const void* function, const KnownKernel& kernel) {
  const std::lock_guard lock(known_kernels().mutex);
  known_kernels().by_address.emplace(function, kernel);
}

cudaError_t launch_known(const KernelAddress& kernel, const LaunchConfig& config, void** arguments) {
  const std::optional<KnownKernel> known = known_kernel(kernel.function);
  if (!known) {
    return refuse(kernel.site,
                  "a launch by an address of which CUDA on the CPU does not know the kernel: it knows those that the "
                  "program casts by their names, as in (void*)kernel",
                  cudaErrorInvalidDeviceFunction);
  }
  return known->launch(kernel.function, known->name, kernel.site, config, arguments);
}

cudaError_t configuration_of(const cudaLaunchConfig_t* given, Site site, LaunchConfig& config) {
  return call("cudaLaunchKernelExC", [&] {
    if (given == nullptr || (given->attrs == nullptr && given->numAttrs != 0)) return cudaErrorInvalidValue;
    config = LaunchConfig(given->gridDim, given->blockDim, given->dynamicSmemBytes, given->stream);
    for (unsigned i = 0; i < given->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = given->attrs[i];
      if (!is_attribute(attribute)) return cudaErrorInvalidValue;
      if (attribute.id == cudaLaunchAttributeCooperative) config.is_cooperative = attribute.val.cooperative != 0;
      if (const std::string what = missing(attribute); !what.empty()) {
        return refuse(site, "the launch asks for " + what, cudaErrorNotSupported);
      }
    }
    return cudaSuccess;
  });
}

}  // namespace simt

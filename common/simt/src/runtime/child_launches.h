// Launches, copies and fills from kernels. They wait until their grid has ended, which CUDA permits: a grid can neither
// wait for what it launches nor rely on it (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism").
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "../execution/worker.h"
#include "call.h"

namespace simt {

struct ChildLaunch {
  Kernel kernel;
  LaunchConfig config;
  std::vector<std::max_align_t> arguments;  ///< which `kernel` names
  bool is_tail;                             ///< launched into cudaStreamTailLaunch
  std::optional<Transfer> transfer;         ///< is to be done; nothing is launched

  ChildLaunch(const Kernel& kernel, const LaunchConfig& config, const Launch& parent);
};

/// How many grids may launch one another, and how many launches may wait, unless cudaDeviceSetLimit() says otherwise.
inline constexpr int max_launch_depth = 24;
inline constexpr std::size_t default_pending_launches = 2048;

/// Keeps a launch by the worker's running thread until take_child_launches(). `refused`: why a device would refuse it.
void launch_from_kernel(Worker& worker, ChildLaunch launch, const std::string& refused);
/// The same for a copy or fill. `refused`: why CUDA does not permit it, or null.
void transfer_from_kernel(Worker& worker, const Transfer& transfer, cudaStream_t stream, const char* refused);
/// In the order in which they are to run.
std::vector<ChildLaunch> take_child_launches();

}  // namespace simt

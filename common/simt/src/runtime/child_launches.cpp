#include "child_launches.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "../faults/source_lines.h"
#include "simt/runtime/device.h"
#include "simt/runtime/streams.h"

namespace simt {
namespace {

struct Waiting {
  std::mutex mutex;
  std::vector<ChildLaunch> launches;
  std::set<std::string> names;  ///< of kernels, for their messages
};

Waiting& waiting() {
  static auto* const waiting = new Waiting;  // never destroyed: a static's destructor may launch a kernel
  return *waiting;
}

const char* const launched_by = " (launched by kernel ";

/// "sort (launched by kernel divide at sort.cu:12)"
const char* name_of(const Kernel& kernel, const Launch& parent) {
  const std::string parents(parent.kernel.name);
  const std::string name = std::string(kernel.name) + launched_by + parents.substr(0, parents.find(launched_by)) +
                           " at " + file_and_line(kernel.site) + ")";
  const std::lock_guard lock(waiting().mutex);
  return waiting().names.insert(name).first->c_str();
}

/// Why the launch is one too many, or an empty text.
std::string too_many(const Launch& parent, std::size_t pending) {
  const std::size_t limit = pending_launch_limit();
  if (parent.depth == max_launch_depth) {
    return "grids launch one another " + std::to_string(max_launch_depth) +
           " deep, which is the limit: end the recursion earlier, and let the last grid do the rest in a loop";
  }
  if (pending >= limit) {
    return std::to_string(limit) +
           " launches from kernels wait already, which is the limit: let one thread of a block launch for all, or "
           "raise the limit with cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, count)";
  }
  return {};
}

constexpr const char* unusable_argument =
    "an argument points to local memory of the thread or shared memory of the block, which another grid cannot access: "
    "pass a pointer to global memory";

}  // namespace

ChildLaunch::ChildLaunch(const Kernel& kernel, const LaunchConfig& config, const Launch& parent)
    : kernel(kernel),
      config(config),
      arguments((kernel.bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t)),
      is_tail(config.stream == cudaStreamTailLaunch) {
  if (kernel.bytes > 0) std::memcpy(arguments.data(), kernel.arguments, kernel.bytes);
  this->kernel.arguments = arguments.data();
  this->kernel.name = name_of(kernel, parent);
  this->config.stream = parent.config.stream;  // of the host's streams, it is in this one
}

namespace {

/// Keeps it, unless there are too many. `reason`: why it is refused.
void keep(const Worker& worker, ChildLaunch&& launch, std::string& reason) {
  const std::lock_guard lock(waiting().mutex);
  if (reason.empty()) reason = too_many(worker.launch(), waiting().launches.size());
  if (reason.empty()) waiting().launches.push_back(std::move(launch));
}

bool names_local_memory(const Transfer& transfer, const Worker& worker) {
  if (const Rows* const rows = std::get_if<Rows>(&transfer.work)) {
    return worker.is_local_or_shared(rows->to) || worker.is_local_or_shared(rows->from);
  }
  return worker.is_local_or_shared(std::get<Fill>(transfer.work).to);
}

}  // namespace

void launch_from_kernel(Worker& worker, ChildLaunch launch, const std::string& refused) {
  const std::string name = launch.kernel.name;
  const Site site = launch.kernel.site;
  std::string reason = refused;
  worker.uninterrupted([&] {
    if (reason.empty() && launch.kernel.has_local_argument) reason = unusable_argument;
    keep(worker, std::move(launch), reason);
  });
  if (reason.empty()) return;
  worker.fail({"invalid-launch", "launches " + name.substr(0, name.find(launched_by)) + ": " + reason, site,
               cudaErrorLaunchFailure});
}

void transfer_from_kernel(Worker& worker, const Transfer& transfer, cudaStream_t stream, const char* refused) {
  std::string reason;
  Site site;
  worker.uninterrupted([&] {
    if (refused != nullptr) reason = refused;
    if (reason.empty() && !is_stream_of_kernels(stream)) reason = "the stream does not exist or has been destroyed";
    if (reason.empty() && names_local_memory(transfer, worker)) reason = unusable_argument;
    ChildLaunch child({transfer.call.name, {}, nullptr, nullptr, 0}, LaunchConfig(1, 1, 0, stream), worker.launch());
    child.transfer = transfer;
    keep(worker, std::move(child), reason);
    if (!reason.empty()) site = line_of_call(transfer.call.caller);
  });
  if (reason.empty()) return;
  worker.fail(
      {"invalid-copy", "calls " + std::string(transfer.call.name) + "(): " + reason, site, cudaErrorLaunchFailure});
}

std::vector<ChildLaunch> take_child_launches() {
  const std::lock_guard lock(waiting().mutex);
  std::vector<ChildLaunch> taken = std::exchange(waiting().launches, {});
  std::stable_partition(taken.begin(), taken.end(), [](const ChildLaunch& launch) { return !launch.is_tail; });
  return taken;
}

}  // namespace simt

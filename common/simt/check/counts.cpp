#include "counts.h"

#include <chrono>

namespace simt::check {
namespace {

std::uint64_t nanoseconds_now() {
  return std::uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

}  // namespace

void Counts::begin_launch(const Launch& launch) {
  LaunchCounts& counts = launches_.emplace_back();
  counts.kernel = launch.kernel.name;
  counts.grid = launch.config.grid;
  counts.block = launch.config.block;
  counts.dynamic_shared = launch.config.dynamic_shared;
  counts.nanoseconds = nanoseconds_now();
}

void Counts::end_launch() { launch().nanoseconds = nanoseconds_now() - launch().nanoseconds; }

}  // namespace simt::check

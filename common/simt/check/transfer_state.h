// What is kept of copies and fills.
#pragma once

#include <cstdint>
#include <vector>

#include "check.h"

namespace simt::check {

/// The host's own memory that an asynchronous copy writes. It has no cells.
struct HostTarget {
  std::uintptr_t begin, end;
  std::uint32_t interval;  ///< of the copy
  bool is_registered;
};

/// What is kept of the running copy or fill, and of those that may not have ended.
struct Transfers {
  Transfer running = {};
  bool in_host_function = false;  ///< of cudaLaunchHostFunc(): host code runs as an operation of a stream
  std::vector<HostTarget> targets;
};

}  // namespace simt::check

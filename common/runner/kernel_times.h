// How long each kernel of a step takes: every launch of this process is timed, whoever makes it.
#pragma once

#include <string>
#include <vector>

#include "runner/protocol.h"

namespace lab {

/// While one lives, launches are timed: on a GPU by an event before and after each, which costs time, so that such a
/// run says how the time is shared out and not how long the step takes. Not more than one at a time.
class KernelClock {
 public:
  KernelClock();
  KernelClock(const KernelClock&) = delete;
  ~KernelClock();

  /// A line a kernel, in the order of their first launches. The device is idle when this is called.
  std::vector<KernelTime> times();
};

}  // namespace lab

// How long each kernel of a step takes: every launch of this process is timed, whatever code makes it.
#pragma once

#include <string>
#include <vector>

#include "runner/protocol.h"

namespace lab {

/// Launches are timed while an object of this class exists; at most one may exist at a time. On a GPU an event before
/// and after each launch takes the time, which slows the step down: such a run shows how its time is divided, not how
/// long it takes.
class KernelClock {
 public:
  KernelClock();
  KernelClock(const KernelClock&) = delete;
  ~KernelClock();

  /// One entry per kernel, in the order of their first launches. The device must be idle.
  std::vector<KernelTime> times();
};

}  // namespace lab

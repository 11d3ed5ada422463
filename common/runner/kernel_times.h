// How long each kernel of a step takes, and when it and the copies between host and device run: every launch and copy
// of this process is timed, whatever code makes it.
#pragma once

#include <vector>

#include "runner/protocol.h"

namespace lab {

/// What a KernelClock has timed.
struct Recording {
  std::vector<KernelTime> kernels;  ///< one entry per kernel, in the order of their first launches
  Timeline timeline;
};

/// Launches and copies are timed while an object of this class exists; at most one may exist at a time. (Of the copies:
/// cudaMemcpy and cudaMemcpyAsync from host to device or back.) On a GPU an event before and after each takes the time,
/// which slows the step down: such a run shows how its time is divided, not how long it takes.
class KernelClock {
 public:
  /// The device must be idle.
  KernelClock();
  KernelClock(const KernelClock&) = delete;
  ~KernelClock();

  /// Ends the recording. The device must be idle.
  Recording recording();
};

}  // namespace lab

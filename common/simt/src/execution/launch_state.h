// The running launch, and what its OS threads share.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>

#include "simt/launch.h"

namespace simt {

/// What all workers of a launch need to know.
struct Launch {
  Kernel kernel;
  LaunchConfig config;
  std::uint64_t blocks;
  int threads;               ///< per block
  std::uint64_t number;      ///< no two launches of a process have the same, and none has 0
  std::uint64_t order_seed;  ///< 0: threads run in CUDA's order
  int depth = 0;             ///< how many grids have launched one another: 0 for a launch by the host
  bool are_resident =
      false;  ///< its blocks fit on the device at once: those that wait for others leave them their turn
};

/// The state of the running launch; there is at most one at a time.
class LaunchState {
 public:
  void begin() { failed_ = false; }
  /// True once any block of the launch has failed; the other blocks then stop as well.
  bool failed() const { return failed_; }
  /// True for the first block that fails: the one to report.
  bool first_failure() { return !failed_.exchange(true); }

  void worker_begins() { ++workers_; }
  void worker_ends() { --workers_; }
  /// Is a kernel running?
  bool active() const { return workers_ > 0; }

 private:
  std::atomic<int> workers_ = 0;
  std::atomic<bool> failed_ = false;
};
inline constinit LaunchState launch_state;

/// Whether the host may change what a running kernel reads: the program has memory that both access, or streams. Only on
/// a GPU, because here a launch returns at its end.
inline constinit std::atomic<bool> host_may_intervene = false;

/// Sent to a worker whose device thread has been running for long; other OS threads ignore it.
inline constexpr int interrupt_signal = SIGURG;

/// How a worker is interrupted to see in which line of the program it is.
struct Interruption {
  /// Above 0: the program is about to be ended, and this many attempts are left to find the line. They come one after
  /// the other, so that the program proceeds between them.
  std::atomic<int> attempts_left = 0;
  std::atomic<bool> in_progress = false;

  /// The launch takes long, and its line is to be noted.
  std::atomic<bool> is_note_due = false;

  bool is_ending() const { return attempts_left > 0; }
};
inline constinit Interruption interruption;

}  // namespace simt

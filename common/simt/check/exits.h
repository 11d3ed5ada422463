// Threads that return before a barrier: what they should have written is missing after it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "access.h"
#include "simt/device.h"

namespace simt::check {

class Exits {
 public:
  void begin_block() {
    returns_.clear();
    in_block_ = false;
  }
  /// A thread of the running block returns from the kernel.
  void leave(Site site);
  /// `threads` threads do not reach a barrier, because they have exited.
  void miss(Site barrier, int threads);
  /// A thread reads what nothing has written: in shared memory, threads of its block may have left before they wrote
  /// it; in an array that kernels write, threads of earlier blocks and launches may have.
  void blame(const Access& access);

 private:
  struct Early {
    Site site;  ///< of the return, or if that is not known, of the barrier
    std::string text;
    std::uint32_t interval;
  };
  std::vector<std::pair<Site, int>> returns_;  // of the running block: where, and how many threads
  std::optional<Early> early_;                 // the first of the program, until it is reported
  bool in_block_ = false;                      // it is the running block's
  bool is_reported_ = false;
};

}  // namespace simt::check

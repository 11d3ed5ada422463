// Threads that return before a barrier, from the kernel or from a function that it calls: what they should have written
// is missing after it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "access.h"
#include "simt/device.h"

namespace simt::check {

class Exits {
 public:
  /// A return from a function before its barriers, of which `last` is the line of the last.
  struct Return {
    Site site;
    int last;
  };

  void begin_block() {
    returns_.clear();
    functions_.clear();
    in_block_ = false;
  }
  /// A barrier has opened.
  void begin_interval() { functions_.clear(); }
  /// A thread of the running block returns from the kernel.
  void leave(Site site);
  void leave_function(unsigned thread, Return from) { functions_[thread] = from; }
  /// See check.h.
  Site left_before(unsigned thread, Site barrier) const;
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
  std::map<unsigned, Return> functions_;       // by thread: its last one since the last barrier
  std::optional<Early> early_;                 // the first of the program, until it is reported
  bool in_block_ = false;                      // it is the running block's
  bool is_reported_ = false;
};

}  // namespace simt::check

// Threads that return before a barrier, from the kernel or from a function that it calls: what they should have written
// is missing after it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "findings.h"
#include "simt/device.h"

namespace simt::check {

class Exits {
 public:
  /// A return from a function before its barriers, of which `last` is the line of the last.
  struct Return {
    Site site;
    int last;
  };

  /// Of the running block.
  struct OfBlock {
    std::vector<std::pair<Site, int>> returns;  ///< where, and how many threads
    std::map<unsigned, Return> functions;       ///< by thread: its last one since the last barrier
    bool has_early = false;                     ///< early_ is this block's
  };
  OfBlock of_block;

  void begin_block() { of_block = {}; }
  /// A barrier has opened.
  void begin_interval() { of_block.functions.clear(); }
  /// A thread of the running block returns from the kernel.
  void leave(Site site);
  void leave_function(unsigned thread, Return from) { of_block.functions[thread] = from; }
  /// See check.h.
  Site left_before(unsigned thread, Site barrier) const;
  /// `threads` threads do not reach a barrier, because they have exited.
  void miss(Site barrier, int threads);
  /// A thread reads what nothing has written: in shared memory, threads of its block may have left before they wrote
  /// it; in an array that kernels write, threads of earlier blocks and launches may have.
  void blame(const Access& access);

 private:
  std::optional<Finding> early_;  // the first of the program, until it is reported
  bool is_reported_ = false;
};

}  // namespace simt::check

// A running launch for the tests of the observers, and what they have found.
#pragma once

#include "state.h"

/// A launch of 4 blocks of 128 threads, in the first block. Nothing is kept from before.
struct InLaunch {
  InLaunch();
  ~InLaunch();
  void next_block();

  simt::Launch launch;
};

inline std::size_t count_findings() { return simt::check::state().findings.all().size(); }
inline simt::check::LaunchCounts& counts() { return simt::check::state().counts.launch(); }

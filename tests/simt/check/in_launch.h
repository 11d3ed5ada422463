// A running launch for the tests of the observers, and what they have found.
#pragma once

#include <string>
#include <vector>

#include "state.h"

/// A launch of 4 blocks of 128 threads, in the first block. Nothing is kept from before.
struct InLaunch {
  InLaunch();
  ~InLaunch();
  void next_block();

  simt::Launch launch;
};

/// What is known of a word that belongs to no memory.
struct OwnCell {
  simt::check::Event write{}, read{}, other_read{};
  simt::check::Content content{};
  simt::check::Cell cell() { return {write, read, other_read, content}; }
};

/// What Images has reported to HostWatch.
extern std::vector<std::string> unseen_writes;
extern std::size_t written_for_host;

inline std::size_t count_findings() { return simt::check::state().findings.all().size(); }
inline simt::check::LaunchCounts& counts() { return simt::check::state().counts.launch(); }

// In place of findings.cpp and trace.cpp: what the observers have told, for the tests to read.
#pragma once

#include <string>
#include <vector>

#include "requests.h"
#include "running.h"

struct Told {
  std::string kind;
  simt::check::Code code, other;
  std::string text;
};

/// A launch of 4 blocks of 128 threads, in whose first block the test stands; nothing is kept from before.
struct InLaunch {
  InLaunch();
  ~InLaunch();
  void next_block();

  simt::Launch launch;
};

extern std::vector<Told> told;

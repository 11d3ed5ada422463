// The program that runs a lab's steps. The student's code runs in this process; the judge drives it from another.
#pragma once

#include <cstddef>
#include <span>

#include "step/table.h"

namespace lab {

/// The main function of a runner. Serves the judge's requests (runner/protocol.h) until the judge hangs up. Started by
/// hand, it prints what it is and how to run a step. Returns the exit code.
int run_steps(const char* lab, std::span<const Step> steps, int argc, char** argv);

template <std::size_t n>
int run_steps(const char* lab, const Step (&steps)[n], int argc, char** argv) {
  return run_steps(lab, std::span<const Step>(steps, n), argc, argv);
}

}  // namespace lab

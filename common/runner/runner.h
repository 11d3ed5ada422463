// The program that runs a lab's steps: the student's code lives and dies in it, the judge drives it.
#pragma once

#include <cstddef>
#include <span>

#include "step/step.h"

namespace lab {

/// The main function of a runner. Serves the judge's requests (lab/protocol.h) until the judge hangs up; started by
/// hand, it says what it is and how to run a step. Gives the exit code.
int run_steps(const char* lab, std::span<const Step> steps, int argc, char** argv);

template <std::size_t n>
int run_steps(const char* lab, const Step (&steps)[n], int argc, char** argv) {
  return run_steps(lab, std::span<const Step>(steps, n), argc, argv);
}

}  // namespace lab

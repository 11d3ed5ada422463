// The program that runs a lab's steps. The student's code runs in this process; the judge drives it from another.
#pragma once

#include <array>
#include <span>
#include <variant>

#include "step/table.h"

namespace lab {

/// The main function of a runner. Serves the judge's requests (runner/protocol.h) until the judge hangs up. Started by
/// hand, it prints what it is and how to run a step. Returns the exit code.
int run_steps(const char* lab, std::span<const Step> steps, int argc, char** argv);

/// The same for a table that is known at compile time. With LAB_FIRST_TYPES, sorts take uint32_t keys, with
/// values or without, and no others: nothing refers to their other functions, which a first look does without.
template <const auto& steps>
int run_steps(const char* lab, int argc, char** argv) {
#ifdef LAB_FIRST_TYPES
  static constexpr auto table = [] {
    auto copy = std::to_array(steps);
    for (Step& step : copy) {
      if (Sort* const sort = std::get_if<Sort>(&step.function)) *sort = {.u32 = sort->u32, .pairs = sort->pairs};
    }
    return copy;
  }();
  return run_steps(lab, table, argc, argv);
#else
  return run_steps(lab, steps, argc, argv);
#endif
}

}  // namespace lab

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

/// Which types the programs for a first look have: uint32_t, with values or without, and, if asked for, uint8_t.
enum class FirstTypes { words, words_and_bytes };

/// The same for a table that is known at compile time. With LAB_FIRST_TYPES, sorts take keys of the first types, and no
/// others: nothing refers to their other functions, which a first look does without.
template <const auto& steps, FirstTypes first_types = FirstTypes::words>
int run_steps(const char* lab, int argc, char** argv) {
#ifdef LAB_FIRST_TYPES
  static constexpr auto table = [] {
    auto copy = std::to_array(steps);
    for (Step& step : copy) {
      if (Sort* const sort = std::get_if<Sort>(&step.function)) {
        *sort = {.u8 = first_types == FirstTypes::words ? nullptr : sort->u8, .u32 = sort->u32, .pairs = sort->pairs};
      }
    }
    return copy;
  }();
  return run_steps(lab, table, argc, argv);
#else
  return run_steps(lab, steps, argc, argv);
#endif
}

}  // namespace lab

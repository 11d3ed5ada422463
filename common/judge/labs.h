// The labs there are, as the judge sees them: facts about steps, without their functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "step/keys.h"
#include "step/step.h"

namespace lab {

/// A line of a lab's table. Views point into the table that it came from.
struct StepFacts {
  int number = 0;
  std::string_view name;
  std::string_view file;  ///< the name of the step that the line belongs to
  std::string_view idea;
  bool stable = false;
  std::int64_t tile = 0;
  std::int64_t largest_n = any_n;
  std::uint64_t largest_range = 0;
  unsigned types = 0;  ///< bit i: takes all_key_types[i]
  Task task = Task::sort;
  Budget budget;

  constexpr bool takes(KeyType type) const { return types >> static_cast<int>(type) & 1; }
};

struct Lab {
  std::string_view name;
  std::span<const StepFacts> steps;
  KeyType default_type = KeyType::u32;
  bool counted_input = false;  ///< see LabTraits
};

/// Reads facts out of a table in a constant expression: the program that calls this needs none of the functions.
template <std::size_t n>
consteval std::array<StepFacts, n> facts_of(const Step (&steps)[n]) {
  std::array<StepFacts, n> facts{};
  for (std::size_t i = 0; i < n; ++i) {
    const Step& step = steps[i];
    const bool part = step.task() != Task::sort && i > 0;
    facts[i] = {step.number,    step.name,          part ? facts[i - 1].file : step.name,
                step.idea,      step.stable,        step.tile,
                step.largest_n, step.largest_range, 0,
                step.task(),    step.budget};
    for (KeyType type : all_key_types) facts[i].types |= unsigned{step.takes(type)} << static_cast<int>(type);
  }
  return facts;
}

/// All labs, in the order of labs/meson.build, from which Meson writes this function.
std::span<const Lab> labs();

/// Throw lab::Error, with what there is, for any other name or number.
const Lab& lab_named(std::string_view name);
const StepFacts& step_numbered(const Lab& lab, int number, Task task = Task::sort);

/// "u32, u64, pairs"
std::string types_of(const StepFacts& step, const char* separator = ", ");

/// "labs/03-bitonic/02_shared.cu", also for a part of that step
std::string file_of(std::string_view lab, const StepFacts& step);

}  // namespace lab

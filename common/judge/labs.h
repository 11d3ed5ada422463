// Labs and steps as the judge sees them: facts about steps, without their functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "step/keys.h"
#include "step/table.h"
#include "step/task.h"

namespace lab {

/// A line of a lab's table. Views point into the table that it came from.
struct StepFacts {
  int number = 0;
  std::string_view name;
  std::string_view file;  ///< the name of the step that the line belongs to
  std::string_view idea;
  bool part = false;  ///< not the step's own line
  bool record = false;
  Lines lines = {};
  std::array<std::string_view, 3> uses = {};  ///< names of lines of other steps; "": none
  bool stable = false;
  std::int64_t tile = 0;
  std::int64_t max_n = any_n;
  std::uint64_t max_range = 0;
  bool in_host_memory = false;  ///< where the keys are
  std::int64_t min_device_bytes = 0;
  int round_trips = 0;
  int threads = 0;
  Growth growth = Growth::linear;
  unsigned types = 0;  ///< bit i: takes all_key_types[i]
  Task task = Task::sort;
  Budget budget;
  Picture picture;

  constexpr bool takes(KeyType type) const { return types >> static_cast<int>(type) & 1; }
};

struct Lab {
  LabTraits traits;
  std::span<const StepFacts> steps;
};

/// Reads facts out of a table in a constant expression: the program that calls this needs none of the functions.
template <std::size_t n>
consteval std::array<StepFacts, n> facts_of(const Step (&steps)[n]) {
  std::array<StepFacts, n> facts{};
  for (std::size_t i = 0; i < n; ++i) {
    const Step& step = steps[i];
    const bool part = i > 0 && steps[i - 1].number == step.number;
    facts[i] = {.number = step.number,
                .name = step.name,
                .file = part ? facts[i - 1].file : step.name,
                .idea = step.idea,
                .part = part,
                .record = step.record,
                .lines = step.lines,
                .stable = step.stable,
                .tile = step.tile,
                .max_n = step.max_n,
                .max_range = step.max_range,
                .in_host_memory = step.in_host_memory(),
                .min_device_bytes = step.min_device_bytes,
                .round_trips = step.round_trips,
                .threads = step.threads,
                .growth = step.growth,
                .task = step.task(),
                .budget = step.budget,
                .picture = step.picture};
    for (std::size_t k = 0; k < step.uses.size(); ++k) {
      if (step.uses[k]) facts[i].uses[k] = step.uses[k];
    }
    for (KeyType type : all_key_types) facts[i].types |= unsigned{step.takes(type)} << static_cast<int>(type);
  }
  return facts;
}

/// Throw lab::Error, with the names or numbers that exist, for any other. Without a task: the step's own line.
const Lab& lab_named(std::span<const Lab> labs, std::string_view name);
const StepFacts& step_numbered(std::string_view lab, std::span<const StepFacts> steps, int number,
                               std::optional<Task> task = std::nullopt);

/// About how many keys the step sorts in a second on each build, at most its largest n.
Affordable affordable(const StepFacts& step);

/// The keys in each run that the step puts in order by itself; 0: it sorts the whole array.
std::int64_t tile_of(const StepFacts& step);

/// The step's types; `preferred` is the first if it is one of them.
KeyType default_type(KeyType preferred, const StepFacts& step);

/// "u32, u64, pairs"
std::string types_of(const StepFacts& step);

/// "labs/03-bitonic/02_shared.cu", also for a part of that step
std::string file_of(std::string_view lab, const StepFacts& step);

}  // namespace lab

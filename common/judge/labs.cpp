#include "judge/labs.h"

#include <fmt/format.h>

#include <algorithm>

#include "step/error.h"
#include "step/key_type.h"

namespace lab {
namespace {

void add_to_list(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

}  // namespace

const Lab& lab_named(std::span<const Lab> labs, std::string_view name) {
  std::string known;
  for (const Lab& lab : labs) {
    if (name == lab.traits.name) return lab;
    add_to_list(known, lab.traits.name);
  }
  throw Error(fmt::format("unknown lab '{}'; choose one of: {}", name, known));
}

const StepFacts& step_numbered(std::string_view lab, std::span<const StepFacts> steps, int number,
                               std::optional<Task> task) {
  std::string known;
  for (const StepFacts& step : steps) {
    if (task ? step.task != *task : step.part) continue;
    if (number == step.number) return step;
    add_to_list(known, fmt::format("{} {}", step.number, step.name));
  }
  throw Error(fmt::format("{} has no step {}{}; choose one of: {}", lab, number,
                          task ? fmt::format(" with the task {}", name_of(*task)) : "",
                          known.empty() ? "none" : known));
}

Affordable affordable(const StepFacts& step) {
  const Affordable keys = affordable(step.growth);
  return {.check = std::min(keys.check, step.max_n),
          .cpu = std::min(keys.cpu, step.max_n),
          .cuda = std::min(keys.cuda, step.max_n)};
}

std::int64_t tile_of(const StepFacts& step) { return step.task == Task::exchange ? 2 : step.tile; }

KeyType default_type(KeyType preferred, const StepFacts& step) {
  if (step.takes(preferred)) return preferred;
  const auto* const taken =
      std::find_if(std::begin(all_key_types), std::end(all_key_types), [&](KeyType type) { return step.takes(type); });
  return taken == std::end(all_key_types) ? preferred : *taken;
}

std::string types_of(const StepFacts& step) {
  std::string text;
  for (KeyType type : all_key_types) {
    if (step.takes(type)) add_to_list(text, name_of(type));
  }
  return text;
}

std::string file_of(std::string_view lab, const StepFacts& step) {
  return fmt::format("labs/{}/{:02}_{}.cu", lab, step.number, step.file);
}

}  // namespace lab

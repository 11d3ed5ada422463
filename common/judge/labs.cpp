#include "judge/labs.h"

#include <cstdio>

#include "step/key_type.h"

namespace lab {

const Lab& lab_named(std::string_view name) {
  std::string known;
  for (const Lab& lab : labs()) {
    if (name == lab.name) return lab;
    known += std::string(known.empty() ? "" : ", ") + std::string(lab.name);
  }
  throw Error("no lab is called '" + std::string(name) + "'; there are: " + known);
}

const StepFacts& step_numbered(const Lab& lab, int number, Task task) {
  std::string known;
  for (const StepFacts& step : lab.steps) {
    if (number == step.number && task == step.task) return step;
    if (task != step.task) continue;
    known += std::string(known.empty() ? "" : ", ") + std::to_string(step.number) + " " + std::string(step.name);
  }
  throw Error(std::string(lab.name) + " has no step " + std::to_string(number) +
              (task == Task::sort ? "" : " that does a " + std::string(name_of(task))) +
              "; there are: " + (known.empty() ? "none" : known));
}

std::string types_of(const StepFacts& step, const char* separator) {
  std::string text;
  for (KeyType type : all_key_types) {
    if (step.takes(type)) text += std::string(text.empty() ? "" : separator) + name_of(type);
  }
  return text;
}

std::string file_of(std::string_view lab, const StepFacts& step) {
  char number[16];
  std::snprintf(number, sizeof number, "%02d", step.number);
  return "labs/" + std::string(lab) + "/" + number + "_" + std::string(step.file) + ".cu";
}

}  // namespace lab

// Calling a step's function, which its line of the table names by key type or task.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "step/keys.h"
#include "step/step.h"

namespace lab {

struct StepArguments {
  KeyType type;
  Span<char> keys;
  Span<char> values;  ///< of pairs, or a task's result
  std::int64_t n;
  Order order;
  LaunchShape shape;
  cudaStream_t stream;
};

/// Errors: lab::Unsupported if the table has no such line.
const Step& find_step(std::span<const Step> steps, int number, Task task);

/// Errors: lab::Unsupported if the step does not take the type, and whatever the step throws.
void call(const Step& step, const StepArguments& arguments);

}  // namespace lab

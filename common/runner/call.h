// Calling a step's function, which its line of the table names by key type or task.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "step/keys.h"
#include "step/step.h"
#include "step/table.h"
#include "step/task.h"

namespace lab {

struct StepArguments {
  KeyType type;
  Span<char> keys;
  Span<char> values;  ///< of pairs, or a task's result; the scratch of a step that sorts host memory
  std::int64_t n;
  Order order;
  LaunchShape shape;
  cudaStream_t stream;
  std::int64_t device_bytes = 0;  ///< that a step which sorts host memory may allocate; 0: nearly all that is free
  Span<const int> begins = {};    ///< of a task's segments
};

/// Errors: lab::Unsupported if the table has no such line.
const Step& find_step(std::span<const Step> steps, int number, Task task);

/// Errors: lab::Unsupported if the step does not take the type, and whatever the step throws.
void call(const Step& step, const StepArguments& arguments);

}  // namespace lab

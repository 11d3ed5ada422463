// What a line of a lab's table computes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "step/error.h"

namespace lab {

enum class Task {
  sort,
  reduce,
  histogram,
  scan,
  strings,
  flip,
  unflip,
  segments_128,   ///< segments of 128 keys
  segments_1024,  ///< segments of 1024 keys
  segments,       ///< segments of different lengths
  exchange        ///< pairs of neighbours
};

inline constexpr Task all_tasks[] = {Task::sort,          Task::reduce,   Task::histogram, Task::scan,
                                     Task::strings,       Task::flip,     Task::unflip,    Task::segments_128,
                                     Task::segments_1024, Task::segments, Task::exchange};

/// What command lines and messages call a task and its two arrays.
struct TaskNames {
  const char* task;
  const char* input;
  const char* result;
};

constexpr TaskNames names_of(Task task) {
  constexpr TaskNames names[] = {
      {"sort", "keys", "values"},       {"reduce", "keys", "result"},       {"histogram", "keys", "counts"},
      {"scan", "values", "sums"},       {"strings", "strings", "sorted"},   {"flip", "floats", "integers"},
      {"unflip", "integers", "floats"}, {"segments-128", "keys", "sorted"}, {"segments-1024", "keys", "sorted"},
      {"segments", "keys", "sorted"},   {"exchange", "keys", "values"}};
  return names[static_cast<int>(task)];
}

constexpr const char* name_of(Task task) { return names_of(task).task; }

/// Throws lab::Error, which lists the known names, for any other name.
inline Task task_named(std::string_view name) {
  std::string known;
  for (Task task : all_tasks) {
    if (name == name_of(task)) return task;
    known += std::string(known.empty() ? "" : ", ") + name_of(task);
  }
  throw Error("unknown task '" + std::string(name) + "'; choose one of: " + known);
}

/// Whether a task puts its keys in order where they are, in either order. Other tasks read one array and write another.
constexpr bool is_in_place(Task task) { return task == Task::sort || task == Task::exchange; }

/// How many values a task's result has, for n keys; none where the result is the keys themselves.
constexpr std::int64_t result_size(Task task, std::int64_t n) {
  return is_in_place(task) ? 0 : task == Task::reduce ? 2 : task == Task::histogram ? 256 : n;
}

}  // namespace lab

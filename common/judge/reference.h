// The gold standard of what is not a sort, and the range of keys.
#pragma once

#include <cstdint>
#include <string>

#include "step/keys.h"
#include "step/step.h"

namespace lab {

/// Bytes of a task's result for n keys.
std::int64_t result_bytes(Task task, std::int64_t n);

/// Computes a task's result from keys in host memory, on one core. `task` is not Task::sort.
void gold_result(Task task, std::int64_t n, const void* keys, void* result);

/// Empty where `result` is the gold standard's; else which value is wrong, and what it should be.
std::string compare_results(Task task, std::int64_t n, const void* gold, const void* result);

/// largest - smallest of n keys in the order of ordered_bits; 0 for no keys.
std::uint64_t range_of(KeyType type, std::int64_t n, const void* keys);

}  // namespace lab

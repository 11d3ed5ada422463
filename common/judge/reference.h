// The reference: what a correct step computes, by simpler means, in host memory. Outputs are verified against it.
#pragma once

#include <cstdint>

#include "step/keys.h"
#include "step/task.h"

namespace lab {

/// Sorts n keys (and their values, unless null) as std::stable_sort does by ordered_bits, on all cores. With tile != 0
/// each run of `tile` keys is sorted by itself; the last run may be short.
void reference_sort(KeyType type, Order order, std::int64_t n, std::int64_t tile, void* keys, std::uint32_t* values);

/// Bytes of one value of a task's result, and of the whole result for n keys.
std::int64_t result_value_bytes(Task task);
std::int64_t result_bytes(Task task, std::int64_t n);

/// Computes a task's result on one core. `task` is not one that is_in_place().
void reference_result(Task task, std::int64_t n, const void* keys, void* result);

/// largest - smallest of n keys in the order of ordered_bits; 0 for no keys.
std::uint64_t range_of(KeyType type, std::int64_t n, const void* keys);

}  // namespace lab

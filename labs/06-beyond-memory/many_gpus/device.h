// What the program for many GPUs asks of its own GPU, besides step 04: to make keys, to check them, and to sort them
// by lab 05 or by CUB.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exchange.h"
#include "step/step.h"

namespace beyond {

/// Names of the inputs that make_keys() knows, separated by ", ".
extern const char* const input_names;

/// Queues the generation of keys[i], for 0 <= i < keys.n, as the key first + i of all n keys of this input. They are
/// the same keys as those of common/judge/inputs.cpp. Errors: lab::Error, which lists the inputs, for an unknown one.
void make_keys(lab::Span<std::uint32_t> keys, const std::string& input, std::uint64_t seed, std::int64_t first,
               std::int64_t n, cudaStream_t stream);

/// What can be said about keys without a second copy of them.
struct Facts {
  unsigned long long checksum = 0;    ///< the sum of a hash of every key: the same for the same keys in any order
  unsigned long long inversions = 0;  ///< neighbours in the wrong order
};

/// Waits for the stream.
Facts facts_of(lab::Span<const std::uint32_t> keys, lab::Order order, cudaStream_t stream);

/// Queues a sort by step 4, 5 or 6 of lab 05. Errors: lab::Error for another step.
void sort_share(lab::Span<std::uint32_t> keys, int step, lab::Order order, cudaStream_t stream);

/// Queues the work that makes one sorted run of several, and stores it to `to`: merges of pairs, or for many runs
/// copies and another sort_share().
void join_runs(std::vector<lab::Span<const std::uint32_t>> runs, std::uint32_t* to, int step, lab::Order order,
               cudaStream_t stream);

/// Queues a sort by CUB's DeviceRadixSort, with a second array of the same size.
void sort_by_cub(lab::Span<std::uint32_t> keys, lab::Order order, cudaStream_t stream);

}  // namespace beyond

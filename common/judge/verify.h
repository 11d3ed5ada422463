// The comparison of a step's output with the reference.
#pragma once

#include <cstdint>
#include <string>

#include "step/keys.h"
#include "step/task.h"

namespace lab {

/// What is wrong with an output. An empty text: nothing.
struct Fault {
  std::string text;
  std::int64_t index = -1;  ///< of the first wrong key or value; -1: there is none
  std::string keys = {};    ///< rows with those around it, or with all if there are few
};

/// Keys, and the values of pairs.
struct Items {
  const void* keys = nullptr;
  const std::uint32_t* values = nullptr;
};

/// What a step was asked to do, as far as its output depends on it.
struct Promise {
  KeyType type;
  Order order;
  std::int64_t n;
  std::int64_t tile;  ///< 0: the whole array
  bool stable;
  Items input = {};  ///< to be shown if there are few keys, and to see whether the step changed anything
};

/// Compares an output with that of reference_sort for the same input. The text names the first wrong index.
/// Stable: every bit must be equal. Not stable: -0 and +0 may change places, and so may values of equal keys, but no
/// key, sign or value may be lost or made up, and every value must stay with its key. Values are 0 to n - 1, each once.
Fault compare(const Promise& promise, const Items& reference, const Items& got);

/// Two sums over n keys, which a step cannot aim at without the seed. Other keys have another `multiset`, in any order;
/// the same keys in another order have another `sequence`.
struct KeyHash {
  std::uint64_t multiset = 0;
  std::uint64_t sequence = 0;
};

KeyHash hash_of(KeyType type, std::int64_t n, const void* keys, std::uint64_t seed);

/// For inputs that are too large for a reference: `keys` must be in order, and their multiset must be that of the
/// input.
Fault compare_by_hash(KeyType type, Order order, std::int64_t n, const void* keys, std::uint64_t seed,
                      const KeyHash& input);

/// Compares a task's result with that of reference_result.
Fault compare_results(Task task, std::int64_t n, const void* reference, const void* result);

/// What result[index] is computed from, as the end of a message, where that is one value of the input; else "".
std::string input_of_result(Task task, const void* input, std::int64_t index);

}  // namespace lab

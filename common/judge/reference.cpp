#include "judge/reference.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>

#include "judge/parallel.h"
#include "step/key_type.h"

namespace lab {
namespace {

template <class T>
std::string first_difference(std::int64_t n, const void* gold, const void* result, const char* what) {
  const T* const expected = static_cast<const T*>(gold);
  const T* const got = static_cast<const T*>(result);
  const std::int64_t at = std::mismatch(expected, expected + n, got).first - expected;
  if (at == n) return "";
  return std::string(what) + "[" + std::to_string(at) + "] of " + std::to_string(n) + " is " + std::to_string(got[at]) +
         "; it should be " + std::to_string(expected[at]);
}

}  // namespace

std::int64_t result_bytes(Task task, std::int64_t n) { return result_size(task, n) * (task == Task::reduce ? 4 : 8); }

void gold_result(Task task, std::int64_t n, const void* keys, void* result) {
  if (task == Task::reduce) {
    const auto* words = static_cast<const std::uint32_t*>(keys);
    auto* range = static_cast<std::uint32_t*>(result);
    range[0] = ~0u;
    range[1] = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      range[0] = std::min(range[0], words[i]);
      range[1] = std::max(range[1], words[i]);
    }
  } else if (task == Task::histogram) {
    const auto* bytes = static_cast<const std::uint8_t*>(keys);
    auto* counts = static_cast<std::uint64_t*>(result);
    std::fill_n(counts, 256, 0);
    for (std::int64_t i = 0; i < n; ++i) ++counts[bytes[i]];
  } else {
    const auto* values = static_cast<const std::uint64_t*>(keys);
    std::exclusive_scan(values, values + n, static_cast<std::uint64_t*>(result), std::uint64_t{0});
  }
}

std::string compare_results(Task task, std::int64_t n, const void* gold, const void* result) {
  if (task == Task::reduce) return first_difference<std::uint32_t>(2, gold, result, "{smallest, largest}");
  if (task == Task::histogram) return first_difference<std::uint64_t>(256, gold, result, "counts");
  return first_difference<std::uint64_t>(n, gold, result, "sums");
}

std::uint64_t range_of(KeyType type, std::int64_t n, const void* keys) {
  return with_key(type, [&](auto tag) -> std::uint64_t {
    using Key = typename decltype(tag)::Key;
    const Key* const typed = static_cast<const Key*>(keys);
    if (n == 0) return 0;
    std::mutex mutex;
    Bits<Key> smallest = ordered_bits(typed[0]), largest = smallest;
    parallel_for(n, [&](std::int64_t begin, std::int64_t end) {
      Bits<Key> low = ordered_bits(typed[begin]), high = low;
      for (std::int64_t i = begin; i < end; ++i) {
        low = std::min(low, ordered_bits(typed[i]));
        high = std::max(high, ordered_bits(typed[i]));
      }
      const std::lock_guard lock(mutex);
      smallest = std::min(smallest, low);
      largest = std::max(largest, high);
    });
    return std::uint64_t{largest} - std::uint64_t{smallest};
  });
}

}  // namespace lab

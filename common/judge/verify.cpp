#include "judge/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "judge/key_table.h"
#include "judge/parallel.h"
#include "judge/random.h"
#include "judge/reference.h"
#include "step/key_type.h"

namespace lab {
namespace {

bool equal_bytes(const void* a, const void* b, std::int64_t bytes) {
  std::atomic<bool> equal = true;
  parallel_for(bytes, [&](std::int64_t begin, std::int64_t end) {
    if (std::memcmp(static_cast<const char*>(a) + begin, static_cast<const char*>(b) + begin, end - begin) != 0) {
      equal = false;
    }
  });
  return equal;
}

// The rows "index", "got" and "expected" around index `at`, within its tile; or, for few keys, all of them with the input.
std::string rows_around(const Promise& promise, std::int64_t at, const Items& reference, const Items& got) {
  if (promise.input.keys && promise.n <= max_shown_keys) {
    const auto texts = [&](const Items& items) { return texts_of(promise.type, promise.n, items.keys, items.values); };
    const std::vector<TableRow> rows = {
        {"input", texts(promise.input)}, {"got", texts(got)}, {"expected", texts(reference)}};
    return key_table(0, rows, [&](std::int64_t i) { return rows[1].cells[i] != rows[2].cells[i]; });
  }
  const std::int64_t tile = promise.tile ? promise.tile : promise.n;
  const std::int64_t begin = std::max(at - 3, at / tile * tile);
  const std::int64_t end = std::min({at + 4, at / tile * tile + tile, promise.n});
  const auto texts = [&](const Items& items) {
    return texts_of(promise.type, end - begin, static_cast<const char*>(items.keys) + begin * key_bytes(promise.type),
                    items.values ? items.values + begin : nullptr);
  };
  return key_table(begin, {{"got", texts(got)}, {"expected", texts(reference)}},
                   [at](std::int64_t i) { return i == at; });
}

std::string position_text(const Promise& promise, std::int64_t at) {
  std::string text = fmt::format("index {} of {}", at, promise.n);
  if (promise.tile == 2) text += fmt::format(" (pair {})", at / 2);
  if (promise.tile > 2) {  // a row or a tile: its name is the lab's
    const std::int64_t first = at / promise.tile * promise.tile, last = std::min(first + promise.tile, promise.n) - 1;
    text += fmt::format(" (keys {} to {})", first, last);
  }
  return text;
}

template <class Key>
bool same_bits(Key a, Key b) {
  return std::bit_cast<Bits<Key>>(a) == std::bit_cast<Bits<Key>>(b);
}

// Index of the first wrong key, n if there is none. Where the order of the two zeros is free they count as equal.
template <class Key>
std::int64_t first_wrong_key(const Promise& promise, const Key* reference, const Key* keys) {
  for (std::int64_t i = 0; i < promise.n; ++i) {
    const bool zeros = !promise.stable && reference[i] == 0 && keys[i] == 0;
    if (!zeros && !same_bits(reference[i], keys[i])) return i;
  }
  return promise.n;
}

// True if the keys are those of the reference, except that zeros of both signs have changed places.
template <class Key>
bool only_zeros_differ(std::int64_t n, const Key* reference, const Key* keys) {
  if constexpr (!std::is_floating_point_v<Key>) return false;
  std::int64_t surplus = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (same_bits(reference[i], keys[i])) continue;
    if (reference[i] != 0 || keys[i] != 0) return false;
    surplus += std::bit_cast<Bits<Key>>(keys[i]) != 0 ? 1 : -1;
  }
  return surplus == 0;
}

// Index of the first zero of a tile whose zeros do not have the signs that the tile's input had, n if there is none.
template <class Key>
std::int64_t first_wrong_sign(const Promise& promise, const Key* reference, const Key* keys) {
  const std::int64_t tile = promise.tile ? promise.tile : promise.n;
  for (std::int64_t begin = 0; begin < promise.n; begin += tile) {
    std::int64_t first = promise.n, surplus = 0;
    for (std::int64_t i = begin; i < std::min(begin + tile, promise.n); ++i) {
      if (reference[i] != 0) continue;
      first = std::min(first, i);
      surplus += std::int64_t{std::bit_cast<Bits<Key>>(keys[i]) != 0} - (std::bit_cast<Bits<Key>>(reference[i]) != 0);
    }
    if (surplus != 0) return first;
  }
  return promise.n;
}

// Sorting a wrong output distinguishes two kinds of fault.
template <class Key>
std::string kind_of_fault(const Promise& promise, const Key* reference, const Items& got) {
  if (promise.n > std::int64_t{1} << 26) return "";
  const Key* const keys = static_cast<const Key*>(got.keys);
  std::vector<Key> again(keys, keys + promise.n);
  reference_sort(promise.type, promise.order, promise.n, promise.tile, again.data(), nullptr);
  const bool complete = std::equal(reference, reference + promise.n, again.begin(),
                                   [](Key a, Key b) { return ordered_bits(a) == ordered_bits(b); });
  if (!complete) return "; keys were lost or made up";
  if constexpr (std::is_floating_point_v<Key>) {
    if (first_wrong_sign(promise, reference, again.data()) < promise.n) {
      return "; -0 and 0 are equal, but one of them was lost: the other is stored in its place";
    }
  }
  const Items& input = promise.input;
  const bool unchanged =
      input.keys && equal_bytes(input.keys, keys, promise.n * sizeof(Key)) &&
      (!got.values || equal_bytes(input.values, got.values, promise.n * std::int64_t{sizeof(std::uint32_t)}));
  return fmt::format("; every key of the input is there, but in the {} order", unchanged ? "original" : "wrong");
}

template <class Key>
Fault compare_keys(const Promise& promise, const Key* reference, const Items& got) {
  const Key* const keys = static_cast<const Key*>(got.keys);
  if (equal_bytes(reference, keys, promise.n * sizeof(Key))) return {};
  if (const std::int64_t at = first_wrong_key(promise, reference, keys); at < promise.n) {
    if (only_zeros_differ(promise.n, reference, keys)) {
      return {fmt::format("equal keys in the wrong order at {}: -0 and 0 are equal, and the step promises to be stable",
                          position_text(promise, at)),
              at};
    }
    const auto text = [&](const Key* of) { return texts_of(promise.type, 1, of + at, nullptr).front(); };
    return {fmt::format("wrong key at {}: {} instead of {}{}", position_text(promise, at), text(keys), text(reference),
                        kind_of_fault(promise, reference, got)),
            at};
  }
  if constexpr (std::is_floating_point_v<Key>) {
    if (const std::int64_t at = first_wrong_sign(promise, reference, keys); at < promise.n) {
      return {fmt::format("the signs of the zeros from {} on are not those of the input", position_text(promise, at)),
              at};
    }
  }
  return {};
}

// The keys are correct. Each value must occur once, at a key (and in a tile) that it belongs to.
Fault compare_values(const Promise& promise, const std::uint32_t* reference_keys, const std::uint32_t* reference_values,
                     const std::uint32_t* keys, const std::uint32_t* values) {
  if (equal_bytes(reference_values, values, promise.n * sizeof(std::uint32_t))) return {};
  const std::int64_t tile = promise.tile ? promise.tile : promise.n;
  std::vector<std::uint32_t> home(promise.n);  // where the reference has each value
  for (std::int64_t i = 0; i < promise.n; ++i) home[reference_values[i]] = static_cast<std::uint32_t>(i);
  std::vector<bool> seen(promise.n);
  for (std::int64_t i = 0; i < promise.n; ++i) {
    const std::uint32_t value = values[i];
    const char* fault = nullptr;
    if (value >= promise.n) {
      fault = "a value that the input does not have";
    } else if (seen[value]) {
      fault = "a second copy of a value";
    } else if (home[value] / tile != i / tile || reference_keys[home[value]] != keys[i]) {
      fault = "a value that belongs to another key";
    } else if (promise.stable && home[value] != i) {
      fault = "equal keys in the wrong order (the step promises to be stable)";
    }
    if (fault) return {fmt::format("{} at {} (key:value)", fault, position_text(promise, i)), i};
    seen[value] = true;
  }
  return {};
}

template <class T>
Fault first_difference(
    std::int64_t n, const void* reference, const void* result, const char* what,
    std::string (*text)(T) = [](T value) { return fmt::format("{}", value); }) {
  const T* const expected = static_cast<const T*>(reference);
  const T* const got = static_cast<const T*>(result);
  const std::int64_t at = std::mismatch(expected, expected + n, got).first - expected;
  if (at == n) return {};
  return {fmt::format("{}[{}] of {} is {}; it should be {}", what, at, n, text(got[at]), text(expected[at])), at};
}

// Index of the first key that must come before the one to its left, n if there is none.
template <class Key>
std::int64_t first_out_of_order(Order order, std::int64_t n, const Key* keys) {
  std::atomic<std::int64_t> first = n;
  parallel_for(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = std::max<std::int64_t>(begin, 1); i < end; ++i) {
      if (!before(keys[i], keys[i - 1], order)) continue;
      std::int64_t known = first;
      while (i < known && !first.compare_exchange_weak(known, i)) continue;
      return;
    }
  });
  return first;
}

// The letters of a string, as numbers: most are not printable.
std::string text_of_string(std::uint64_t string) {
  std::array<unsigned char, sizeof string> letters;
  std::memcpy(letters.data(), &string, sizeof string);
  return fmt::format("{:02x}", fmt::join(letters, " "));
}

std::string text_of_bits(std::uint32_t bits) {
  return fmt::format("{:08x} ({:.9g})", bits, std::bit_cast<float>(bits));
}

}  // namespace

Fault compare(const Promise& promise, const Items& reference, const Items& got) {
  Fault fault = with_key(promise.type, [&](auto tag) {
    using Key = typename decltype(tag)::Key;
    return compare_keys(promise, static_cast<const Key*>(reference.keys), got);
  });
  if (fault.text.empty() && reference.values) {
    fault = compare_values(promise, static_cast<const std::uint32_t*>(reference.keys), reference.values,
                           static_cast<const std::uint32_t*>(got.keys), got.values);
  }
  if (fault.index >= 0) fault.keys = rows_around(promise, fault.index, reference, got);
  return fault;
}

KeyHash hash_of(KeyType type, std::int64_t n, const void* keys, std::uint64_t seed) {
  std::atomic<std::uint64_t> multiset = 0, sequence = 0;
  with_key(type, [&](auto tag) {
    using Key = typename decltype(tag)::Key;
    const Key* const typed = static_cast<const Key*>(keys);
    parallel_for(n, [&](std::int64_t begin, std::int64_t end) {
      KeyHash own;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::uint64_t hash = mix(std::bit_cast<Bits<Key>>(typed[i]) + seed);
        own.multiset += hash;
        own.sequence += mix(hash + std::uint64_t(i));
      }
      multiset += own.multiset;
      sequence += own.sequence;
    });
  });
  return {multiset, sequence};
}

Fault compare_by_hash(KeyType type, Order order, std::int64_t n, const void* keys, std::uint64_t seed,
                      const KeyHash& input) {
  const bool complete = hash_of(type, n, keys, seed).multiset == input.multiset;
  const char* const kind =
      complete ? "every key of the input is there, but in the wrong order" : "keys were lost or made up";
  return with_key(type, [&](auto tag) -> Fault {
    using Key = typename decltype(tag)::Key;
    const Key* const typed = static_cast<const Key*>(keys);
    const std::int64_t at = first_out_of_order(order, n, typed);
    if (at < n) {
      const std::vector<std::string> texts = texts_of(type, 2, typed + at - 1, nullptr);
      return {fmt::format("key {} of {} is {}, after {}: {}", at, n, texts[1], texts[0], kind), at};
    }
    return complete ? Fault{} : Fault{fmt::format("the keys are in order, but {}", kind)};
  });
}

Fault compare_results(Task task, std::int64_t n, const void* reference, const void* result) {
  if (task == Task::reduce) return first_difference<std::uint32_t>(2, reference, result, "{smallest, largest}");
  if (task == Task::histogram) return first_difference<std::uint64_t>(256, reference, result, "counts");
  if (task == Task::segments_128 || task == Task::segments_1024 || task == Task::segments) {
    return first_difference<std::uint32_t>(n, reference, result, "sorted");
  }
  if (task == Task::strings) return first_difference(n, reference, result, "sorted", text_of_string);
  if (task == Task::flip) {
    return first_difference<std::uint32_t>(n, reference, result, "integers",
                                           [](auto b) { return fmt::format("{:08x}", b); });
  }
  if (task == Task::unflip) return first_difference(n, reference, result, "floats", text_of_bits);
  return first_difference<std::uint64_t>(n, reference, result, "sums");
}

std::string input_of_result(Task task, const void* input, std::int64_t index) {
  if (task != Task::flip && task != Task::unflip) return "";
  const std::uint32_t bits = static_cast<const std::uint32_t*>(input)[index];
  const std::string text = task == Task::flip ? text_of_bits(bits) : fmt::format("{:08x}", bits);
  return fmt::format("\n{}[{}] is {}", names_of(task).input, index, text);
}

}  // namespace lab

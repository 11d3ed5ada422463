#include "judge/verify.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "judge/parallel.h"
#include "step/key_type.h"

namespace lab {
namespace {

struct Pair {
  std::uint32_t key;
  std::uint32_t value;
};

template <class Key>
Key key_of(Key element) {
  return element;
}
std::uint32_t key_of(Pair pair) { return pair.key; }

template <class Element>
using KeyOf = decltype(key_of(Element{}));

// --- the gold sort ---

// The digit that a pass sorts by, 0 to 255. Descending order turns it round; equal keys keep their order either way.
template <class Element>
unsigned digit_of(Element element, int shift, Order order) {
  const unsigned digit = unsigned(ordered_bits(key_of(element)) >> shift) & 255u;
  return order == Order::ascending ? digit : 255u - digit;
}

using Counts = std::array<std::int64_t, 256>;

// One stable counting pass by one digit: each core counts its piece, then places it. False: all keys share the digit.
template <class Element>
bool radix_pass(const Element* from, Element* to, std::int64_t n, int shift, Order order) {
  const int pieces = core_count();
  std::vector<Counts> counts(pieces, Counts{});
  parallel_pieces(n, pieces, [&](int piece, std::int64_t begin, std::int64_t end) {
    Counts own{};
    for (std::int64_t i = begin; i < end; ++i) ++own[digit_of(from[i], shift, order)];
    counts[piece] = own;
  });
  std::int64_t next = 0;
  for (int digit = 0; digit < 256; ++digit) {
    const std::int64_t before = next;
    for (Counts& piece : counts) next += std::exchange(piece[digit], next);
    if (next - before == n) return false;
  }
  parallel_pieces(n, pieces, [&](int piece, std::int64_t begin, std::int64_t end) {
    Counts own = counts[piece];
    for (std::int64_t i = begin; i < end; ++i) to[own[digit_of(from[i], shift, order)]++] = from[i];
  });
  return true;
}

template <class Element>
void radix_sort(Element* elements, std::int64_t n, Order order) {
  const auto scratch = std::make_unique_for_overwrite<Element[]>(n);
  Element* from = elements;
  Element* to = scratch.get();
  for (int shift = 0; shift < int(8 * sizeof(KeyOf<Element>)); shift += 8) {
    if (radix_pass(from, to, n, shift, order)) std::swap(from, to);
  }
  if (from != elements) std::copy(from, from + n, elements);
}

template <class Element>
void stable_sort(Element* elements, std::int64_t n, Order order) {
  std::stable_sort(elements, elements + n,
                   [order](Element a, Element b) { return before(key_of(a), key_of(b), order); });
}

template <class Element>
void sort_elements(Element* elements, std::int64_t n, std::int64_t tile, Order order) {
  const std::int64_t worth_all_cores = 1 << 16;
  if (tile == 0 || tile >= n) {
    return n < worth_all_cores ? stable_sort(elements, n, order) : radix_sort(elements, n, order);
  }
  const std::int64_t tiles = (n + tile - 1) / tile;
  const int parts = n < worth_all_cores ? 1 : core_count();
  parallel_pieces(tiles, parts, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) stable_sort(elements + t * tile, std::min(tile, n - t * tile), order);
  });
}

// --- the comparison ---

bool equal_bytes(const void* a, const void* b, std::int64_t bytes) {
  std::atomic<bool> equal = true;
  parallel_for(bytes, [&](std::int64_t begin, std::int64_t end) {
    if (std::memcmp(static_cast<const char*>(a) + begin, static_cast<const char*>(b) + begin, end - begin) != 0) {
      equal = false;
    }
  });
  return equal;
}

template <class Key>
std::string text_of(Key key) {
  char text[64];
  if constexpr (std::is_floating_point_v<Key>) {
    std::snprintf(text, sizeof text, "%.9g", double(key));
    if (key != key) std::snprintf(text, sizeof text, "nan:%" PRIx64, std::uint64_t{std::bit_cast<Bits<Key>>(key)});
    return text;
  } else {
    return std::to_string(key);
  }
}

// "index", "got" and "expected" one below the other, for the indices around `at` that lie within its tile.
template <class Text>
std::string neighbours(const Promise& promise, std::int64_t at, Text&& text) {
  const std::int64_t tile = promise.tile ? promise.tile : promise.n;
  const std::int64_t begin = std::max(at - 3, at / tile * tile);
  const std::int64_t end = std::min({at + 4, at / tile * tile + tile, promise.n});
  std::array<std::string, 3> lines = {"  index   ", "  got     ", "  expected"};
  for (std::int64_t i = begin; i < end; ++i) {
    std::array<std::string, 3> cells = {std::to_string(i), text(i, true), text(i, false)};
    if (i == at) cells[0] = "[" + cells[0] + "]";
    std::size_t width = 0;
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    for (int line = 0; line < 3; ++line) lines[line] += std::string(width + 2 - cells[line].size(), ' ') + cells[line];
  }
  return lines[0] + "\n" + lines[1] + "\n" + lines[2];
}

std::string place(const Promise& promise, std::int64_t at) {
  std::string text = "index " + std::to_string(at) + " of " + std::to_string(promise.n);
  if (promise.tile) text += " (tile " + std::to_string(at / promise.tile) + ")";
  return text;
}

template <class Key>
bool same_bits(Key a, Key b) {
  return std::bit_cast<Bits<Key>>(a) == std::bit_cast<Bits<Key>>(b);
}

// Index of the first wrong key, n if there is none. Where the order of the two zeros is free they count as equal.
template <class Key>
std::int64_t first_wrong_key(const Promise& promise, const Key* gold, const Key* keys) {
  for (std::int64_t i = 0; i < promise.n; ++i) {
    const bool zeros = !promise.stable && gold[i] == 0 && keys[i] == 0;
    if (!zeros && !same_bits(gold[i], keys[i])) return i;
  }
  return promise.n;
}

// Index of the first zero of a tile whose zeros do not have the signs that the tile's input had, n if there is none.
template <class Key>
std::int64_t first_wrong_sign(const Promise& promise, const Key* gold, const Key* keys) {
  const std::int64_t tile = promise.tile ? promise.tile : promise.n;
  for (std::int64_t begin = 0; begin < promise.n; begin += tile) {
    std::int64_t first = promise.n, surplus = 0;
    for (std::int64_t i = begin; i < std::min(begin + tile, promise.n); ++i) {
      if (gold[i] != 0) continue;
      first = std::min(first, i);
      surplus += std::int64_t{std::bit_cast<Bits<Key>>(keys[i]) != 0} - (std::bit_cast<Bits<Key>>(gold[i]) != 0);
    }
    if (surplus != 0) return first;
  }
  return promise.n;
}

// Sorting a wrong output tells two kinds of fault apart.
template <class Key>
std::string kind_of_fault(const Promise& promise, const Key* gold, const Key* keys) {
  if (promise.n > std::int64_t{1} << 26) return "";
  std::vector<Key> again(keys, keys + promise.n);
  gold_sort(promise.type, promise.order, promise.n, promise.tile, again.data(), nullptr);
  const bool complete = std::equal(gold, gold + promise.n, again.begin(),
                                   [](Key a, Key b) { return ordered_bits(a) == ordered_bits(b); });
  return complete ? "; every key of the input is there, but in a wrong order" : "; keys were lost or made up";
}

template <class Key>
std::string compare_keys(const Promise& promise, const Key* gold, const Key* keys) {
  if (equal_bytes(gold, keys, promise.n * sizeof(Key))) return "";
  const auto text = [&](std::int64_t i, bool got) { return text_of(got ? keys[i] : gold[i]); };
  if (const std::int64_t at = first_wrong_key(promise, gold, keys); at < promise.n) {
    return "wrong key at " + place(promise, at) + kind_of_fault(promise, gold, keys) + "\n" +
           neighbours(promise, at, text);
  }
  if constexpr (std::is_floating_point_v<Key>) {
    if (const std::int64_t at = first_wrong_sign(promise, gold, keys); at < promise.n) {
      return "the zeros from " + place(promise, at) + " on have lost or gained signs\n" + neighbours(promise, at, text);
    }
  }
  return "";
}

// Keys are right already. Each value must be there once, and stand at a key (and in a tile) that it belongs to.
std::string compare_values(const Promise& promise, const std::uint32_t* gold_keys, const std::uint32_t* gold_values,
                           const std::uint32_t* keys, const std::uint32_t* values) {
  if (equal_bytes(gold_values, values, promise.n * sizeof(std::uint32_t))) return "";
  const std::int64_t tile = promise.tile ? promise.tile : promise.n;
  std::vector<std::uint32_t> home(promise.n);  // where gold has each value
  for (std::int64_t i = 0; i < promise.n; ++i) home[gold_values[i]] = static_cast<std::uint32_t>(i);
  std::vector<bool> seen(promise.n);
  for (std::int64_t i = 0; i < promise.n; ++i) {
    const std::uint32_t value = values[i];
    const char* fault = nullptr;
    if (value >= promise.n) {
      fault = "a value that the input does not have";
    } else if (seen[value]) {
      fault = "a value for the second time";
    } else if (home[value] / tile != i / tile || gold_keys[home[value]] != keys[i]) {
      fault = "a value that belongs to another key";
    } else if (promise.stable && home[value] != i) {
      fault = "equal keys out of their order (the step promises to be stable)";
    }
    if (fault) {
      const auto text = [&](std::int64_t j, bool got) {
        return std::to_string(keys[j]) + ":" + std::to_string(got ? values[j] : gold_values[j]);
      };
      return std::string(fault) + " at " + place(promise, i) + " (key:value)\n" + neighbours(promise, i, text);
    }
    seen[value] = true;
  }
  return "";
}

}  // namespace

void gold_sort(KeyType type, Order order, std::int64_t n, std::int64_t tile, void* keys, std::uint32_t* values) {
  if (!values) {
    with_key(type, [&](auto tag) { sort_elements(static_cast<typename decltype(tag)::Key*>(keys), n, tile, order); });
    return;
  }
  const auto pairs = std::make_unique_for_overwrite<Pair[]>(n);
  auto* typed_keys = static_cast<std::uint32_t*>(keys);
  parallel_for(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) pairs[i] = {typed_keys[i], values[i]};
  });
  sort_elements(pairs.get(), n, tile, order);
  parallel_for(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      typed_keys[i] = pairs[i].key;
      values[i] = pairs[i].value;
    }
  });
}

std::string compare(const Promise& promise, const void* gold_keys, const std::uint32_t* gold_values, const void* keys,
                    const std::uint32_t* values) {
  std::string fault = with_key(promise.type, [&](auto tag) {
    using Key = typename decltype(tag)::Key;
    return compare_keys(promise, static_cast<const Key*>(gold_keys), static_cast<const Key*>(keys));
  });
  if (fault.empty() && gold_values) {
    fault = compare_values(promise, static_cast<const std::uint32_t*>(gold_keys), gold_values,
                           static_cast<const std::uint32_t*>(keys), values);
  }
  return fault;
}

}  // namespace lab

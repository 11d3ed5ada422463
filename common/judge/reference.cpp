#include "judge/reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "judge/parallel.h"
#include "step/key_type.h"
#include "step/segments.h"

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

// The digit that a pass sorts by, 0 to 255. Descending order inverts it; equal keys keep their order either way.
template <class Element>
unsigned digit_of(Element element, int shift, Order order) {
  const unsigned digit = unsigned(ordered_bits(key_of(element)) >> shift) & 255u;
  return order == Order::ascending ? digit : 255u - digit;
}

using Counts = std::array<std::int64_t, 256>;

constexpr std::int64_t worth_all_cores = 1 << 16;  // keys

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
  if (tile == 0 || tile >= n) {
    return n < worth_all_cores ? stable_sort(elements, n, order) : radix_sort(elements, n, order);
  }
  const std::int64_t tiles = (n + tile - 1) / tile;
  const int parts = n < worth_all_cores ? 1 : core_count();
  parallel_pieces(tiles, parts, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) stable_sort(elements + t * tile, std::min(tile, n - t * tile), order);
  });
}

std::uint64_t reversed_bytes(std::uint64_t word) { return __builtin_bswap64(word); }

}  // namespace

void reference_sort(KeyType type, Order order, std::int64_t n, std::int64_t tile, void* keys, std::uint32_t* values) {
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

std::int64_t result_value_bytes(Task task) {
  const bool wide = task == Task::histogram || task == Task::scan || task == Task::strings;
  return wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
}

std::int64_t result_bytes(Task task, std::int64_t n) { return result_size(task, n) * result_value_bytes(task); }

void reference_result(Task task, std::int64_t n, const void* keys, void* result) {
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
  } else if (task == Task::strings) {
    // Strings have the order of the numbers that consist of the same bytes, with the first letter as the highest byte.
    const auto* strings = static_cast<const std::uint64_t*>(keys);
    auto* sorted = static_cast<std::uint64_t*>(result);
    static_assert(std::endian::native == std::endian::little);
    std::transform(strings, strings + n, sorted, reversed_bytes);
    sort_elements(sorted, n, 0, Order::ascending);
    std::transform(sorted, sorted + n, sorted, reversed_bytes);
  } else if (task == Task::flip || task == Task::unflip) {
    const auto* from = static_cast<const std::uint32_t*>(keys);
    const std::uint32_t sign = 0x80000000u;
    const bool is_set_in_negative = task == Task::flip;
    std::transform(from, from + n, static_cast<std::uint32_t*>(result), [=](std::uint32_t bits) {
      const bool negative = ((bits & sign) != 0) == is_set_in_negative;
      return negative ? ~bits : bits ^ sign;
    });
  } else if (task == Task::segments_128 || task == Task::segments_1024 || task == Task::segments) {
    const auto* from = static_cast<const std::uint32_t*>(keys);
    auto* sorted = static_cast<std::uint32_t*>(result);
    std::copy(from, from + n, sorted);
    const std::vector<int> begins = segment_begins(task, n);
    const int parts = n < worth_all_cores ? 1 : core_count();
    parallel_pieces(std::int64_t(begins.size()) - 1, parts, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) std::sort(sorted + begins[i], sorted + begins[i + 1]);
    });
  } else {
    const auto* values = static_cast<const std::uint64_t*>(keys);
    std::exclusive_scan(values, values + n, static_cast<std::uint64_t*>(result), std::uint64_t{0});
  }
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

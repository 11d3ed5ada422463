// Every kind of wrong output is distinguished from a right one. The reference is a stable sort.
#include "judge/verify.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "judge/inputs.h"
#include "judge/random.h"
#include "judge/reference.h"
#include "step/key_type.h"

namespace {

using lab::KeyType;
using lab::Order;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// Sorts by comparison, without any code of lab::reference_sort.
template <class Key>
void plain_sort(std::vector<Key>& keys, std::vector<std::uint32_t>& values, std::int64_t tile, Order order) {
  const std::int64_t n = std::ssize(keys);
  std::vector<std::uint32_t> index(n);
  std::iota(index.begin(), index.end(), 0);
  for (std::int64_t at = 0; at < n; at += tile) {
    std::stable_sort(index.begin() + at, index.begin() + std::min(at + tile, n),
                     [&](auto a, auto b) { return lab::before(keys[a], keys[b], order); });
  }
  const auto old_keys = keys;
  const auto old_values = values;
  for (std::int64_t i = 0; i < n; ++i) {
    keys[i] = old_keys[index[i]];
    values[i] = old_values[index[i]];
  }
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) {
    return std::bit_cast<lab::Bits<T>>(x) == std::bit_cast<lab::Bits<T>>(y);
  });
}

std::string compare(const std::vector<std::uint32_t>& reference, const std::vector<std::uint32_t>& got,
                    std::int64_t tile = 0) {
  return lab::compare({KeyType::u32, Order::ascending, std::ssize(reference), tile, false}, {reference.data()},
                      {got.data()})
      .text;
}

std::string compare_floats(const std::vector<float>& reference, const std::vector<float>& got, bool stable) {
  return lab::compare({KeyType::f32, Order::ascending, std::ssize(reference), 0, stable}, {reference.data()},
                      {got.data()})
      .text;
}

struct Pairs {
  std::vector<std::uint32_t> keys, values;
};

std::string compare_pairs(const Pairs& reference, const Pairs& got, bool stable, std::int64_t tile = 0) {
  return lab::compare({KeyType::pairs, Order::ascending, std::ssize(reference.keys), tile, stable},
                      {reference.keys.data(), reference.values.data()}, {got.keys.data(), got.values.data()})
      .text;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("reference_sort is std::stable_sort, whatever the type, order, size and tile") {
  for (std::int64_t n : {0, 1, 2, 1000, 70001, 300000}) {  // below and above the size that takes all cores
    for (std::int64_t tile : {0, 2, 1024}) {
      for (Order order : {Order::ascending, Order::descending}) {
        for (KeyType type : lab::all_key_types) {
          for (const char* input : {"uniform", "few-values", "extremes"}) {
            CAPTURE(n);
            CAPTURE(tile);
            CAPTURE(lab::name_of(type));
            CAPTURE(input);
            lab::with_key(type, [&](auto tag) {
              using Key = typename decltype(tag)::Key;
              std::vector<Key> keys(n);
              std::vector<std::uint32_t> values(n);
              lab::make_keys(input, type, 5, n, keys.data());
              lab::make_values(5, n, values.data());
              auto expected_keys = keys;
              auto expected_values = values;
              plain_sort(expected_keys, expected_values, tile ? tile : n + 1, order);
              lab::reference_sort(type, order, n, tile, keys.data(), type == KeyType::pairs ? values.data() : nullptr);
              CHECK(same(keys, expected_keys));
              if (type == KeyType::pairs) CHECK(values == expected_values);
            });
          }
        }
      }
    }
  }
}

TEST_CASE("floats: NaNs are ordered by their bits, outside the two infinities") {
  std::vector<float> keys = {nan_value, 1, -INFINITY, -nan_value, 0, INFINITY, -1};
  lab::reference_sort(KeyType::f32, Order::ascending, 7, 0, keys.data(), nullptr);
  CHECK(same(keys, {-nan_value, -INFINITY, -1, 0, 1, INFINITY, nan_value}));
}

TEST_CASE("keys: right outputs pass, wrong ones are named") {
  const std::vector<std::uint32_t> reference = {1, 2, 2, 5, 8, 9};
  CHECK(compare(reference, reference) == "");
  CHECK(contains(compare(reference, {1, 2, 5, 2, 8, 9}),
                 "index 2 of 6: 5 instead of 2; every key of the input is there"));
  CHECK(contains(compare(reference, {1, 2, 2, 5, 8, 8}), "index 5 of 6: 8 instead of 9; keys were lost or made up"));
  CHECK(contains(compare(reference, {2, 2, 2, 5, 8, 9}), "index 0 of 6"));
  CHECK(contains(compare(reference, {5, 5, 5, 5, 5, 5}), "lost or made up"));  // in order, and wrong
  const std::vector<std::uint32_t> wrong = {1, 2, 5, 2, 8, 9};
  const lab::Promise promise{KeyType::u32, Order::ascending, 6, 0, false};
  const std::string shown = lab::compare(promise, {reference.data()}, {wrong.data()}).keys;
  CHECK(contains(shown, "got       1  2    5  2"));
  CHECK(contains(shown, "expected  1  2    2  5"));
  CHECK(contains(shown, "[2]"));
}

TEST_CASE("up to 32 keys are shown whole, with the input, and every wrong index is marked") {
  std::vector<std::uint32_t> input(32, 7), reference = input, got = input;
  input[0] = got[4] = got[9] = 1'000'000'007;
  lab::Promise promise{KeyType::u32, Order::ascending, 32, 0, false, {input.data()}};
  const std::string shown = "\n" + lab::compare(promise, {reference.data()}, {got.data()}).keys + "\n";
  CHECK(contains(shown, "\n  index              0  1  2  3         [4]  5"));
  CHECK(contains(shown, "\n  input     1000000007  7  7  7           7  7"));
  CHECK(contains(shown, "\n  got                7  7  7  7  1000000007  7"));
  CHECK(contains(shown, "[9]"));
  CHECK(contains(shown, "  31\n"));
  for (std::size_t at = 0; at < shown.rfind('\n'); at = shown.find('\n', at + 1)) {
    CHECK(shown.find('\n', at + 1) - at < 102);
  }
  input.resize(33), reference.resize(33), got.resize(33);
  promise.n = 33;
  promise.input = {input.data()};
  CHECK(!contains(lab::compare(promise, {reference.data()}, {got.data()}).keys, "input"));
}

TEST_CASE("the first wrong index is reported as a number") {
  const std::vector<std::uint32_t> reference = {1, 2, 2, 5}, got = {1, 2, 5, 2};
  const lab::Promise promise{KeyType::u32, Order::ascending, 4, 0, false};
  CHECK(lab::compare(promise, {reference.data()}, {got.data()}).index == 2);
  CHECK(lab::compare(promise, {reference.data()}, {reference.data()}).index == -1);
}

TEST_CASE("tiles: a key may not leave its tile; a tile of two keys is called a pair") {
  CHECK(compare({1, 9, 0, 5}, {1, 9, 0, 5}, 2) == "");
  CHECK(contains(compare({1, 9, 0, 5}, {0, 1, 5, 9}, 2), "(pair 0)"));
  CHECK(contains(compare({1, 9, 0, 5}, {1, 9, 5, 0}, 2), "index 2 of 4 (pair 1)"));
  CHECK(contains(compare({1, 9, 0, 5, 3, 4}, {1, 9, 0, 5, 4, 3}, 3), "index 4 of 6 (keys 3 to 5)"));
}

TEST_CASE("zeros: their order is free unless the step is stable, their signs are not") {
  const std::vector<float> reference = {-1, 0.0f, -0.0f, -0.0f, 1};
  CHECK(compare_floats(reference, {-1, -0.0f, 0.0f, -0.0f, 1}, false) == "");
  const std::string unstable = compare_floats(reference, {-1, -0.0f, 0.0f, -0.0f, 1}, true);
  CHECK(contains(unstable, "equal keys in the wrong order at index 1 of 5: -0 and 0 are equal, and the step promises"));
  // Of another fault nothing is known about the order of equal keys.
  CHECK(contains(compare_floats(reference, {-1, -0.0f, 0.0f, 1, -0.0f}, true), "wrong key at index 1 of 5"));
  const std::string lost = compare_floats(reference, {-1, 0.0f, 0.0f, -0.0f, 1}, true);
  CHECK(contains(lost, "wrong key at index 2 of 5"));
  CHECK(contains(lost, "; -0 and 0 are equal, but one of them was lost: the other is stored in its place"));
  CHECK(contains(compare_floats(reference, {-1, 0.0f, 0.0f, -0.0f, 1}, false), "the signs of the zeros from"));
  CHECK(compare_floats(reference, {-0.0f, -1, 0.0f, -0.0f, 1}, false) != "");
}

TEST_CASE("NaNs: bits count, not the value") {
  const float payload = std::bit_cast<float>(0x7fc00001);
  CHECK(compare_floats({1, nan_value}, {1, nan_value}, false) == "");
  CHECK(contains(compare_floats({1, nan_value}, {1, payload}, false), "nan:7fc00001"));
}

TEST_CASE("pairs: values stay with their keys, and in order if the step is stable") {
  const Pairs reference = {{4, 4, 4, 7, 7}, {3, 0, 2, 1, 4}};
  CHECK(compare_pairs(reference, reference, true) == "");
  const Pairs swapped = {{4, 4, 4, 7, 7}, {0, 3, 2, 1, 4}};
  CHECK(compare_pairs(reference, swapped, false) == "");
  CHECK(contains(compare_pairs(reference, swapped, true), "equal keys in the wrong order"));
  CHECK(contains(compare_pairs(reference, {{4, 4, 4, 7, 7}, {3, 0, 1, 2, 4}}, false), "belongs to another key"));
  CHECK(contains(compare_pairs(reference, {{4, 4, 4, 7, 7}, {3, 3, 2, 1, 4}}, false), "a second copy of a value"));
  CHECK(contains(compare_pairs(reference, {{4, 4, 4, 7, 7}, {3, 0, 9, 1, 4}}, false), "does not have"));
  CHECK(contains(compare_pairs(reference, {{4, 4, 7, 4, 7}, {3, 0, 1, 2, 4}}, false), "wrong key at index 2"));
  // Equal keys in two tiles: each tile keeps its own values.
  CHECK(compare_pairs({{4, 4, 4, 4}, {0, 1, 2, 3}}, {{4, 4, 4, 4}, {1, 0, 3, 2}}, false, 2) == "");
  CHECK(contains(compare_pairs({{4, 4, 4, 4}, {0, 1, 2, 3}}, {{4, 4, 4, 4}, {0, 2, 1, 3}}, false, 2),
                 "belongs to another key"));
}

TEST_CASE("large outputs are compared to the last key") {
  const std::int64_t n = 3000001;
  std::vector<std::uint32_t> reference(n);
  std::iota(reference.begin(), reference.end(), 0);
  auto got = reference;
  CHECK(compare(reference, got) == "");
  got.back() -= 1;
  CHECK(contains(compare(reference, got), "index 3000000 of 3000001"));
}

TEST_CASE("without a reference, every lost, made up or misplaced key is found") {
  constexpr std::int64_t n = 300'000;  // several pieces of a parallel loop
  constexpr std::uint64_t seed = 5;
  std::vector<std::uint32_t> sorted(n);
  for (std::int64_t i = 0; i < n; ++i) sorted[i] = std::uint32_t(lab::random_at(1, i)) % 100'000;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::uint32_t> input = sorted;
  std::reverse(input.begin(), input.end());
  const lab::KeyHash hash = lab::hash_of(KeyType::u32, n, input.data(), seed);
  const auto fault = [&](const std::vector<std::uint32_t>& keys, Order order = Order::ascending) {
    return lab::compare_by_hash(KeyType::u32, order, n, keys.data(), seed, hash);
  };
  CHECK(fault(sorted).text.empty());
  CHECK(fault(input, Order::descending).text.empty());
  CHECK(lab::hash_of(KeyType::u32, n, sorted.data(), seed).multiset == hash.multiset);
  CHECK(lab::hash_of(KeyType::u32, n, sorted.data(), seed).sequence != hash.sequence);
  CHECK(lab::hash_of(KeyType::u32, n, input.data(), seed).sequence == hash.sequence);
  for (std::int64_t at : {std::int64_t{1}, n / 2, n - 1}) {
    auto keys = sorted;
    keys[at] = keys[at - 1];  // in order; with luck the same key, as 2 of 3 positions have an equal neighbour
    if (keys == sorted) continue;
    CHECK(fault(keys).text.find("in order, but keys were lost or made up") != std::string::npos);
  }
  auto keys = sorted;
  keys[0] = keys[n - 1];
  CHECK(fault(keys).index == 1);
  CHECK(fault(keys).text.find("keys were lost or made up") != std::string::npos);
  keys = sorted;
  std::swap(keys[n / 3], keys[n - 1]);
  CHECK(fault(keys).index == n / 3 + 1);
  CHECK(fault(keys).text.find("every key of the input is there, but in the wrong order") != std::string::npos);
  keys = sorted;
  keys[7] ^= 1, keys[n - 9] ^= 1;  // an exclusive or of all keys would not see it
  CHECK(!fault(keys).text.empty());
}

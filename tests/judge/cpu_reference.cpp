// The CPU references in the labs sort correctly, for every length around a power of two and both orders.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "01-odd-even/cpu_reference.h"
#include "02-merge/cpu_reference.h"
#include "03-bitonic/cpu_reference.h"
#include "04-counting/cpu_reference.h"

TEST_CASE_TEMPLATE("the bitonic network on the CPU sorts any n in both orders", Key, std::uint32_t, std::int32_t, float,
                   std::uint64_t) {
  std::mt19937_64 random(42);
  for (std::int64_t n : {0, 1, 2, 3, 5, 8, 31, 32, 33, 100, 127, 128, 129, 1000}) {
    for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
      std::vector<Key> keys(n);
      for (Key& key : keys) key = lab::from_ordered_bits<Key>(lab::Bits<Key>(random()) | 1);
      std::vector<Key> expected = keys;
      std::stable_sort(expected.begin(), expected.end(), [&](Key a, Key b) { return lab::before(a, b, order); });
      bitonic::sort_on_cpu(keys.data(), n, order);
      CAPTURE(n);
      CHECK(std::equal(keys.begin(), keys.end(), expected.begin(),
                       [](Key a, Key b) { return lab::ordered_bits(a) == lab::ordered_bits(b); }));
    }
  }
}

TEST_CASE_TEMPLATE("counting on the CPU sorts any n and range in both orders, stable", Key, std::uint8_t, std::uint32_t,
                   std::int32_t) {
  std::mt19937_64 random(42);
  for (std::int64_t n : {0, 1, 2, 3, 100, 255, 256, 257, 1000}) {
    for (std::uint32_t range : {1, 2, 16, 200, 70000}) {
      for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
        std::vector<Key> keys(n);
        for (Key& key : keys) key = Key(Key(-20) + Key(random() % range));  // on both sides of 0 where there are two
        std::vector<std::uint32_t> values(n), expected(n);
        for (std::int64_t i = 0; i < n; ++i) values[i] = expected[i] = std::uint32_t(i);
        std::stable_sort(expected.begin(), expected.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return lab::before(keys[a], keys[b], order); });
        std::vector<Key> sorted = keys;
        // Unsigned keys wrap around here: from the smallest to the largest are almost 2^32 values.
        if (std::is_same_v<Key, std::uint32_t> && range > 20) continue;
        counting::sort_on_cpu(sorted.data(), n, order, values.data());
        CAPTURE(n);
        CAPTURE(range);
        CHECK(values == expected);
        for (std::int64_t i = 0; i < n; ++i) CHECK(sorted[i] == keys[values[i]]);
      }
    }
  }
}

TEST_CASE("merge sort on the CPU sorts any n by any comparison, and is stable") {
  std::mt19937_64 random(42);
  const auto by_low_byte = [](std::uint32_t a, std::uint32_t b) { return (a & 0xff) < (b & 0xff); };
  for (std::int64_t n : {0, 1, 2, 3, 5, 8, 31, 32, 33, 100, 127, 128, 129, 1000, 5000}) {
    std::vector<std::uint32_t> keys(n);
    for (std::uint32_t& key : keys) key = std::uint32_t(random());
    std::vector<std::uint32_t> expected = keys;
    std::stable_sort(expected.begin(), expected.end(), by_low_byte);
    merge_sort::sort_on_cpu(keys.data(), n, by_low_byte);
    CAPTURE(n);
    CHECK(keys == expected);
  }
}

TEST_CASE_TEMPLATE("bubble sort and odd-even sort on the CPU sort any n in both orders, with the same work", Key,
                   std::uint32_t, std::int32_t, float, std::uint64_t) {
  std::mt19937_64 random(42);
  for (std::int64_t n : {0, 1, 2, 3, 4, 5, 31, 32, 33, 100, 257}) {
    for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
      std::vector<Key> keys(n);
      for (Key& key : keys) key = Key(random() % 50);  // many are equal
      std::vector<Key> expected = keys, by_phases = keys;
      std::stable_sort(expected.begin(), expected.end(), [&](Key a, Key b) { return lab::before(a, b, order); });
      std::int64_t inversions = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < j; ++i) inversions += lab::before(keys[j], keys[i], order);
      }
      const odd_even::Work bubble = odd_even::bubble_sort(keys.data(), n, order);
      const odd_even::Work phases = odd_even::odd_even_sort(by_phases.data(), n, order);
      CAPTURE(n);
      CHECK(keys == expected);
      CHECK(by_phases == expected);
      CHECK(bubble.comparisons == n * (n - 1) / 2);
      CHECK(phases.comparisons == n * (n - 1) / 2);
      CHECK(bubble.steps == n * (n - 1) / 2);
      CHECK(phases.steps == n);
      CHECK(bubble.exchanges == inversions);
      CHECK(phases.exchanges == inversions);
    }
  }
}

TEST_CASE("bubble sort and odd-even sort on the CPU are stable: both zeros keep their order") {
  for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
    const std::vector<float> zeros = {0.0f, -0.0f, -0.0f, 0.0f, -0.0f};
    std::vector<float> bubble = zeros, phases = zeros;
    odd_even::bubble_sort(bubble.data(), 5, order);
    odd_even::odd_even_sort(phases.data(), 5, order);
    for (int i = 0; i < 5; ++i) {
      CHECK(std::signbit(bubble[i]) == std::signbit(zeros[i]));
      CHECK(std::signbit(phases[i]) == std::signbit(zeros[i]));
    }
  }
}

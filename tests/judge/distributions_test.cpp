// The inputs that only the comparison with other libraries uses are what their names say.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "judge/inputs.h"
#include "step/error.h"
#include "step/key_type.h"

namespace {

using lab::KeyType;

constexpr std::int64_t n = 20000;
constexpr std::uint64_t some_seeds[] = {0, 1, 42, 0x9e3779b97f4a7c15u, ~std::uint64_t{0}};

/// Calls test(keys) with n keys of an input for each type and some seeds.
template <class Test>
void for_each_type(const char* input, Test test) {
  CAPTURE(input);
  for (std::uint64_t seed : some_seeds) {
    CAPTURE(seed);
    for (KeyType type : lab::all_key_types) {
      CAPTURE(lab::name_of(type));
      lab::with_key(type, [&](auto tag) {
        std::vector<typename decltype(tag)::Key> keys(n);
        lab::make_keys(input, type, seed, n, keys.data());
        test(keys);
      });
    }
  }
}

/// The same for whole numbers, as unsigned numbers of the same order.
template <class Test>
void for_each_whole_number(const char* input, Test test) {
  for_each_type(input, [&]<class Key>(const std::vector<Key>& keys) {
    if constexpr (std::is_integral_v<Key>) {
      std::vector<lab::Bits<Key>> bits;
      for (Key key : keys) bits.push_back(lab::ordered_bits(key));
      test(bits);
    }
  });
}

/// How often each key occurs, by ordered_bits.
template <class Key>
std::map<std::uint64_t, int> counts_of(const std::vector<Key>& keys) {
  std::map<std::uint64_t, int> counts;
  for (Key key : keys) ++counts[lab::ordered_bits(key)];
  return counts;
}

template <class Key>
std::vector<int> frequencies_of(const std::vector<Key>& keys) {
  std::vector<int> frequencies;
  for (const auto& [key, count] : counts_of(keys)) frequencies.push_back(count);
  std::sort(frequencies.rbegin(), frequencies.rend());
  return frequencies;
}

/// Within six standard deviations of what that many independent keys have on average.
bool is_share(std::int64_t count, double share) {
  return std::abs(double(count) - share * n) <= 6 * std::sqrt(share * (1 - share) * n);
}

/// The number of different values of the upper half of the bits, and of the lower half.
template <class Bits>
std::pair<std::size_t, std::size_t> distinct_halves(const std::vector<Bits>& keys) {
  std::set<std::uint64_t> upper, lower;
  constexpr int half = 4 * sizeof(Bits);
  for (Bits key : keys) {
    upper.insert(key >> half);
    lower.insert(key & ((std::uint64_t{1} << half) - 1));
  }
  return {upper.size(), lower.size()};
}

}  // namespace

TEST_CASE("values:COUNT gives that many values, all equally often") {
  for (int count : {2, 33, 256, 1000}) {
    const std::string input = "values:" + std::to_string(count);
    for (KeyType type : lab::all_key_types) {
      if (count > 256 && type == KeyType::u8) continue;
      CAPTURE(lab::name_of(type));
      lab::with_key(type, [&](auto tag) {
        std::vector<typename decltype(tag)::Key> keys(n);
        lab::make_keys(input, type, 7, n, keys.data());
        const auto frequencies = frequencies_of(keys);
        CHECK(std::ssize(frequencies) == count);
        CHECK(is_share(frequencies.front(), 1.0 / count));
        CHECK(is_share(frequencies.back(), 1.0 / count));
      });
    }
  }
  std::vector<std::uint64_t> one(n), other(n);
  lab::make_keys("values:2", KeyType::u64, 1, n, one.data());
  lab::make_keys("values:2", KeyType::u64, 2, n, other.data());
  CHECK(counts_of(one).begin()->first != counts_of(other).begin()->first);
  CHECK_THROWS_WITH_AS(lab::check_input("values:257", KeyType::u8, 1), doctest::Contains("from 2 to 256 for u8 keys"),
                       lab::Unsupported);
  for (const char* wrong : {"values:", "values:x", "values:-1", "values:1", "values:65537", "values"}) {
    CHECK_THROWS_AS(lab::check_input(wrong, KeyType::u32, 1), lab::Error);
  }
}

TEST_CASE("sorted-runs are eight runs, each over the whole range") {
  for_each_type("sorted-runs", [](const auto& keys) {
    using Key = typename std::decay_t<decltype(keys)>::value_type;
    int descents = 0;
    for (std::int64_t i = 1; i < n; ++i) descents += lab::less(keys[i], keys[i - 1]);
    CHECK(descents == 7);
    CHECK(lab::less(keys[1], keys[n / 8 - 1]));
    CHECK(lab::less(keys[n / 8 + 1], Key(keys[n / 8 - 1])));
  });
}

TEST_CASE("power-law has few frequent ids, and many that occur once") {
  for_each_whole_number("power-law", [](const auto& keys) {
    if constexpr (sizeof(keys[0]) < 4) return;  // its ids are not a million
    const auto frequencies = frequencies_of(keys);
    CHECK(is_share(frequencies[0], 1.0 / 20));
    CHECK(frequencies[1] + frequencies[2] > n / 25);
    CHECK(frequencies[99] < n / 500);
    CHECK(std::count(frequencies.begin(), frequencies.end(), 1) > n / 10);
    // An id says nothing about its rank: the most frequent half of the keys is not the smaller one.
    CHECK(counts_of(keys).begin()->second < n / 25);
  });
}

TEST_CASE("timestamps are late by a 64th of a period at most, and within one period") {
  for_each_whole_number("timestamps", [](const auto& keys) {
    CHECK(distinct_halves(keys).first == 1);
    const int half = 4 * sizeof(keys[0]);
    const double period = std::ldexp(1, half);
    std::uint64_t latest = 0;
    double most_late = 0;
    for (auto key : keys) {
      const std::uint64_t time = key & ((std::uint64_t{1} << half) - 1);
      latest = std::max(latest, time);
      most_late = std::max(most_late, double(latest - time) / period);
    }
    CHECK(double(latest) >= 0.9 * (period - 1));
    CHECK(most_late <= 1.0 / 64 + 1 / period);  // times are whole numbers
    if (half > 4) CHECK(most_late > 0);
  });
}

TEST_CASE("addresses and clusters have few prefixes") {
  for (const auto& [input, prefixes] : {std::pair{"addresses", 16}, {"clusters", 2}}) {
    for_each_whole_number(input, [count = std::size_t(prefixes)](const auto& keys) {
      const auto [upper, lower] = distinct_halves(keys);
      CHECK(upper == count);
      const double values = std::ldexp(1, 4 * sizeof(keys[0]));
      CHECK(double(lower) > 0.9 * values * (1 - std::exp(-n / values)));
    });
  }
}

TEST_CASE("letters have 26 values in each byte") {
  for_each_whole_number("letters", [](const auto& keys) {
    for (std::size_t byte = 0; byte < sizeof(keys[0]); ++byte) {
      std::set<int> values;
      for (auto key : keys) values.insert(int(key >> 8 * byte & 255));
      CHECK(values.size() == 26);
      CHECK((*values.begin() == 'a' && *values.rbegin() == 'z'));
    }
  });
}

TEST_CASE("half-equal and highest-byte") {
  for_each_type("half-equal", [](const auto& keys) {
    const auto frequencies = frequencies_of(keys);
    CHECK(is_share(frequencies[0], sizeof(keys[0]) == 1 ? 0.5 + 0.5 / 256 : 0.5));
    CHECK(frequencies[1] < n / 100);
  });
  for_each_whole_number("highest-byte", [](const auto& keys) {
    std::set<std::uint64_t> lower;
    for (auto key : keys) lower.insert(key & ((std::uint64_t{1} << (8 * sizeof key - 8)) - 1));
    CHECK(lower.size() == 1);
    CHECK(counts_of(keys).size() == 256);
  });
}

TEST_CASE("normal and log-normal have the mean and deviation that they promise") {
  const auto check = [](const std::vector<double>& values, double mean, double deviation) {
    double sum = 0, squares = 0, within = 0;
    for (double value : values) {
      sum += value;
      squares += (value - mean) * (value - mean);
      within += std::abs(value - mean) < deviation;
    }
    CHECK(std::abs(sum / n - mean) < 6 * deviation / std::sqrt(n));
    CHECK(std::sqrt(squares / n) == doctest::Approx(deviation).epsilon(0.05));
    CHECK(is_share(std::int64_t(within), 0.683));
  };
  for (const bool log : {false, true}) {
    for_each_type(log ? "log-normal" : "normal", [&]<class Key>(const std::vector<Key>& keys) {
      const int bits = 8 * sizeof(Key);
      if (bits < 32) return;  // too few values for their mean
      const double mean = std::is_floating_point_v<Key> ? 0 : log ? bits / 2 : std::ldexp(0.5, bits);
      const double deviation = std::is_floating_point_v<Key> ? 1 : log ? bits / 16 : std::ldexp(1, bits - 4);
      std::vector<double> values;
      for (Key key : keys) {
        const double number = std::is_floating_point_v<Key> ? double(key) : double(lab::ordered_bits(key));
        values.push_back(!log ? number : std::is_floating_point_v<Key> ? std::log(number) : std::log2(number + 0.5));
      }
      check(values, mean, deviation);
    });
  }
}

TEST_CASE("a permutation has each of n consecutive numbers once, in an order that looks random") {
  for (std::int64_t count : {1, 2, 3, 5, 1000, 1 << 16, 100003}) {
    for (std::uint64_t seed : some_seeds) {
      std::vector<std::uint32_t> keys(count);
      lab::make_keys("permutation", KeyType::u32, seed, count, keys.data());
      std::int64_t descents = 0;
      for (std::int64_t i = 1; i < count; ++i) descents += keys[i] < keys[i - 1];
      if (count >= 1000) CHECK(std::abs(double(descents) / double(count) - 0.5) < 0.05);
      std::sort(keys.begin(), keys.end());
      CHECK(keys.front() == 0);
      CHECK(keys.back() == count - 1);
      CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
    }
  }
  for_each_type("permutation", []<class Key>(const std::vector<Key>& keys) {
    if (sizeof(Key) == 1) return;
    CHECK(frequencies_of(keys) == std::vector<int>(n, 1));
    if (std::is_floating_point_v<Key>) CHECK(*std::max_element(keys.begin(), keys.end()) == n - 1);
  });
}

TEST_CASE("zeros are one key in 64, and of floats there are both") {
  for_each_type("zeros", []<class Key>(const std::vector<Key>& keys) {
    const double by_chance = sizeof(Key) == 1 ? 63.0 / 64 / 256 : sizeof(Key) == 2 ? 63.0 / 64 / 65536 : 0;
    CHECK(is_share(std::count(keys.begin(), keys.end(), Key(0)), 1.0 / 64 + by_chance));
    if constexpr (std::is_floating_point_v<Key>) {
      const auto negative = [](Key key) { return key == 0 && std::signbit(key); };
      CHECK(is_share(std::count_if(keys.begin(), keys.end(), negative), 1.0 / 128));
      CHECK(std::all_of(keys.begin(), keys.end(), [](Key key) { return std::isfinite(key); }));
    }
  });
}

// The inputs are what their names promise, for every type and seed.
#include "judge/inputs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "course.h"
#include "judge/labs.h"
#include "step/error.h"
#include "step/key_type.h"

namespace {

using lab::KeyType;

// Seeds with which other generators degenerate, and some arbitrary ones.
std::vector<std::uint64_t> seeds() {
  std::vector<std::uint64_t> all = {0,
                                    1,
                                    2,
                                    42,
                                    1u << 31,
                                    0xffffffffu,
                                    std::uint64_t{1} << 32,
                                    ~std::uint64_t{0},
                                    std::uint64_t{1} << 63,
                                    0x9e3779b97f4a7c15u,
                                    std::uint64_t(-1) - 0x9e3779b97f4a7c15u};
  std::random_device device;
  for (int i = 0; i < 20; ++i) all.push_back(std::uint64_t{device()} << 32 | device());
  return all;
}

template <class Key>
std::vector<Key> keys_of(const char* input, KeyType type, std::uint64_t seed, std::int64_t n) {
  std::vector<Key> keys(n);
  lab::make_keys(input, type, seed, n, keys.data());
  return keys;
}

template <class Key>
std::size_t distinct(const std::vector<Key>& keys) {
  std::vector<lab::Bits<Key>> bits(keys.size());
  std::memcpy(bits.data(), keys.data(), keys.size() * sizeof(Key));
  std::sort(bits.begin(), bits.end());
  return std::unique(bits.begin(), bits.end()) - bits.begin();
}

template <class Key>
bool in_order(const std::vector<Key>& keys) {
  return std::is_sorted(keys.begin(), keys.end(), [](Key a, Key b) { return lab::less(a, b); });
}

// Shannon entropy of byte `byte` of the keys, in bits.
template <class Key>
double entropy_of_byte(const std::vector<Key>& keys, int byte) {
  std::vector<double> counts(256);
  for (const Key& key : keys) {
    unsigned char bytes[sizeof(Key)];
    std::memcpy(bytes, &key, sizeof key);
    ++counts[bytes[byte]];
  }
  double entropy = 0;
  for (double count : counts) {
    if (count > 0) entropy -= count / keys.size() * std::log2(count / keys.size());
  }
  return entropy;
}

/// Calls test(seed, type, tag) for each seed and each type, whose C++ type is that of the tag's Key.
template <class Test>
void for_each_seed_and_type(Test test) {
  for (std::uint64_t seed : seeds()) {
    CAPTURE(seed);
    for (KeyType type : lab::all_key_types) {
      CAPTURE(lab::name_of(type));
      lab::with_key(type, [&](auto tag) { test(seed, type, tag); });
    }
  }
}

}  // namespace

TEST_CASE("every seed gives uniform keys their full entropy") {
  const std::int64_t n = 20000;
  for_each_seed_and_type([&](std::uint64_t seed, KeyType type, auto tag) {
    using Key = typename decltype(tag)::Key;
    const auto keys = keys_of<Key>("uniform", type, seed, n);
    // 20000 draws from 2^32 values repeat less than once in 20 on average; from 2^16, 17 000 differ; from 2^8, all.
    CHECK(distinct(keys) >= (sizeof(Key) == 1 ? 256 : sizeof(Key) == 2 ? 16500 : n - 10));
    // A float's exponents lack the NaNs'; everything else is flat: 8 bits, less some 0.01 for the sample's size.
    for (int byte = 0; byte < int(sizeof(Key)); ++byte) CHECK(entropy_of_byte(keys, byte) > 7.9);
  });
}

TEST_CASE("and-K promises the entropy of its bits, for every type and seed") {
  const std::int64_t n = 20000;
  const auto entropy_of_bit = [](double p) { return -p * std::log2(p) - (1 - p) * std::log2(1 - p); };
  for (int words = 2; words <= 5; ++words) {
    const std::string input = "and-" + std::to_string(words);
    const double ones = std::ldexp(1, -words);
    CAPTURE(input);
    const auto facts = std::find_if(lab::inputs().begin(), lab::inputs().end(),
                                    [&](const lab::InputFacts& one) { return input == one.name; });
    REQUIRE(facts != lab::inputs().end());
    const std::string what = facts->what;
    CHECK(std::abs(std::stod(what.substr(what.find('(') + 1)) - 32 * entropy_of_bit(ones)) < 0.006);
    for_each_seed_and_type([&](std::uint64_t seed, KeyType type, auto tag) {
      using Key = typename decltype(tag)::Key;
      const auto keys = keys_of<Key>(input.c_str(), type, seed, n);
      // Not every bit pattern of a float is finite, so all bits of a level except the first are compressed.
      if constexpr (std::is_floating_point_v<Key>) {
        CHECK(std::all_of(keys.begin(), keys.end(), [](Key key) { return std::isfinite(key); }));
        const auto positive = std::count_if(keys.begin(), keys.end(), [](Key key) { return !std::signbit(key); });
        CHECK(std::abs(positive / double(n) - ones) < 6 * std::sqrt(ones * (1 - ones) / n));
      } else {
        const int bits = 8 * sizeof(Key);
        std::vector<std::int64_t> set(bits);
        std::vector<double> bytes(256);
        for (Key key : keys) {
          const auto level = lab::ordered_bits(key);
          for (int bit = 0; bit < bits; ++bit) set[bit] += level >> bit & 1;
          ++bytes[level & 255];
        }
        // Six standard deviations of a sample's share of ones: some 30 000 samples, and none in a lifetime fails.
        for (std::int64_t count : set) {
          CHECK(std::abs(count / double(n) - ones) < 6 * std::sqrt(ones * (1 - ones) / n));
        }
        // If the bits are independent, eight of them have eight times the entropy of one.
        double entropy = 0;
        for (double count : bytes) {
          if (count > 0) entropy -= count / n * std::log2(count / n);
        }
        CHECK(std::abs(entropy - 8 * entropy_of_bit(ones)) < 0.12);
      }
    });
  }
}

TEST_CASE("two seeds never give the same input, the same seed always does") {
  const std::int64_t n = 1000;
  for (const lab::InputFacts& input : lab::inputs()) {
    CAPTURE(input.name);
    for (std::uint64_t seed : seeds()) {
      const auto keys = keys_of<std::uint32_t>(input.name, KeyType::u32, seed, n);
      CHECK(keys == keys_of<std::uint32_t>(input.name, KeyType::u32, seed, n));
      CHECK(keys != keys_of<std::uint32_t>(input.name, KeyType::u32, seed + 1, n));
      CHECK(keys != keys_of<std::uint32_t>(input.name, KeyType::u32, ~seed, n));
    }
  }
}

TEST_CASE("distributions are what their names say, for every type and seed") {
  const std::int64_t n = 5000;
  for_each_seed_and_type([&](std::uint64_t seed, KeyType type, auto tag) {
    using Key = typename decltype(tag)::Key;
    const auto make = [&](const char* input) { return keys_of<Key>(input, type, seed, n); };
    CHECK(in_order(make("sorted")));
    CHECK(distinct(make("sorted")) > 200);
    auto reversed = make("reversed");
    std::reverse(reversed.begin(), reversed.end());
    CHECK(in_order(reversed));
    CHECK(distinct(make("all-equal")) == 1);
    CHECK(distinct(make("two-values")) == 2);
    CHECK(distinct(make("few-values")) == 16);
    const auto nearly = make("nearly-sorted");
    CHECK_FALSE(in_order(nearly));
    int descents = 0;
    for (std::int64_t i = 1; i < n; ++i) descents += lab::less(nearly[i], nearly[i - 1]);
    CHECK(descents < n / 20);
    const auto pipe = make("organ-pipe");
    CHECK(in_order(std::vector<Key>(pipe.begin(), pipe.begin() + n / 2)));
    CHECK(in_order(std::vector<Key>(pipe.rbegin(), pipe.rbegin() + n / 2)));
    auto skewed = make("skewed");
    std::sort(skewed.begin(), skewed.end(), [](Key a, Key b) { return lab::less(a, b); });
    CHECK(lab::ordered_bits(skewed[n / 2]) - lab::ordered_bits(skewed[0]) <
          (lab::ordered_bits(skewed[n - 1]) - lab::ordered_bits(skewed[0])) / 4);
    CHECK(distinct(skewed) > 100);
  });
}

TEST_CASE("extremes hold the values that break comparisons") {
  const auto floats = keys_of<float>("extremes", KeyType::f32, 7, 2000);
  const auto has = [&](auto&& wanted) { return std::any_of(floats.begin(), floats.end(), wanted); };
  for (bool sign : {false, true}) {
    CAPTURE(sign);
    CHECK(has([&](float key) { return std::isnan(key) && std::signbit(key) == sign; }));
    CHECK(has([&](float key) { return std::isinf(key) && std::signbit(key) == sign; }));
    CHECK(has([&](float key) { return key == 0 && std::signbit(key) == sign; }));
    CHECK(has([&](float key) { return std::fpclassify(key) == FP_SUBNORMAL && std::signbit(key) == sign; }));
  }
  const auto ints = keys_of<std::int32_t>("extremes", KeyType::i32, 7, 2000);
  for (std::int32_t wanted : {0, -1, INT32_MAX, INT32_MIN}) CHECK(std::count(ints.begin(), ints.end(), wanted) > 0);
  const auto words = keys_of<std::uint32_t>("extremes", KeyType::u32, 7, 2000);
  for (std::uint32_t wanted : {0u, 0xffffffffu, 0x80000000u, 0x7fffffffu}) {
    CHECK(std::count(words.begin(), words.end(), wanted) > 0);
  }
}

TEST_CASE("a part made by one core is the part made by many") {
  const std::int64_t n = 1 << 20;
  const auto all = keys_of<std::uint32_t>("uniform", KeyType::u32, 3, n);
  const auto few = keys_of<std::uint32_t>("uniform", KeyType::u32, 3, 1000);
  CHECK(std::equal(few.begin(), few.end(), all.begin()));
}

TEST_CASE("values are a permutation, and not always the same") {
  for (std::int64_t n : {1, 2, 3, 4, 30, 1000, 1 << 18}) {
    for (std::uint64_t seed : seeds()) {
      std::vector<std::uint32_t> values(n);
      lab::make_values(seed, n, values.data());
      std::vector<bool> seen(n);
      for (std::uint32_t value : values) {
        if (value < n) seen[value] = true;
      }
      CHECK(std::count(seen.begin(), seen.end(), true) == n);
    }
  }
  std::vector<std::uint32_t> one(1000), other(1000);
  lab::make_values(1, 1000, one.data());
  lab::make_values(2, 1000, other.data());
  CHECK(one != other);
}

TEST_CASE("seed 0 makes values that are easy to think about") {
  std::vector<std::uint32_t> values(5);
  lab::make_values(0, 5, values.data());
  CHECK(values == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a file is an input") {
  const auto path = std::filesystem::temp_directory_path() / "workbook-inputs-test.bin";
  std::ofstream(path, std::ios::binary) << std::string("\1\0\0\0\2\0\0\0\3\0", 10);
  const std::string input = "file:" + path.string();
  CHECK(lab::file_keys(input, KeyType::u8) == 10);
  CHECK(keys_of<std::uint16_t>(input.c_str(), KeyType::u16, 0, 3) == std::vector<std::uint16_t>{1, 0, 2});
  CHECK_THROWS_WITH_AS(lab::file_keys(input, KeyType::u32),
                       doctest::Contains("10 bytes, which is not a multiple of the 4 bytes of a u32 key"), lab::Error);
  CHECK_THROWS_WITH_AS(lab::check_input(input, KeyType::u8, 11), doctest::Contains("contains 10 u8 keys"), lab::Error);
  // The first keys of a file that ends within one.
  CHECK(keys_of<std::uint32_t>(input.c_str(), KeyType::u32, 0, 2) == std::vector<std::uint32_t>{1, 2});
  CHECK_THROWS_WITH_AS(lab::check_input(input, KeyType::u32, 3),
                       doctest::Contains("contains 2 u32 keys in its 10 bytes"), lab::Error);
  std::ofstream(path, std::ios::binary | std::ios::trunc).close();
  CHECK_THROWS_WITH_AS(lab::file_keys(input, KeyType::u8), doctest::Contains("is empty"), lab::Error);
  std::filesystem::remove(path);
  CHECK_THROWS_WITH_AS(lab::file_keys(input, KeyType::u8), doctest::Contains("no such file"), lab::Error);
}

TEST_CASE("unknown names list what there is") {
  CHECK_THROWS_WITH_AS(lab::check_input("random", KeyType::u8, 1), doctest::Contains("organ-pipe"), lab::Error);
  CHECK_THROWS_WITH_AS(lab::key_type_named("int"), doctest::Contains("u8, u16, u32"), lab::Error);
  CHECK_THROWS_WITH_AS(lab::order_named("up"), doctest::Contains("descending"), lab::Error);
  CHECK_THROWS_WITH_AS(lab::lab_named(course::labs, "3"), doctest::Contains("03-bitonic"), lab::Error);
  CHECK_THROWS_WITH_AS(lab::check_input("uniform", KeyType::u8, -1), doctest::Contains("0 or more"), lab::Error);
}

TEST_CASE("range:LOW:HIGH gives both its ends wherever there is room for them") {
  for (std::int64_t n : {2, 3, 1000}) {
    for (std::uint64_t seed : {0ull, 1ull, 12345678901234567890ull}) {
      std::vector<std::uint32_t> keys(n);
      lab::make_keys("range:0:16777216", KeyType::u32, seed, n, keys.data());
      CHECK(*std::min_element(keys.begin(), keys.end()) == 0);
      CHECK(*std::max_element(keys.begin(), keys.end()) == 16777216);
    }
  }
  std::vector<std::int32_t> one(1);
  lab::make_keys("range:-3:4", KeyType::i32, 5, 1, one.data());
  CHECK((one[0] >= -3 && one[0] <= 4));
}

TEST_CASE("range:LOW:HIGH gives every number between its ends, and no other") {
  std::vector<std::int32_t> keys(2000);
  lab::make_keys("range:-3:4", KeyType::i32, 5, std::ssize(keys), keys.data());
  CHECK(*std::min_element(keys.begin(), keys.end()) == -3);
  CHECK(*std::max_element(keys.begin(), keys.end()) == 4);
  CHECK(std::set<std::int32_t>(keys.begin(), keys.end()).size() == 8);
  std::vector<std::uint64_t> all(1000);
  lab::make_keys("range:0:18446744073709551615", KeyType::u64, 5, std::ssize(all), all.data());
  CHECK(std::set<std::uint64_t>(all.begin(), all.end()).size() == all.size());
  for (const auto& refused : {std::pair{"range:4:3", KeyType::u32},
                              {"range:0:256", KeyType::u8},
                              {"range:0", KeyType::u32},
                              {"range:-1:3", KeyType::u32},
                              {"range:0:x", KeyType::u32},
                              {"range::3", KeyType::u32},
                              {"range:0:3", KeyType::f32}}) {
    INFO(refused.first);
    CHECK_THROWS_AS(lab::check_input(refused.first, refused.second, 10), lab::Error);
  }
  CHECK_THROWS_WITH_AS(lab::check_input("range:0:256", KeyType::u8, 1), "256 is too large for u8 keys",
                       lab::Unsupported);
  CHECK_THROWS_WITH_AS(lab::check_input("range:-1:3", KeyType::u8, 1), "-1 is too small for u8 keys", lab::Unsupported);
  CHECK_THROWS_WITH_AS(lab::check_input("range:0:1x", KeyType::u8, 1), doctest::Contains("'1x' is not a whole number"),
                       lab::Error);
}

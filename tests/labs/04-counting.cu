// What the judge cannot test in lab 04: ranges around the largest, declared ranges, scans in place, and the number of
// counters.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "labs/on_device.h"
#include "range.cuh"

using lab::Order;

namespace {

template <class Key>
std::vector<Key> uniform(std::int64_t n, Key low, Key high) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> distribution(low, high);
  std::vector<Key> keys(n);
  for (Key& key : keys) key = Key(distribution(random));
  return keys;
}

template <class Key>
std::string refusal(const std::vector<Key>& keys, Key low, Key high) {
  const auto device = on_device(keys);
  std::string message;
  try {
    counting::sort_declared_range(device.span(), low, high, Order::ascending, {}, nullptr);
  } catch (const lab::Unsupported& error) {
    message = error.what();
    CHECK(on_host(device) == keys);  // nothing was touched
  }
  return message;
}

}  // namespace

TEST_CASE("steps 04 and 05 sort every kind of range, wherever it is") {
  for (Order order : {Order::ascending, Order::descending}) {
    for (std::uint32_t range : {1u, 2u, 255u, 256u, 257u, 8192u, 8193u, 65536u, 65537u}) {
      for (std::uint32_t low : {0u, 5000000u, ~0u - (range - 1)}) {
        const auto keys = uniform<std::uint32_t>(3000, low, low + (range - 1));
        const auto device = on_device(keys);
        counting::sort_range(device.span(), order, {}, nullptr);
        CAPTURE(range);
        CAPTURE(low);
        CHECK(on_host(device) == in_order(keys, order));

        std::vector<std::uint32_t> values(keys.size());
        std::iota(values.begin(), values.end(), 0u);
        const auto device_keys = on_device(keys), device_values = on_device(values);
        counting::sort_stable(device_keys.span(), device_values.span(), order, {}, nullptr);
        CHECK(on_host(device_keys) == in_order(keys, order));
        CHECK(on_host(device_values) == places_in_order(keys, order));
      }
    }
  }
}

TEST_CASE("as many counters as fit in shared memory, and one more") {
  for (std::uint32_t range : {8192u, 8193u}) {
    const auto keys = uniform<std::uint32_t>(20000, 1000, 1000 + (range - 1));
    const auto device = on_device(keys);
    counting::sort_range(device.span(), Order::ascending, {1, 0}, nullptr);
    CHECK(on_host(device) == in_order(keys, Order::ascending));
  }
}

TEST_CASE("negative keys have counters like any others") {
  const auto keys = uniform<std::int32_t>(3000, -100, 155);
  for (Order order : {Order::ascending, Order::descending}) {
    const auto device = on_device(keys);
    counting::sort_range(device.span(), order, {}, nullptr);
    CHECK(on_host(device) == in_order(keys, order));
  }
}

TEST_CASE("the widest range is sorted; with one value more, the error has the number of counters") {
  const std::uint32_t low = 123, range = std::uint32_t(counting::max_range);
  std::vector<std::uint32_t> keys = {low + range - 1, low, low + 77, low + range - 1, low + 5};
  const auto device = on_device(keys);
  counting::sort_range(device.span(), Order::ascending, {}, nullptr);
  CHECK(on_host(device) == in_order(keys, Order::ascending));

  keys[0] = low + range;
  const auto wider = on_device(keys), values = on_device(keys);
  const std::string counters = std::to_string(counting::max_range + 1);
  for (bool with_values : {false, true}) {
    std::string message;
    try {
      if (with_values) {
        counting::sort_stable(wider.span(), values.span(), Order::ascending, {}, nullptr);
      } else {
        counting::sort_range(wider.span(), Order::ascending, {}, nullptr);
      }
    } catch (const lab::Unsupported& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.find(counters) != std::string::npos);
    CHECK(message.find("128 MiB") != std::string::npos);
    CHECK(on_host(wider) == keys);
    CHECK(on_host(values) == keys);
  }
}

TEST_CASE("all 2^32 values of a 32-bit key are refused") {
  const std::vector<std::int32_t> keys = {0, INT32_MAX, INT32_MIN};
  const auto device = on_device(keys);
  CHECK_THROWS_WITH_AS(counting::sort_range(device.span(), Order::ascending, {}, nullptr),
                       doctest::Contains("4294967296 counters"), lab::Unsupported);
  CHECK(on_host(device) == keys);
}

TEST_CASE("a declared range is sorted; a key outside it causes an error with that key") {
  for (Order order : {Order::ascending, Order::descending}) {
    const auto keys = uniform<std::uint32_t>(5000, 1000, 1255);
    const auto device = on_device(keys);
    counting::sort_declared_range(device.span(), 1000u, 1255u, order, {}, nullptr);
    CHECK(on_host(device) == in_order(keys, order));
  }
  auto keys = uniform<std::uint32_t>(5000, 1000, 1255);
  CHECK(refusal(keys, 0u, ~0u).find("4294967296 counters") != std::string::npos);
  CHECK(refusal(keys, 1000u, 1255u) == "");
  keys[4321] = 1256;  // the value after the last
  CHECK(refusal(keys, 1000u, 1255u).find("1256") != std::string::npos);
  keys[4321] = 999;
  CHECK(refusal(keys, 1000u, 1255u).find("999") != std::string::npos);
  keys[4321] = ~0u;
  CHECK(refusal(keys, 1000u, 1255u).find("4294967295") != std::string::npos);
  CHECK(refusal(keys, 1255u, 1000u).find("empty") != std::string::npos);

  const std::vector<std::int32_t> negative = {-5, 3, -6, 2};
  CHECK(refusal<std::int32_t>(negative, -5, 3).find("-6") != std::string::npos);
  CHECK(refusal<std::int32_t>(negative, -6, 3) == "");
  const std::vector<std::uint8_t> bytes = {0, 255, 3};
  CHECK(refusal<std::uint8_t>(bytes, 0, 255) == "");
  CHECK(refusal<std::uint8_t>(bytes, 0, 254).find("255") != std::string::npos);
}

TEST_CASE("scans of any n, in place and modulo 2^64") {
  for (const auto scan : {counting::scan_hillis_steele, counting::scan_blelloch}) {
    for (std::int64_t n : {0, 1, 2, 1023, 1024, 1025, 2048, 1024 * 1024 + 3}) {
      std::mt19937_64 random(3);
      std::vector<std::uint64_t> values(n), expected(n);
      for (std::uint64_t& value : values) value = random();
      std::exclusive_scan(values.begin(), values.end(), expected.begin(), std::uint64_t{0});
      const auto device = on_device(values);
      scan({device.data(), n}, device.span(), {}, nullptr);
      CAPTURE(n);
      CHECK(on_host(device) == expected);
    }
  }
}

TEST_CASE("the histogram has a counter for 255 too, and ignores what the counters held") {
  const std::vector<std::uint8_t> keys(1000, 255);
  const auto device = on_device(keys);
  const auto counts = on_device(std::vector<std::uint64_t>(256, 99));
  counting::histogram({device.data(), device.size()}, counts.span(), {}, nullptr);
  std::vector<std::uint64_t> expected(256, 0);
  expected[255] = 1000;
  CHECK(on_host(counts) == expected);
}

TEST_CASE("keys that do not begin at a multiple of 16 bytes") {
  const auto bytes = uniform<std::uint8_t>(5000, 0, 255);
  for (int skipped : {1, 7, 15}) {
    for (std::int64_t n : {1, 5, 15, 16, 17, 40, 4000}) {
      const auto device = on_device(bytes);
      counting::sort_parallel({device.data() + skipped, n}, Order::ascending, {}, nullptr);
      auto expected = bytes;
      std::sort(expected.begin() + skipped, expected.begin() + skipped + n);
      CAPTURE(skipped);
      CAPTURE(n);
      CHECK(on_host(device) == expected);
      counting::sort_range(lab::Span<std::uint8_t>{device.data() + skipped, n}, Order::descending, {}, nullptr);
      std::reverse(expected.begin() + skipped, expected.begin() + skipped + n);
      CHECK(on_host(device) == expected);
    }
  }
}

TEST_CASE("step 06 at any address, around the ends of its tiles, in a few shapes") {
  const auto check = [](std::int64_t n, int skipped, Order order, lab::LaunchShape shape) {
    const auto keys = uniform<std::uint8_t>(n + skipped, 0, 255);
    const auto device = on_device(keys);
    counting::sort_record({device.data() + skipped, n}, order, shape, nullptr);
    auto expected = keys;
    std::sort(expected.begin() + skipped, expected.end(), [&](auto a, auto b) { return lab::before(a, b, order); });
    CAPTURE(n);
    CAPTURE(skipped);
    CHECK(on_host(device) == expected);
  };
  for (Order order : {Order::ascending, Order::descending}) {
    for (std::int64_t n : {2, 17, 32767, 32768, 32769, 32784, 65551, 100003}) {
      for (int skipped : {0, 1, 7}) check(n, skipped, order, {});
    }
    for (lab::LaunchShape shape : {lab::LaunchShape{1, 32}, {3, 64}, {1, 1024}, {200, 96}}) {
      check(70001, 3, order, shape);
    }
  }
  CHECK_THROWS_WITH_AS(counting::sort_record({}, Order::ascending, {0, 33}, nullptr), doctest::Contains("--threads"),
                       lab::Unsupported);
}

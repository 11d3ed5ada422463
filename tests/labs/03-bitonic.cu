// What the judge cannot test in lab 03: segments of any length, one after another, short and long, at any address.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "labs/on_device.h"
#include "segment_lists.cuh"

namespace {

std::vector<std::uint32_t> random_keys(std::int64_t n) {
  std::mt19937 random(12345);
  std::vector<std::uint32_t> keys(n);
  for (std::uint32_t& key : keys) key = std::uint32_t(random() >> random() % 32);
  return keys;
}

std::vector<int> begins_of(const std::vector<int>& lengths) {
  std::vector<int> begins = {0};
  for (int length : lengths) begins.push_back(begins.back() + length);
  return begins;
}

/// Sorts with sort(keys, sorted) where the keys begin `skipped` positions after an aligned address, and compares.
template <class Sort>
void check(const std::vector<int>& begins, int skipped, Sort&& sort) {
  const std::int64_t n = begins.back();
  const std::vector<std::uint32_t> keys = random_keys(n + skipped);
  const auto from = on_device(keys), to = on_device(std::vector<std::uint32_t>(n + skipped + 1, 42));
  sort(lab::Span<const std::uint32_t>{from.data() + skipped, n}, lab::Span<std::uint32_t>{to.data() + skipped, n});
  std::vector<std::uint32_t> expected(keys.begin() + skipped, keys.end());
  for (std::size_t i = 1; i < begins.size(); ++i) {
    std::sort(expected.begin() + begins[i - 1], expected.begin() + begins[i]);
  }
  expected.insert(expected.begin(), skipped, 42);
  expected.push_back(42);  // nothing is written around the segments
  CAPTURE(begins.size());
  CAPTURE(skipped);
  CHECK(on_host(to) == expected);
}

void check_listed(const std::vector<int>& lengths, int skipped, lab::LaunchShape shape = {}) {
  const std::vector<int> begins = begins_of(lengths);
  const auto device = on_device(begins);
  check(begins, skipped, [&](auto keys, auto sorted) {
    bitonic::sort_segments(keys, sorted, {device.data(), device.size()}, shape, nullptr);
  });
}

}  // namespace

TEST_CASE("equal segments of every class, with a short one at the end, at any address") {
  for (int length : {1,   2,   3,   31,  32,  33,   64,   65,   96,   100,  128,  129,  192,  256,
                     384, 500, 512, 513, 768, 1024, 1500, 1536, 2048, 3000, 3072, 4096, 4097, 9000}) {
    for (int segments : {1, 3, 70}) {
      if (length * segments > 100000) continue;
      std::vector<int> lengths(segments, length);
      lengths.push_back(length - length / 3);
      for (int skipped : {0, 1}) {
        CAPTURE(length);
        check(begins_of(lengths), skipped,
              [&](auto keys, auto sorted) { bitonic::sort_equal_segments(keys, sorted, length, {}, nullptr); });
      }
    }
  }
}

TEST_CASE("segments of mixed lengths: empty ones, all of one class, around every limit, longer than a tile") {
  check_listed({0, 0, 0, 1, 0}, 0);
  check_listed({5}, 3);
  check_listed(std::vector<int>(3000, 2), 1);
  check_listed(std::vector<int>(5000, 33), 0);
  std::vector<int> limits;
  for (int most = 32; most <= 8192; most *= 2) {
    for (int limit : {most, most + most / 2}) limits.insert(limits.end(), {limit - 1, 0, limit, limit + 1});
  }
  check_listed(limits, 0);
  check_listed(limits, 1, {3, 0});
  check_listed({20000, 1, 4097, 12288, 16385}, 2);
}

TEST_CASE("the scratch memory of segments is at most that of CUB's DeviceSegmentedSort and 1 MiB") {
  // CUB 3.0.1 for 2^26 keys of 4 bytes in a double buffer.
  const std::pair<int, std::int64_t> needed_by_cub[] = {{1 << 16, 526335}, {1 << 19, 4198143}};
  for (const auto& [segments, bytes] : needed_by_cub) {
    const std::int64_t needed = bitonic::SegmentLists::needed(segments) * std::int64_t(sizeof(bitonic::Segment));
    CHECK(needed >= segments * std::int64_t(sizeof(bitonic::Segment)));
    CHECK(needed <= bytes + (1 << 20));
  }
}

TEST_CASE("segments that are refused") {
  const lab::Span<const std::uint32_t> keys;
  const lab::Span<std::uint32_t> sorted;
  CHECK_THROWS_WITH_AS(bitonic::sort_equal_segments(keys, sorted, 0, {}, nullptr), doctest::Contains("length"),
                       lab::Unsupported);
  CHECK_THROWS_WITH_AS(bitonic::sort_segments(keys, sorted, {}, {0, 64}, nullptr), doctest::Contains("--threads"),
                       lab::Unsupported);
}

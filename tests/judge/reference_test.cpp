// The reference for the tasks that are not sorts, and the range of keys.
#include "judge/reference.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "judge/verify.h"

using lab::KeyType;
using lab::Task;

TEST_CASE("reduce: the smallest and the largest") {
  const std::vector<std::uint32_t> keys = {7, 3, 4000000000u, 3};
  std::uint32_t result[2];
  lab::reference_result(Task::reduce, 4, keys.data(), result);
  CHECK(result[0] == 3);
  CHECK(result[1] == 4000000000u);
  lab::reference_result(Task::reduce, 0, keys.data(), result);
  CHECK(result[0] == ~0u);
  CHECK(result[1] == 0);
}

TEST_CASE("histogram: 256 counters, the last one too") {
  const std::vector<std::uint8_t> keys = {255, 0, 255, 7};
  std::vector<std::uint64_t> counts(256, 99);
  lab::reference_result(Task::histogram, 4, keys.data(), counts.data());
  CHECK(counts[0] == 1);
  CHECK(counts[7] == 1);
  CHECK(counts[8] == 0);
  CHECK(counts[255] == 2);
}

TEST_CASE("scan: exclusive, modulo 2^64") {
  const std::vector<std::uint64_t> values = {5, ~std::uint64_t{0}, 1, 9};
  std::vector<std::uint64_t> sums(4);
  lab::reference_result(Task::scan, 4, values.data(), sums.data());
  CHECK(sums == std::vector<std::uint64_t>{0, 5, 4, 5});
}

TEST_CASE("a wrong result is named by its place") {
  const std::vector<std::uint64_t> expected = {0, 5, 4};
  std::vector<std::uint64_t> result = expected;
  CHECK(lab::compare_results(Task::scan, 3, expected.data(), result.data()).text.empty());
  result[2] = 3;
  const lab::Fault fault = lab::compare_results(Task::scan, 3, expected.data(), result.data());
  CHECK(fault.text == "sums[2] of 3 is 3; it should be 4");
  CHECK(fault.index == 2);
}

TEST_CASE("the range of keys is that of their order") {
  const std::vector<std::int32_t> keys = {-5, 3, 0};
  CHECK(lab::range_of(KeyType::i32, 3, keys.data()) == 8);
  CHECK(lab::range_of(KeyType::i32, 1, keys.data()) == 0);
  CHECK(lab::range_of(KeyType::i32, 0, keys.data()) == 0);
  const std::vector<std::uint64_t> ends = {~std::uint64_t{0}, 0};
  CHECK(lab::range_of(KeyType::u64, 2, ends.data()) == ~std::uint64_t{0});
}

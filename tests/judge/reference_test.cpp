// The reference for the tasks that are not sorts, and the range of keys.
#include "judge/reference.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "judge/verify.h"
#include "step/segments.h"

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

TEST_CASE("strings: in the order of memcmp, letters as unsigned bytes") {
  const std::string in = "zebra   ape     \xff       apes    ", sorted = "ape     apes    zebra   \xff       ";
  std::string result(in.size(), '?');
  lab::reference_result(Task::strings, 4, in.data(), result.data());
  CHECK(result == sorted);
  CHECK(lab::compare_results(Task::strings, 4, result.data(), in.data()).text ==
        "sorted[0] of 4 is 7a 65 62 72 61 20 20 20; it should be 61 70 65 20 20 20 20 20");
}

TEST_CASE("many strings and segments, which all cores sort") {
  const std::int64_t n = (1 << 17) + 5;
  std::mt19937_64 random(7);
  std::vector<std::array<unsigned char, 8>> strings(n), sorted(n);
  for (auto& string : strings) {
    for (unsigned char& letter : string) letter = static_cast<unsigned char>(random() % 3 * 100);
  }
  lab::reference_result(Task::strings, n, strings.data(), sorted.data());
  std::sort(strings.begin(), strings.end());  // arrays are compared as strings are
  CHECK(sorted == strings);

  for (const Task task : {Task::segments, Task::segments_128}) {
    std::vector<std::uint32_t> keys(n), result(n);
    for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random());
    lab::reference_result(task, n, keys.data(), result.data());
    const std::vector<int> begins = lab::segment_begins(task, n);
    for (std::size_t i = 1; i < begins.size(); ++i) std::sort(keys.begin() + begins[i - 1], keys.begin() + begins[i]);
    CHECK(result == keys);
  }
}

TEST_CASE("flip orders all floats by their bits, -0 before +0, and unflip is its inverse") {
  const std::vector<std::uint32_t> ascending = {0xffffffff, 0xff800000, 0xbf800000, 0x80000001, 0x80000000,
                                                0,          1,          0x3f800000, 0x7f800000, 0x7fffffff};
  const std::int64_t n = std::ssize(ascending);
  std::vector<std::uint32_t> bits(n), again(n);
  lab::reference_result(Task::flip, n, ascending.data(), bits.data());
  CHECK(std::adjacent_find(bits.begin(), bits.end(), std::greater_equal<>{}) == bits.end());
  CHECK(bits[4] == 0x7fffffff);
  CHECK(bits[5] == 0x80000000);
  lab::reference_result(Task::unflip, n, bits.data(), again.data());
  CHECK(again == ascending);
  CHECK(lab::compare_results(Task::flip, n, bits.data(), ascending.data()).text ==
        "integers[0] of 10 is ffffffff; it should be 00000000");
  again[7] = 0xbf800000;
  CHECK(lab::input_of_result(Task::flip, bits.data(), 0).starts_with("\nfloats[0] is "));
  CHECK(lab::compare_results(Task::unflip, n, ascending.data(), again.data()).text ==
        "floats[7] of 10 is bf800000 (-1); it should be 3f800000 (1)");
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

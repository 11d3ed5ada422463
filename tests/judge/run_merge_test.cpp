// Runs in a file are merged by several workers, however the keys are distributed.
#include "judge/run_merge.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "judge/errors.h"
#include "judge/random.h"
#include "judge/verify.h"

namespace {

using lab::KeyFile;
using lab::Order;
using Keys = std::vector<std::uint32_t>;

constexpr std::uint64_t seed = 12345;

// A file in a folder of its own, which is removed.
struct Scratch {
  std::string folder = "/tmp/merge.XXXXXX", path;

  Scratch() {
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    path = folder + "/keys";
    REQUIRE(fclose(fopen(path.c_str(), "w")) == 0);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    unlink(path.c_str());
    rmdir(folder.c_str());
  }
};

struct Merged {
  lab::WrittenKeys written{Order::ascending, seed};
  Keys keys;
  std::vector<std::vector<std::int64_t>> begins;
};

// The keys as sorted runs of `length`, merged.
Merged merged(Keys keys, std::int64_t length, std::int64_t stride, lab::MergeShape shape,
              Order order = Order::ascending) {
  const auto n = std::ssize(keys);
  const Scratch scratch;
  KeyFile file = KeyFile::unnamed_beside(scratch.path), output = KeyFile::output(scratch.path);
  lab::Runs runs{file, order, n, length, stride, {}};
  for (std::int64_t begin = 0; begin < n; begin += length) {
    std::uint32_t* const run = keys.data() + begin;
    const std::int64_t count = std::min(length, n - begin);
    order == Order::ascending ? std::sort(run, run + count) : std::sort(run, run + count, std::greater());
    lab::add_samples(runs, run, count);
    lab::KeyWriter writer(file);
    writer.write(begin * 4, run, count * 4);
    writer.finish();
  }
  std::atomic<std::int64_t> done = 0;
  Merged result;
  result.begins = lab::divide(runs, shape.workers);
  result.written = lab::merge(runs, output, shape, seed, done, [] {});
  CHECK(done == n);
  REQUIRE(output.bytes() == n * 4);
  result.keys.resize(n);
  output.read(0, result.keys.data(), n * 4);
  return result;
}

void check_merge(const Keys& keys, std::int64_t length, std::int64_t stride, lab::MergeShape shape,
                 Order order = Order::ascending) {
  const Merged result = merged(keys, length, stride, shape, order);
  Keys sorted = keys;
  order == Order::ascending ? std::sort(sorted.begin(), sorted.end())
                            : std::sort(sorted.begin(), sorted.end(), std::greater());
  CHECK(result.keys == sorted);
  CHECK(result.written.count() == std::ssize(keys));
  CHECK(result.written.multiset() == lab::hash_of(lab::KeyType::u32, std::ssize(keys), keys.data(), seed).multiset);
}

Keys random_keys(std::int64_t n, std::uint64_t values) {
  Keys keys(n);
  for (std::int64_t i = 0; i < n; ++i) keys[i] = std::uint32_t(lab::random_at(7, std::uint64_t(i)) % values);
  return keys;
}

std::vector<std::int64_t> part_sizes(const Merged& merged) {
  std::vector<std::int64_t> sizes;
  for (std::size_t part = 1; part < merged.begins.size(); ++part) {
    std::int64_t size = 0;
    for (std::size_t run = 0; run < merged.begins[part].size(); ++run) {
      size += merged.begins[part][run] - merged.begins[part - 1][run];
    }
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

TEST_CASE("runs are merged in both orders, with blocks and parts that end anywhere") {
  for (const Order order : {Order::ascending, Order::descending}) {
    for (const std::int64_t n : {2, 1000, 1001, 5000, 100000}) {
      for (const int workers : {1, 2, 7}) {
        CAPTURE(n);
        CAPTURE(workers);
        check_merge(random_keys(n, std::uint64_t{1} << 32), (n + 2) / 3, 50, {workers, 1024}, order);
        check_merge(random_keys(n, 3), (n + 4) / 5, 7, {workers, 100}, order);
      }
    }
  }
}

TEST_CASE("the largest key is not taken for the end of a run") {
  check_merge(Keys(1000, 0xffffffffu), 300, 10, {3, 64});
  check_merge(Keys(1000, 0u), 300, 10, {3, 64}, Order::descending);
}

TEST_CASE("parts have about the same size, also if all keys are equal") {
  constexpr std::int64_t n = 100000;
  for (const Keys& keys : {random_keys(n, std::uint64_t{1} << 32), random_keys(n, 2), Keys(n, 5)}) {
    const std::vector<std::int64_t> sizes = part_sizes(merged(keys, n / 4, 100, {8, 1024}));
    for (const std::int64_t size : sizes) CHECK(size == doctest::Approx(n / 8.0).epsilon(0.05));
  }
}

TEST_CASE("keys that are not in order are not written silently") {
  lab::WrittenKeys written(Order::ascending, seed);
  const Keys keys = {1, 5, 5, 9};
  written.add(keys.data(), 4);
  const std::uint32_t less = 8;
  CHECK_THROWS_AS(written.add(&less, 1), lab::Unavailable);
  const Keys wrong = {9, 10, 3};
  CHECK_THROWS_AS(lab::WrittenKeys(Order::ascending, seed).add(wrong.data(), 3), lab::Unavailable);
  lab::WrittenKeys next(Order::ascending, seed);
  next.add(&less, 1);
  lab::WrittenKeys before(Order::ascending, seed);
  before.add(keys.data(), 4);
  CHECK_THROWS_AS(before.join(next), lab::Unavailable);
}

TEST_CASE("bytes are read and written from any offset to any address") {
  const Scratch scratch;
  KeyFile file = KeyFile::output(scratch.path);
  constexpr std::int64_t size = 40000;
  file.reserve(size);
  REQUIRE(file.bytes() == size);
  const lab::KeyBlock memory = lab::new_key_block(20000);
  char* const bytes = reinterpret_cast<char*>(memory.get());
  std::string expected(size, '\0');
  int value = 0;
  for (const std::int64_t offset : {0, 1, 4095, 4096, 5000, 8192, 20000}) {
    for (const std::int64_t count : {0, 1, 100, 4096, 8193, 15000}) {
      for (const std::int64_t at : {std::int64_t{0}, offset % 4096, std::int64_t{7}}) {
        ++value;
        std::fill_n(bytes + at, count, char(value));
        std::fill_n(expected.begin() + offset, count, char(value));
        lab::KeyWriter writer(file);
        writer.write(offset, bytes + at, count);
        writer.finish();
        std::fill_n(bytes + at, size, 'x');
        file.read(0, bytes + at, size);
        CHECK(std::equal(expected.begin(), expected.end(), bytes + at));
        file.read(offset, bytes + at, count);
        CHECK(std::all_of(bytes + at, bytes + at + count, [&](char byte) { return byte == char(value); }));
      }
    }
  }
}

TEST_CASE("a disk that is full is an error that says so") {
  KeyFile full = KeyFile::output("/dev/full");
  lab::KeyWriter writer(full);
  CHECK_THROWS_WITH_AS(writer.write(0, "keys", 4), doctest::Contains("the disk is full: no space is left in /dev"),
                       lab::Unavailable);
}

TEST_CASE("a file that has become shorter is an error") {
  const Scratch scratch;
  const KeyFile file = KeyFile::input(scratch.path);
  char byte;
  CHECK_THROWS_WITH_AS(file.read(0, &byte, 1), doctest::Contains("has become shorter"), lab::Unavailable);
}

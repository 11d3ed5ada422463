// What the judge does not see of lab 06: runs of any number and length, how much device memory is used and how, and
// several streams.
#include <doctest/doctest.h>
#include <simt/launch.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "beyond.h"
#include "buckets.h"
#include "steps.h"

namespace {

using lab::Order;
using Numbers = std::vector<std::uint32_t>;

Numbers random_keys(std::int64_t n, std::uint32_t values) {
  std::mt19937 random(1);
  Numbers keys(n);
  for (std::uint32_t& key : keys) key = values == 0 ? random() : random() % values;
  return keys;
}

void sort_by(Numbers& keys, Order order) {
  std::sort(keys.begin(), keys.end(), [order](auto a, auto b) { return lab::before(a, b, order); });
}

beyond::Keys span_of(Numbers& keys) { return {keys.data(), std::ssize(keys)}; }

/// Sorts each run, merges the runs, and compares with all keys sorted at once.
void check_runs(Numbers keys, const std::vector<std::int64_t>& begins, Order order) {
  Numbers scratch(keys.size(), 77), right = keys;
  sort_by(right, order);
  for (std::size_t run = 0; run + 1 < begins.size(); ++run) {
    std::sort(keys.begin() + begins[run], keys.begin() + begins[run + 1],
              [order](auto a, auto b) { return lab::before(a, b, order); });
  }
  beyond::merge_runs(span_of(keys), span_of(scratch), begins, order);
  CHECK(keys == right);
}

struct Launches {
  std::set<cudaStream_t> streams;
  std::vector<std::string> kernels;
} launches;

/// Runs a step on n keys, and returns the most device memory that it had at a time.
std::int64_t memory_of(const lab::Step& step, std::int64_t n, std::int64_t device_bytes, std::uint32_t values = 0) {
  Numbers keys = random_keys(n, values), scratch(n), right = keys;
  sort_by(right, Order::ascending);
  cudaMemPool_t pool;
  std::uint64_t bytes = 0;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
  launches = {};
  simt::listen_to_launches([](const simt::Kernel& kernel, const simt::LaunchConfig& config, double) {
    launches.streams.insert(config.stream);
    launches.kernels.emplace_back(kernel.name);
  });
  step.host_u32(span_of(keys), span_of(scratch), Order::ascending, device_bytes, {}, nullptr);
  simt::listen_to_launches(nullptr);
  CHECK(keys == right);
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
  return std::int64_t(bytes);
}

}  // namespace

TEST_CASE("runs of any number and length are merged") {
  std::mt19937 random(2);
  for (Order order : {Order::ascending, Order::descending}) {
    check_runs({}, {0, 0}, order);
    check_runs({}, {0, 0, 0, 0}, order);
    check_runs({5}, {0, 1}, order);
    check_runs({5}, {0, 0, 0, 1, 1}, order);
    for (int runs : {1, 2, 3, 4, 5, 7, 8, 31, 33, 100, 1000}) {
      CAPTURE(runs);
      for (std::uint32_t values : {0u, 1u, 3u}) {
        const std::int64_t n = 3000;
        std::vector<std::int64_t> begins = {0, n};
        for (int run = 1; run < runs; ++run) begins.push_back(random() % (n + 1));  // some runs are empty
        std::sort(begins.begin(), begins.end());
        check_runs(random_keys(n, values), begins, order);
      }
    }
  }
}

TEST_CASE("the smallest and the largest key are keys like any other") {
  Numbers keys;
  for (int i = 0; i < 1000; ++i) keys.push_back(i % 3 == 0 ? 0 : i % 3 == 1 ? ~0u : i);
  std::vector<std::int64_t> begins;
  for (std::int64_t begin = 0; begin <= 1000; begin += 100) begins.push_back(begin);
  for (Order order : {Order::ascending, Order::descending}) check_runs(keys, begins, order);
}

TEST_CASE("steps use most of the device memory that they may, and no more") {
  for (const lab::Step& step : beyond::steps) {
    CAPTURE(step.name);
    for (std::int64_t device_bytes : {beyond::fewest_device_bytes, std::int64_t{600'000}, std::int64_t{1} << 20}) {
      CAPTURE(device_bytes);
      const std::int64_t n = step.number == 1 ? 20'000 : 150'000;
      const std::int64_t most = memory_of(step, n, device_bytes);
      CHECK(most <= device_bytes);
      // (The emulation frees what one sort needs before the next begins.)
      if (step.number != 1) CHECK(most > device_bytes / 5 * 2);
    }
  }
}

TEST_CASE("pieces and buckets are distributed over three streams, none of them the caller's") {
  for (int number : {2, 3}) {
    CAPTURE(number);
    memory_of(beyond::steps[number - 1], 60'000, beyond::fewest_device_bytes);
    CHECK(launches.streams.size() == 3);
    CHECK(!launches.streams.contains(nullptr));
  }
}

TEST_CASE("keys of one value are not sorted, however many there are") {
  const lab::Step& partition = beyond::steps[2];
  const auto sorts = [] {
    return std::count_if(launches.kernels.begin(), launches.kernels.end(),
                         [](const std::string& kernel) { return kernel.find("sweep") != std::string::npos; });
  };
  memory_of(partition, 60'000, beyond::fewest_device_bytes, 1);
  CHECK(sorts() == 0);
  memory_of(partition, 60'000, beyond::fewest_device_bytes, 4);
  CHECK(sorts() == 0);
  memory_of(partition, 60'000, beyond::fewest_device_bytes);
  CHECK(sorts() > 0);
}

TEST_CASE("splitters are keys, in order and all different, and their buckets have about the same size") {
  for (std::uint32_t values : {0u, 1u, 2u, 50u}) {
    CAPTURE(values);
    Numbers keys = random_keys(200'000, values);
    const beyond::Splitters splitters = beyond::choose_splitters(span_of(keys), 5000, 0);
    REQUIRE(splitters.n >= 1);
    CHECK(std::is_sorted(splitters.bits, splitters.bits + splitters.n));
    CHECK(std::adjacent_find(splitters.bits, splitters.bits + splitters.n) == splitters.bits + splitters.n);
    std::vector<std::int64_t> between(splitters.n + 1);
    for (std::uint32_t key : keys) {
      const auto* const at = std::lower_bound(splitters.bits, splitters.bits + splitters.n, key);
      if (at == splitters.bits + splitters.n || *at != key) ++between[at - splitters.bits];
    }
    CHECK(*std::max_element(between.begin(), between.end()) < 8000);
    for (int i = 0; i < splitters.n; ++i) CHECK(std::count(keys.begin(), keys.end(), splitters.bits[i]) > 0);
  }
}

TEST_CASE("a bucket that is too large is divided again") {
  // A pattern that a sample at equal distances would not see: far more keys per splitter than fit, and most of them close
  // together.
  const lab::Step& partition = beyond::steps[2];
  const std::int64_t n = 2'000'000;
  CHECK(memory_of(partition, n, beyond::fewest_device_bytes) <= beyond::fewest_device_bytes);
  const auto groups = std::count_if(launches.kernels.begin(), launches.kernels.end(), [](const std::string& kernel) {
    return kernel.find("group") != std::string::npos;
  });
  CHECK(groups > n / beyond::keys_per_slot(beyond::fewest_device_bytes) + 1);  // more than one trip for each piece
}

// The host functions of lab 05: every type and order, the special cases of floats, and which passes are skipped.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "labs/on_device.h"

// The kernels of step 06, for buckets that it would make of many more keys only.
#include "../../solutions/05-radix/06_record.cu"

namespace radix {
namespace {

// 65,536 buckets for a few keys, so that partitions keep 16 bits of each, as they do for 2^28 keys.
struct NearlyEmptyBucket : SmallBucket {
  static constexpr int target_fill = 1;
};

// For 60,001 keys, there are 256 buckets with 234 keys on average.
struct TightBucket : SmallBucket {
  static constexpr int capacity = 240;
};

// The keys that step 06 has sorted by partitions, or left to step 05.
template <class Bucket, class Key>
std::vector<Key> sort_by_buckets(const std::vector<Key>& keys, lab::Order order) {
  const auto array = on_device(keys);
  sort_by_partitions<SmallPartition, Bucket>(array.span(), order, nullptr);
  return on_host(array);
}

// Whether step 06 leaves the keys to step 05.
template <class Bucket = SmallBucket, class Key>
bool plan_refuses(const std::vector<Key>& keys) {
  const BucketLimits limits = limits_for<SmallPartition, Bucket>(std::ssize(keys));
  const auto array = on_device(keys);
  const lab::DeviceArray<BucketPlan> plan(1, nullptr);
  const lab::DeviceArray<unsigned> counts(std::int64_t{1} << limits.bits(), nullptr);
  CUDA_CHECK(cudaMemset(plan.data(), 0, sizeof(BucketPlan)));
  CUDA_CHECK(cudaMemset(counts.data(), 0, sizeof(unsigned) << limits.bits()));
  const lab::Span<const std::uint32_t> span{reinterpret_cast<std::uint32_t*>(array.data()), std::ssize(keys)};
  const auto transform = transform_for<Key>(lab::Order::ascending);
  look_at_sample(span, transform, limits, plan.data(), nullptr);
  if (on_host(plan)[0].is_spread == 0) return true;
  make_bucket_plan(span, transform, limits, plan.data(), counts.data(), nullptr);
  return on_host(plan)[0].rejected != 0;
}

std::vector<std::uint32_t> uniform_keys(std::int64_t n, int seed) {
  std::mt19937 random{unsigned(seed)};
  std::vector<std::uint32_t> keys(n);
  for (std::uint32_t& key : keys) key = random();
  return keys;
}

}  // namespace
}  // namespace radix

TEST_CASE("keys are spread if a sample says so") {
  std::vector<std::uint32_t> keys = radix::uniform_keys(60'001, 1);
  CHECK_FALSE(radix::plan_refuses(keys));
  const auto changed = [&](auto change) {
    std::vector<std::uint32_t> other = keys;
    for (std::uint32_t& key : other) key = change(key);
    return other;
  };
  CHECK(radix::plan_refuses(changed([](std::uint32_t key) { return key >> 1; })));           // half of the buckets
  CHECK(radix::plan_refuses(changed([](std::uint32_t key) { return key & 0xff00ffffu; })));  // a bin of each bucket
  CHECK(radix::plan_refuses(changed([](std::uint32_t key) { return key % 20'000 * 214'748; })));  // values repeat
  CHECK(radix::plan_refuses(changed([](std::uint32_t key) { return key % 50 == 0 ? 7 : key; })));
  CHECK(radix::plan_refuses(in_order(keys, lab::Order::ascending)));  // neighbours are in the same bucket
}

TEST_CASE("a bucket that is too large, which no sample shows, leaves all keys to step 05") {
  const std::vector<std::uint32_t> keys = radix::uniform_keys(60'001, 2);
  CHECK(radix::plan_refuses<radix::TightBucket>(keys));
  CHECK(radix::sort_by_buckets<radix::TightBucket>(keys, lab::Order::ascending) ==
        in_order(keys, lab::Order::ascending));
}

TEST_CASE("floats of both zeros keep the order of these, and step 05 sorts them") {
  std::vector<float> keys(60'001);
  std::mt19937 random{3};
  for (float& key : keys) {
    const std::uint32_t bits = random();
    std::memcpy(&key, &bits, sizeof key);
  }
  CHECK_FALSE(radix::plan_refuses(keys));
  keys[123] = 0.0f, keys[45'678] = -0.0f;
  CHECK(radix::plan_refuses(keys));
  const std::vector<float> right = in_order(keys, lab::Order::ascending);
  const auto array = on_device(keys);
  radix::sort_record(array.span(), lab::Order::ascending, {}, nullptr);
  CHECK(std::memcmp(on_host(array).data(), right.data(), right.size() * sizeof(float)) == 0);
}

TEST_CASE_TEMPLATE("the first active pass may move keys in any order, but not zeros", Key, std::uint16_t, std::uint32_t,
                   std::uint64_t, float) {
  const std::int64_t n = 29'077;  // several tiles, which one block does not hold
  std::mt19937_64 random(3);
  const auto check = [](const std::vector<Key>& keys) {
    for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
      const auto array = on_device(keys);
      radix::sort_pipeline(array.span(), order, {}, nullptr);
      const std::vector<Key> right = in_order(keys, order), after = on_host(array);
      CHECK(std::memcmp(after.data(), right.data(), right.size() * sizeof(Key)) == 0);
    }
  };
  std::vector<Key> keys(n);
  for (Key& key : keys) key = Key(random());
  check(keys);
  for (Key& key : keys) key = random() % 2 == 0 ? Key(12345) : Key(random() % 3000);
  check(keys);  // a digit is frequent
  for (Key& key : keys) key = random() % 8 != 0 ? Key(12345) : Key(random() % 3000);
  check(keys);  // most keys have it
  for (Key& key : keys) key = Key(random() % 2 * 1000);
  check(keys);  // two digits, and then tiles of one digit
  for (std::int64_t i = 0; i < n; i += 5) keys[i] = i % 2 == 0 ? Key(-0.0) : Key(0.0);
  check(keys);  // floats of both zeros, which keep their order
}

namespace {

template <class Key>
void check_both_orders(const std::vector<Key>& keys) {
  for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
    std::vector<Key> sorted = keys;
    radix::sort_on_cpu(sorted.data(), std::ssize(sorted), order);
    const std::vector<Key> right = in_order(keys, order);
    CHECK(std::memcmp(sorted.data(), right.data(), sorted.size() * sizeof(Key)) == 0);
  }
}

template <class Key>
int passes(std::vector<Key> keys) {
  return radix::sort_on_cpu(keys.data(), std::ssize(keys), lab::Order::ascending);
}

}  // namespace

TEST_CASE_TEMPLATE("the reference sorts every integer type", Key, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t, std::int32_t, std::int64_t) {
  std::mt19937_64 random(1);
  for (std::size_t n : {0, 1, 2, 3, 63, 64, 65, 1000, 70001}) {
    std::vector<Key> keys(n);
    for (Key& key : keys) key = Key(random());
    check_both_orders(keys);
  }
}

TEST_CASE_TEMPLATE("the reference sorts floats as CUB does: NaNs, infinities, denormals, both zeros", Key, float,
                   double) {
  using Limits = std::numeric_limits<Key>;
  std::vector<Key> keys = {
      Key(0),  Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(), Limits::min(), Limits::max(), Key(1),
      Key(1.5)};
  for (std::size_t i = 0, positive = keys.size(); i < positive; ++i) keys.push_back(-keys[i]);
  const std::vector<Key> kinds = keys;
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) keys.push_back(kinds[random() % kinds.size()]);
  check_both_orders(keys);
}

TEST_CASE("values travel with their keys, and equal keys keep their order") {
  std::mt19937_64 random(3);
  for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
    std::vector<std::uint32_t> keys(20000), values(keys.size());
    for (std::uint32_t& key : keys) key = std::uint32_t(random()) % 100 << 20;
    std::iota(values.begin(), values.end(), 0u);
    const auto sorted_keys = in_order(keys, order), sorted_values = places_in_order(keys, order);
    radix::sort_on_cpu(keys.data(), values.data(), std::ssize(keys), order);
    CHECK(keys == sorted_keys);
    CHECK(values == sorted_values);
  }
}

TEST_CASE("a byte that all keys share costs no pass") {
  CHECK(passes(std::vector<std::uint32_t>(1000, 0x12345678u)) == 0);
  CHECK(passes(std::vector<std::uint32_t>{0x10, 0x20, 0x11}) == 1);
  CHECK(passes(std::vector<std::uint32_t>{0x01000010, 0x02000010, 0x01000011}) == 2);
  CHECK(passes(std::vector<std::uint64_t>{1, 1ull << 63, 5}) == 2);
  CHECK(passes(std::vector<std::int32_t>{1, -1}) == 4);  // they differ in all bytes
  CHECK(passes(std::vector<std::uint32_t>{}) == 0);
}

TEST_CASE("strings of any equal length are sorted as memcmp compares them") {
  std::mt19937_64 random(4);
  for (std::int64_t length : {1, 2, 3, 8, 20}) {
    for (std::int64_t n : {0, 1, 2, 100, 5000}) {
      std::vector<std::string> strings(n, std::string(length, '?'));
      for (std::string& string : strings) {
        for (char& letter : string) letter = "ab\x7f\x80\xff"[random() % 5];
      }
      std::string all;
      for (const std::string& string : strings) all += string;
      radix::sort_strings_on_cpu(reinterpret_cast<unsigned char*>(all.data()), n, length);
      std::sort(strings.begin(), strings.end());  // std::string, too, compares letters as unsigned bytes
      std::string right;
      for (const std::string& string : strings) right += string;
      CHECK(all == right);
    }
  }
}

TEST_CASE("partitions that keep 16 bits of a key sort spread keys, and bins with many keys of a few buckets") {
  std::mt19937_64 random(4);
  for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
    std::vector<std::uint32_t> keys = radix::uniform_keys(65'000, 4);
    std::fill_n(keys.begin() + 1000, 60, keys.front());  // more than the margin, and equal
    for (int i = 0; i < 500; ++i) keys[3000 + 17 * i] = 0xabcd0000u + std::uint32_t(random() % 16);  // and different
    CHECK(radix::sort_by_buckets<radix::NearlyEmptyBucket>(keys, order) == in_order(keys, order));
  }
}

// The host functions of lab 05: every type and order, the special cases of floats, and which passes are skipped.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "first_pass.cuh"
#include "labs/on_device.h"

// The core of step 06 and its kernels, for buckets that it would make of many more keys only.
#include "../../solutions/05-radix/06_record.cu"

namespace radix {
namespace {

// 65,536 buckets for 32,769 to 65,536 keys, so that partitions keep 16 bits of each, as they do for 2^28 keys.
struct ManyBuckets : FewKeys {
  static BucketLimits limits(std::int64_t) {
    return {.first = {24, 8}, .second = {16, 8}, .max_bucket = Bucket::capacity, .tile_size = Partition::size};
  }
};

// The keys after two partitions, and whether these have left them unsorted.
std::pair<std::vector<std::uint32_t>, bool> sort_by_many_buckets(const std::vector<std::uint32_t>& keys,
                                                                 lab::Order order) {
  const auto primary = on_device(keys);
  const lab::DeviceArray<std::uint32_t> scratch(std::ssize(keys), nullptr);
  const lab::DeviceArray<TwoPartitionsPlan> plan(1, nullptr);
  CUDA_CHECK(cudaMemset(plan.data(), 0, sizeof(TwoPartitionsPlan)));
  const auto transform = transform_for<std::uint32_t>(order);
  TwoPartitionsSort<Core, ManyBuckets, std::uint32_t>(primary.span(), scratch.data(), transform, plan.data(), nullptr)
      .queue();
  return {on_host(primary), on_host(plan)[0].buckets.unsorted != 0};
}

// The keys after the method for few values, and whether it has sorted them. They begin `offset` keys behind an address
// that is divisible by 16.
template <class Key>
std::pair<std::vector<Key>, bool> sort_by_values(const std::vector<Key>& keys, lab::Order order, int offset,
                                                 unsigned unsorted = 1) {
  std::vector<Key> padded(keys.size() + 2 * offset, Key(7));
  std::copy(keys.begin(), keys.end(), padded.begin() + offset);
  const auto array = on_device(padded);
  const auto flag = on_device(std::vector<unsigned>{unsorted});
  const lab::DeviceArray<FewValues> values(1, nullptr);
  CUDA_CHECK(cudaMemset(values.data(), 0, sizeof(FewValues)));
  const lab::Span<std::uint32_t> own = {reinterpret_cast<std::uint32_t*>(array.data()) + offset, std::ssize(keys)};
  sort_few_values(own, transform_for<Key>(order), values.data(), flag.data(), nullptr);
  std::vector<Key> after = on_host(array);
  for (int i = 0; i < offset; ++i) CHECK((after[i] == Key(7) && after[after.size() - 1 - i] == Key(7)));
  return {std::vector<Key>(after.begin() + offset, after.end() - offset), on_host(flag)[0] == 0};
}

// n keys of `values` different values, each of which occurs.
template <class Key>
std::vector<Key> keys_of(int values, std::int64_t n) {
  std::mt19937 random{unsigned(values)};
  std::vector<Key> keys(n);
  for (std::int64_t i = 0; i < n; ++i) keys[i] = Key(int((i < values ? i : random() % values) * 2654435761u));
  std::shuffle(keys.begin(), keys.end(), random);
  return keys;
}

}  // namespace
}  // namespace radix

TEST_CASE_TEMPLATE("keys of at most 1024 values are counted", Key, std::uint32_t, std::int32_t, float) {
  for (int values : {1, 2, 31, 32, 33, 64, 200, 1000, 1024}) {
    for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
      for (int offset : {0, 3}) {
        CAPTURE(values);
        const std::vector<Key> keys = radix::keys_of<Key>(values, 20'011 + offset);
        const auto [after, is_sorted] = radix::sort_by_values(keys, order, offset);
        CHECK(is_sorted);
        CHECK(after == in_order(keys, order));
      }
    }
  }
}

TEST_CASE_TEMPLATE("a first pass in any order leaves the others to the passes", Key, std::uint16_t, std::uint32_t,
                   std::uint64_t, float) {
  using Tile = radix::FirstPassTile<lab::Bits<Key>>;
  const std::int64_t n = lab::Device::current().resident_keys<Tile>() + 77;  // some blocks have two tiles
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
  check(keys);  // half of the lanes have the same digit
  for (Key& key : keys) key = Key(random() % 2 * 1000);
  check(keys);  // two digits, and then tiles of one digit
  for (std::int64_t i = 0; i < n; i += 5) keys[i] = i % 2 == 0 ? Key(-0.0) : Key(0.0);
  check(keys);  // floats of both zeros, which keep their order
}

TEST_CASE("keys that cannot be counted stay as they are") {
  const auto stays = [](auto keys, unsigned unsorted = 1) {
    const auto [after, is_sorted] = radix::sort_by_values(keys, lab::Order::ascending, 0, unsorted);
    CHECK(std::memcmp(after.data(), keys.data(), keys.size() * sizeof keys[0]) == 0);
    CHECK(is_sorted == (unsorted == 0));
  };
  stays(radix::keys_of<std::uint32_t>(1025, 20'011));  // one too many, which the sample does not show
  stays(radix::keys_of<std::uint32_t>(20'011, 20'011));
  std::vector<float> zeros = radix::keys_of<float>(200, 20'011);
  zeros[123] = 0.0f, zeros[4567] = -0.0f;
  stays(zeros);
  stays(radix::keys_of<std::uint32_t>(200, 20'011), 0);  // the partitions have sorted them
}

TEST_CASE("values that are not in the sample are counted, too") {
  std::vector<std::uint32_t> keys = radix::keys_of<std::uint32_t>(100, 200'003);
  for (int i = 0; i < 50; ++i) keys[4001 * i] = 1u << 31 | i;
  const auto [after, is_sorted] = radix::sort_by_values(keys, lab::Order::ascending, 0);
  CHECK(is_sorted);
  CHECK(after == in_order(keys, lab::Order::ascending));
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

TEST_CASE("partitions that keep 16 bits of a key sort evenly spread keys, and some that are equal") {
  std::mt19937_64 random(4);
  for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
    std::vector<std::uint32_t> keys(65000);
    for (std::uint32_t& key : keys) key = std::uint32_t(random());
    std::fill_n(keys.begin() + 1000, 60, keys.front());  // more than a bin may have
    const auto [sorted, unsorted] = radix::sort_by_many_buckets(keys, order);
    CHECK_FALSE(unsorted);
    CHECK(sorted == in_order(keys, order));
  }
}

TEST_CASE("partitions that keep 16 bits of a key leave keys as they are if most are in one half of the buckets") {
  std::mt19937_64 random(5);
  for (std::uint32_t highest : {0u, 1u << 31}) {
    std::vector<std::uint32_t> keys(65000);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys[i] = i % 10 == 0 ? std::uint32_t(random()) : std::uint32_t(random()) >> 1 | highest;
    }
    const auto [left, unsorted] = radix::sort_by_many_buckets(keys, lab::Order::ascending);
    CHECK(unsorted);
    CHECK(left == keys);
  }
}

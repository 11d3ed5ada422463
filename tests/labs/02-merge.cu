// What the judge cannot test in lab 02: the tiles of a pass with more keys than a machine can hold, and other orders. The
// judge knows ascending and descending order, but the lab promises any comparison.
// Compared by their low bytes, different keys can be equal, so that stability shows in the keys themselves; the values
// show the same.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "k_way_pass.cuh"
#include "labs/on_device.h"
#include "merge_sort.h"
#include "methods.cuh"

namespace {

using merge_sort::ByLowByte;
using Key = std::uint32_t;

struct Step {
  const char* name;
  void (*sort)(lab::Span<Key>, ByLowByte, lab::LaunchShape, cudaStream_t);
  void (*sort_pairs)(lab::Span<Key>, lab::Span<Key>, ByLowByte, lab::LaunchShape, cudaStream_t);
};

const Step steps[] = {
    {"thread", merge_sort::sort_thread<Key, ByLowByte>, merge_sort::sort_thread<Key, Key, ByLowByte>},
    {"block", merge_sort::sort_block<Key, ByLowByte>, merge_sort::sort_block<Key, Key, ByLowByte>},
    {"splitters", merge_sort::sort_splitters<Key, ByLowByte>, merge_sort::sort_splitters<Key, Key, ByLowByte>},
    {"path", merge_sort::sort_path<Key, ByLowByte>, merge_sort::sort_path<Key, Key, ByLowByte>},
    {"record", merge_sort::sort_record<Key, ByLowByte>, merge_sort::sort_record<Key, Key, ByLowByte>},
};

// Around a thread's items, pieces and tiles of all steps (256, 1152, 2048, 2816, 4352, 4608, 8704 keys), and several of
// them. If passes of step 05 merge four runs, it makes a second one from 34,817 keys on, which has two merges from 139,265
// keys on. On a GPU with clusters, it sorts 4609 to 36,864 keys of any kind in one launch.
constexpr std::int64_t sizes[] = {0,     1,     2,     3,     17,    18,    100,   255,   256,  257,   511,
                                  512,   513,   1152,  1153,  2047,  2048,  2049,  4095,  4096, 4097,  4351,
                                  4352,  4353,  4608,  4609,  8704,  8705,  9216,  9217,  9300, 10000, 18432,
                                  18433, 20011, 34816, 34817, 36864, 36865, 43600, 150001};

// If the user chooses the blocks, step 05 merges four runs even where there are few keys.
constexpr lab::LaunchShape shapes[] = {{}, {3, 0}};

std::vector<Key> random_keys(std::int64_t n, Key mask) {
  std::mt19937 random(std::uint32_t(n) ^ mask);
  std::vector<Key> keys(n);
  for (Key& key : keys) key = random() & mask;
  return keys;
}

// All bits random; and a low byte of two values, so that long runs of equal keys cross every boundary.
constexpr Key masks[] = {0xffffffff, 0xffffff01};

}  // namespace

TEST_CASE("02-merge sorts by any comparison, stable") {
  for (const Step& step : steps) {
    for (std::int64_t n : sizes) {
      for (Key mask : masks) {
        const std::vector<Key> input = random_keys(n, mask);
        const std::vector<Key> expected = in_order(input, ByLowByte{});
        for (lab::LaunchShape shape : shapes) {
          const lab::DeviceArray<Key> keys = on_device(input);
          step.sort(keys.span(), ByLowByte{}, shape, nullptr);
          CAPTURE(step.name);
          CAPTURE(n);
          CAPTURE(shape.blocks);
          CHECK(on_host(keys) == expected);
        }
      }
    }
  }
}

TEST_CASE("02-merge carries values by any comparison, stable") {
  for (const Step& step : steps) {
    for (std::int64_t n : sizes) {
      for (Key mask : masks) {
        const std::vector<Key> input = random_keys(n, mask);
        const std::vector<Key> expected = in_order(input, ByLowByte{});
        std::vector<Key> places(n);
        std::iota(places.begin(), places.end(), 0u);
        for (lab::LaunchShape shape : shapes) {
          const lab::DeviceArray<Key> keys = on_device(input), values = on_device(places);
          step.sort_pairs(keys.span(), values.span(), ByLowByte{}, shape, nullptr);
          CAPTURE(step.name);
          CAPTURE(n);
          CAPTURE(shape.blocks);
          CHECK(on_host(keys) == expected);
          CHECK(on_host(values) == places_in_order(input, ByLowByte{}));
        }
      }
    }
  }
}

TEST_CASE("02-merge sorts with any launch shape and another comparison") {
  const std::vector<Key> input = random_keys(9001, 0xffffff03);
  const std::vector<Key> expected = in_order(input, ByLowByte{});
  for (const Step& step : steps) {
    for (lab::LaunchShape shape : {lab::LaunchShape{1, 0}, lab::LaunchShape{2, 96}, lab::LaunchShape{3, 1024}}) {
      const bool any_threads =
          step.sort != merge_sort::sort_path<Key, ByLowByte> && step.sort != merge_sort::sort_record<Key, ByLowByte>;
      if (!any_threads) shape.threads = shape.threads == 0 ? 0 : 256;
      const lab::DeviceArray<Key> keys = on_device(input);
      step.sort(keys.span(), ByLowByte{}, shape, nullptr);
      CAPTURE(step.name);
      CAPTURE(shape.blocks);
      CHECK(on_host(keys) == expected);
    }
  }
}

TEST_CASE_TEMPLATE("the tiles of a pass of step 05 cover its output, and are as large as they may be but for the last",
                   Width, std::integral_constant<int, 2>, std::integral_constant<int, 4>) {
  constexpr int largest = 8415, width = Width::value;
  for (std::int64_t n : {std::int64_t{2}, std::int64_t{8415}, std::int64_t{16897}, (std::int64_t{1} << 28) + 3,
                         (std::int64_t{1} << 33) - 1}) {
    for (std::int64_t run : {std::int64_t{16896}, std::int64_t{16896} << 10, std::int64_t{16896} << 18}) {
      const merge_sort::KWayPass<width> pass(n, run, largest);
      const std::int64_t per_merge = width * run;
      CAPTURE(n);
      CAPTURE(run);
      CHECK(pass.tile <= largest);
      CHECK(pass.tile * pass.tiles_per_merge >= std::min(n, per_merge));
      CHECK(pass.tile * (pass.tiles_per_merge - 1) < std::min(n, per_merge));
      const std::int64_t last = (n - 1) / per_merge, in_last = pass.tiles - last * pass.tiles_per_merge;
      CHECK(in_last > 0);
      CHECK(in_last * pass.tile >= n - last * per_merge);
      CHECK((in_last - 1) * pass.tile < n - last * per_merge);
      CHECK(pass.run_first(last, 0) == last * per_merge);
      CHECK(pass.run_first(last, width) == n);
      if (last > 0) CHECK(pass.run_first(last - 1, width) == last * per_merge);
    }
  }
}

TEST_CASE("the method of step 05 is the one for so many keys, unless the user chooses the launch shape") {
  using merge_sort::Method;
  const auto method = [](std::int64_t n, lab::LaunchShape shape) {
    return merge_sort::choose_method<Key, merge_sort::NoValue, merge_sort::InOrder<lab::Order::ascending>>(n, shape);
  };
  const std::int64_t multiprocessors = lab::device_attribute(cudaDevAttrMultiProcessorCount);
  CHECK(method(2, {}) == Method::few_keys);
  CHECK(method(4096 * multiprocessors, {}) == Method::few_keys);
  // A thread count, and an array that fits into a small tile, leave the large tiles out.
  CHECK(method(2, {1, 0}) == Method::four_way_small_tiles);
  CHECK(method(8448, {1, 0}) == Method::four_way_small_tiles);
  CHECK(method(1 << 30, {0, 256}) == Method::four_way_small_tiles);
  using Large =
      merge_sort::SortShape<Method::four_way, Key, merge_sort::NoValue, merge_sort::InOrder<lab::Order::ascending>>;
  const bool large = merge_sort::fits<Large>();
  CHECK(method(8449, {1, 0}) == (large ? Method::four_way : Method::four_way_small_tiles));
  CHECK(method(65536 * multiprocessors + 1, {}) == (large ? Method::four_way : Method::four_way_small_tiles));
  const Method more_keys = merge_sort::has_all_methods ? Method::two_way : Method::four_way;
  if (large && multiprocessors > 2) CHECK(method(4096 * multiprocessors + 1, {}) == more_keys);
}

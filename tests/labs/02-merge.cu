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

// Around a thread's items, pieces and tiles of all steps (256, 2048, 2816, 4320, 4352, 8640, 8704 keys), and several of
// them. If step 05 merges four runs at a time, it makes a second pass from 34,561 keys on. Its first pass has two merges
// then, and five from 138,241 keys on.
constexpr std::int64_t sizes[] = {0,    1,    2,    3,     17,    18,    100,   255,   256,   257,   511,   512,  513,
                                  2047, 2048, 2049, 4095,  4096,  4097,  4320,  4321,  4351,  4352,  4353,  8640, 8641,
                                  8704, 8705, 9300, 10000, 17408, 17409, 20011, 34560, 34561, 43600, 150001};

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

TEST_CASE_TEMPLATE("the tiles of a pass of step 05 cover its output, and none belongs to two merges", Ways,
                   std::integral_constant<int, 2>, std::integral_constant<int, 4>) {
  constexpr int tile = 8384, ways = Ways::value;
  for (std::int64_t n : {std::int64_t{2}, std::int64_t{8384}, std::int64_t{16769}, (std::int64_t{1} << 28) + 3,
                         (std::int64_t{1} << 33) - 1}) {
    for (std::int64_t run : {std::int64_t{2 * tile}, std::int64_t{2 * tile} << 10, std::int64_t{2 * tile} << 18}) {
      const merge_sort::KWayPass<ways> pass(n, run, tile);
      CAPTURE(n);
      CAPTURE(run);
      CHECK(pass.tiles * tile >= n);
      CHECK((pass.tiles - 1) * tile < n);
      const std::int64_t merge = ways * run, last = (n - 1) / merge, first_tile = last * merge / tile;
      CHECK(pass.run_first(pass.tiles - 1, 0) == last * merge);
      CHECK(pass.run_first(pass.tiles - 1, 1) == std::min(last * merge + run, n));
      CHECK(pass.run_first(pass.tiles - 1, ways) == n);
      CHECK(pass.run_first(first_tile, 0) == first_tile * tile);
      if (last > 0) CHECK(pass.run_first(first_tile - 1, ways) == last * merge);
    }
  }
}

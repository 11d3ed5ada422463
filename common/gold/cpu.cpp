// The table of the gold standard without a GPU:
// - the standard library's sorts;
// - Boost's spreadsort (S. Ross, "The spreadsort high-performance general-case sorting algorithm", 2002);
// - VQSort, the fastest sort that we know for one core (J. Wassenberg, M. Blacher, J. Giesen and P. Sanders, "Vectorized
//   and performance-portable quicksort", 2022);
// - a counting sort for keys of one or two bytes, where no sort by comparisons is as fast;
// - for steps that sort host memory: some of these, and Boost's block_indirect_sort on all cores.
// It runs on CUDA on the CPU, where device memory is host memory.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#ifdef LAB_HAVE_VQSORT
#include <hwy/contrib/sort/vqsort.h>
#endif

#if __has_include(<boost/sort/spreadsort/integer_sort.hpp>)
#include <boost/sort/spreadsort/integer_sort.hpp>
#define LAB_HAVE_SPREADSORT
#endif

#include "gold/host_sorts.h"
#include "gold/table.h"
#include "judge/reference.h"
#include "step/error.h"
#include "step/segments.h"
#include "step/step.h"

namespace {

using gold::begin;
using lab::LaunchShape;
using lab::Order;
using lab::Span;

// Calls sort(begin, n) for each tile; tile 0 is the whole array.
template <std::int64_t tile, class Sort>
void each_tile(std::int64_t n, Sort&& sort) {
  const std::int64_t length = tile ? tile : std::max<std::int64_t>(n, 1);
  for (std::int64_t at = 0; at < n; at += length) sort(at, std::min(length, n - at));
}

template <std::int64_t tile, class Key>
void stable_sort(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  begin(shape, stream);
  each_tile<tile>(keys.n, [&](std::int64_t at, std::int64_t n) {
    std::stable_sort(keys.data + at, keys.data + at + n, [order](Key a, Key b) { return lab::before(a, b, order); });
  });
}

template <class Key>
void standard_sort(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  begin(shape, stream);
  if (order == Order::ascending) {
    std::sort(keys.data, keys.data + keys.n, [](Key a, Key b) { return lab::less(a, b); });
  } else {
    std::sort(keys.data, keys.data + keys.n, [](Key a, Key b) { return lab::less(b, a); });
  }
}

// Counts how often each value occurs, then writes each value that often. Bytes use four tables in turn, because an
// addition to a counter waits for the previous one to the same counter. Four tables of larger keys would not fit in a
// core's cache.
template <class Key>
void counting(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  static_assert(!std::numeric_limits<Key>::is_signed);
  begin(shape, stream);
  constexpr std::size_t values = std::size_t{std::numeric_limits<Key>::max()} + 1;
  constexpr std::size_t tables = sizeof(Key) == 1 ? 4 : 1;
  std::vector<std::size_t> counts(tables * values);
  for (std::size_t i = 0; i < std::size_t(keys.n); ++i) ++counts[i % tables * values + keys.data[i]];
  Key* to = keys.data;
  for (std::size_t i = 0; i < values; ++i) {
    const std::size_t value = order == Order::ascending ? i : values - 1 - i;
    for (std::size_t table = 0; table < tables; ++table) {
      to = std::fill_n(to, counts[table * values + value], Key(value));
    }
  }
}

#ifdef LAB_HAVE_SPREADSORT
template <class Key>
void spreadsort(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  begin(shape, stream);
  if (order == Order::descending) throw lab::Unsupported("spreadsort is measured in ascending order only");
  boost::sort::spreadsort::integer_sort(keys.data, keys.data + keys.n);
}
#endif

template <std::int64_t tile, class Key, class Value>
void stable_sort(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream) {
  begin(shape, stream);
  std::vector<std::pair<Key, Value>> pairs(keys.n);
  for (std::int64_t i = 0; i < keys.n; ++i) pairs[i] = {keys.data[i], values.data[i]};
  each_tile<tile>(keys.n, [&](std::int64_t at, std::int64_t n) {
    std::stable_sort(pairs.begin() + at, pairs.begin() + at + n,
                     [order](const auto& a, const auto& b) { return lab::before(a.first, b.first, order); });
  });
  for (std::int64_t i = 0; i < keys.n; ++i) {
    keys.data[i] = pairs[i].first;
    values.data[i] = pairs[i].second;
  }
}

#ifdef LAB_HAVE_VQSORT
// Floats are sorted as integers of the same order, with -0 before +0: VQSort's order of floats does not include NaN.
template <class Key>
lab::Bits<Key> to_integer(lab::Bits<Key> bits) {
  constexpr auto sign = lab::Bits<Key>(lab::Bits<Key>(1) << (8 * sizeof(Key) - 1));
  return bits & sign ? lab::Bits<Key>(~bits) : lab::Bits<Key>(bits | sign);
}

template <std::int64_t tile, class Key>
void vqsort(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  begin(shape, stream);
  static const hwy::Sorter sorter;
  const auto sort = [&](auto* data) {
    each_tile<tile>(keys.n, [&](std::int64_t at, std::int64_t n) {
      order == Order::ascending ? sorter(data + at, n, hwy::SortAscending())
                                : sorter(data + at, n, hwy::SortDescending());
    });
  };
  if constexpr (std::is_floating_point_v<Key>) {
    std::vector<lab::Bits<Key>> integers(keys.n);
    for (std::int64_t i = 0; i < keys.n; ++i) {
      integers[i] = to_integer<Key>(std::bit_cast<lab::Bits<Key>>(keys.data[i]));
    }
    sort(integers.data());
    for (std::int64_t i = 0; i < keys.n; ++i) keys.data[i] = lab::from_ordered_bits<Key>(integers[i]);
  } else {
    sort(keys.data);
  }
}
#endif

// What the judge compares results with is also what they are timed against.
template <lab::Task task, class Key, class Value>
void reference(Span<const Key> keys, Span<Value> result, LaunchShape shape, cudaStream_t stream) {
  begin(shape, stream);
  lab::reference_result(task, keys.n, keys.data, result.data);
}

template <lab::Task task>
void equal_segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, int, LaunchShape shape,
                    cudaStream_t stream) {
  reference<task>(keys, sorted, shape, stream);
}

void segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, Span<const int> begins, LaunchShape shape,
              cudaStream_t stream) {
  begin(shape, stream);
  std::copy_n(keys.data, keys.n, sorted.data);
  for (std::int64_t i = 1; i < begins.n; ++i) std::sort(sorted.data + begins.data[i - 1], sorted.data + begins.data[i]);
}

/// A sort of keys of every type. `sort` converts to a function for each of them.
template <class Sort>
constexpr lab::Sort sort_of_keys(Sort sort) {
  return {.u8 = sort, .u16 = sort, .u32 = sort, .u64 = sort, .i32 = sort, .i64 = sort, .f32 = sort, .f64 = sort};
}

template <std::int64_t tile>
constexpr lab::Step stable_sort_step(int number, const char* name, const char* idea) {
  lab::Sort sort = sort_of_keys([](auto... arguments) { stable_sort<tile>(arguments...); });
  sort.pairs = stable_sort<tile, std::uint32_t, std::uint32_t>;
  return {.number = number, .name = name, .idea = idea, .stable = true, .tile = tile, .function = sort};
}

#ifdef LAB_HAVE_VQSORT
template <std::int64_t tile>
constexpr lab::Step vqsort_step(int number, const char* name, const char* idea) {
  return {.number = number,
          .name = name,
          .idea = idea,
          .tile = tile,
          .function = lab::Sort{.u16 = vqsort<tile, std::uint16_t>,
                                .u32 = vqsort<tile, std::uint32_t>,
                                .u64 = vqsort<tile, std::uint64_t>,
                                .i32 = vqsort<tile, std::int32_t>,
                                .i64 = vqsort<tile, std::int64_t>,
                                .f32 = vqsort<tile, float>,
                                .f64 = vqsort<tile, double>}};
}
#endif

constexpr lab::Step steps[] = {
    stable_sort_step<0>(1, "stable-sort", "std::stable_sort, one core"),
    stable_sort_step<128>(2, "stable-sort-128", "std::stable_sort of tiles of 128, one core"),
    stable_sort_step<1024>(3, "stable-sort-1024", "std::stable_sort of tiles of 1024, one core"),
    {.number = 4, .name = "sort", .idea = "std::sort, one core", .function = sort_of_keys([](auto... arguments) {
                                                                   standard_sort(arguments...);
                                                                 })},
#ifdef LAB_HAVE_SPREADSORT
    {.number = 5,
     .name = "spreadsort",
     .idea = "Boost.Sort's spreadsort, one core",
     .function = lab::Sort{.u32 = spreadsort<std::uint32_t>, .u64 = spreadsort<std::uint64_t>}},
#endif
#ifdef LAB_HAVE_VQSORT
    vqsort_step<0>(6, "vqsort", "VQSort, one core"),
    vqsort_step<128>(7, "vqsort-128", "VQSort of tiles of 128, one core"),
    vqsort_step<1024>(8, "vqsort-1024", "VQSort of tiles of 1024, one core"),
#endif
    {.number = 10,
     .name = "counting",
     .idea = "a counting sort, one core",
     .function = lab::Sort{.u8 = counting<std::uint8_t>, .u16 = counting<std::uint16_t>}},
    gold::host_sort_line,
#ifdef LAB_HAVE_VQSORT
    gold::host_vqsort_line,
#endif
#ifdef LAB_HAVE_BLOCK_INDIRECT_SORT
    gold::host_block_indirect_sort_line,
#endif
    {.number = 9, .name = "reduce", .idea = "a loop, one core", .function = lab::Reduce{reference<lab::Task::reduce>}},
    {.number = 9,
     .name = "histogram",
     .idea = "a loop, one core",
     .function = lab::Histogram{reference<lab::Task::histogram>}},
    {.number = 9,
     .name = "exclusive-scan",
     .idea = "std::exclusive_scan, one core",
     .function = lab::Scan{reference<lab::Task::scan>}},
    {.number = 9,
     .name = "sort-128",
     .idea = "std::sort of segments of 128, one core",
     .max_n = lab::max_segmented_keys,
     .function = lab::EqualSegments<128>{equal_segments<lab::Task::segments_128>}},
    {.number = 9,
     .name = "sort-1024",
     .idea = "std::sort of segments of 1024, one core",
     .max_n = lab::max_segmented_keys,
     .function = lab::EqualSegments<1024>{equal_segments<lab::Task::segments_1024>}},
    {.number = 9,
     .name = "sort-segments",
     .idea = "std::sort of segments, one core",
     .max_n = lab::max_segmented_keys,
     .function = lab::Segments{segments}},
};

}  // namespace

std::span<const lab::Step> gold::table() { return steps; }

// The gold standard without a GPU, as a runner with a table of its own: the standard library's stable sort, and the
// fastest sort we know for one core, VQSort (J. Wassenberg, M. Blacher, J. Giesen and P. Sanders, "Vectorized and
// performance-portable quicksort", 2022). Built over CUDA on the CPU, where device memory is the host's.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#ifdef LAB_HAVE_VQSORT
#include <hwy/contrib/sort/vqsort.h>
#endif

#include "lab/error.h"
#include "lab/runner.h"
#include "lab/step.h"

namespace {

using lab::LaunchShape;
using lab::Order;
using lab::Span;

constexpr std::int64_t tile_keys = 1024;

// Both sorts run on one core of the host: no launch shape means anything to them.
void begin(LaunchShape shape, cudaStream_t stream) {
  if (shape.blocks != 0 || shape.threads != 0) throw lab::Unsupported("a sort on the host has no launch shape");
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

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
// Floats are sorted as integers of the same order in which -0 stands before +0: VQSort's own order of floats has no
// place for NaN.
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

constexpr lab::Step steps[] = {
    {.number = 1, .name = "stable-sort", .idea = "std::stable_sort, one core", .stable = true,
     .u8 = stable_sort<0, std::uint8_t>, .u16 = stable_sort<0, std::uint16_t>,
     .u32 = stable_sort<0, std::uint32_t>, .u64 = stable_sort<0, std::uint64_t>,
     .i32 = stable_sort<0, std::int32_t>, .i64 = stable_sort<0, std::int64_t>,
     .f32 = stable_sort<0, float>, .f64 = stable_sort<0, double>,
     .pairs = stable_sort<0, std::uint32_t, std::uint32_t>},
    {.number = 2, .name = "stable-sort-tiles", .idea = "std::stable_sort of each tile, one core", .stable = true,
     .tile = tile_keys,
     .u8 = stable_sort<tile_keys, std::uint8_t>, .u16 = stable_sort<tile_keys, std::uint16_t>,
     .u32 = stable_sort<tile_keys, std::uint32_t>, .u64 = stable_sort<tile_keys, std::uint64_t>,
     .i32 = stable_sort<tile_keys, std::int32_t>, .i64 = stable_sort<tile_keys, std::int64_t>,
     .f32 = stable_sort<tile_keys, float>, .f64 = stable_sort<tile_keys, double>,
     .pairs = stable_sort<tile_keys, std::uint32_t, std::uint32_t>},
#ifdef LAB_HAVE_VQSORT
    {.number = 3, .name = "vqsort", .idea = "VQSort, one core",
     .u16 = vqsort<0, std::uint16_t>, .u32 = vqsort<0, std::uint32_t>, .u64 = vqsort<0, std::uint64_t>,
     .i32 = vqsort<0, std::int32_t>, .i64 = vqsort<0, std::int64_t>,
     .f32 = vqsort<0, float>, .f64 = vqsort<0, double>},
    {.number = 4, .name = "vqsort-tiles", .idea = "VQSort of each tile, one core", .tile = tile_keys,
     .u16 = vqsort<tile_keys, std::uint16_t>, .u32 = vqsort<tile_keys, std::uint32_t>,
     .u64 = vqsort<tile_keys, std::uint64_t>, .i32 = vqsort<tile_keys, std::int32_t>,
     .i64 = vqsort<tile_keys, std::int64_t>, .f32 = vqsort<tile_keys, float>, .f64 = vqsort<tile_keys, double>},
#endif
};

}  // namespace

int main(int argc, char** argv) { return lab::run_steps("gold", steps, argc, argv); }

// CUB's table of steps. Without GOLD_ALL_TYPES, only the types that labs sort by default and that the
// demo times, so that the others need not be compiled first. With GOLD_IS_PEER, without the CPU's sorts of host memory,
// which the gold standard has.
#include "gold/cub.h"

#include <array>

#include "gold/host_sorts.h"
#include "gold/table.h"
#include "step/segments.h"

namespace {

using gold::TileSort;
using lab::LaunchShape;
using lab::Order;
using lab::Span;

template <std::int64_t length, class Key>
void segments(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  gold::segmented(keys, length, order, shape, stream);
}

template <std::int64_t length, class Key, class Value>
void segments(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream) {
  gold::segmented(keys, values, length, order, shape, stream);
}

// The functions of all but the radix sort, which takes more types. `sort` is called with the arguments of any of them.
template <class Sort>
constexpr lab::Sort sort_by(Sort sort) {
  lab::Sort functions = {.u32 = sort, .f32 = sort};
#ifdef GOLD_ALL_TYPES
  functions.u64 = sort;
  functions.i32 = sort;
  functions.pairs = sort;
#endif
  return functions;
}

template <std::int64_t length>
constexpr lab::Step segments_step(int number, const char* name) {
  return {.number = number,
          .name = name,
          .idea = "cub::DeviceSegmentedSort",
          .tile = length,
          .function = sort_by([](auto... arguments) { segments<length>(arguments...); })};
}

template <TileSort its_sort>
constexpr lab::Step tiles_step(int number, const char* name, const char* idea, int length) {
  return {.number = number, .name = name, .idea = idea, .tile = length, .function = sort_by([](auto... arguments) {
                                                                          gold::tiles<its_sort>(arguments...);
                                                                        })};
}

template <TileSort its_sort, int length>
constexpr lab::Step equal_tiles_step(int number, const char* name, const char* idea) {
  return {.number = number,
          .name = name,
          .idea = idea,
          .max_n = lab::max_segmented_keys,
          .function = lab::EqualSegments<length>{gold::equal_tiles<its_sort>}};
}

constexpr lab::Step radix_step() {
  lab::Sort sort = {.u8 = gold::radix<std::uint8_t>, .u32 = gold::radix<std::uint32_t>, .f32 = gold::radix<float>};
#ifdef GOLD_ALL_TYPES
  sort.u16 = gold::radix<std::uint16_t>;
  sort.u64 = gold::radix<std::uint64_t>;
  sort.i32 = gold::radix<std::int32_t>;
  sort.i64 = gold::radix<std::int64_t>;
  sort.f64 = gold::radix<double>;
  sort.pairs = gold::radix<std::uint32_t, std::uint32_t>;
#endif
  return {.number = 1, .name = "radix", .idea = "cub::DeviceRadixSort", .stable = true, .function = sort};
}

constexpr lab::Step merge_step() {
  return {.number = 2,
          .name = "merge",
          .idea = "cub::DeviceMergeSort",
          .stable = true,
          .function = sort_by([](auto... arguments) { gold::merge(arguments...); })};
}

constexpr lab::Step steps[] = {
    radix_step(),
    merge_step(),
    segments_step<128>(3, "segmented-128"),
    segments_step<1024>(4, "segmented-1024"),
    tiles_step<TileSort::warp_merge_128>(7, "warp-merge-128", "cub::WarpMergeSort", 128),
    tiles_step<TileSort::block_merge_1024>(8, "block-merge-1024", "cub::BlockMergeSort", 1024),
    tiles_step<TileSort::block_radix_1024>(9, "block-radix-1024", "cub::BlockRadixSort", 1024),
    equal_tiles_step<TileSort::warp_merge_128, 128>(7, "warp-merge-of-128", "cub::WarpMergeSort"),
    equal_tiles_step<TileSort::block_merge_1024, 1024>(8, "block-merge-of-1024", "cub::BlockMergeSort"),
    equal_tiles_step<TileSort::block_radix_1024, 1024>(9, "block-radix-of-1024", "cub::BlockRadixSort"),
    {.number = 6,
     .name = "radix-with-copies",
     .idea = "copy in, cub::DeviceRadixSort, copy out",
     .function = lab::SortHostMemory{gold::radix_with_copies}},
#ifndef GOLD_IS_PEER
    gold::host_sort_line,
#ifdef LAB_HAVE_VQSORT
    gold::host_vqsort_line,
#endif
#ifdef LAB_HAVE_BLOCK_INDIRECT_SORT
    gold::host_block_indirect_sort_line,
#endif
#endif
    {.number = 5, .name = "reduce", .idea = "cub::DeviceReduce", .function = lab::Reduce{gold::reduce}},
    {.number = 5, .name = "histogram", .idea = "cub::DeviceHistogram", .function = lab::Histogram{gold::histogram}},
    {.number = 5, .name = "exclusive-sum", .idea = "cub::DeviceScan", .function = lab::Scan{gold::scan}},
    {.number = 5,
     .name = "segmented-of-128",
     .idea = "cub::DeviceSegmentedSort",
     .max_n = lab::max_segmented_keys,
     .function = lab::EqualSegments<128>{gold::equal_segments}},
    {.number = 5,
     .name = "segmented-of-1024",
     .idea = "cub::DeviceSegmentedSort",
     .max_n = lab::max_segmented_keys,
     .function = lab::EqualSegments<1024>{gold::equal_segments}},
    {.number = 5,
     .name = "segmented-mixed",
     .idea = "cub::DeviceSegmentedSort",
     .max_n = lab::max_segmented_keys,
     .function = lab::Segments{gold::segments}},
};

}  // namespace

std::span<const lab::Step> gold::table() { return steps; }

// CUB's table of steps. Without GOLD_ALL_TYPES, only the types that labs sort by default and that the
// demo times, so that the others need not be compiled first.
#include "gold/cub.h"

#include <array>

#include "gold/host_sorts.h"
#include "gold/table.h"
#include "step/segments.h"

namespace {

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

template <std::int64_t length>
constexpr lab::Step segments_step(int number, const char* name) {
  lab::Step step = {.number = number,
                    .name = name,
                    .idea = "cub::DeviceSegmentedSort",
                    .tile = length,
                    .u32 = segments<length, std::uint32_t>,
                    .f32 = segments<length, float>};
#ifdef GOLD_ALL_TYPES
  step.u64 = segments<length, std::uint64_t>;
  step.i32 = segments<length, std::int32_t>;
  step.pairs = segments<length, std::uint32_t, std::uint32_t>;
#endif
  return step;
}

constexpr lab::Step radix_step() {
  lab::Step step = {.number = 1,
                    .name = "radix",
                    .idea = "cub::DeviceRadixSort",
                    .stable = true,
                    .u8 = gold::radix<std::uint8_t>,
                    .u32 = gold::radix<std::uint32_t>,
                    .f32 = gold::radix<float>};
#ifdef GOLD_ALL_TYPES
  step.u16 = gold::radix<std::uint16_t>;
  step.u64 = gold::radix<std::uint64_t>;
  step.i32 = gold::radix<std::int32_t>;
  step.i64 = gold::radix<std::int64_t>;
  step.f64 = gold::radix<double>;
  step.pairs = gold::radix<std::uint32_t, std::uint32_t>;
#endif
  return step;
}

constexpr lab::Step merge_step() {
  lab::Step step = {.number = 2,
                    .name = "merge",
                    .idea = "cub::DeviceMergeSort",
                    .stable = true,
                    .u32 = gold::merge<std::uint32_t>,
                    .f32 = gold::merge<float>};
#ifdef GOLD_ALL_TYPES
  step.u64 = gold::merge<std::uint64_t>;
  step.i32 = gold::merge<std::int32_t>;
  step.pairs = gold::merge<std::uint32_t, std::uint32_t>;
#endif
  return step;
}

constexpr lab::Step steps[] = {
    radix_step(),
    merge_step(),
    segments_step<128>(3, "segmented-128"),
    segments_step<1024>(4, "segmented-1024"),
    {.number = 6,
     .name = "radix-with-copies",
     .idea = "copy in, cub::DeviceRadixSort, copy out",
     .host_u32 = gold::radix_with_copies},
    gold::host_sort_line,
#ifdef LAB_HAVE_VQSORT
    gold::host_vqsort_line,
#endif
#ifdef LAB_HAVE_BLOCK_INDIRECT_SORT
    gold::host_block_indirect_sort_line,
#endif
    {.number = 5, .name = "reduce", .idea = "cub::DeviceReduce", .reduce = gold::reduce},
    {.number = 5, .name = "histogram", .idea = "cub::DeviceHistogram", .histogram = gold::histogram},
    {.number = 5, .name = "exclusive-sum", .idea = "cub::DeviceScan", .scan = gold::scan},
    {.number = 5,
     .name = "segmented-of-128",
     .idea = "cub::DeviceSegmentedSort",
     .max_n = lab::max_segmented_keys,
     .segments_128 = gold::equal_segments},
    {.number = 5,
     .name = "segmented-of-1024",
     .idea = "cub::DeviceSegmentedSort",
     .max_n = lab::max_segmented_keys,
     .segments_1024 = gold::equal_segments},
    {.number = 5,
     .name = "segmented-mixed",
     .idea = "cub::DeviceSegmentedSort",
     .max_n = lab::max_segmented_keys,
     .segments = gold::segments},
};

}  // namespace

std::span<const lab::Step> gold::table() { return steps; }

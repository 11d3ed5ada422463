// bb_segsort (K. Hou, W. Liu, H. Wang, W. Feng, "Fast segmented sort on GPUs", ICS 2017; in the version of
// github.com/Funatiq/bb_segsort, which sorts keys without values) as a runner, for `./workbook bench --peer`. The memory
// that it needs is allocated before a time is taken. It copies the numbers of segments per size to the host and waits.
#include <cstdint>
#include <string>
#include <vector>

#include "bb_segsort_keys.cuh"
#undef CUDA_CHECK  // it defines one with another meaning

#include "gold/cub_memory.h"
#include "runner/cuda_handles.h"
#include "runner/runner.h"
#include "step/pinned_array.h"
#include "step/segments.h"
#include "step/table.h"

namespace {

using gold::LaunchShape;
using gold::Span;

void sort_segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, Span<const int> begins,
                   LaunchShape shape, cudaStream_t stream) {
  gold::require_default_shape(shape);
  static const lab::Event event;
  static const lab::PinnedArray<int> host_counters(SEGBIN_NUM + 1);
  static gold::Scratch counters, numbers;
  const int count = static_cast<int>(begins.n - 1);
  if (count == 0) return;
  const std::int64_t int_bytes = sizeof(int);
  bb_segsort_run(const_cast<std::uint32_t*>(keys.data), sorted.data, begins.data, begins.data + 1, count,
                 reinterpret_cast<int*>(numbers.at_least(count * int_bytes)), host_counters.data(),
                 reinterpret_cast<int*>(counters.at_least((SEGBIN_NUM + 1) * int_bytes)), stream, event);
}

void sort_equal_segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, int length, LaunchShape shape,
                         cudaStream_t stream) {
  const auto [count, begins] = gold::equal_segments_of(keys.n, length, stream);
  sort_segments(keys, sorted, {begins, count + 1}, shape, stream);
}

constexpr lab::Step line(const char* name, auto function) {
  return {.number = 1, .name = name, .idea = "bb_segsort", .max_n = lab::max_segmented_keys, .function = function};
}

constexpr lab::Step steps[] = {
    line("segments-128", lab::EqualSegments<128>{sort_equal_segments}),
    line("segments-1024", lab::EqualSegments<1024>{sort_equal_segments}),
    line("segments", lab::Segments{sort_segments}),
};

}  // namespace

int main(int argc, char** argv) { return lab::run_steps("bb_segsort", steps, argc, argv); }

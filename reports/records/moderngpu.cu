// moderngpu's segmented merge sort (github.com/moderngpu/moderngpu) as a runner, for `./workbook bench --peer`. It sorts
// in place and takes the offsets of the segments, as CUB's call does. The memory that it asks for comes from a pool that
// keeps it from one run to the next.
#include <cstdint>
#include <moderngpu/kernel_segsort.hxx>

#include "gold/cub.h"
#include "runner/runner.h"
#include "step/segments.h"
#include "step/table.h"

namespace {

using gold::LaunchShape;
using gold::Order;
using gold::Span;

/// Allocates in the order of a stream.
class Context : public mgpu::standard_context_t {
 public:
  explicit Context(cudaStream_t stream) : standard_context_t(false, stream) {}
  void* alloc(std::size_t bytes, mgpu::memory_space_t) override {
    void* memory = nullptr;
    if (bytes > 0) CUDA_CHECK(cudaMallocAsync(&memory, bytes, stream()));
    return memory;
  }
  void free(void* memory, mgpu::memory_space_t) override {
    if (memory != nullptr) CUDA_CHECK(cudaFreeAsync(memory, stream()));
  }
};

void sort_in_place(Span<std::uint32_t> keys, const int* begins, std::int64_t segments, Order order,
                   cudaStream_t stream) {
  static Context context(stream);  // a runner has one stream
  const int n = static_cast<int>(keys.n), count = static_cast<int>(segments);
  if (order == Order::ascending) {
    mgpu::segmented_sort(keys.data, n, begins, count, mgpu::less_t<std::uint32_t>(), context);
  } else {
    mgpu::segmented_sort(keys.data, n, begins, count, mgpu::greater_t<std::uint32_t>(), context);
  }
}

template <int length>
void sort_tiles(Span<std::uint32_t> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  gold::require_default_shape(shape);
  const auto [count, begins] = gold::equal_segments_of(keys.n, length, stream);
  sort_in_place(keys, begins, count, order, stream);
}

void sort_segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, Span<const int> begins,
                   LaunchShape shape, cudaStream_t stream) {
  gold::require_default_shape(shape);
  CUDA_CHECK(cudaMemcpyAsync(sorted.data, keys.data, keys.n * sizeof(std::uint32_t), cudaMemcpyDefault, stream));
  sort_in_place(sorted, begins.data, begins.n - 1, Order::ascending, stream);
}

void sort_equal_segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, int length, LaunchShape shape,
                         cudaStream_t stream) {
  const auto [count, begins] = gold::equal_segments_of(keys.n, length, stream);
  sort_segments(keys, sorted, {begins, count + 1}, shape, stream);
}

constexpr lab::Step line(const char* name, auto function, int number = 1, int tile = 0) {
  return {.number = number,
          .name = name,
          .idea = "mgpu::segmented_sort",
          .tile = tile,
          .max_n = lab::max_segmented_keys,
          .function = function};
}

constexpr lab::Step steps[] = {
    line("tiles-128", lab::Sort{.u32 = sort_tiles<128>}, 1, 128),
    line("tiles-1024", lab::Sort{.u32 = sort_tiles<1024>}, 2, 1024),
    line("segments-128", lab::EqualSegments<128>{sort_equal_segments}),
    line("segments-1024", lab::EqualSegments<1024>{sort_equal_segments}),
    line("segments", lab::Segments{sort_segments}),
};

}  // namespace

int main(int argc, char** argv) { return lab::run_steps("moderngpu", steps, argc, argv); }

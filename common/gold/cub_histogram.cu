// How often each byte occurs, by cub::DeviceHistogram.
#include <cub/device/device_histogram.cuh>
#include <limits>

#include "gold/cub_memory.h"

namespace gold {
namespace {

__global__ void widen(const unsigned* from, std::uint64_t* to) { to[threadIdx.x] = from[threadIdx.x]; }

}  // namespace

// CUB counts with 32 bits where n allows it: with 64 it takes many times as long.
void histogram(Span<const std::uint8_t> keys, Span<std::uint64_t> counts, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  const auto count_into = [&](auto* bins) {
    with_temporary([&](void* memory, std::size_t& bytes) {
      return cub::DeviceHistogram::HistogramEven(memory, bytes, keys.data, bins, 257, 0, 256, keys.n, stream);
    });
  };
  if (keys.n > std::numeric_limits<std::uint32_t>::max()) {
    count_into(reinterpret_cast<unsigned long long*>(counts.data));
    return;
  }
  static Scratch narrow;
  auto* const bins = reinterpret_cast<unsigned*>(narrow.at_least(256 * sizeof(unsigned)));
  count_into(bins);
  widen<<<1, 256, 0, stream>>>(bins, counts.data);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace gold

// The smallest and the largest key, by cub::DeviceReduce.
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <limits>

#include "gold/cub_memory.h"

namespace gold {
namespace {

struct Range {
  std::uint32_t smallest, largest;
};

struct RangeOfKey {
  __host__ __device__ Range operator()(std::uint32_t key) const { return {key, key}; }
};

struct Union {
  __host__ __device__ Range operator()(const Range& a, const Range& b) const {
    return {a.smallest < b.smallest ? a.smallest : b.smallest, a.largest > b.largest ? a.largest : b.largest};
  }
};

constexpr Range empty{std::numeric_limits<std::uint32_t>::max(), 0};

}  // namespace

void reduce(Span<const std::uint32_t> keys, Span<std::uint32_t> result, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  const auto ranges = thrust::make_transform_iterator(keys.data, RangeOfKey{});
  with_temporary([&](void* memory, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(memory, bytes, ranges, reinterpret_cast<Range*>(result.data), keys.n, Union{},
                                     empty, stream);
  });
}

}  // namespace gold

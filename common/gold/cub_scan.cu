// The exclusive scan, by cub::DeviceScan.
#include <cub/device/device_scan.cuh>

#include "gold/cub_memory.h"

namespace gold {

void scan(Span<const std::uint64_t> values, Span<std::uint64_t> sums, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  with_temporary([&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, values.data, sums.data, values.n, stream);
  });
}

}  // namespace gold

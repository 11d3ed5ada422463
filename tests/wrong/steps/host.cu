// Steps whose keys the host sorts.
#include <algorithm>
#include <vector>

#include "sort.cuh"
#include "step/device_array.h"
#include "step/error.h"

namespace wrong {
namespace {

__global__ void copy_keys(const std::uint32_t* from, std::uint32_t* to, std::int64_t n) {
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}

std::vector<std::uint32_t> sorted_copy(Keys keys, Stream stream) {
  std::vector<std::uint32_t> host(keys.n);
  const std::size_t bytes = host.size() * sizeof host[0];
  CUDA_CHECK(cudaMemcpyAsync(host.data(), keys.data, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::sort(host.begin(), host.end());
  return host;
}

}  // namespace

void sorts_on_the_host(Keys keys, Order, Shape, Stream) { std::sort(keys.data, keys.data + keys.n); }

void copies_from_the_host(Keys keys, Order, Shape, Stream stream) {
  const std::vector<std::uint32_t> host = sorted_copy(keys, stream);
  CUDA_CHECK(cudaMemcpyAsync(keys.data, host.data(), keys.n * sizeof host[0], cudaMemcpyHostToDevice, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

// The last write of every key is a kernel's.
void has_a_kernel_copy_what_the_host_sorted(Keys keys, Order, Shape, Stream stream) {
  const std::vector<std::uint32_t> host = sorted_copy(keys, stream);
  lab::DeviceArray<std::uint32_t> scratch(keys.n, stream);
  CUDA_CHECK(cudaMemcpyAsync(scratch.data(), host.data(), keys.n * sizeof host[0], cudaMemcpyHostToDevice, stream));
  copy_keys<<<1, 256, 0, stream>>>(scratch.data(), keys.data, keys.n);
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

// Without a copy: kernels and the host share memory.
void sorts_in_shared_memory_of_the_host(Keys keys, Order, Shape, Stream stream) {
  std::uint32_t* both;
  CUDA_CHECK(cudaMallocHost(&both, keys.n * sizeof *both));
  copy_keys<<<1, 256, 0, stream>>>(keys.data, both, keys.n);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::sort(both, both + keys.n);
  copy_keys<<<1, 256, 0, stream>>>(both, keys.data, keys.n);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaFreeHost(both));
}

}  // namespace wrong

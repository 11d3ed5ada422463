#include "device.h"

#include <cub/device/device_radix_sort.cuh>
#include <string_view>
#include <utility>

#include "05-radix/radix.h"
#include "judge/random.h"
#include "runs.cuh"
#include "step/device_array.h"
#include "step/error.h"
#include "step/launch_shape.h"

namespace beyond {
namespace {

constexpr int threads_per_block = 256, keys_per_thread = 16;

enum class Input { uniform, sorted, reversed, all_equal, two_values, few_values, skewed };

constexpr struct {
  const char* name;
  Input input;
} inputs[] = {{"uniform", Input::uniform},     {"sorted", Input::sorted},         {"reversed", Input::reversed},
              {"all-equal", Input::all_equal}, {"two-values", Input::two_values}, {"few-values", Input::few_values},
              {"skewed", Input::skewed}};

constexpr std::uint64_t half = std::uint64_t{1} << 63;

/// One of 2^bits values, each at random in its own part of the range.
__device__ std::uint64_t one_of(int bits, std::uint64_t random, std::uint64_t seed) {
  const std::uint64_t which = random >> (64 - bits);
  return which << (64 - bits) | lab::random_at(seed + half, which) >> bits;
}

/// The i-th of n levels in order.
__device__ std::uint64_t in_order(std::uint64_t seed, std::uint64_t i, std::uint64_t n) {
  const std::uint64_t part = ~std::uint64_t{0} / n;
  return i * part + lab::multiply_high(lab::random_at(seed, i), part);
}

/// Key i of n, as a fraction of 2^64.
__device__ std::uint64_t level_of(Input input, std::uint64_t seed, std::uint64_t i, std::uint64_t n) {
  const std::uint64_t random = lab::random_at(seed, i);
  switch (input) {
    case Input::uniform:
      return random;
    case Input::sorted:
      return in_order(seed, i, n);
    case Input::reversed:
      return in_order(seed, n - 1 - i, n);
    case Input::all_equal:
      return lab::random_at(seed, 0);
    case Input::two_values:
      return one_of(1, random, seed);
    case Input::few_values:
      return one_of(4, random, seed);
    case Input::skewed:
      return (random | half) >> lab::random_at(seed + half, i) % 32;
  }
  return 0;
}

__global__ void make(lab::Span<unsigned> keys, Input input, std::uint64_t seed, std::int64_t first, std::int64_t n) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < keys.n; i += step) {
    keys.data[i] = unsigned(level_of(input, seed, std::uint64_t(first + i), std::uint64_t(n)) >> 32);
  }
}

__global__ void find_facts(lab::Span<const unsigned> keys, lab::Order order, Facts* facts) {
  __shared__ unsigned long long checksum, inversions;
  if (threadIdx.x == 0) checksum = inversions = 0;
  __syncthreads();  // a thread adds to `checksum` and `inversions`, which thread 0 has cleared
  unsigned long long own_sum = 0, own_inversions = 0;
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < keys.n; i += step) {
    own_sum += lab::mix(keys.data[i] + std::uint64_t{0x9e3779b97f4a7c15u});
    if (i + 1 < keys.n) own_inversions += lab::before(keys.data[i + 1], keys.data[i], order);
  }
  atomicAdd(&checksum, own_sum);
  atomicAdd(&inversions, own_inversions);
  __syncthreads();  // thread 0 reads `checksum` and `inversions`, to which others have added
  if (threadIdx.x == 0) {
    atomicAdd(&facts->checksum, checksum);
    atomicAdd(&facts->inversions, inversions);
  }
}

unsigned blocks_for(std::int64_t n) { return lab::blocks_or({}, n, threads_per_block * keys_per_thread); }

}  // namespace

const char* const input_names = "uniform, sorted, reversed, all-equal, two-values, few-values, skewed";

void make_keys(lab::Span<std::uint32_t> keys, const std::string& input, std::uint64_t seed, std::int64_t first,
               std::int64_t n, cudaStream_t stream) {
  for (const auto& known : inputs) {
    if (input != known.name) continue;
    if (keys.n == 0) return;
    make<<<blocks_for(keys.n), threads_per_block, 0, stream>>>(keys, known.input, seed, first, n);
    CUDA_CHECK(cudaGetLastError());
    return;
  }
  throw lab::Error("unknown input '" + input + "'; choose one of: " + input_names);
}

Facts facts_of(lab::Span<const std::uint32_t> keys, lab::Order order, cudaStream_t stream) {
  const lab::DeviceArray<Facts> device(1, stream);
  CUDA_CHECK(cudaMemsetAsync(device.data(), 0, sizeof(Facts), stream));
  if (keys.n > 0) {
    find_facts<<<blocks_for(keys.n), threads_per_block, 0, stream>>>(keys, order, device.data());
    CUDA_CHECK(cudaGetLastError());
  }
  Facts facts;
  CUDA_CHECK(cudaMemcpyAsync(&facts, device.data(), sizeof facts, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return facts;
}

void sort_share(lab::Span<std::uint32_t> keys, int step, lab::Order order, cudaStream_t stream) {
  switch (step) {
    case 4:
      return radix::sort_onesweep(keys, order, {}, stream);
    case 5:
      return radix::sort_pipeline(keys, order, {}, stream);
    case 6:
      return radix::sort_record(keys, order, {}, stream);
    default:
      throw lab::Error("step " + std::to_string(step) + " of lab 05 cannot be chosen: take 4, 5 or 6");
  }
}

void join_runs(std::vector<lab::Span<const std::uint32_t>> runs, std::uint32_t* to, int step, lab::Order order,
               cudaStream_t stream) {
  std::int64_t n = 0;
  for (const auto& run : runs) n += run.n;
  if (std::ssize(runs) > max_merged_runs) {
    std::uint32_t* place = to;
    for (const auto& run : runs) {
      CUDA_CHECK(cudaMemcpyAsync(place, run.data, run.n * sizeof *place, cudaMemcpyDeviceToDevice, stream));
      place += run.n;
    }
    return sort_share({to, n}, step, order, stream);
  }
  merge_to(std::move(runs), to, order, stream);
}

void sort_by_cub(lab::Span<std::uint32_t> keys, lab::Order order, cudaStream_t stream) {
  const lab::DeviceArray<std::uint32_t> spare(keys.n, stream);
  cub::DoubleBuffer<std::uint32_t> buffers(keys.data, spare.data());
  const auto sort = [&](void* temporary, std::size_t& bytes) {
    CUDA_CHECK(order == lab::Order::ascending
                   ? cub::DeviceRadixSort::SortKeys(temporary, bytes, buffers, keys.n, 0, 32, stream)
                   : cub::DeviceRadixSort::SortKeysDescending(temporary, bytes, buffers, keys.n, 0, 32, stream));
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  const lab::DeviceArray<char> temporary(std::int64_t(bytes), stream);
  sort(temporary.data(), bytes);
  if (buffers.Current() == keys.data) return;
  CUDA_CHECK(
      cudaMemcpyAsync(keys.data, buffers.Current(), keys.n * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace beyond

// Wrong kernels.
#include <algorithm>

#include "sort.cuh"
#include "step/device_array.h"
#include "step/error.h"

namespace wrong {
namespace {

__global__ void set(std::uint32_t* keys, std::int64_t i, std::uint32_t key) { keys[i] = key; }
__global__ void copy(std::uint32_t* keys, std::int64_t to, std::int64_t from) { keys[to] = keys[from]; }
__global__ void add(std::uint32_t* keys, std::int64_t i, std::uint32_t what) { keys[i] += what; }

__global__ void fill(std::uint32_t* keys, std::int64_t n, std::uint32_t step) {
  for (std::int64_t i = 1; i < n; ++i) keys[i] = keys[0] + std::uint32_t(i) * step;
}

__global__ void reverse_equal_pairs(const std::uint32_t* keys, std::uint32_t* values, std::int64_t n) {
  for (std::int64_t i = 0; i + 1 < n; i += 2) {
    if (keys[i] != keys[i + 1]) continue;
    const std::uint32_t value = values[i];
    values[i] = values[i + 1];
    values[i + 1] = value;
  }
}

struct AsSigned {
  __device__ bool operator()(std::uint32_t a, std::uint32_t b) const { return std::int32_t(a) < std::int32_t(b); }
};

}  // namespace

void right(Keys keys, Order order, Shape, Stream stream) { sort_range(keys.data, nullptr, 0, keys.n, order, stream); }

void leaves_out_the_last(Keys keys, Order order, Shape, Stream stream) {
  sort_range(keys.data, nullptr, 0, keys.n - 1, order, stream);
}

void loses_a_key(Keys keys, Order order, Shape shape, Stream stream) {
  right(keys, order, shape, stream);
  copy<<<1, 1, 0, stream>>>(keys.data, keys.n / 2, keys.n / 2 - 1);  // still in order
}

void sorts_a_power_of_two(Keys keys, Order order, Shape, Stream stream) {
  std::int64_t n = 1;
  while (2 * n <= keys.n) n *= 2;
  sort_range(keys.data, nullptr, 0, n, order, stream);
}

void ignores_the_order(Keys keys, Order, Shape shape, Stream stream) {
  right(keys, lab::Order::ascending, shape, stream);
}

void compares_as_signed(Keys keys, Order, Shape, Stream stream) {
  insertion_sort<<<1, 1, 0, stream>>>(keys.data, static_cast<std::uint32_t*>(nullptr), std::int64_t{0}, keys.n,
                                      AsSigned{});
}

void copies_the_input(Keys, Order, Shape, Stream) {}

void makes_all_equal(Keys keys, Order, Shape, Stream stream) { fill<<<1, 1, 0, stream>>>(keys.data, keys.n, 0u); }

void counts_up(Keys keys, Order, Shape, Stream stream) {
  set<<<1, 1, 0, stream>>>(keys.data, std::int64_t{0}, 0u);
  fill<<<1, 1, 0, stream>>>(keys.data, keys.n, 1u);
}

void writes_behind_the_end(Keys keys, Order order, Shape shape, Stream stream) {
  right(keys, order, shape, stream);
  add<<<1, 1, 0, stream>>>(keys.data, keys.n, 1u);
}

void writes_before_the_begin(Keys keys, Order order, Shape shape, Stream stream) {
  right(keys, order, shape, stream);
  add<<<1, 1, 0, stream>>>(keys.data, std::int64_t{-1}, 1u);
}

void sorts_the_tail_by_itself(Keys keys, Order order, Shape, Stream stream) {
  sort_range(keys.data, nullptr, 0, keys.n / 2, order, stream);
  sort_range(keys.data, nullptr, keys.n / 2, keys.n, order, stream);
}

void follows_a_null_pointer(Keys, Order, Shape, Stream stream) {
  set<<<1, 1, 0, stream>>>(static_cast<std::uint32_t*>(nullptr), std::int64_t{0}, 0u);
}

// The sorted keys of the previous case may still be in memory that the pool hands out again.
void returns_scratch_never_written(Keys keys, Order, Shape, Stream stream) {
  lab::DeviceArray<std::uint32_t> scratch(keys.n, stream);
  CUDA_CHECK(
      cudaMemcpyAsync(keys.data, scratch.data(), keys.n * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice, stream));
}

void refuses_too_late(Keys keys, Order order, Shape shape, Stream stream) {
  right(keys, order, shape, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  throw lab::Unsupported("n is not to my taste");
}

void is_not_stable(Keys keys, Values values, Order order, Shape, Stream stream) {
  sort_range(keys.data, values.data, 0, keys.n, order, stream);
  reverse_equal_pairs<<<1, 1, 0, stream>>>(keys.data, values.data, keys.n);
}

void leaves_the_values(Keys keys, Values, Order order, Shape shape, Stream stream) {
  right(keys, order, shape, stream);
}

void repeats_a_value(Keys keys, Values values, Order order, Shape, Stream stream) {
  sort_range(keys.data, values.data, 0, keys.n, order, stream);
  copy<<<1, 1, 0, stream>>>(values.data, keys.n - 1, std::int64_t{0});
}

// Sorts right, on the host; but half of the time it holds four times the memory that it may have.
void uses_too_much_memory(lab::HostSpan<std::uint32_t> keys, lab::HostSpan<std::uint32_t>, Order order,
                          std::int64_t device_bytes, Shape, Stream stream) {
  const lab::DeviceArray<char> allowed(device_bytes, stream);
  {
    const lab::DeviceArray<char> more(3 * device_bytes, stream);
  }
  std::sort(keys.data, keys.data + keys.n, [order](auto a, auto b) { return lab::before(a, b, order); });
}

}  // namespace wrong

// Mistakes that published sorts make. Each is correct for many inputs.
#include "sort.cuh"
#include "step/device_array.h"
#include "step/error.h"

namespace wrong {
namespace {

constexpr std::uint32_t infinity = 0xffffffff;

// Merges two sorted halves. A half that has no more keys counts as one whose next key is infinite.
__global__ void merge_until_infinity(const std::uint32_t* halves, std::uint32_t* keys, std::int64_t n) {
  const std::int64_t middle = n / 2;
  std::int64_t a = 0, b = middle;
  for (std::int64_t i = 0;; ++i) {
    const std::uint32_t next_a = a < middle ? halves[a] : infinity, next_b = b < n ? halves[b] : infinity;
    if (next_a == infinity && next_b == infinity) return;
    keys[i] = next_a <= next_b ? halves[a++] : halves[b++];
  }
}

// Compares one digit of 8 bits. A float has 24 bits, too few for a key.
struct ByDigit {
  int digit;
  __device__ float of(std::uint32_t key) const { return floorf(fmodf(float(key) / powf(256, float(digit)), 256)); }
  __device__ bool operator()(std::uint32_t a, std::uint32_t b) const { return of(a) < of(b); }
};

// Splits the keys by one bit; the scan takes one thread per key.
__global__ void split(std::uint32_t* keys, int bit) {
  extern __shared__ unsigned ones[];
  const unsigned i = threadIdx.x, n = blockDim.x;
  const std::uint32_t key = keys[i], is_one = key >> bit & 1;
  ones[i] = is_one;
  __syncthreads();
  for (unsigned distance = 1; distance < n; distance *= 2) {
    const unsigned before = i >= distance ? ones[i - distance] : 0;
    __syncthreads();
    ones[i] += before;
    __syncthreads();
  }
  const unsigned ones_before = ones[i] - is_one;
  keys[is_one ? n - ones[n - 1] + ones_before : i - ones_before] = key;
}

// What turns sorted bits back into floats, applied before the sort: positive floats are inverted, not negative ones.
__global__ void flip_with_the_mask_of_unflip(std::uint32_t* bits, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) bits[i] ^= ((bits[i] >> 31) - 1) | 0x80000000u;
}

// Its inverse.
__global__ void undo_flip(std::uint32_t* bits, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) bits[i] ^= -(bits[i] >> 31) | 0x80000000u;
}

}  // namespace

void takes_the_largest_key_for_infinity(Keys keys, Order order, Shape, Stream stream) {
  const std::int64_t bytes = keys.n * std::int64_t{sizeof(std::uint32_t)};
  lab::DeviceArray<std::uint32_t> halves(keys.n, stream);
  CUDA_CHECK(cudaMemcpyAsync(halves.data(), keys.data, bytes, cudaMemcpyDeviceToDevice, stream));
  CUDA_CHECK(cudaMemsetAsync(keys.data, 0, bytes, stream));
  sort_range(halves.data(), nullptr, 0, keys.n / 2, order, stream);
  sort_range(halves.data(), nullptr, keys.n / 2, keys.n, order, stream);
  merge_until_infinity<<<1, 1, 0, stream>>>(halves.data(), keys.data, keys.n);
}

void computes_powers_as_floats(Keys keys, Order, Shape, Stream stream) {
  for (int digit = 0; digit < 4; ++digit) {
    insertion_sort<<<1, 1, 0, stream>>>(keys.data, static_cast<std::uint32_t*>(nullptr), std::int64_t{0}, keys.n,
                                        ByDigit{digit});
  }
}

void scans_with_a_thread_per_key(Keys keys, Order, Shape, Stream stream) {
  const unsigned n = unsigned(keys.n);
  for (int bit = 0; bit < 32; ++bit) split<<<1, n, n * sizeof(unsigned), stream>>>(keys.data, bit);
}

void flips_with_the_wrong_mask(lab::Span<float> keys, Order order, Shape, Stream stream) {
  auto* const bits = reinterpret_cast<std::uint32_t*>(keys.data);
  flip_with_the_mask_of_unflip<<<1, 1, 0, stream>>>(bits, keys.n);
  sort_range(bits, nullptr, 0, keys.n, order, stream);
  undo_flip<<<1, 1, 0, stream>>>(bits, keys.n);
}

}  // namespace wrong

// The kernels of draw.h. A key is a function of the seed and its position.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "draw.h"
#include "judge/random.h"
#include "step/device_array.h"
#include "step/error.h"
#include "step/key_type.h"

namespace draw {
namespace {

constexpr unsigned threads = 256;
constexpr std::int64_t max_blocks = 1 << 16;

/// A bijection of the numbers below n: one of those below a power of two, repeated until it is below n.
__device__ std::uint64_t permuted(std::uint64_t i, std::uint64_t n, std::uint64_t seed) {
  const int bits = n < 2 ? 1 : 64 - __clzll(static_cast<long long>(n - 1));
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  do {
    for (std::uint64_t round = 0; round < 3; ++round) {
      i = (i + lab::random_at(seed, round)) * 0xbf58476d1ce4e5b9u & mask;
      i ^= i >> (bits + 1) / 2;
    }
  } while (i >= n);
  return i;
}

/// Key i of n, in the lowest `width` bits.
__device__ std::uint64_t value_of(const Generator& from, std::uint64_t i, std::uint64_t n, int width) {
  const std::uint64_t random = lab::random_at(from.seed, i), constant = lab::random_at(~from.seed, 0);
  switch (from.family) {
    case Family::range:
      return constant + (random >> (64 - from.bits));
    case Family::power:
      return std::uint64_t(ldexp(pow(ldexp(double(random >> 11), -53), from.exponent), 63)) >> (63 - width);
    case Family::normal: {
      std::uint64_t sum = 0;
      for (std::uint64_t part = 0; part < 12; ++part) sum += lab::random_at(random, part) >> (64 - from.bits);
      return constant + sum;
    }
    case Family::permutation:
      return permuted(i, n, from.seed) << from.bits;
    case Family::runs: {
      const std::uint64_t length = (n + from.count - 1) / from.count, run = i / length, place = i % length;
      const bool descends = lab::random_at(~from.seed, run) % 4 == 0;
      return ((descends ? length - 1 - place : place) * from.count + run) << from.bits;
    }
    case Family::duplicates:
      return lab::random_at(~from.seed, lab::multiply_high(random, from.count));
    case Family::holes:
      return (random & from.mask) | (constant & ~from.mask);
    default:
      return constant;
  }
}

template <class Key>
__device__ Key key_of(const Input& input, std::uint64_t seed, std::uint64_t i, std::uint64_t n) {
  using Bits = lab::Bits<Key>;
  constexpr int width = 8 * sizeof(Key);
  const std::uint64_t choice = lab::random_at(seed, i);
  const std::uint64_t place = input.in_parts ? ~std::uint64_t{0} / n * (n - 1 - i) : choice;
  const auto bits = Bits(value_of(place < input.second_share ? input.second : input.first, i, n, width));
  if constexpr (!std::is_integral_v<Key>) {
    const std::uint64_t other = lab::mix(choice);
    if (other < input.zero_share) return (choice & 1) != 0 ? Key(-0.0) : Key(0);
    // Half of these numbers are negative.
    if (input.as_numbers) return ldexp(Key(std::make_signed_t<Bits>(bits)), -width / 2);
  }
  return lab::from_ordered_bits<Key>(bits);
}

template <class Key>
__global__ void fill(Input input, std::uint64_t seed, lab::Span<Key> keys, std::uint32_t* values) {
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  const std::int64_t first = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < keys.n; i += stride) {
    keys.data[i] = key_of<Key>(input, seed, i, keys.n);
    if (values != nullptr) values[i] = std::uint32_t(i);
  }
}

template <class Key>
__global__ void count_differences(Sorted expected, Sorted actual, std::int64_t n, Zeros zeros,
                                  unsigned long long* differences) {
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  unsigned long long own = 0;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    const auto bits = [i](Sorted sorted) { return static_cast<const lab::Bits<Key>*>(sorted.keys)[i]; };
    const auto ordered = [i](Sorted sorted) { return lab::ordered_bits(static_cast<const Key*>(sorted.keys)[i]); };
    own += zeros == Zeros::differ ? bits(expected) != bits(actual) : ordered(expected) != ordered(actual);
    if (actual.values != nullptr) own += expected.values[i] != actual.values[i];
  }
  if (own != 0) atomicAdd(differences, own);
}

unsigned blocks_for(std::int64_t n) { return unsigned(std::min((n + threads - 1) / threads, max_blocks)); }

}  // namespace

void make_keys(const Cell& cell, void* keys, std::uint32_t* values, cudaStream_t stream) {
  lab::with_key(cell.type, [&](auto tag) {
    using Key = typename decltype(tag)::Key;
    const lab::Span<Key> span{static_cast<Key*>(keys), cell.n};
    fill<Key><<<blocks_for(cell.n), threads, 0, stream>>>(cell.input, cell.seed, span, values);
    CUDA_CHECK(cudaGetLastError());
  });
}

std::int64_t differences(const Cell& cell, Sorted expected, Sorted actual, Zeros zeros, cudaStream_t stream) {
  const lab::DeviceArray<unsigned long long> counter(1, stream);
  CUDA_CHECK(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned long long), stream));
  lab::with_key(cell.type, [&](auto tag) {
    using Key = typename decltype(tag)::Key;
    count_differences<Key><<<blocks_for(cell.n), threads, 0, stream>>>(expected, actual, cell.n, zeros, counter.data());
    CUDA_CHECK(cudaGetLastError());
  });
  unsigned long long found = 0;
  CUDA_CHECK(cudaMemcpyAsync(&found, counter.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return std::int64_t(found);
}

}  // namespace draw

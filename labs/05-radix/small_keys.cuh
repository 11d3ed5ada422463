// The way of step 05 for many keys of one or two bytes without values, which have few enough codes to count them all:
// one read counts how often each code occurs, one write stores the codes so many times. Lab 04 teaches this.
#pragma once

#include <cstdint>

#include "04-counting/packed_counters.cuh"
#include "plan.cuh"

namespace radix {

/// Whether keys of this type may be counted by their values, which they are made from again.
template <class Key, class Value>
inline constexpr bool can_be_counted = sizeof(Key) <= 2 && !has_values<Value>;

namespace {

constexpr int write_threads = 512;
constexpr int write_bytes = 1 << 15;  ///< that a block writes at a time: they nearly always have one or two codes

/// Writes the keys, of which those with code c begin at position firsts[c].
template <class Key>
__global__ void __launch_bounds__(write_threads)
    write_codes(Key* keys, counting::Vectors<Key> vectors, const std::uint64_t* firsts, Coding<Key> coding) {
  constexpr int codes = 1 << 8 * sizeof(Key), keys_per_word = 4 / sizeof(Key), tile_vectors = write_bytes / 16;
  constexpr int keys_per_vector = vectors.keys_per_vector;
  const auto position_of = [&](std::int64_t j) { return std::uint64_t(vectors.first + j * keys_per_vector); };
  const auto code_at = [&](std::uint64_t position, int lowest, int highest) {
    return counting::counter_of(firsts, position, lowest, highest + 1);
  };
  for (std::int64_t begin = std::int64_t(blockIdx.x) * tile_vectors; begin < vectors.count;
       begin += std::int64_t(gridDim.x) * tile_vectors) {
    const std::int64_t end = min(vectors.count, begin + tile_vectors);
    const int low = code_at(position_of(begin), 0, codes - 1), high = code_at(position_of(end) - 1, low, codes - 1);
    for (std::int64_t j = begin + threadIdx.x; j < end; j += write_threads) {
      const std::uint64_t position = position_of(j);
      const int first = code_at(position, low, high), last = code_at(position + keys_per_vector - 1, first, high);
      unsigned words[4] = {};
#pragma unroll
      for (int i = 0; i < keys_per_vector; ++i) {
        const int code = first == last ? first : code_at(position + i, first, last);
        words[i / keys_per_word] |= unsigned(coding.decode(Key(code))) << i % keys_per_word * (8 * sizeof(Key));
      }
      vectors.in(keys)[j] = {words[0], words[1], words[2], words[3]};
    }
  }
  counting::for_each_index(vectors.edges, [&](std::int64_t e) {
    const std::int64_t i = vectors.edge(e);
    keys[i] = coding.decode(Key(code_at(i, 0, codes - 1)));
  });
}

/// Queues the sort.
template <class Key>
void sort_by_counting(lab::Span<Key> keys, Coding<Key> coding, const Device& device, lab::LaunchShape shape,
                      cudaStream_t stream) {
  constexpr int codes = 1 << 8 * sizeof(Key);
  const counting::Vectors<Key> vectors(keys.data, keys.n);
  const unsigned blocks = lab::blocks_or(shape, keys.n * sizeof(Key), write_bytes);
  const auto write = [&](const std::uint64_t* firsts) {
    write_codes<<<blocks, write_threads, 0, stream>>>(keys.data, vectors, firsts, coding);
    CUDA_CHECK(cudaGetLastError());
  };
  if constexpr (sizeof(Key) == 1) {
    const lab::DeviceArray<Plan<Key>> plan(1, stream);
    CUDA_CHECK(cudaMemsetAsync(plan.data(), 0, sizeof(Plan<Key>), stream));
    make_plan({keys.data, keys.n}, coding, plan.data(), lab::Span<unsigned>{}, nullptr, device, stream);
    write(reinterpret_cast<const std::uint64_t*>(plan.data()->firsts[0]));
  } else {
    const lab::DeviceArray<std::uint64_t> counts(codes, stream);
    CUDA_CHECK(cudaMemsetAsync(counts.data(), 0, codes * sizeof(std::uint64_t), stream));
    const unsigned count_blocks = std::min(lab::blocks_or({}, keys.n, 1 << 15), unsigned(device.multiprocessors));
    counting::count_words(lab::Span<const Key>{keys.data, keys.n}, counts.data(), coding.inversion, count_blocks, 1024,
                          stream);
    exclusive_scan({reinterpret_cast<long long*>(counts.data()), codes}, stream);
    write(counts.data());
  }
}

}  // namespace
}  // namespace radix

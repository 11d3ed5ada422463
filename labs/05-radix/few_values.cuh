// The way of step 05 for many keys that have few different values, which neither splits nor passes can sort fast: count
// the keys of each value, and write each value so many times. One read and one write.
#pragma once

#include <algorithm>
#include <cstdint>

#include "buckets.cuh"
#include "code.cuh"
#include "device.cuh"
#include "step/launch_shape.h"

namespace radix {

/// The values of the keys, if they are few, and how many keys have each. All 0 at the start.
struct FewValues {
  static constexpr int most = 32;

  unsigned number;            ///< of values; 0 if there are more than `most`
  std::uint32_t codes[most];  ///< ascending
  unsigned counts[most];
};

namespace detail {

inline constexpr int few_threads = 1024;
inline constexpr int slot_bits = 7, slots = 1 << slot_bits;

/// The values that a block has found in a sample, and a slot of its own for each of them. Each lane has its copy of the
/// slots, in its bank.
struct ValueSlots {
  std::uint32_t codes[slots][32];
  unsigned counts[slots][32];
  std::uint32_t found[FewValues::most];  ///< the values, in any order
  unsigned first_left;                   ///< the lowest thread with a sample whose value is not yet in `found`
  std::uint32_t leader;
  unsigned multiplier;  ///< a code's slot is given by the highest bits of its product with this

  __device__ static unsigned slot(std::uint32_t code, unsigned multiplier) {
    return code * multiplier >> (32 - slot_bits);
  }
};

/// Takes a sample, the same in all blocks, and writes its values into `table.found`. Returns how many there are, or a
/// number above FewValues::most if they are too many.
template <class Key>
__device__ int find_values(lab::Span<const std::uint32_t> keys, Coding<Key> coding, ValueSlots& table) {
  std::uint32_t codes[samples_per_thread];
  unsigned zeros = 0;
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) {
    const unsigned random = mixed(i * few_threads + threadIdx.x + 1);
    codes[i] = coding.encode(keys.data[std::int64_t(random) * keys.n >> 32]);
    zeros |= coding.zero_kind(codes[i]);
  }
  // -0 and +0 are equal: only a sort that keeps the order of equal keys may move them.
  if (__syncthreads_or(zeros & 1) && __syncthreads_or(zeros & 2)) return FewValues::most + 1;
  unsigned left = (1u << samples_per_thread) - 1;  // a bit for each sample whose value is not yet found
  for (int number = 0;; ++number) {
    if (threadIdx.x == 0) table.first_left = few_threads;
    __syncthreads();  // a thread looks for the minimum after thread 0 has set it
    if (left != 0) atomicMin(&table.first_left, threadIdx.x);
    __syncthreads();  // all threads read the minimum
    if (table.first_left == few_threads || number > FewValues::most) return number;
    if (threadIdx.x == table.first_left) table.leader = codes[__ffs(int(left)) - 1];
    __syncthreads();  // all threads compare with the leader's value
#pragma unroll
    for (int i = 0; i < samples_per_thread; ++i) left &= ~(unsigned(codes[i] == table.leader) << i);
    if (threadIdx.x == 0 && number < FewValues::most) table.found[number] = table.leader;
  }
}

/// Finds a multiplier that gives each of `number` values a slot of its own: each thread tries one. For 32 values in
/// random slots, one in 69 does (the product of 1 - i / 128 for i < 32). Returns false if there is none.
__device__ inline bool assign_slots(int number, ValueSlots& table) {
  if (threadIdx.x == 0) table.multiplier = 0;
  for (int i = threadIdx.x; i < slots * 32; i += few_threads) table.counts[i / 32][i % 32] = 0;
  __syncthreads();  // a thread chooses the multiplier after thread 0 has cleared it
  const unsigned multiplier = mixed(threadIdx.x + 1) | 1;
  unsigned taken[slots / 32] = {};
  bool alone = true;
  for (int i = 0; i < number; ++i) {
    const unsigned slot = ValueSlots::slot(table.found[i], multiplier);
#pragma unroll
    for (int word = 0; word < slots / 32; ++word) {
      const unsigned bit = unsigned(word == int(slot / 32)) << slot % 32;
      alone &= (taken[word] & bit) == 0;
      taken[word] |= bit;
    }
  }
  // All blocks must choose the same one.
  if (alone) atomicMax(&table.multiplier, multiplier);
  __syncthreads();  // all threads read the multiplier
  if (table.multiplier == 0) return false;
  // A slot without a value has one that belongs to another slot, so that no code equals it.
  const std::uint32_t other = table.found[0];
  for (int i = threadIdx.x; i < slots * 32; i += few_threads) table.codes[i / 32][i % 32] = other;
  __syncthreads();  // the slots of values are overwritten
  if (int(threadIdx.x / 32) < number) {
    const std::uint32_t code = table.found[threadIdx.x / 32];
    table.codes[ValueSlots::slot(code, table.multiplier)][threadIdx.x % 32] = code;
  }
  __syncthreads();  // a lane compares with codes that other warps have written
  return true;
}

/// Counts the keys of each value, if the keys are skewed and a sample has few of them. Keys with other values are not
/// counted.
template <class Key>
static __global__ void __launch_bounds__(few_threads, 1)
    count_values(lab::Span<const std::uint32_t> keys, Coding<Key> coding, const unsigned* skewed, FewValues* values) {
  __shared__ ValueSlots table;
  if (*skewed == 0) return;
  const int number = find_values(keys, coding, table);
  if (number > FewValues::most || !assign_slots(number, table)) return;
  const unsigned multiplier = table.multiplier;
  const int lane = threadIdx.x % 32;
  const auto count = [&](std::uint32_t bits) {
    const std::uint32_t code = coding.encode(bits);
    const unsigned slot = ValueSlots::slot(code, multiplier);
    if (table.codes[slot][lane] == code) atomicAdd(&table.counts[slot][lane], 1u);
  };
  // Keys before the first quad and after the last one are read one by one.
  const int head = int(-(reinterpret_cast<std::uintptr_t>(keys.data) / 4) % 4);
  const std::int64_t quads = keys.n < head ? 0 : (keys.n - head) / 4;
  const uint4* const quad = reinterpret_cast<const uint4*>(keys.data + head);
  if (blockIdx.x == 0 && threadIdx.x < 8) {
    const std::int64_t i = int(threadIdx.x) < head ? threadIdx.x : head + 4 * quads + (threadIdx.x - head);
    if (i < keys.n) count(keys.data[i]);
  }
  constexpr int rows = 4;  // whose loads are on their way at the same time
  const std::int64_t step = std::int64_t(gridDim.x) * few_threads;
  for (std::int64_t i = std::int64_t(blockIdx.x) * few_threads + threadIdx.x; i < quads; i += rows * step) {
    uint4 loaded[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) loaded[row] = quad[i + row * step < quads ? i + row * step : i];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      if (i + row * step >= quads) break;
      count(loaded[row].x), count(loaded[row].y), count(loaded[row].z), count(loaded[row].w);
    }
  }
  __syncthreads();  // a thread adds up counters in which others have counted
  if (int(threadIdx.x) >= number) return;
  const std::uint32_t code = table.found[threadIdx.x];
  int rank = 0;
  for (int i = 0; i < number; ++i) rank += table.found[i] < code;
  unsigned sum = 0;
  for (int i = 0; i < 32; ++i) sum += table.counts[ValueSlots::slot(code, multiplier)][(i + lane) % 32];
  atomicAdd(&values->counts[rank], sum);
  if (blockIdx.x == 0) {
    values->codes[rank] = code;
    if (rank == 0) values->number = unsigned(number);
  }
}

/// Writes each value as often as it occurs, if all keys were counted; then they are no longer skewed.
template <class Key>
static __global__ void __launch_bounds__(few_threads)
    write_values(lab::Span<std::uint32_t> keys, Coding<Key> coding, const FewValues* values, unsigned* skewed) {
  __shared__ std::uint32_t bits[FewValues::most];
  __shared__ unsigned ends[FewValues::most];
  if (values->number == 0) return;
  if (threadIdx.x < FewValues::most) {
    bits[threadIdx.x] = coding.decode(values->codes[threadIdx.x]);
    ends[threadIdx.x] = warp_inclusive_sum(values->counts[threadIdx.x]);
  }
  __syncthreads();  // all threads read where the values end
  if (ends[FewValues::most - 1] != keys.n) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) *skewed = 0;
  if (values->number == 1) return;
  const auto value_at = [&](std::int64_t i) {
    int index = 0;
#pragma unroll
    for (int half = FewValues::most / 2; half > 0; half /= 2) index += i < ends[index + half - 1] ? 0 : half;
    return bits[index];
  };
  const int head = int(-(reinterpret_cast<std::uintptr_t>(keys.data) / 4) % 4);
  const std::int64_t quads = keys.n < head ? 0 : (keys.n - head) / 4;
  uint4* const quad = reinterpret_cast<uint4*>(keys.data + head);
  if (blockIdx.x == 0 && threadIdx.x < 8) {
    const std::int64_t i = int(threadIdx.x) < head ? threadIdx.x : head + 4 * quads + (threadIdx.x - head);
    if (i < keys.n) keys.data[i] = value_at(i);
  }
  const std::int64_t step = std::int64_t(gridDim.x) * few_threads;
  for (std::int64_t i = std::int64_t(blockIdx.x) * few_threads + threadIdx.x; i < quads; i += step) {
    const std::int64_t at = head + 4 * i;
    quad[i] = {value_at(at), value_at(at + 1), value_at(at + 2), value_at(at + 3)};
  }
}

}  // namespace detail

/// If *skewed is not 0 and the keys have few values, sorts them and sets it to 0. `values`: all 0.
template <class Key>
void sort_few_values(lab::Span<std::uint32_t> keys, Coding<Key> coding, FewValues* values, unsigned* skewed,
                     const Device& device, cudaStream_t stream) {
  const unsigned blocks =
      std::min(lab::blocks_or({}, keys.n, 16 * detail::few_threads), unsigned(device.multiprocessors));
  detail::count_values<<<blocks, detail::few_threads, 0, stream>>>(lab::Span<const std::uint32_t>{keys.data, keys.n},
                                                                   coding, skewed, values);
  CUDA_CHECK(cudaGetLastError());
  detail::write_values<<<2 * blocks, detail::few_threads, 0, stream>>>(keys, coding, values, skewed);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace radix

// Sorts keys of few values: the kernels of few_values.h. Compiled by itself.
#include "few_values.h"

#include <algorithm>

#include "quads.cuh"
#include "sample.cuh"
#include "scan.cuh"
#include "step/device.h"
#include "step/launch_shape.h"

namespace radix {
namespace detail {

inline constexpr int few_threads = 1024;
inline constexpr int slot_bits = 7, slots = 1 << slot_bits;

/// The values that a block has found in a sample, and a separate slot for each of them. Each lane has its own copy of
/// the slots, in its own bank.
struct ValueSlots {
  std::uint32_t keys[slots][32];
  unsigned counts[slots][32];
  std::uint32_t found[FewValues::max];  ///< the values, in any order
  unsigned first_left;                  ///< the lowest thread with a sample whose value is not yet in `found`
  std::uint32_t leader;                 ///< the value of one of that thread's samples
  unsigned multiplier;                  ///< a key's slot is given by the highest bits of its product with this

  __device__ static unsigned slot(std::uint32_t key, unsigned multiplier) {
    return key * multiplier >> (32 - slot_bits);
  }
};

/// Takes a sample, the same in all blocks, and writes its values into `table.found`. Returns how many there are, or a
/// number above FewValues::max if there are too many.
template <class Key>
__device__ int find_values(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, ValueSlots& table) {
  std::uint32_t samples[samples_per_thread];
  unsigned zeros = 0;
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) {
    samples[i] = transform.forward(keys.data[sample_position(i * few_threads + threadIdx.x + 1, keys.n)]);
    zeros |= transform.zero_kind(samples[i]);
  }
  // -0 and +0 are equal, so only a sort that keeps the order of equal keys may move them.
  if (__syncthreads_or(zeros & 1) && __syncthreads_or(zeros & 2)) return FewValues::max + 1;
  // Each value costs a round below. Of 32 samples of as many equally frequent values, hardly ever more than 28 differ.
  const unsigned equal = __match_any_sync(0xffffffffu, samples[0]), lower = (1u << threadIdx.x % 32) - 1;
  const int distinct = __popc(__ballot_sync(0xffffffffu, (equal & lower) == 0));
  if (__syncthreads_or(threadIdx.x < 32 && distinct > 28)) return FewValues::max + 1;
  unsigned left = (1u << samples_per_thread) - 1;  // a bit for each sample whose value is not yet found
  for (int values = 0;; ++values) {
    if (threadIdx.x == 0) table.first_left = few_threads;
    __syncthreads();  // a thread lowers table.first_left, which thread 0 has set
    if (left != 0) atomicMin(&table.first_left, threadIdx.x);
    __syncthreads();  // all threads read table.first_left, which others have lowered
    if (table.first_left == few_threads || values > FewValues::max) return values;
    if (threadIdx.x == table.first_left) table.leader = samples[__ffs(int(left)) - 1];
    __syncthreads();  // all threads compare their samples with table.leader, which one of them has written
#pragma unroll
    for (int i = 0; i < samples_per_thread; ++i) left &= ~(unsigned(samples[i] == table.leader) << i);
    if (threadIdx.x == 0 && values < FewValues::max) table.found[values] = table.leader;
  }
}

/// Finds a multiplier that gives each of `values` values a separate slot. Each thread tries one. For 32 values in
/// random slots, one in 69 succeeds (the product of 1 - i / 128 for i < 32). Returns false if there is none.
__device__ inline bool assign_slots(int values, ValueSlots& table) {
  if (threadIdx.x == 0) table.multiplier = 0;
  for (int i = threadIdx.x; i < slots * 32; i += few_threads) table.counts[i / 32][i % 32] = 0;
  __syncthreads();  // a thread raises table.multiplier, which thread 0 has cleared
  const unsigned multiplier = hash(threadIdx.x + 1) | 1;
  unsigned taken[slots / 32] = {};
  bool alone = true;
  for (int i = 0; i < values; ++i) {
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
  __syncthreads();  // all threads read table.multiplier, which others have raised
  if (table.multiplier == 0) return false;
  // A slot without a value gets a value that belongs to another slot, so that no key equals it.
  const std::uint32_t other = table.found[0];
  for (int i = threadIdx.x; i < slots * 32; i += few_threads) table.keys[i / 32][i % 32] = other;
  __syncthreads();  // the values overwrite elements of table.keys that other threads have written
  if (int(threadIdx.x / 32) < values) {
    const std::uint32_t key = table.found[threadIdx.x / 32];
    table.keys[ValueSlots::slot(key, table.multiplier)][threadIdx.x % 32] = key;
  }
  __syncthreads();  // a lane compares with table.keys, which other warps have written
  return true;
}

/// Adds the block's counts of the `values` values to those of all blocks, in the order of the values.
__device__ inline void add_value_counts(int values, const ValueSlots& table, FewValues* all) {
  if (int(threadIdx.x) >= values) return;
  const std::uint32_t key = table.found[threadIdx.x];
  int rank = 0;
  for (int i = 0; i < values; ++i) rank += table.found[i] < key;
  unsigned sum = 0;
  const unsigned slot = ValueSlots::slot(key, table.multiplier), lane = threadIdx.x % 32;
  for (int i = 0; i < 32; ++i) sum += table.counts[slot][(i + lane) % 32];
  atomicAdd(&all->counts[rank], sum);
  if (blockIdx.x == 0) {
    all->keys[rank] = key;
    if (rank == 0) all->values = unsigned(values);
  }
}

/// Counts the keys of each value, if the keys are unsorted and a sample has few values. Keys with other values are not
/// counted.
template <class Key>
static __global__ void __launch_bounds__(few_threads, 1)
    count_values(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, const unsigned* unsorted,
                 FewValues* all) {
  __shared__ ValueSlots table;
  if (*unsorted == 0) return;
  const int values = find_values(keys, transform, table);
  if (values > FewValues::max || !assign_slots(values, table)) return;
  const unsigned multiplier = table.multiplier;
  const int lane = threadIdx.x % 32;
  const auto count = [&](std::uint32_t bits) {
    const std::uint32_t key = transform.forward(bits);
    const unsigned slot = ValueSlots::slot(key, multiplier);
    if (table.keys[slot][lane] == key) atomicAdd(&table.counts[slot][lane], 1u);
  };
  const Quads quads(keys);
  if (blockIdx.x == 0 && threadIdx.x < Quads::max_edges && quads.edge(threadIdx.x) < keys.n) {
    count(keys.data[quads.edge(threadIdx.x)]);
  }
  const uint4* const quad = reinterpret_cast<const uint4*>(keys.data + quads.head);
  constexpr int rows = 4;  // whose loads are under way at the same time
  const std::int64_t stride = std::int64_t(gridDim.x) * few_threads;
  for (std::int64_t i = std::int64_t(blockIdx.x) * few_threads + threadIdx.x; i < quads.count; i += rows * stride) {
    uint4 loaded[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) loaded[row] = quad[i + row * stride < quads.count ? i + row * stride : i];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      if (i + row * stride >= quads.count) break;
      count(loaded[row].x), count(loaded[row].y), count(loaded[row].z), count(loaded[row].w);
    }
  }
  __syncthreads();  // a thread adds up table.counts, to which other warps have added
  add_value_counts(values, table, all);
}

/// If all keys were counted, writes each value as often as it occurs. The keys are then sorted.
template <class Key>
static __global__ void __launch_bounds__(few_threads)
    write_values(lab::Span<std::uint32_t> keys, KeyTransform<Key> transform, const FewValues* all, unsigned* unsorted) {
  __shared__ std::uint32_t values[FewValues::max];
  __shared__ unsigned ends[FewValues::max];
  if (all->values == 0) return;
  if (threadIdx.x < FewValues::max) {
    values[threadIdx.x] = transform.inverse(all->keys[threadIdx.x]);
    ends[threadIdx.x] = warp_inclusive_sum(all->counts[threadIdx.x]);
  }
  __syncthreads();  // all threads read `values` and `ends`, which the first warp has written
  if (ends[FewValues::max - 1] != keys.n) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) *unsorted = 0;
  if (all->values == 1) return;
  const auto value_at = [&](std::int64_t i) {
    int index = 0;
#pragma unroll
    for (int half = FewValues::max / 2; half > 0; half /= 2) index += i < ends[index + half - 1] ? 0 : half;
    return values[index];
  };
  const Quads quads(keys);
  if (blockIdx.x == 0 && threadIdx.x < Quads::max_edges && quads.edge(threadIdx.x) < keys.n) {
    keys.data[quads.edge(threadIdx.x)] = value_at(quads.edge(threadIdx.x));
  }
  uint4* const quad = reinterpret_cast<uint4*>(keys.data + quads.head);
  const std::int64_t stride = std::int64_t(gridDim.x) * few_threads;
  for (std::int64_t i = std::int64_t(blockIdx.x) * few_threads + threadIdx.x; i < quads.count; i += stride) {
    const std::int64_t at = quads.head + 4 * i;
    const uint4 four{value_at(at), value_at(at + 1), value_at(at + 2), value_at(at + 3)};
    quad[i] = four;
  }
}

}  // namespace detail

template <class Key>
void sort_few_values(lab::Span<std::uint32_t> keys, KeyTransform<Key> transform, FewValues* values, unsigned* unsorted,
                     cudaStream_t stream) {
  const unsigned multiprocessors = unsigned(lab::Device::current().multiprocessors);
  const unsigned blocks = std::min(lab::blocks_or({}, keys.n, 16 * detail::few_threads), multiprocessors);
  const lab::Span<const std::uint32_t> read_only = {keys.data, keys.n};
  detail::count_values<<<blocks, detail::few_threads, 0, stream>>>(read_only, transform, unsorted, values);
  CUDA_CHECK(cudaGetLastError());
  detail::write_values<<<2 * blocks, detail::few_threads, 0, stream>>>(keys, transform, values, unsorted);
  CUDA_CHECK(cudaGetLastError());
}

template void sort_few_values(lab::Span<std::uint32_t>, KeyTransform<std::uint32_t>, FewValues*, unsigned*,
                              cudaStream_t);
template void sort_few_values(lab::Span<std::uint32_t>, KeyTransform<float>, FewValues*, unsigned*, cudaStream_t);

}  // namespace radix

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

/// At most 32 values that a block has found in a sample, and a separate slot for each of them. Each lane has its own
/// copy of the slots, in its own bank, so that lanes with equal keys do not wait for each other.
struct ValueSlots {
  static constexpr int max = 32;

  std::uint32_t keys[slots][32];
  unsigned counts[slots][32];
  std::uint32_t found[max];  ///< the values, in any order
  unsigned first_left;       ///< the lowest thread with a sample whose value is not yet in `found`
  std::uint32_t leader;      ///< the value of one of that thread's samples
  unsigned multiplier;       ///< a key's slot is given by the highest bits of its product with this

  __device__ static unsigned slot(std::uint32_t key, unsigned multiplier) {
    return key * multiplier >> (32 - slot_bits);
  }
};

/// A thread's part of a sample, which is the same in all blocks.
struct Samples {
  std::uint32_t keys[samples_per_thread];

  template <class Key>
  __device__ Samples(lab::Span<const std::uint32_t> all, KeyTransform<Key> transform) {
#pragma unroll
    for (int i = 0; i < samples_per_thread; ++i) {
      keys[i] = transform.forward(all.data[sample_position(i * few_threads + threadIdx.x + 1, all.n)]);
    }
  }
};

/// The number of different hashes of the threads' keys. There are at least as many different keys. `marks` has
/// few_threads elements. All threads of the block call it.
__device__ inline int count_hashes(std::uint32_t key, unsigned* marks) {
  marks[threadIdx.x] = 0;
  __syncthreads();  // a thread marks an element that another one has cleared
  atomicOr(&marks[hash(key) % few_threads], 1u);
  __syncthreads();  // a thread reads a mark that another one has set
  return __syncthreads_count(marks[threadIdx.x] != 0);
}

/// Writes the values of the sample into `table.found`. Returns how many there are, or a number above ValueSlots::max if
/// there are too many.
__device__ inline int find_values(const Samples& samples, ValueSlots& table) {
  // Each value costs a round of the loop below, which should not even begin if there are too many.
  if (count_hashes(samples.keys[0], &table.counts[0][0]) > ValueSlots::max) return ValueSlots::max + 1;
  unsigned left = (1u << samples_per_thread) - 1;  // a bit for each sample whose value is not yet found
  for (int values = 0;; ++values) {
    if (threadIdx.x == 0) table.first_left = few_threads;
    __syncthreads();  // a thread lowers table.first_left, which thread 0 has set
    if (left != 0) atomicMin(&table.first_left, threadIdx.x);
    __syncthreads();  // all threads read table.first_left, which others have lowered
    if (table.first_left == few_threads || values > ValueSlots::max) return values;
    if (threadIdx.x == table.first_left) table.leader = samples.keys[__ffs(int(left)) - 1];
    __syncthreads();  // all threads compare their samples with table.leader, which one of them has written
#pragma unroll
    for (int i = 0; i < samples_per_thread; ++i) left &= ~(unsigned(samples.keys[i] == table.leader) << i);
    if (threadIdx.x == 0 && values < ValueSlots::max) table.found[values] = table.leader;
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

/// The place of a key in a hash table of FewValues::slots, from which the search for a slot begins.
__device__ inline unsigned first_slot(std::uint32_t key) { return hash(key) % FewValues::slots; }

/// What marks the slot of a key as taken.
__device__ inline unsigned long long entry_of(std::uint32_t key) { return 1ull << 32 | key; }

/// Finds the slot of a key in `taken`, or takes one for it. Returns -1 if there is none. `is_new`: the slot was free.
/// Other threads may take slots at the same time, and no slot becomes free again.
__device__ inline int find_slot(unsigned long long* taken, std::uint32_t key, bool& is_new) {
  const unsigned long long entry = entry_of(key);
  unsigned slot = first_slot(key);
  is_new = false;
  constexpr int most_probes = 64;  // where half of the slots are taken, hardly any key needs more
  for (int probes = 0; probes < most_probes; ++probes) {
    // Volatile: the slot may be taken at this moment, and an old 0 only costs an exchange that fails.
    unsigned long long found = *const_cast<volatile unsigned long long*>(&taken[slot]);
    if (found == 0) {
      found = atomicCAS(&taken[slot], 0ull, entry);
      is_new = found == 0;
      if (is_new) return int(slot);
    }
    if (found == entry) return int(slot);
    slot = (slot + 1) % FewValues::slots;
  }
  return -1;
}

/// Adds `count` keys of a value to those that all blocks have counted.
__device__ inline void add_to_all(std::uint32_t key, unsigned count, FewValues* all) {
  bool is_new;
  const int slot = find_slot(all->taken, key, is_new);
  if (slot >= 0) atomicAdd(&all->counts[slot], count);
  if (slot < 0 || (is_new && atomicAdd(&all->values, 1u) >= unsigned(FewValues::max))) atomicOr(&all->failed, 1u);
}

/// Adds the block's counts of the `values` values to those of all blocks.
__device__ inline void add_value_counts(int values, const ValueSlots& table, FewValues* all) {
  if (int(threadIdx.x) >= values) return;
  const std::uint32_t key = table.found[threadIdx.x];
  unsigned sum = 0;
  const unsigned slot = ValueSlots::slot(key, table.multiplier), lane = threadIdx.x % 32;
  for (int i = 0; i < 32; ++i) sum += table.counts[slot][(i + lane) % 32];
  if (sum != 0) add_to_all(key, sum, all);
}

/// More values than ValueSlots has room for: a hash table, into which a block puts each value that it meets. Half of
/// the warps have counters of their own, so that fewer lanes with equal keys wait for each other.
struct ValueTable {
  static constexpr int copies = 2;

  unsigned long long taken[FewValues::slots];
  unsigned counts[copies][FewValues::slots];
  unsigned values;  ///< how many slots are taken
  unsigned failed;  ///< not 0 if there are too many values

  __device__ void clear() {
    for (int i = threadIdx.x; i < FewValues::slots; i += few_threads) {
      taken[i] = 0;
      for (int copy = 0; copy < copies; ++copy) counts[copy][i] = 0;
    }
    if (threadIdx.x == 0) values = failed = 0;
  }

  /// Adds `count` keys, or a value without keys, to those of this warp's half. Returns whether the value is new.
  __device__ bool add(std::uint32_t key, unsigned count) {
    bool is_new;
    const int slot = find_slot(taken, key, is_new);
    if (slot < 0 || (is_new && atomicAdd(&values, 1u) >= unsigned(FewValues::max))) {
      atomicOr(&failed, 1u);
    } else if (count != 0) {
      atomicAdd(&counts[threadIdx.x / 32 % copies][slot], count);
    }
    return is_new;
  }

  /// Whether there are too many values. All threads of the block call it.
  __device__ bool has_failed() { return __syncthreads_or(*const_cast<volatile unsigned*>(&failed) != 0) != 0; }
};

/// Calls count(bits) for the block's part of the keys. After each few rows, all threads call stop(), and end together
/// if it returns true.
template <class Count, class Stop>
__device__ void for_own_keys(lab::Span<const std::uint32_t> keys, Count count, Stop stop) {
  const Quads quads(keys);
  if (blockIdx.x == 0 && threadIdx.x < Quads::max_edges && quads.edge(threadIdx.x) < keys.n) {
    count(keys.data[quads.edge(threadIdx.x)]);
  }
  const uint4* const quad = reinterpret_cast<const uint4*>(keys.data + quads.head);
  constexpr int rows = 4;  // whose loads are under way at the same time
  const std::int64_t stride = std::int64_t(gridDim.x) * few_threads;
  for (std::int64_t first = std::int64_t(blockIdx.x) * few_threads; first < quads.count; first += rows * stride) {
    const std::int64_t i = first + threadIdx.x;
    uint4 loaded[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      loaded[row] = quad[min(i + row * stride, quads.count - 1)];
    }
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      if (i + row * stride >= quads.count) break;
      count(loaded[row].x), count(loaded[row].y), count(loaded[row].z), count(loaded[row].w);
    }
    if (stop()) return;
  }
}

/// Counts the block's keys of up to 32 values, which the sample has. Keys with other values are not counted.
template <class Key>
__device__ void count_in_slots(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, int values,
                               ValueSlots& table, FewValues* all) {
  const unsigned multiplier = table.multiplier;
  const int lane = threadIdx.x % 32;
  const auto count = [&](std::uint32_t bits) {
    const std::uint32_t key = transform.forward(bits);
    const unsigned slot = ValueSlots::slot(key, multiplier);
    if (table.keys[slot][lane] == key) atomicAdd(&table.counts[slot][lane], 1u);
  };
  for_own_keys(keys, count, [] { return false; });
  __syncthreads();  // a thread adds up table.counts, to which other warps have added
  add_value_counts(values, table, all);
}

/// Counts the block's keys of any values, unless there are too many.
template <class Key>
__device__ void count_in_table(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, const Samples& samples,
                               ValueTable& table, FewValues* all) {
  table.clear();
  __syncthreads();  // a thread takes slots of the table, which others have cleared
  int values = 0;
#pragma unroll
  for (int i = 0; i < samples_per_thread; ++i) {
    // If there are 1024 values, each as frequent as the others, about 650 of the first 1024 samples differ, and 30 of
    // the last 1024 have a value that none had before. Of more values, the sample lacks many.
    const int most = i == 0 ? 3 * few_threads / 4 : i == samples_per_thread - 1 ? 64 : few_threads;
    const int found = __syncthreads_count(table.add(samples.keys[i], 0));
    values += found;
    if (found > most || values > FewValues::max) return;
  }
  for_own_keys(
      keys, [&](std::uint32_t bits) { table.add(transform.forward(bits), 1); }, [&] { return table.has_failed(); });
  if (table.has_failed()) {  // that was also the barrier before a thread reads slots that others have taken
    if (threadIdx.x == 0) atomicOr(&all->failed, 1u);
    return;
  }
  for (int i = threadIdx.x; i < FewValues::slots; i += few_threads) {
    unsigned sum = 0;
    for (int copy = 0; copy < ValueTable::copies; ++copy) sum += table.counts[copy][i];
    if (sum != 0) add_to_all(std::uint32_t(table.taken[i]), sum, all);
  }
}

/// Counts the keys of each value, if the keys are unsorted and a sample has few values.
template <class Key>
static __global__ void __launch_bounds__(few_threads, 1)
    count_values(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, const unsigned* unsorted,
                 FewValues* all) {
  __shared__ union {
    ValueSlots slots;
    ValueTable table;
  } shared;
  if (*unsorted == 0) return;
  const Samples samples(keys, transform);
  const int values = find_values(samples, shared.slots);
  if (values <= ValueSlots::max && assign_slots(values, shared.slots)) {
    count_in_slots(keys, transform, values, shared.slots, all);
  } else {
    __syncthreads();  // the table overwrites slots that other threads may still be reading
    count_in_table(keys, transform, samples, shared.table, all);
  }
}

/// Values and the numbers of keys that have them, which one block sorts.
struct ValueList {
  std::uint32_t keys[FewValues::max];
  unsigned counts[FewValues::max];
  unsigned length;

  /// Sorts all FewValues::max of them by their keys, by a bitonic network with a thread for each pair.
  __device__ void sort() {
    for (int run = 2; run <= FewValues::max; run *= 2) {
      for (int stride = run / 2; stride > 0; stride /= 2) {
        const int i = threadIdx.x, partner = i ^ stride;
        if (partner > i && (keys[i] > keys[partner]) == ((i & run) == 0)) {
          const std::uint32_t key = keys[i];
          const unsigned count = counts[i];
          keys[i] = keys[partner], counts[i] = counts[partner];
          keys[partner] = key, counts[partner] = count;
        }
        __syncthreads();  // the next stage reads what other threads have exchanged
      }
    }
  }
};

/// Sorts the values, if all keys were counted, and finds where the keys of each end. Otherwise sets all->values to 0.
/// One block.
template <class Key>
static __global__ void __launch_bounds__(few_threads)
    rank_values(std::int64_t n, KeyTransform<Key> transform, FewValues* all) {
  static_assert(few_threads == FewValues::max);
  __shared__ ValueList list;
  __shared__ unsigned sums[few_threads / 32];
  const unsigned values = all->values;
  if (values == 0) return;
  const int t = threadIdx.x;
  list.keys[t] = 0xffffffffu, list.counts[t] = 0;
  if (t == 0) list.length = 0;
  __syncthreads();  // a thread appends to the list, which others have cleared
  unsigned zeros = 0;
  for (int i = t; i < FewValues::slots && all->failed == 0 && values <= unsigned(FewValues::max); i += few_threads) {
    if (all->taken[i] == 0) continue;
    const std::uint32_t key = std::uint32_t(all->taken[i]);
    zeros |= transform.zero_kind(key);
    const unsigned place = atomicAdd(&list.length, 1u);
    list.keys[place] = key, list.counts[place] = all->counts[i];
  }
  // -0 and +0 are equal, so only a sort that keeps the order of equal keys may move them.
  const bool has_one_zero = __syncthreads_or(zeros & 1) != 0, has_other_zero = __syncthreads_or(zeros & 2) != 0;
  const bool both_zeros = has_one_zero && has_other_zero;
  list.sort();
  unsigned total;
  const unsigned end = block_exclusive_sum(list.counts[t], sums, total) + list.counts[t];
  all->keys[t] = list.keys[t];
  all->ends[t] = end;
  if (t == 0 && (total != n || both_zeros)) all->values = 0;
}

/// If all keys were counted, writes each value as often as it occurs. The keys are then sorted.
template <class Key>
static __global__ void __launch_bounds__(few_threads)
    write_values(lab::Span<std::uint32_t> keys, KeyTransform<Key> transform, const FewValues* all, unsigned* unsorted) {
  __shared__ std::uint32_t values[FewValues::max];
  __shared__ unsigned ends[FewValues::max];
  if (all->values == 0) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) *unsorted = 0;
  if (all->values == 1) return;
  for (int i = threadIdx.x; i < FewValues::max; i += few_threads) {
    values[i] = transform.inverse(all->keys[i]);
    ends[i] = all->ends[i];
  }
  __syncthreads();  // all threads read `values` and `ends`, which others have written
  int most = 1;     // a power of two, at least the number of values
  while (most < int(all->values)) most *= 2;
  const auto index_at = [&](std::int64_t i) {
    int index = 0;
    for (int half = most / 2; half > 0; half /= 2) index += i < ends[index + half - 1] ? 0 : half;
    return index;
  };
  const Quads quads(keys);
  if (blockIdx.x == 0 && threadIdx.x < Quads::max_edges && quads.edge(threadIdx.x) < keys.n) {
    keys.data[quads.edge(threadIdx.x)] = values[index_at(quads.edge(threadIdx.x))];
  }
  uint4* const quad = reinterpret_cast<uint4*>(keys.data + quads.head);
  const std::int64_t stride = std::int64_t(gridDim.x) * few_threads;
  for (std::int64_t i = std::int64_t(blockIdx.x) * few_threads + threadIdx.x; i < quads.count; i += stride) {
    const std::int64_t at = quads.head + 4 * i;
    int index = index_at(at);
    const auto next = [&](int k) {  // the value at position at + k, to which the index advances
      while (at + k >= ends[index]) ++index;
      return values[index];
    };
    const std::uint32_t first = values[index], second = next(1), third = next(2), fourth = next(3);
    const uint4 four{first, second, third, fourth};
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
  detail::rank_values<<<1, detail::few_threads, 0, stream>>>(keys.n, transform, values);
  CUDA_CHECK(cudaGetLastError());
  detail::write_values<<<2 * blocks, detail::few_threads, 0, stream>>>(keys, transform, values, unsorted);
  CUDA_CHECK(cudaGetLastError());
}

template void sort_few_values(lab::Span<std::uint32_t>, KeyTransform<std::uint32_t>, FewValues*, unsigned*,
                              cudaStream_t);
template void sort_few_values(lab::Span<std::uint32_t>, KeyTransform<float>, FewValues*, unsigned*, cudaStream_t);

}  // namespace radix

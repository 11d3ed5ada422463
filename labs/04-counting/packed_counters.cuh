// The histogram of 16-bit keys that step 06 uses: 65,536 counters, two in each word of a block's shared memory. With
// 32 bits per counter they would take 256 KiB, more than the shared memory of any streaming multiprocessor (SM).
//
// Two things must not happen, whatever the keys are:
// - A counter overflows into the other one of its word. Therefore a block counts in rounds of at most counter_limit
//   keys, with a barrier after each. If every counter is below counter_limit when a round begins, none exceeds 2^16 - 1
//   in it. A thread whose addition takes a counter to counter_limit moves that many keys to the counter in global
//   memory before the barrier.
// - The atomics of a warp are serialized because its lanes need the same counter. Therefore a warp compares one key of
//   each lane before it counts a round. If several lanes have the same value, that value is `hot`, and every lane
//   counts it in a register.
#pragma once

#include <cstdint>

#include "counting.cuh"

namespace counting {

inline constexpr int word_values = 1 << 16;
inline constexpr unsigned counter_limit = 1 << 15;
inline constexpr int round_vectors = 4;  ///< that a thread counts per round
static_assert(1024 * round_vectors * Vectors<std::uint16_t>::keys_per_vector <= counter_limit, "a counter overflows");

namespace {

/// The counters of `size` values from `first` on, those of neighbouring values in the halves of one word.
template <int size>
struct PackedCounters {
  static constexpr int words = size / 2;
  static constexpr std::size_t bytes = words * sizeof(unsigned);
  unsigned* packed;
  std::uint64_t* counts;
  unsigned first, flip;

  __device__ unsigned index(std::uint16_t key) const { return key - first; }  // huge if the key is below `first`
  /// The word of counter i. It is not just i / 2, so that keys at equal distances do not all need the same bank.
  __device__ static unsigned word(unsigned i) { return i / 2 ^ i / 64 ^ i / 2048; }
  __device__ static unsigned one(unsigned i) { return i % 2 * 0xffffu + 1; }  // 1 or 1 << 16
  __device__ unsigned count(unsigned i) const { return packed[word(i)] >> i % 2 * 16 & 0xffff; }
  __device__ void add_to_global(unsigned i, unsigned n) const { atomic_add(&counts[(first + i) ^ flip], n); }

  /// Adds n to counter i, and returns the bits of the word that this has set. If not `counted`, adds 0 to a word in the
  /// lane's own bank, because with a branch around the atomic, the next one would wait for it.
  __device__ unsigned add(unsigned i, unsigned n, bool counted = true) const {
    const unsigned more = counted ? n * one(i) : 0;
    const unsigned old = atomicAdd(&packed[counted ? word(i) : threadIdx.x % 32], more);
    return ~old & (old + more);
  }

  /// True if one of the additions that set these bits took its counter to counter_limit.
  __device__ static bool at_limit(unsigned bits) { return (bits & (counter_limit << 16 | counter_limit)) != 0; }

  /// Moves counter_limit keys from counter i to global memory if it has that many. If several threads try, one of them
  /// sees the bit that it clears.
  __device__ void spill(unsigned i) const {
    const unsigned bit = counter_limit * one(i);
    if (atomicAnd(&packed[word(i)], ~bit) & bit) add_to_global(i, counter_limit);
  }
};

/// Whether a warp has counters that are hot.
enum class HotKeys { none, some };

/// Up to two counters that several lanes of the warp need at once.
struct Hot {
  static constexpr unsigned none = word_values;
  static constexpr int threshold = 4;  // lanes; for fewer, counting in registers takes longer than serialized atomics
  unsigned counters[2] = {none, none};

  __device__ static bool is_hot(unsigned counter, unsigned i) {
    return counter != none && __popc(__ballot_sync(~0u, i == counter)) >= threshold;
  }

  /// Looks at one key of each lane: keeps the counters that are still hot, and tries another in place of one that is
  /// not. `i`: the lane's counter, or none. All lanes get the same result.
  __device__ void update(unsigned i) {
    for (int h = 0; h < 2; ++h) {
      if (is_hot(counters[h], i)) continue;
      const unsigned others = __ballot_sync(~0u, i != none && i != counters[1 - h]);
      const unsigned candidate = __shfl_sync(~0u, i, others ? __ffs(others) - 1 : 0);
      counters[h] = others && is_hot(candidate, i) ? candidate : none;
      if (counters[0] == none) return;
    }
  }
  __device__ bool any() const { return counters[0] != none; }
};

/// After counting a vector of keys that took a counter to counter_limit. Not inline, because it is rare and long.
template <int size>
__device__ __noinline__ void spill_all(uint4 vector, PackedCounters<size> counters) {
#pragma unroll
  for (int k = 0; k < Vectors<std::uint16_t>::keys_per_vector; ++k) {
    const unsigned i = counters.index(key_of<std::uint16_t>(vector, k));
    if (i < size) counters.spill(i);
  }
}

/// Counts one vector of keys, but adds those that are hot to `hits` instead.
template <HotKeys hot_keys, int size>
__device__ inline void count_vector(const uint4& vector, const PackedCounters<size>& counters, const Hot& hot,
                                    unsigned (&hits)[2]) {
  constexpr int keys = Vectors<std::uint16_t>::keys_per_vector;
  unsigned bits = 0;
#pragma unroll
  for (int k = 0; k < keys; ++k) {
    const unsigned i = counters.index(key_of<std::uint16_t>(vector, k));
    bool counted = size == word_values || i < size;
    if constexpr (hot_keys == HotKeys::some) {
      const bool is_first = i == hot.counters[0], is_second = i == hot.counters[1];
      hits[0] += is_first, hits[1] += is_second;
      counted = counted & !is_first & !is_second;
    }
    bits |= counters.add(i, 1, counted);
  }
  if (counters.at_limit(bits)) spill_all(vector, counters);
}

/// A thread's vectors of one round. Those of a warp are neighbours, because equal keys often are, too.
struct Round {
  uint4 vectors[round_vectors];
  int count;

  /// Loads the thread's vectors of the round that begins at vector `begin`, as far as they are before `end`.
  __device__ void load(const uint4* all, std::int64_t begin, std::int64_t end) {
    const int lane = threadIdx.x % 32;
    const std::int64_t first = begin + (threadIdx.x - lane) * round_vectors + lane;
    count = 0;
#pragma unroll
    for (int i = 0; i < round_vectors; ++i) {
      if (first + i * 32 >= end) return;
      vectors[i] = all[first + i * 32];
      count = i + 1;
    }
  }

  template <HotKeys hot_keys, int size>
  __device__ void tally(const PackedCounters<size>& counters, const Hot& hot) const {
    unsigned hits[2] = {};
#pragma unroll
    for (int i = 0; i < round_vectors; ++i) {
      if (i < count) count_vector<hot_keys>(vectors[i], counters, hot, hits);
    }
    for (int h = 0; hot_keys == HotKeys::some && h < 2; ++h) {
      if (hits[h] != 0 && counters.at_limit(counters.add(hot.counters[h], hits[h]))) {
        counters.spill(hot.counters[h]);
      }
    }
  }
};

/// counts[v ^ flip] += the number of keys equal to v, for `size` values v from `first` on. Dynamic shared memory:
/// PackedCounters<size>::bytes. A multiple of 32 threads per block.
template <int size>
__global__ void __launch_bounds__(1024) count_packed(const std::uint16_t* keys, Vectors<std::uint16_t> vectors,
                                                     std::uint64_t* counts, unsigned first, unsigned flip) {
  extern __shared__ unsigned packed[];
  const PackedCounters<size> counters = {packed, counts, first, flip};
  const std::int64_t round = blockDim.x * round_vectors, stride = gridDim.x * round;
  std::int64_t begin = blockIdx.x * round;
  if (blockIdx.x != 0 && begin >= vectors.count) return;  // a block without keys; block 0 counts the edges
  // PHASE 1: clear the counters, while the first round's keys are on their way.
  for (int i = threadIdx.x; i < counters.words; i += blockDim.x) packed[i] = 0;
  const uint4* const all = vectors.in(keys);
  Round next;
  next.load(all, begin, vectors.count);
  Hot hot;
  __syncthreads();  // a thread adds to words of `packed` that other threads have cleared
  // PHASE 2: count in rounds, so that no counter overflows. The next round's keys are loaded while this one is counted,
  // which hides the latency of the loads.
  for (; begin < vectors.count; begin += stride) {
    const Round now = next;
    next.load(all, begin + stride, vectors.count);
    const unsigned i = counters.index(key_of<std::uint16_t>(now.vectors[0], 0));
    hot.update(now.count > 0 && i < size ? i : Hot::none);
    if (hot.any()) {
      now.template tally<HotKeys::some>(counters, hot);
    } else {
      now.template tally<HotKeys::none>(counters, hot);
    }
    __syncthreads();  // every counter in `packed` is below counter_limit again when the next round begins
  }
  if (blockIdx.x == 0) {
    for (std::int64_t e = threadIdx.x; e < vectors.edges; e += blockDim.x) {
      const unsigned i = counters.index(keys[vectors.edge(e)]);
      if (i < size) counters.add_to_global(i, 1);
    }
  }
  // PHASE 3: add up, so that a block adds to each counter in global memory only once, apart from spills.
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    const unsigned own = (i + blockIdx.x * 1024) % size;  // at any time, the blocks add to different counters
    if (const unsigned n = counters.count(own)) counters.add_to_global(own, n);
  }
}

/// Launches count_packed as often as it takes to count all values.
template <int size>
void count_in_parts(lab::Span<const std::uint16_t> keys, std::uint64_t* counts, unsigned flip, unsigned blocks,
                    int threads, cudaStream_t stream) {
  constexpr std::size_t bytes = PackedCounters<size>::bytes;
  allow_shared(count_packed<size>, bytes);
  const Vectors<std::uint16_t> vectors(keys.data, keys.n);
  for (unsigned first = 0; first < word_values; first += size) {
    count_packed<size><<<blocks, threads, bytes, stream>>>(keys.data, vectors, counts, first, flip);
    CUDA_CHECK(cudaGetLastError());
  }
}

/// counts[v ^ flip] += the number of keys equal to v, for all 2^16 values v. Reads the keys once, or twice on a device
/// that grants a block less than 128 KiB of shared memory.
[[maybe_unused]] void count_words(lab::Span<const std::uint16_t> keys, std::uint64_t* counts, unsigned flip,
                                  unsigned blocks, int threads, cudaStream_t stream) {
  const int shared_bytes = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (std::size_t(shared_bytes) >= PackedCounters<word_values>::bytes) {
    count_in_parts<word_values>(keys, counts, flip, blocks, threads, stream);
  } else {
    count_in_parts<word_values / 2>(keys, counts, flip, blocks, threads, stream);
  }
}

}  // namespace
}  // namespace counting

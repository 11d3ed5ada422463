// How step 06 divides few keys that are not spread evenly: by splitters, which are taken from a sorted sample of the
// keys. Whatever the keys are, no interval between two splitters has many more of them than the others. A value that
// occurs often becomes a splitter. The keys that equal a splitter have a bucket of their own, which need not be sorted.
// Sources: P. Sanders and S. Winkel, "Super scalar sample sort", ESA 2004 (the tree of splitters); M. Axtmann, S. Witt,
// D. Ferizovic and P. Sanders, "In-place parallel super scalar samplesort (IPSSSSo)", ESA 2017 (buckets of equal keys).
#pragma once

#include <cstdint>

#include "radix.h"

namespace radix {

/// Every interval between splitters has two buckets: 2 * i for the keys of interval i below its upper end, and
/// 2 * i + 1 for those that equal its upper end.
inline constexpr int intervals = 256, bucket_count = 2 * intervals;

/// The splitters, in shared memory.
struct Splitters {
  static constexpr int levels = 8;
  static_assert(intervals == 1 << levels);

  std::uint32_t ends[intervals];  ///< the upper ends of the intervals, in order; the last one is the largest number
  std::uint32_t tree[intervals];  ///< the same, without the last one, as a search tree: below node i are 2 i, 2 i + 1

  /// Copies the ends, and makes the tree. The block has at least `intervals` threads, all of which call it. A barrier
  /// must follow before the search.
  __device__ void load(const std::uint32_t* all_ends) {
    const unsigned node = threadIdx.x;
    if (node < intervals) ends[node] = all_ends[node];
    __syncthreads();  // a thread reads an element of `ends` that another has written
    if (node == 0 || node >= intervals) return;
    const int level = 31 - __clz(int(node));
    tree[node] = ends[((2 * (node - (1u << level)) + 1) << (levels - 1 - level)) - 1];
  }

  /// The bucket of a key. The nodes of a level are neighbours, so lanes that read different nodes of it use different
  /// banks, as long as it has at most 32.
  __device__ unsigned bucket(std::uint32_t key) const {
    unsigned node = 1;
#pragma unroll
    for (int level = 0; level < levels; ++level) node = 2 * node + (tree[node] < key ? 1 : 0);
    const unsigned interval = node - intervals;
    return 2 * interval + (ends[interval] == key ? 1 : 0);
  }
};

/// The smallest key of an interval, of which `ends` are the upper ends.
__device__ inline std::uint32_t interval_base(const std::uint32_t* ends, unsigned interval) {
  return interval == 0 ? 0 : ends[interval - 1] + 1;
}

// --- the sort of the samples ---

namespace detail {

/// Of a thread's keys and those of thread t ^ mask, leaves the lower half in the lower thread, in bitonic order. If
/// `mirrored`, the other thread's keys are compared from the last one on. `exchange` has room for the keys of all
/// threads, and is used if the other thread belongs to another warp. All threads of the block call it.
template <int items>
__device__ void keep_half(std::uint32_t (&keys)[items], unsigned mask, bool mirrored, std::uint32_t* exchange) {
  const unsigned t = threadIdx.x, other = t ^ mask;
  std::uint32_t others[items];
  if (mask < 32) {
#pragma unroll
    for (int i = 0; i < items; ++i) {
      others[i] = __shfl_xor_sync(0xffffffffu, mirrored ? keys[items - 1 - i] : keys[i], int(mask));
    }
  } else {
    __syncthreads();  // a thread overwrites elements of `exchange` that others may still be reading in an earlier call
#pragma unroll
    for (int i = 0; i < items; ++i) exchange[i * blockDim.x + t] = keys[i];
    __syncthreads();  // a thread reads elements of `exchange` that others have written
#pragma unroll
    for (int i = 0; i < items; ++i) others[i] = exchange[(mirrored ? items - 1 - i : i) * blockDim.x + other];
  }
#pragma unroll
  for (int i = 0; i < items; ++i) keys[i] = t < other ? min(keys[i], others[i]) : max(keys[i], others[i]);
}

/// Compares keys i and i ^ mask of a thread, for each i, and exchanges them if they are in the wrong order.
template <int mask, int items>
__device__ void exchange_own(std::uint32_t (&keys)[items]) {
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int other = i ^ mask;
    if (other < i || other >= items) continue;
    const std::uint32_t lower = min(keys[i], keys[other]);
    keys[other] = max(keys[i], keys[other]);
    keys[i] = lower;
  }
}

/// Sorts a thread's keys, which are in bitonic order in groups of 2 * distance.
template <int distance, int items>
__device__ void merge_own(std::uint32_t (&keys)[items]) {
  if constexpr (distance > 0) {
    exchange_own<distance>(keys);
    merge_own<distance / 2>(keys);
  }
}

/// Sorts a thread's keys.
template <int size, int items>
__device__ void sort_own(std::uint32_t (&keys)[items]) {
  if constexpr (size > 1) {
    sort_own<size / 2>(keys);
    exchange_own<size - 1>(keys);
    merge_own<size / 4>(keys);
  }
}

}  // namespace detail

/// Sorts the keys of a block, `items` per thread, a power of two. Thread t gets those from t * items on. The network is
/// that of lab 03, but the first exchange of each stage is mirrored, so that no key has to know a direction. `exchange`
/// is in shared memory, and has room for all keys. All threads of the block call it.
template <int items>
__device__ void sort_in_registers(std::uint32_t (&keys)[items], std::uint32_t* exchange) {
  detail::sort_own<items>(keys);
  for (unsigned group = 2; group <= blockDim.x; group *= 2) {
    detail::keep_half(keys, group - 1, true, exchange);
    for (unsigned distance = group / 4; distance > 0; distance /= 2) detail::keep_half(keys, distance, false, exchange);
    detail::merge_own<items / 2>(keys);
  }
}

}  // namespace radix

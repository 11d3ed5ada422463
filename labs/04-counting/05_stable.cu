// Step 05: keys with values, stable.
//
// Idea: values that travel with their keys make equal keys different, so keys must be moved, and in order. A warp owns
// a chunk of the keys and a column of counters. The scan goes through all columns value by value, so the sum for
// (value v, warp w) is the position of warp w's first key of value v: after all smaller keys, and after the keys of
// value v in earlier chunks. Within its chunk the warp processes the keys in order, 32 at a time, and ranks lanes with
// equal keys in the order of the lanes. No position depends on the order of atomics, so equal keys keep their order.
// New since step 04: ranks by __match_any_sync, and one pass per 8 bits of the counter's index, the least significant
// digit first (LSD).
#include <cstdint>
#include <utility>

#include "chunks.cuh"

namespace counting {
namespace {

constexpr int default_threads = 256;
constexpr int min_items_per_thread = 32;  // with fewer, a warp's counters cost more than its keys

/// counts[v * chunks.warps + w] = the number of keys with digit v in the chunk of warp w, for all v below `counters`.
template <class Key>
__global__ void count_chunks(const Key* keys, Chunks chunks, Digit<Key> digit, std::uint64_t* counts, int counters) {
  extern __shared__ unsigned all_counts[];
  unsigned* const own = all_counts + threadIdx.x / 32 * counters;
  const Warp warp(chunks);
  // Your code: set the warp's own counters to 0, count the chunk, and write every counter to the warp's column.
  (void)own, (void)warp;
}

/// Moves each pair to its position; sums[v * chunks.warps + w] is the position of warp w's first key with digit v.
/// Dynamic shared memory: `counters` positions of 64 bits per warp.
template <class Key, class Value>
__global__ void rank_and_scatter(Pairs<const Key, const Value> from, Pairs<Key, Value> to, Chunks chunks,
                                 Digit<Key> digit, const std::uint64_t* sums, int counters) {
  extern __shared__ std::uint64_t all_positions[];
  std::uint64_t* const next = all_positions + threadIdx.x / 32 * counters;
  const Warp warp(chunks);
  // Your code: load the warp's column of sums into next[]. Go through the chunk in order, one key per lane at a
  // time. Rank the lanes with the same digit v (__match_any_sync) in the order of the lanes: the key of rank r goes
  // to position next[v] + r. Then one of them advances next[v] (see hints 2 to 4).
  (void)next, (void)warp;
}

}  // namespace

template <class Key, class Value>
void sort_stable(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads), warps_per_block = (threads + 31) / 32;
  const std::int64_t n = keys.n;
  const unsigned blocks = resident_blocks_or(shape, threads, n, min_items_per_thread);
  if (n < 2) return;
  const Range range = range_of(lab::Span<const Key>{keys.data, n}, shape, stream);
  refuse_large(range);
  const int counters = int(std::min<std::uint64_t>(range.size(), Digit<Key>::values)), passes = passes_of(range);
  const Chunks chunks(n, std::int64_t(blocks) * warps_per_block);
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(counters * chunks.warps, "counters", stream);
  const lab::DeviceArray<Key> scratch_keys = scratch<Key>(n, "keys of scratch", stream);
  const lab::DeviceArray<Value> scratch_values = scratch<Value>(n, "values of scratch", stream);
  const std::size_t shared = std::size_t(warps_per_block) * counters * sizeof(std::uint64_t);
  allow_shared(count_chunks<Key>, shared / 2);
  allow_shared(rank_and_scatter<Key, Value>, shared);

  Pairs<Key, Value> from = {keys.data, values.data}, to = {scratch_keys.data(), scratch_values.data()};
  // Your code: for each pass, the least significant digit first: count_chunks, scan_blelloch() over all counters,
  // rank_and_scatter; then exchange `from` and `to`. If the number of passes is odd, first copy the pairs to
  // scratch.
  (void)passes, (void)from, (void)to, (void)order;
  NOT_WRITTEN("step 05");
}

template void sort_stable(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                          cudaStream_t);

}  // namespace counting

// Step 05: keys with values, stable.
//
// Idea: values that travel with their keys make equal keys different, so keys must be moved, and in order. A warp owns
// a chunk of the keys and a column of counters. The scan goes through all columns value by value, so the sum for
// (value v, warp w) is the position of warp w's first key of value v: after all smaller keys, and after the keys of
// value v in earlier chunks. Within its chunk the warp processes the keys in order, 32 at a time, and ranks lanes with
// equal keys in the order of the lanes. No position depends on the order of atomics, so equal keys keep their order.
// New since step 04: ranks by __match_any_sync, and one pass per 8 bits of the counter's index, the least significant
// digit first (LSD).
//- Cost per digit: 2 reads of the keys, 1 of the values, and 1 write of both. Also a copy of both if the number of
//- digits is odd.
//- Limits: neighbouring lanes write far apart. A pass that first sorts its tile could write whole runs (lab 05).
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
  // begin solution
  //~ // Your code: set the warp's own counters to 0, count the chunk, and write every counter to the warp's column.
  //~ (void)own, (void)warp;
  for (int v = warp.lane; v < counters; v += warp.lanes) own[v] = 0;
  __syncwarp(warp.mask);  // a lane adds to elements of `own` that other lanes have cleared
  for (std::int64_t i = warp.begin + warp.lane; i < warp.end; i += warp.lanes) {
    atomicAdd(&own[digit.extract(keys[i])], 1u);
  }
  __syncwarp(warp.mask);  // a lane reads elements of `own` to which other lanes have added
  for (int v = warp.lane; v < counters; v += warp.lanes) counts[v * chunks.warps + warp.index] = own[v];
  // end solution
}

/// Moves each pair to its position; sums[v * chunks.warps + w] is the position of warp w's first key with digit v.
/// Dynamic shared memory: `counters` positions of 64 bits per warp.
template <class Key, class Value>
__global__ void rank_and_scatter(Pairs<const Key, const Value> from, Pairs<Key, Value> to, Chunks chunks,
                                 Digit<Key> digit, const std::uint64_t* sums, int counters) {
  extern __shared__ std::uint64_t all_positions[];
  std::uint64_t* const next = all_positions + threadIdx.x / 32 * counters;
  const Warp warp(chunks);
  // begin solution
  //~ // Your code: load the warp's column of sums into next[]. Go through the chunk in order, one key per lane at a
  //~ // time. Rank the lanes with the same digit v (__match_any_sync) in the order of the lanes: the key of rank r goes
  //~ // to position next[v] + r. Then one of them advances next[v] (see hints 2 to 4).
  //~ (void)next, (void)warp;
  for (int v = warp.lane; v < counters; v += warp.lanes) next[v] = sums[v * chunks.warps + warp.index];
  __syncwarp(warp.mask);  // a lane reads positions that other lanes have loaded into `next`
  for (std::int64_t first = warp.begin; first < warp.end; first += warp.lanes) {
    const std::int64_t i = first + warp.lane;
    const unsigned active = __ballot_sync(warp.mask, i < warp.end);
    if (i < warp.end) {
      const Key key = from.keys[i];
      const unsigned v = digit.extract(key);
      const unsigned equal = __match_any_sync(active, v);
      const std::uint64_t position = next[v] + __popc(equal & ((1u << warp.lane) - 1));
      __syncwarp(active);                                   // one lane advances next[v], which the others read
      if (equal >> warp.lane == 1) next[v] = position + 1;  // the highest of the lanes has the last of the positions
      to.keys[position] = key;
      to.values[position] = from.values[i];
    }
    __syncwarp(warp.mask);  // the next round reads positions in `next` that other lanes have advanced
  }
  // end solution
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
  // begin solution
  //~ // Your code: for each pass, the least significant digit first: count_chunks, scan_blelloch() over all counters,
  //~ // rank_and_scatter; then exchange `from` and `to`. If the number of passes is odd, first copy the pairs to
  //~ // scratch.
  //~ (void)passes, (void)from, (void)to, (void)order;
  //~ NOT_WRITTEN("step 05");
  if (passes % 2 == 1) {
    CUDA_CHECK(cudaMemcpyAsync(to.keys, from.keys, n * sizeof(Key), cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(to.values, from.values, n * sizeof(Value), cudaMemcpyDeviceToDevice, stream));
    std::swap(from, to);
  }
  for (int pass = 0; pass < passes; ++pass, std::swap(from, to)) {
    const Digit<Key> digit = {{range, order}, pass * Digit<Key>::bits};
    count_chunks<<<blocks, threads, shared / 2, stream>>>(from.keys, chunks, digit, counts.data(), counters);
    CUDA_CHECK(cudaGetLastError());
    scan_blelloch({counts.data(), counts.size()}, counts.span(), {}, stream);
    rank_and_scatter<<<blocks, threads, shared, stream>>>(Pairs<const Key, const Value>{from.keys, from.values}, to,
                                                          chunks, digit, counts.data(), counters);
    CUDA_CHECK(cudaGetLastError());
  }
  // end solution
}

template void sort_stable(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                          cudaStream_t);

}  // namespace counting

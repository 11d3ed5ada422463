// Step 04, with values: stable.
//
// Idea: a value that travels with its key makes equal keys different, so keys have to be moved, and in their order. A
// warp owns a stretch of the keys and a column of counters of its own. The scan goes through all columns value by
// value, so the sum for (value v, warp w) is the place of warp w's first key of value v: behind all smaller keys, and
// behind the keys of value v that stand before its stretch. Inside the stretch the warp meets its keys in order, 32 at
// a time, and lanes with equal keys line up by lane number. No atomic decides anything, so the order is kept.
// A range of more than 256 values is sorted digit by digit of the counter's number, 8 bits each, the lowest first: each
// pass keeps the order that the one before has made.
// Cost, a digit: 2 reads of the keys, 1 of the values, 1 write of both; a copy of both if the digits are odd in number.
// Limits: neighbouring lanes write far apart; a pass that sorts a tile first could write whole runs (lab 05).
#include <bit>
#include <cstdint>
#include <utility>

#include "counting.cuh"
#include "range.cuh"

namespace counting {
namespace {

constexpr int default_threads = 256;
constexpr int digit_bits = 8;
constexpr int digits = 1 << digit_bits;
constexpr int keys_a_warp = 1024;  // at least, or the counters of a warp cost more than its keys

/// Which digit of a key's counter a pass sorts by.
template <class Key>
struct Digit {
  Counter<Key> counter;
  int shift;

  __device__ unsigned of(Key key) const { return counter.of(key) >> shift & (digits - 1); }
};

/// A warp's lanes, its number among all warps of the grid, and its stretch of the keys, begin .. end - 1.
struct Warp {
  int lane, lanes;
  unsigned mask;
  std::int64_t number, begin, end;

  __device__ Warp(std::int64_t n, std::int64_t stretch) {
    const int first = threadIdx.x / 32 * 32, warps_a_block = (blockDim.x + 31) / 32;
    lane = threadIdx.x - first;
    lanes = min(32, int(blockDim.x) - first);  // the last warp of a block may have fewer
    mask = ~0u >> (32 - lanes);
    number = std::int64_t(blockIdx.x) * warps_a_block + threadIdx.x / 32;
    begin = min(n, number * stretch);
    end = min(n, begin + stretch);
  }
};

/// counts[v * warps + w] = keys with digit v in the stretch of warp w, for all v < counters. Dynamic shared memory:
/// `counters` counters of 32 bits a warp.
template <class Key>
__global__ void count_stretches(lab::Span<const Key> keys, Digit<Key> digit, std::int64_t stretch,
                                std::uint64_t* counts, std::int64_t warps, int counters) {
  extern __shared__ unsigned all_counts[];
  unsigned* const own = all_counts + threadIdx.x / 32 * counters;
  const Warp warp(keys.n, stretch);
  // Your code: set the warp's own counters to 0, count the stretch, and write them to their column. Only lanes of
  // this warp touch them: __syncwarp(warp.mask) is barrier enough. Every counter of the column is to be written.
  (void)own, (void)warp;
}

/// Moves each key and its value to its place: sums[v * warps + w] is that of warp w's first key with digit v. Dynamic
/// shared memory: `counters` places of 64 bits a warp.
template <class Key, class Value>
__global__ void move_stretches(lab::Span<const Key> keys, const Value* values, Key* moved_keys, Value* moved_values,
                               Digit<Key> digit, std::int64_t stretch, const std::uint64_t* sums, std::int64_t warps,
                               int counters) {
  extern __shared__ std::uint64_t all_places[];
  std::uint64_t* const next = all_places + threadIdx.x / 32 * counters;
  const Warp warp(keys.n, stretch);
  // Your code: load the warp's column of sums into next[]. Then go through the stretch, one key a lane at a time,
  // in order. Lanes with the same digit v (__match_any_sync) take the places from next[v] on by lane number, and
  // one of them moves next[v] on by their number. Barriers of the warp keep the reading apart from the moving on.
  // In the last round some lanes may have no key: ask who has one (__ballot_sync), and name only those in the
  // match.
  (void)next, (void)warp;
}

/// Where keys and values lie, in the caller's arrays or in scratch.
template <class Key, class Value>
struct Pairs {
  Key* keys;
  Value* values;
};

}  // namespace

template <class Key, class Value>
void sort_range(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads), warps_a_block = (threads + 31) / 32;
  const std::int64_t n = keys.n;
  const unsigned blocks = resident_blocks_or(shape, 2048 / threads, n, std::int64_t(warps_a_block) * keys_a_warp);
  if (n < 2) return;
  const Range range = range_of(lab::Span<const Key>{keys.data, n}, shape, stream);
  refuse_large(range);

  const int counters = int(std::min<std::uint64_t>(range.counters(), digits));
  const int passes = std::max(1, int(std::bit_width(range.counters() - 1) + digit_bits - 1) / digit_bits);
  const std::int64_t warps = std::int64_t(blocks) * warps_a_block, stretch = (n + warps - 1) / warps;
  if (stretch > INT32_MAX) throw lab::Unsupported("a warp cannot count so many keys in 32 bits: ask for more blocks");
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(counters * warps, "counters", stream);
  const lab::DeviceArray<Key> scratch_keys = scratch<Key>(n, "keys of scratch", stream);
  const lab::DeviceArray<Value> scratch_values = scratch<Value>(n, "values of scratch", stream);
  const std::size_t shared = std::size_t(warps_a_block) * counters * sizeof(std::uint64_t);
  allow_shared(count_stretches<Key>, shared / 2);
  allow_shared(move_stretches<Key, Value>, shared);

  Pairs<Key, Value> from = {keys.data, values.data}, to = {scratch_keys.data(), scratch_values.data()};
  // Your code: for each pass, from the lowest digit on: count_stretches, scan_blelloch() over all counters, and
  // move_stretches from `from` to `to`, which then change roles. After the last pass the pairs must lie in the
  // caller's arrays: with an odd number of passes, begin with a copy of them in scratch.
  (void)passes, (void)stretch, (void)from, (void)to, (void)order;
  NOT_WRITTEN("step 04, with values,");
}

template void sort_range(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                         cudaStream_t);

}  // namespace counting

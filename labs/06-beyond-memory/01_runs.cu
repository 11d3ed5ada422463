// Step 01: runs.
//
// Idea: the keys do not fit on the device, but any piece of them that does can be sorted there. The device sorts
// pieces, here very small ones, the tiles of its blocks. The host, which has room for everything, merges all of them in
// a k-way merge. In a block, each thread first sorts its own keys by their bits, from the lowest to the highest: keys
// with a 0 stay in one bucket, and keys with a 1 go to a second one. Then the threads' runs are merged. In each round,
// the smallest of their first keys wins.
// Source of both: S. Cook, "CUDA Programming", 2013, chapter 6, where a round has several barriers.
// Limits: 64 threads per block.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "slots.h"
#include "step/launch_shape.h"

namespace beyond {
namespace {

constexpr int threads_per_block = 64;
constexpr int keys_per_thread = 32;
constexpr int tile_size = threads_per_block * keys_per_thread;

/// A thread's offer for the next place in the sorted tile: its first key, with the thread's index in the lower half. No
/// two offers are equal, and every offer is less than the sentinel `no_offer`, even that of the key 0xFFFFFFFF.
using Offer = unsigned long long;
constexpr Offer no_offer = ~Offer{0};

/// Where the i-th key of this thread is in the tile. Neighbouring threads have neighbouring keys, and each thread keeps
/// to one bank.
__device__ int place(int i) { return i * threads_per_block + threadIdx.x; }

/// Sorts the first `count` keys of this thread. `ones`: its second bucket.
__device__ void sort_own_keys(unsigned* keys, unsigned* ones, int count) {
  // Your code, for each bit, the lowest first. Keys whose bit is 0 move up to the front of `keys`, in their order. The
  // others go to `ones`, and then behind the zeros. Use place() for every index.
}

/// Merges the threads' sorted runs into `sorted`, which has room for the `tile_count` keys of all. `own_count`: how
/// many of them are this thread's. `best`: three offers, all of them no_offer at the start.
__device__ void merge_threads(const unsigned* keys, int own_count, unsigned* sorted, int tile_count, Offer* best) {
  // Your code, one round per key of the tile: every thread that has keys left makes its offer, with atomicMin to
  // best[round % 3]. Barrier. The thread whose index is in the smallest offer stores its key and goes on to its next
  // one. One thread sets the word of a later round back to no_offer: of which round, so that one barrier is enough?
}

/// Sorts each tile by itself.
__global__ void sort_tiles(lab::Span<unsigned> keys, unsigned inversion) {
  __shared__ unsigned zeros[tile_size], ones[tile_size];
  __shared__ Offer best[3];
  const std::int64_t stride = std::int64_t(gridDim.x) * tile_size;
  for (std::int64_t first = std::int64_t(blockIdx.x) * tile_size; first < keys.n; first += stride) {
    const int count = keys.n - first < tile_size ? int(keys.n - first) : tile_size;
    const int t = threadIdx.x, own_count = t < count ? (count - 1 - t) / threads_per_block + 1 : 0;
    for (int i = 0; i < own_count; ++i) zeros[place(i)] = keys.data[first + place(i)] ^ inversion;
    sort_own_keys(zeros, ones, own_count);
    if (t < 3) best[t] = no_offer;
    __syncthreads();  // a thread uses `best`, which others have set, and overwrites `ones`, which they have used
    merge_threads(zeros, own_count, ones, count, best);
    __syncthreads();  // a thread stores keys that others have put into `ones`
    for (int i = 0; i < own_count; ++i) keys.data[first + place(i)] = ones[place(i)] ^ inversion;
    __syncthreads();  // not needed as long as each thread overwrites only places of `ones` that it has stored itself
  }
}

}  // namespace

void merge_runs(Keys keys, Keys scratch, const std::vector<std::int64_t>& begins, lab::Order order) {
  const std::int64_t runs = std::int64_t(begins.size()) - 1;
  const std::uint32_t inversion = inversion_of(order);
  std::vector<std::int64_t> next(begins.begin(), begins.end() - 1);  // of each run
  // A run's first key, with the run's index in the lower half. Once the run is exhausted, a sentinel that is greater.
  const auto take = [&](std::uint32_t run) {
    if (next[run] == begins[run + 1]) return ~std::uint64_t{0};
    return std::uint64_t{keys.data[next[run]++] ^ inversion} << 32 | run;
  };
  // Your code: a tree in an array. Node i has the children 2 i and 2 i + 1, and the leaf of run r is node runs + r.
  // First play all matches from the leaves up: the winner of a node, the smaller one, plays on, and the loser stays
  // there. Then, for each place of scratch, store the key of the overall winner, take the next key of its run, and play
  // its way up again, where the new key meets the loser that stayed at each node. At the end, copy the keys back. With
  // fewer than two runs, there is nothing to do.
  (void)scratch, (void)runs, (void)take;
  NOT_WRITTEN("step 01");
}

void sort_runs(Keys keys, Keys scratch, lab::Order order, std::int64_t device_bytes, lab::LaunchShape shape,
               cudaStream_t stream) {
  if (lab::threads_or(shape, threads_per_block) != threads_per_block) {
    throw lab::Unsupported("this step has 64 threads per block: choose --threads 64 or leave it out");
  }
  constexpr std::int64_t tile_bytes = tile_size * sizeof(unsigned);
  static_assert(lab::allocated_bytes(tile_bytes) == tile_bytes, "whole tiles occupy no more than their keys");
  const std::int64_t piece = std::min(usable_bytes(device_bytes) / tile_bytes * tile_size, keys.n);
  const unsigned blocks = lab::blocks_or(shape, piece, tile_size);
  if (keys.n < 2) return;
  const lab::DeviceArray<unsigned> tiles(piece, stream);
  // Your code: for each piece, copy_in(), sort_tiles, copy_out(), all in `stream`. Then wait for the stream, and merge
  // the runs, which begin every tile_size keys.
  (void)scratch, (void)order, (void)blocks, (void)sort_tiles;
  NOT_WRITTEN("step 01");
}

}  // namespace beyond

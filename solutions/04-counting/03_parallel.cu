// Step 03: every place finds its value.
//
// Idea: a scan that is a tree. On the way up each node gets the sum of what lies below it, on the way down each node
// tells its right child what lies before it: 2 (n - 1) additions instead of n log2 n (Blelloch). And keys without
// values need not be moved: place p of the output finds, by halving among the 257 sums, the value whose run it is in.
// New since step 02: the two sweeps, over padded indexes, so that no two lanes of a warp meet in one bank however far
// apart the nodes of a level lie; placing that no atomic holds up, and that writes 16 bytes a thread at once.
// Cost: 1 byte read and 1 written a key; 20 stages, 24 barriers a tile of 1024 counters.
// Limits: bytes only; a value cannot go along with a key that is not moved.
#include <cstdint>

#include "counting.cuh"
#include "scan.cuh"

namespace counting {
namespace {

constexpr int scan_threads = scan_tile / 2;  // a thread for each pair of the lowest level
constexpr int place_threads = 256;
constexpr int keys_a_thread = 16;  // one vector

/// Where value i of a tile lies in shared memory. There are 32 banks of 4 bytes, that is 16 of our values, which are
/// served at once if they lie in different ones. Nodes that lie 16, or 256, apart would all be in one bank; a gap after
/// each 16 values and a further one after each 256 puts them into different ones.
__host__ __device__ constexpr int padded(int i) { return i + i / 16 + i / 256; }

/// Replaces the `scan_tile` values of a tile by their exclusive sums; returns the sum of all to every thread.
__device__ std::uint64_t scan_in_shared(std::uint64_t* tile) {
  // begin solution
  //~ // Your code, on tile[padded(i)] throughout. Up: for half = 1, 2, .., scan_tile / 2, node k of the level ends at
  //~ // right = (2 k + 2) * half - 1 and its left child at right - half; the right one gets the sum of the two. Then
  //~ // the sum of all is in the last value: keep it, and put 0 there. Down: for half = scan_tile / 2, .., 2, 1 the
  //~ // left child gets what the node has, and the right one that plus what was in the left child. A level has
  //~ // scan_tile / (2 * half) nodes; thread t takes nodes t, t + blockDim.x, .. Which barriers are needed?
  //~ return tile[0];
  for (int half = 1; half < scan_tile; half *= 2) {
    for (int k = threadIdx.x; k < scan_tile / (2 * half); k += blockDim.x) {
      const int right = (2 * k + 2) * half - 1;
      tile[padded(right)] += tile[padded(right - half)];
    }
    __syncthreads();  // the next level adds what others have just written
  }
  const std::uint64_t sum = tile[padded(scan_tile - 1)];
  __syncthreads();  // all have read the sum before it gives way to 0
  if (threadIdx.x == 0) tile[padded(scan_tile - 1)] = 0;
  __syncthreads();  // not needed as long as thread 0 takes the root; here for the day when that changes
  for (int half = scan_tile / 2; half > 0; half /= 2) {
    for (int k = threadIdx.x; k < scan_tile / (2 * half); k += blockDim.x) {
      const int right = (2 * k + 2) * half - 1;
      const std::uint64_t before = tile[padded(right)], left = tile[padded(right - half)];
      tile[padded(right - half)] = before;
      tile[padded(right)] = before + left;
    }
    __syncthreads();  // the next level, or the store, reads what others have just written
  }
  return sum;
  // end solution
}

__global__ void scan_tiles_by_tree(lab::Span<const std::uint64_t> values, std::uint64_t* sums,
                                   std::uint64_t* tile_sums) {
  __shared__ std::uint64_t tile[padded(scan_tile)];
  for (std::int64_t number = blockIdx.x; number * scan_tile < values.n; number += gridDim.x) {
    const std::int64_t first = number * scan_tile, rest = values.n - first;
    const int count = rest < scan_tile ? int(rest) : scan_tile;
    // begin solution
    //~ // Your code: load the tile to its padded places, zeros behind its end; scan_in_shared(); store;
    //~ // tile_sums[number].
    //~ (void)&tile, (void)sums, (void)tile_sums, (void)first, (void)count, (void)scan_in_shared;
    for (int i = threadIdx.x; i < scan_tile; i += blockDim.x) {
      tile[padded(i)] = i < count ? values.data[first + i] : 0;
    }
    __syncthreads();  // the lowest level adds what other threads have loaded
    const std::uint64_t sum = scan_in_shared(tile);
    for (int i = threadIdx.x; i < count; i += blockDim.x) sums[first + i] = tile[padded(i)];
    if (threadIdx.x == 0) tile_sums[number] = sum;
    __syncthreads();  // not needed as long as who stores a place also loads it; here for the day when that changes
    // end solution
  }
}

/// Writes the sorted keys: value v to the places sums[v] .. sums[v + 1] - 1 of the ascending order.
__global__ void place(lab::Span<std::uint8_t> keys, Vectors<std::uint8_t> vectors, const std::uint64_t* sums,
                      lab::Order order) {
  __shared__ std::uint64_t runs[byte_values + 1];
  for (int v = threadIdx.x; v <= byte_values; v += blockDim.x) runs[v] = sums[v];
  __syncthreads();  // every thread reads sums that others have loaded
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t n = keys.n;
  uint4* const all = reinterpret_cast<uint4*>(keys.data + vectors.first);
  // begin solution
  //~ // Your code: thread t makes vectors t, t + step, .. below vectors.count. Vector j holds the places vectors.first
  //~ // + 16 j and on; what is place p in descending order is place n - 1 - p in ascending order. counter_of(runs,
  //~ // place, 0, byte_values) finds the value of a place: for the first place of a vector; the next ones have the same
  //~ // value for as long as the run lasts. Put the 16 bytes together in a uint4 (the first is the lowest byte of x),
  //~ // and write it. Then the edges: keys.data[vectors.edge(e)] for e below vectors.edges.
  //~ (void)&runs, (void)thread, (void)step, (void)n, (void)all;
  const auto value_at = [&](std::int64_t p) {
    return unsigned(counter_of(runs, std::uint64_t(order == lab::Order::ascending ? p : n - 1 - p), 0, byte_values));
  };
  for (std::int64_t j = thread; j < vectors.count; j += step) {
    const std::int64_t p = vectors.first + j * keys_a_thread;
    const unsigned value = value_at(p);
    uint4 vector;
    if (value_at(p + keys_a_thread - 1) == value) {  // nearly always, where there are many keys
      vector.x = vector.y = vector.z = vector.w = value * 0x01010101u;
    } else {
      const auto word = [&](std::int64_t p) {
        return value_at(p) | value_at(p + 1) << 8 | value_at(p + 2) << 16 | value_at(p + 3) << 24;
      };
      vector = {word(p), word(p + 4), word(p + 8), word(p + 12)};
    }
    all[j] = vector;
  }
  for (std::int64_t e = thread; e < vectors.edges; e += step) {
    keys.data[vectors.edge(e)] = std::uint8_t(value_at(vectors.edge(e)));
  }
  // end solution
}

}  // namespace

void scan_blelloch(lab::Span<const std::uint64_t> values, lab::Span<std::uint64_t> sums, lab::LaunchShape shape,
                   cudaStream_t stream) {
  const int threads = lab::threads_or(shape, scan_threads);
  lab::blocks_or(shape, values.n, scan_tile);  // refuses the impossible
  // begin solution
  //~ // Your code: as in step 02, with scan_tiles_by_tree.
  //~ (void)threads, (void)scan_tiles_by_tree;
  //~ NOT_WRITTEN("step 03");
  scan_all(values, sums, shape, stream,
           [&](lab::Span<const std::uint64_t> from, lab::Span<std::uint64_t> to, std::uint64_t* tile_sums) {
             const unsigned blocks = lab::blocks_or(shape, from.n, scan_tile);
             scan_tiles_by_tree<<<blocks, threads, 0, stream>>>(from, to.data, tile_sums);
             CUDA_CHECK(cudaGetLastError());
           });
  // end solution
}

void sort_parallel(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, place_threads);
  const unsigned blocks = resident_blocks_or(shape, 2048 / threads, keys.n, std::int64_t(threads) * keys_a_thread);
  if (keys.n < 2) return;
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(byte_values + 1, "counters", stream);
  // begin solution
  //~ // Your code: histogram() of step 02 into the first byte_values counters, 0 into the one behind them (so that its
  //~ // sum is n), scan_blelloch(), and place. Check the launch.
  //~ (void)blocks, (void)place;
  //~ NOT_WRITTEN("step 03");
  histogram({keys.data, keys.n}, {counts.data(), byte_values}, shape, stream);
  CUDA_CHECK(cudaMemsetAsync(counts.data() + byte_values, 0, sizeof(std::uint64_t), stream));
  scan_blelloch({counts.data(), counts.size()}, counts.span(), shape, stream);
  place<<<blocks, threads, 0, stream>>>(keys, Vectors<std::uint8_t>(keys.data, keys.n), counts.data(), order);
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

}  // namespace counting

// Step 02: counters in shared memory.
//
// Idea: a block counts its own keys in shared memory, where atomics are fast and only its own threads contend, and at
// the end adds its 256 counters to those in global memory. As many threads as there are counters scan them, in log2 n
// stages: stage d adds to each sum the one 2^d positions to its left (Hillis and Steele).
// New since step 01: dynamic shared memory, whose size the launch sets, double buffering, a scan of any n tile by tile,
// and scattering keys. A block claims positions for all its keys of a value with one global atomic, and each key claims
// one of them, its ticket, with an atomic in shared memory.
//- Cost: 4 bytes read and 2 written per key (the count reads 1, the scatter reads 2 and writes 1, and so does the copy
//- back with 1 and 1). 10 stages and 12 barriers per tile of the scan. Keys that are all equal still contend for one
//- counter.
// Limits: the scan makes n log2 n additions where n would do. Scattered keys are written one byte at a time and in no
// particular order, so the sort is unstable.
#include <algorithm>
#include <cstdint>

#include "counting.cuh"
#include "scan.cuh"

namespace counting {
namespace {

constexpr int default_threads = 512;
constexpr int items_per_thread = 64;            // with fewer, the 256 counters cost more than the keys
constexpr std::int64_t scatter_tile = 1 << 15;  // keys that a block scatters at a time

/// counts[v] += the number of keys equal to v. Dynamic shared memory: `counters` counters of 32 bits.
__global__ void histogram_kernel(const std::uint8_t* keys, Vectors<std::uint8_t> vectors, std::uint64_t* counts,
                                 int counters) {
  extern __shared__ unsigned block_counts[];
  const uint4* const all = vectors.in(keys);
  // begin solution
  //~ // Your code: set the block's counters to 0. Count: for_each_index(n, f) of counting.cuh divides vectors 0 ...
  //~ // vectors.count - 1 among the threads; key_of<std::uint8_t>(vector, i), i < 16, are a vector's keys. Then count
  //~ // the edges, keys[vectors.edge(e)] for e below vectors.edges. Finally add the block's counters to counts. Which
  //~ // barriers are needed, and why? One atomic can count several neighbouring equal keys. Is that worth it?
  //~ (void)all, (void)block_counts;
  for (int v = threadIdx.x; v < counters; v += blockDim.x) block_counts[v] = 0;
  __syncthreads();  // a thread adds to elements of `block_counts` that other threads have cleared
  for_each_index(vectors.count, [&](std::int64_t j) {
    const uint4 vector = all[j];
    unsigned value = key_of<std::uint8_t>(vector, 0), equal = 1;
#pragma unroll
    for (int i = 1; i < 16; ++i) {
      const unsigned next = key_of<std::uint8_t>(vector, i);
      if (next != value) {
        atomicAdd(&block_counts[value], equal);
        value = next, equal = 0;
      }
      ++equal;
    }
    atomicAdd(&block_counts[value], equal);
  });
  for_each_index(vectors.edges, [&](std::int64_t e) { atomicAdd(&block_counts[keys[vectors.edge(e)]], 1u); });
  __syncthreads();  // a thread reads elements of `block_counts` to which other threads have added
  for (int v = threadIdx.x; v < counters; v += blockDim.x) {
    if (block_counts[v] != 0) atomic_add(&counts[v], block_counts[v]);
  }
  // end solution
}

/// Scans each tile of scan_tile values by itself. Dynamic shared memory: two buffers of scan_tile values.
__global__ void scan_tiles(Values values, std::uint64_t* sums, std::uint64_t* tile_sums) {
  extern __shared__ std::uint64_t buffers[];
  for (std::int64_t tile = blockIdx.x; tile * scan_tile < values.n; tile += gridDim.x) {
    const std::int64_t first = tile * scan_tile;
    // How many values the tile has. (With items_in_tile(), nvcc 13.0 would read threadIdx again in every stage.)
    const int count = int(min(values.n - first, std::int64_t(scan_tile)));
    // begin solution
    //~ // Your code: load the tile into one buffer. For distance = 1, 2, 4, ... below count: write to the other buffer
    //~ // each sum plus the sum `distance` positions to its left, if there is one; then exchange the buffers. What
    //~ // would go wrong with one buffer? The final sums are inclusive: write them one position to the right, and 0 to
    //~ // the first position. tile_sums[tile] is the sum of the whole tile. Which barriers are needed, also before the
    //~ // next tile?
    //~ (void)buffers, (void)first, (void)count;
    std::uint64_t *from = buffers, *to = buffers + scan_tile;
    for (int i = threadIdx.x; i < count; i += blockDim.x) from[i] = values.data[first + i];
    __syncthreads();  // the first stage reads values that other threads have loaded into `from`
    for (int distance = 1; distance < count; distance *= 2) {
      for (int i = threadIdx.x; i < count; i += blockDim.x) {
        to[i] = i >= distance ? from[i] + from[i - distance] : from[i];
      }
      __syncthreads();  // the next stage reads sums that other threads have written to `to`, and overwrites `from`
      std::uint64_t* const written = to;
      to = from, from = written;
    }
    for (int i = threadIdx.x; i < count; i += blockDim.x) sums[first + i] = i == 0 ? 0 : from[i - 1];
    if (threadIdx.x == 0) tile_sums[tile] = from[count - 1];
    __syncthreads();  // the next tile overwrites sums in `buffers` that other threads may not have stored yet
    // end solution
  }
}

/// Scatters the keys. Each key of value v goes to position next[v], which then advances. Dynamic shared memory:
/// `counters` positions of 64 bits, then as many counters of 32 bits.
__global__ void scatter(lab::Span<const std::uint8_t> keys, std::uint8_t* sorted, std::uint64_t* next, int counters,
                        lab::Order order) {
  extern __shared__ std::uint64_t positions[];
  unsigned* const tile_counts = reinterpret_cast<unsigned*>(positions + counters);
  for (std::int64_t first = blockIdx.x * scatter_tile; first < keys.n; first += gridDim.x * scatter_tile) {
    const int count = items_in_tile(keys.n, first, scatter_tile);
    // begin solution
    //~ // Your code: count the tile's keys in tile_counts[]. Claim that many positions by adding to next[v], with one
    //~ // atomic per value, and note in positions[v] where they begin. Then read the tile again: an atomic on
    //~ // tile_counts[], counting down, gives each key its ticket (it returns the old value), and so its position.
    //~ // Position p of the ascending order is position keys.n - 1 - p of the descending order.
    //~ (void)sorted, (void)next, (void)tile_counts, (void)count;
    for (int v = threadIdx.x; v < counters; v += blockDim.x) tile_counts[v] = 0;
    __syncthreads();  // a thread adds to elements of `tile_counts` that other threads have cleared
    for (int i = threadIdx.x; i < count; i += blockDim.x) atomicAdd(&tile_counts[keys.data[first + i]], 1u);
    __syncthreads();  // a thread claims positions for the keys that other threads have counted in `tile_counts`
    for (int v = threadIdx.x; v < counters; v += blockDim.x) {
      if (tile_counts[v] != 0) positions[v] = atomic_add(&next[v], tile_counts[v]);
    }
    __syncthreads();  // a thread reads elements of `positions` that other threads have written
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const std::uint8_t key = keys.data[first + i];
      const std::int64_t position = positions[key] + atomicSub(&tile_counts[key], 1u) - 1;  // the last ticket first
      sorted[order == lab::Order::ascending ? position : keys.n - 1 - position] = key;
    }
    __syncthreads();  // the next tile sets counters in `tile_counts` to 0 that others may still be counting down
    // end solution
  }
}

}  // namespace

void histogram(lab::Span<const std::uint8_t> keys, lab::Span<std::uint64_t> counts, lab::LaunchShape shape,
               cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads), counters = int(counts.n);
  const unsigned blocks =
      std::max(resident_blocks_or(shape, threads, keys.n, items_per_thread), unsigned(keys.n / max_keys_per_block) + 1);
  CUDA_CHECK(cudaMemsetAsync(counts.data, 0, counts.n * sizeof(std::uint64_t), stream));
  if (keys.n == 0) return;
  // begin solution
  //~ // Your code: launch histogram_kernel with the shared memory that its counters need, and check the launch.
  //~ (void)blocks, (void)counters, (void)histogram_kernel;
  //~ NOT_WRITTEN("step 02");
  histogram_kernel<<<blocks, threads, counters * sizeof(unsigned), stream>>>(
      keys.data, Vectors<std::uint8_t>(keys.data, keys.n), counts.data, counters);
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

void scan_hillis_steele(Values values, lab::Span<std::uint64_t> sums, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, scan_tile);
  // begin solution
  //~ // Your code: scan_all() of scan.cuh calls a function for the values, then for the sums of their tiles, and so on.
  //~ // Pass it a lambda that launches scan_tiles with the lambda's own arguments, not with `values` and `sums` (and
  //~ // with how much shared memory?), and checks the launch.
  //~ (void)threads, (void)scan_tiles;
  //~ NOT_WRITTEN("step 02");
  scan_all(values, sums, shape, stream, [&](unsigned blocks, auto from, std::uint64_t* to, std::uint64_t* tile_sums) {
    scan_tiles<<<blocks, threads, 2 * scan_tile * sizeof(std::uint64_t), stream>>>(from, to, tile_sums);
    CUDA_CHECK(cudaGetLastError());
  });
  // end solution
}

void sort_shared(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = lab::blocks_or(shape, keys.n, scatter_tile);
  if (keys.n < 2) return;
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(byte_values, "counters", stream);
  const lab::DeviceArray<std::uint8_t> sorted = scratch<std::uint8_t>(keys.n, "keys of scratch", stream);
  // begin solution
  //~ // Your code: histogram(), scan_hillis_steele(), the scatter into `sorted`, and the copy back.
  //~ (void)threads, (void)blocks, (void)scatter;
  //~ NOT_WRITTEN("step 02");
  histogram({keys.data, keys.n}, counts.span(), shape, stream);
  scan_hillis_steele({counts.data(), counts.size()}, counts.span(), shape, stream);
  const std::size_t shared = byte_values * (sizeof(std::uint64_t) + sizeof(unsigned));
  scatter<<<blocks, threads, shared, stream>>>(lab::Span<const std::uint8_t>{keys.data, keys.n}, sorted.data(),
                                               counts.data(), byte_values, order);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpyAsync(keys.data, sorted.data(), keys.n, cudaMemcpyDeviceToDevice, stream));
  // end solution
}

}  // namespace counting

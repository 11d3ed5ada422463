// Step 02: counters in shared memory.
//
// Idea: a block counts its own keys in shared memory, where atomics are fast and only its own threads contend, and at
// the end adds its 256 counters to those in global memory. As many threads as there are counters scan them, in log2 n
// stages: stage d adds to each sum the one 2^d positions to its left (Hillis and Steele).
// New since step 01: dynamic shared memory, whose size the launch sets, double buffering, a scan of any n tile by tile,
// and scattering keys. A block claims positions for all its keys of a value with one global atomic, and each key claims
// one of them, its ticket, with an atomic in shared memory.
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
  // Your code: set the block's counters to 0. Count: for_each_index(n, f) of counting.cuh divides vectors 0 ...
  // vectors.count - 1 among the threads; key_of<std::uint8_t>(vector, i), i < 16, are a vector's keys. Then count
  // the edges, keys[vectors.edge(e)] for e below vectors.edges. Finally add the block's counters to counts. Which
  // barriers are needed, and why? One atomic can count several neighbouring equal keys. Is that worth it?
  (void)all, (void)block_counts;
}

/// Scans each tile of scan_tile values by itself. Dynamic shared memory: two buffers of scan_tile values.
__global__ void scan_tiles(Values values, std::uint64_t* sums, std::uint64_t* tile_sums) {
  extern __shared__ std::uint64_t buffers[];
  for (std::int64_t tile = blockIdx.x; tile * scan_tile < values.n; tile += gridDim.x) {
    const std::int64_t first = tile * scan_tile;
    // How many values the tile has. (With items_in_tile(), nvcc 13.0 would read threadIdx again in every stage.)
    const int count = int(min(values.n - first, std::int64_t(scan_tile)));
    // Your code: load the tile into one buffer. For distance = 1, 2, 4, ... below count: write to the other buffer
    // each sum plus the sum `distance` positions to its left, if there is one; then exchange the buffers. What
    // would go wrong with one buffer? The final sums are inclusive: write them one position to the right, and 0 to
    // the first position. tile_sums[tile] is the sum of the whole tile. Which barriers are needed, also before the
    // next tile?
    (void)buffers, (void)first, (void)count;
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
    // Your code: count the tile's keys in tile_counts[]. Claim that many positions by adding to next[v], with one
    // atomic per value, and note in positions[v] where they begin. Then read the tile again: an atomic on
    // tile_counts[], counting down, gives each key its ticket (it returns the old value), and so its position.
    // Position p of the ascending order is position keys.n - 1 - p of the descending order.
    (void)sorted, (void)next, (void)tile_counts, (void)count;
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
  // Your code: launch histogram_kernel with the shared memory that its counters need, and check the launch.
  (void)blocks, (void)counters, (void)histogram_kernel;
  NOT_WRITTEN("step 02");
}

void scan_hillis_steele(Values values, lab::Span<std::uint64_t> sums, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, scan_tile);
  // Your code: scan_all() of scan.cuh calls a function for the values, then for the sums of their tiles, and so on.
  // Pass it a lambda that launches scan_tiles with the lambda's own arguments, not with `values` and `sums` (and
  // with how much shared memory?), and checks the launch.
  (void)threads, (void)scan_tiles;
  NOT_WRITTEN("step 02");
}

void sort_shared(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = lab::blocks_or(shape, keys.n, scatter_tile);
  if (keys.n < 2) return;
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(byte_values, "counters", stream);
  const lab::DeviceArray<std::uint8_t> sorted = scratch<std::uint8_t>(keys.n, "keys of scratch", stream);
  // Your code: histogram(), scan_hillis_steele(), the scatter into `sorted`, and the copy back.
  (void)threads, (void)blocks, (void)scatter;
  NOT_WRITTEN("step 02");
}

}  // namespace counting

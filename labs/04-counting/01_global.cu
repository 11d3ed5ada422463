// Step 01: counters in global memory.
//
// Idea: count the keys of each value and add the counters up. The sums show where the run of each value begins and
// ends, and the sorted array can be written without looking at a key again. No two keys are compared.
// Three kernels: in `count`, each key adds 1 to its counter. In `scan`, one thread adds the counters up. In `walk`,
// each thread walks along the sums and its own chunk of the output, and writes the values that belong there.
// Limits: bytes only.
#include <cstdint>

#include "counting.cuh"

namespace counting {
namespace {

constexpr int default_threads = 256;
constexpr int min_chunk = 256;  // a shorter chunk would cost less than the search for its beginning

/// counts[v] += the number of keys equal to v.
__global__ void count(lab::Span<const std::uint8_t> keys, std::uint64_t* counts) {
  // Your code: a grid-stride loop over the keys, in which each key adds 1 to the counter of its value. Several threads
  // may need the same counter at the same time, so use atomic_add() of counting.cuh.
}

/// Replaces counts[v] by the number of keys below v, for v = 0 ... byte_values. There is one more counter than there
/// are values, a sentinel, so that the run of v is always counts[v] ... counts[v + 1] - 1. Runs in one thread.
__global__ void scan(std::uint64_t* counts) {
  // Your code: go from v = 0 to v = byte_values and keep the sum of the counters so far.
}

/// Writes the sorted keys. Each thread writes a chunk of `chunk` positions, which follows the previous thread's.
__global__ void walk(lab::Span<std::uint8_t> keys, const std::uint64_t* sums, std::int64_t chunk, lab::Order order) {
  const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t rest = keys.n - thread * chunk;
  if (rest <= 0) return;
  const std::int64_t first = thread * chunk, end = first + (rest < chunk ? rest : chunk);
  // Your code: write the value of each position first ... end - 1 of the ascending order. Start with v = 0. As long
  // as sums[v + 1] is not above the position, go on to the next v. The loop never goes back to a smaller v.
  // Position p of the ascending order is position keys.n - 1 - p of the descending order.
  (void)sums, (void)first, (void)end;
}

}  // namespace

void sort_global(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned count_blocks = resident_blocks_or(shape, threads, keys.n, 1);
  const unsigned walk_blocks = lab::blocks_or(shape, keys.n, std::int64_t(threads) * min_chunk);
  if (keys.n < 2) return;
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(byte_values + 1, "counters", stream);
  // Your code: set all counters to 0 (cudaMemsetAsync), then launch count, scan and walk, and check each launch.
  // Choose the chunk so that all threads of the grid together write all n positions.
  (void)count_blocks, (void)walk_blocks, (void)count, (void)scan, (void)walk;
  NOT_WRITTEN("step 01");
}

}  // namespace counting

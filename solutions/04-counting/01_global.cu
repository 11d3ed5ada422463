// Step 01: counters in global memory.
//
// Idea: count the keys of each value; add the counters up; then the sums say where each value begins and ends, and the
// sorted array can be written without looking at a key again. No two keys are compared.
// Three kernels: histogram (each key adds 1 to its counter), scan (one thread adds up), walk (each thread has a stretch
// of the output and walks along the sums to find out what belongs there).
// Cost: 1 byte read and 1 byte written a key; n atomics on 256 addresses; 256 additions by one thread of the whole GPU.
// Limits: atomics on one address are done one after another, so the keys queue at their counters, and if all keys are
// equal they all stand in one queue. Neighbouring threads write far apart, 32 sectors for 32 bytes. Bytes only.
#include <cstdint>

#include "counting.cuh"

namespace counting {
namespace {

constexpr int default_threads = 256;
constexpr int keys_a_walk = 256;  // a shorter stretch would cost less than finding its beginning

/// counts[v] += how many keys are v.
__global__ void count(lab::Span<const std::uint8_t> keys, std::uint64_t* counts) {
  // begin solution
  //~ // Your code: a grid-stride loop over the keys; each adds 1 to the counter of its value. Many threads may want
  //~ // the same counter at the same time: atomic_add() of counting.cuh.
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < keys.n; i += step) {
    atomic_add(&counts[keys.data[i]], 1);
  }
  // end solution
}

/// Makes counts[v] the number of keys below v, for v = 0 .. byte_values: one more than there are values, so that the
/// run of v is always counts[v] .. counts[v + 1]. One thread.
__global__ void scan(std::uint64_t* counts) {
  // begin solution
  //~ // Your code: walk from v = 0 to v = byte_values with the sum of what came before.
  std::uint64_t before = 0;
  for (int v = 0; v <= byte_values; ++v) {
    const std::uint64_t own = counts[v];
    counts[v] = before;
    before += own;
  }
  // end solution
}

/// Writes the sorted keys. Each thread has a stretch of `stretch` places, those that follow its predecessor's.
__global__ void walk(lab::Span<std::uint8_t> keys, const std::uint64_t* sums, std::int64_t stretch, lab::Order order) {
  const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t rest = keys.n - thread * stretch;
  if (rest <= 0) return;
  const std::int64_t first = thread * stretch, end = first + (rest < stretch ? rest : stretch);
  // begin solution
  //~ // Your code: for places first .. end - 1 of the ascending order, write the value v that stands there. Begin with
  //~ // v = 0, and while sums[v + 1] is not above the place, go on to the next v; it never has to go back. In
  //~ // descending order, what is place p of the ascending order is place keys.n - 1 - p.
  //~ (void)sums, (void)first, (void)end;
  int v = 0;
  for (std::int64_t place = first; place < end; ++place) {
    while (sums[v + 1] <= std::uint64_t(place)) ++v;
    keys.data[order == lab::Order::ascending ? place : keys.n - 1 - place] = std::uint8_t(v);
  }
  // end solution
}

}  // namespace

void sort_global(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned counting_blocks = resident_blocks_or(shape, 2048 / threads, keys.n, threads);
  const unsigned walking_blocks = lab::blocks_or(shape, keys.n, std::int64_t(threads) * keys_a_walk);
  if (keys.n < 2) return;
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(byte_values + 1, "counters", stream);
  // begin solution
  //~ // Your code: set all counters to 0 (cudaMemsetAsync), then launch count, scan and walk, and check each launch.
  //~ // The walk's stretch: so long that all threads of its grid together have all n places.
  //~ (void)counting_blocks, (void)walking_blocks, (void)count, (void)scan, (void)walk;
  //~ NOT_WRITTEN("step 01");
  CUDA_CHECK(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(std::uint64_t), stream));
  count<<<counting_blocks, threads, 0, stream>>>(lab::Span<const std::uint8_t>{keys.data, keys.n}, counts.data());
  CUDA_CHECK(cudaGetLastError());
  scan<<<1, 1, 0, stream>>>(counts.data());
  CUDA_CHECK(cudaGetLastError());
  const std::int64_t walkers = std::int64_t(walking_blocks) * threads;
  walk<<<walking_blocks, threads, 0, stream>>>(keys, counts.data(), (keys.n + walkers - 1) / walkers, order);
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

}  // namespace counting

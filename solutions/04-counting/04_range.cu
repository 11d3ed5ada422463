// Step 04: counters for the range only.
//
// Idea: one counter for every 32-bit value would take 32 GiB, but keys often lie close together. A reduction finds the
// smallest and the largest key, and key k gets counter k - smallest: 10^6 keys near 5,000,000 may need 256 counters.
// New since step 03: the reduction, a tree of minima and maxima in each block, counters in shared memory if there are
// few and in global memory if there are many, and ranges that the caller declares (range.cuh).
//- Cost: 2 reads and 1 write of every key, and 4 passes over the counters. The host waits for the range. If there are
//- more counters than keys, most of the time goes into empty ones.
// Limits: max_range counters.
#include <cstdint>

#include "range.cuh"

namespace counting {
namespace {

constexpr int default_threads = 256, min_items_per_thread = 16;

/// Lowers range[0] to the smallest key and raises range[1] to the largest.
template <class Key>
__global__ void find_range(const Key* keys, Vectors<Key> vectors, std::uint32_t* range) {
  __shared__ std::uint32_t smallest[1024], largest[1024];
  const int t = threadIdx.x;
  std::uint32_t low = ~0u, high = 0;
  for_each_key(keys, vectors, [&](Key key) {
    const std::uint32_t bits = lab::ordered_bits(key);
    low = bits < low ? bits : low;
    high = bits > high ? bits : high;
  });
  // begin solution
  //~ // Your code: store low and high; reduce the block's values until one is left (blockDim.x need not be a power of
  //~ // two); then one thread combines the block's result with the other blocks': atomicMin, atomicMax.
  //~ (void)&smallest, (void)&largest, (void)t;
  smallest[t] = low, largest[t] = high;
  __syncthreads();  // a thread reads elements of `smallest` and `largest` that its partner has written
  for (int left = blockDim.x; left > 1; left = (left + 1) / 2) {
    const int partner = t + (left + 1) / 2;
    if (partner < left) {
      smallest[t] = min(smallest[t], smallest[partner]);
      largest[t] = max(largest[t], largest[partner]);
    }
    __syncthreads();  // the next stage reads elements of `smallest` and `largest` that other threads have combined
  }
  if (t == 0) {
    atomicMin(&range[0], smallest[0]);
    atomicMax(&range[1], largest[0]);
  }
  // end solution
}

/// Where a block counts: in global memory, or in 32-bit counters in shared memory, which it then adds to those in
/// global memory.
enum class CountIn { global, shared };

/// counts[v] += the number of keys with counter v.
template <CountIn memory, class Key>
__global__ void count(const Key* keys, Vectors<Key> vectors, Counters<Key> counters, std::uint64_t* counts) {
  extern __shared__ unsigned block_counts[];
  // begin solution
  //~ // Your code: as in step 01 if constexpr (memory == CountIn::global), otherwise as in step 02, with
  //~ // counters.index(key) and for_each_key(keys, vectors, f).
  //~ (void)block_counts;
  if constexpr (memory == CountIn::global) {
    for_each_key(keys, vectors, [&](Key key) { atomic_add(&counts[counters.index(key)], 1); });
  } else {
    for (int v = threadIdx.x; v < counters.size(); v += blockDim.x) block_counts[v] = 0;
    __syncthreads();  // a thread adds to elements of `block_counts` that other threads have cleared
    for_each_key(keys, vectors, [&](Key key) { atomicAdd(&block_counts[counters.index(key)], 1u); });
    __syncthreads();  // a thread reads elements of `block_counts` to which other threads have added
    add_block_counts(block_counts, counts, counters.size());
  }
  // end solution
}

}  // namespace

template <class Key>
void queue_reduction(lab::Span<const Key> keys, std::uint32_t* range, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = resident_blocks_or(shape, threads, keys.n, Vectors<Key>::keys_per_vector);
  // begin solution
  //~ // Your code: give range[0] and range[1] values that any key replaces (cudaMemsetAsync sets bytes). Then
  //~ // find_range. keys.n may be 0.
  //~ (void)blocks;
  //~ NOT_WRITTEN("step 04");
  CUDA_CHECK(cudaMemsetAsync(&range[0], 0xff, sizeof range[0], stream));
  CUDA_CHECK(cudaMemsetAsync(&range[1], 0, sizeof range[1], stream));
  find_range<<<blocks, threads, 0, stream>>>(keys.data, Vectors<Key>(keys.data, keys.n), range);
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

template <class Key>
void sort_within(Range range, lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  refuse_large(range);
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = resident_blocks_or(shape, threads, keys.n, min_items_per_thread);
  const Counters<Key> counters = {range, order};
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(counters.size() + 1, "counters", stream);
  const Vectors<Key> vectors(keys.data, keys.n);
  // begin solution
  //~ // Your code: set the counters to 0. Launch count<CountIn::shared> if count_in_shared(counters, keys.n, blocks),
  //~ // otherwise count<CountIn::global>. Then scan_blelloch() and place_range.
  //~ (void)blocks, (void)vectors;
  //~ NOT_WRITTEN("step 04");
  CUDA_CHECK(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(std::uint64_t), stream));
  if (count_in_shared(counters, keys.n, blocks)) {
    count<CountIn::shared>
        <<<blocks, threads, 4 * counters.size(), stream>>>(keys.data, vectors, counters, counts.data());
  } else {
    count<CountIn::global><<<blocks, threads, 0, stream>>>(keys.data, vectors, counters, counts.data());
  }
  CUDA_CHECK(cudaGetLastError());
  scan_blelloch({counts.data(), counts.size()}, counts.span(), {}, stream);
  place_range<<<blocks, threads, 0, stream>>>(keys.data, vectors, counters, counts.data());
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

template <class Key>
void sort_range(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  lab::blocks_or(shape, lab::threads_or(shape, 1), 1);  // refuses an impossible shape
  if (keys.n < 2) return;
  sort_within(range_of(lab::Span<const Key>{keys.data, keys.n}, shape, stream), keys, order, shape, stream);
}

void reduce(lab::Span<const std::uint32_t> keys, lab::Span<std::uint32_t> range, lab::LaunchShape shape,
            cudaStream_t stream) {
  queue_reduction(keys, range.data, shape, stream);
}

INSTANTIATE_FOR_INTEGERS(std::uint8_t, std::uint32_t, std::int32_t);

}  // namespace counting

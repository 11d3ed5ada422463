// Step 04: counters for the range only.
//
// Idea: one counter for every 32-bit value would take 32 GiB, but keys often lie close together. A reduction finds the
// smallest and the largest key, and key k gets counter k - smallest: 10^6 keys near 5,000,000 may need 256 counters.
// New since step 03: the reduction, a tree of minima and maxima in each block, counters in shared memory if there are
// few and in global memory if there are many, and ranges that the caller declares (range.cuh).
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
  // Your code: store low and high; reduce the block's values until one is left (blockDim.x need not be a power of
  // two); then one thread combines the block's result with the other blocks': atomicMin, atomicMax.
  (void)&smallest, (void)&largest, (void)t;
}

/// Where a block counts: in global memory, or in 32-bit counters in shared memory, which it then adds to those in
/// global memory.
enum class CountIn { global, shared };

/// counts[v] += the number of keys with counter v.
template <CountIn memory, class Key>
__global__ void count(const Key* keys, Vectors<Key> vectors, Counters<Key> counters, std::uint64_t* counts) {
  extern __shared__ unsigned block_counts[];
  // Your code: as in step 01 if constexpr (memory == CountIn::global), otherwise as in step 02, with
  // counters.index(key) and for_each_key(keys, vectors, f).
  (void)block_counts;
}

}  // namespace

template <class Key>
void queue_reduction(lab::Span<const Key> keys, std::uint32_t* range, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = resident_blocks_or(shape, threads, keys.n, Vectors<Key>::keys_per_vector);
  // Your code: give range[0] and range[1] values that any key replaces (cudaMemsetAsync sets bytes). Then
  // find_range. keys.n may be 0.
  (void)blocks;
  NOT_WRITTEN("step 04");
}

template <class Key>
void sort_within(Range range, lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  refuse_large(range);
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = resident_blocks_or(shape, threads, keys.n, min_items_per_thread);
  const Counters<Key> counters = {range, order};
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(counters.size() + 1, "counters", stream);
  const Vectors<Key> vectors(keys.data, keys.n);
  // Your code: set the counters to 0. Launch count<CountIn::shared> if count_in_shared(counters, keys.n, blocks),
  // otherwise count<CountIn::global>. Then scan_blelloch() and place_range.
  (void)blocks, (void)vectors;
  NOT_WRITTEN("step 04");
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

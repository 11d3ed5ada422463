// Step 04: counters for the range only.
//
// Idea: a counter for every value that a 32-bit key can have would be 32 GiB; but keys often lie close together. A
// reduction finds the smallest and the largest, and key k gets counter k - smallest: 10^6 keys between 5,000,000 and
// 5,000,255 need 256 counters.
// New since step 03: the reduction, a tree of minima and maxima in each block; counters in shared memory where they are
// few, in global memory where they are many; ranges that the caller declares. Values are sorted in 04_stable.cu.
// Cost: 2 reads and 1 write of every key, and 4 trips of the counters through memory. The host waits for the range.
// Limits: largest_range counters; where there are more of them than keys, most of the time goes into empty counters.
#include <cstdint>
#include <string>

#include "counting.cuh"
#include "range.cuh"

namespace counting {
namespace {

constexpr int default_threads = 256;
constexpr int shared_counters = 8192;  // 32 KiB of a block's shared memory; more are in global memory
constexpr std::int64_t most_keys_a_block = std::int64_t{1} << 31;  // for 32-bit counters of a block
constexpr int keys_a_thread = 16;                                  // at least

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
  //~ // Your code: low and high are the smallest and largest of this thread's keys. Put them into smallest[t],
  //~ // largest[t]. Then, with left = blockDim.x values, fold the upper half onto the lower one until one is left:
  //~ // thread t joins its own with those of thread t + (left + 1) / 2, if there is one. The number of threads need not
  //~ // be a power of two. At last one thread joins the block's result with that of the other blocks: atomicMin,
  //~ // atomicMax.
  //~ (void)&smallest, (void)&largest, (void)t;
  smallest[t] = low;
  largest[t] = high;
  __syncthreads();  // a thread reads what another has put there
  for (int left = blockDim.x; left > 1; left = (left + 1) / 2) {
    const int partner = t + (left + 1) / 2;
    if (partner < left) {
      smallest[t] = min(smallest[t], smallest[partner]);
      largest[t] = max(largest[t], largest[partner]);
    }
    __syncthreads();  // the next stage reads what this one has joined
  }
  if (t == 0) {
    atomicMin(&range[0], smallest[0]);
    atomicMax(&range[1], largest[0]);
  }
  // end solution
}

/// counts[v] += how many keys have counter v. `in_shared`: counted in the block's dynamic shared memory first, in
/// `counters` counters of 32 bits.
template <bool in_shared, class Key>
__global__ void count(const Key* keys, Vectors<Key> vectors, Counter<Key> counter, std::uint64_t* counts,
                      int counters) {
  extern __shared__ unsigned block_counts[];
  // begin solution
  //~ // Your code: as in step 01 where the counters are not in shared memory, as in step 02 where they are; the counter
  //~ // of a key is counter.of(key). for_each_key(keys, vectors, f) of counting.cuh goes through the keys.
  //~ (void)block_counts;
  if constexpr (!in_shared) {
    for_each_key(keys, vectors, [&](Key key) { atomic_add(&counts[counter.of(key)], 1); });
  } else {
    for (int v = threadIdx.x; v < counters; v += blockDim.x) block_counts[v] = 0;
    __syncthreads();  // nobody counts before all counters are 0
    for_each_key(keys, vectors, [&](Key key) { atomicAdd(&block_counts[counter.of(key)], 1u); });
    __syncthreads();  // all have counted
    for (int v = threadIdx.x; v < counters; v += blockDim.x) {
      if (block_counts[v] != 0) atomic_add(&counts[v], block_counts[v]);
    }
  }
  // end solution
}

/// Queues the reduction; `range` is in device memory.
template <class Key>
void find_range(lab::Span<const Key> keys, std::uint32_t* range, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = resident_blocks_or(shape, 2048 / threads, keys.n, std::int64_t(threads) * Vectors<Key>::keys);
  // begin solution
  //~ // Your code: give range[0] and range[1] the values that the first key of all replaces (cudaMemsetAsync fills
  //~ // bytes); launch find_range and check the launch.
  //~ (void)blocks;
  //~ NOT_WRITTEN("step 04");
  CUDA_CHECK(cudaMemsetAsync(&range[0], 0xff, sizeof range[0], stream));
  CUDA_CHECK(cudaMemsetAsync(&range[1], 0, sizeof range[1], stream));
  find_range<<<blocks, threads, 0, stream>>>(keys.data, Vectors<Key>(keys.data, keys.n), range);
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

/// Sorts keys that all lie in `range`.
template <class Key>
void sort_in(Range range, lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = resident_blocks_or(shape, 2048 / threads, keys.n, std::int64_t(threads) * keys_a_thread);
  refuse_large(range);
  const auto counters = std::int64_t(range.counters());
  // In shared memory if they fit there, if they cannot overflow, and if a block has more keys to count than counters.
  const std::int64_t keys_a_block = keys.n / blocks;
  const bool in_shared = counters <= shared_counters && keys_a_block < most_keys_a_block && keys_a_block >= counters;
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(counters + 1, "counters", stream);
  const Vectors<Key> vectors(keys.data, keys.n);
  const Counter<Key> counter = {range, order};
  // begin solution
  //~ // Your code: all counters 0, and one more behind them; count<true> or count<false>; scan_blelloch(); place_range.
  //~ // How much shared memory does count<true> need?
  //~ (void)blocks, (void)in_shared, (void)vectors, (void)counter;
  //~ NOT_WRITTEN("step 04");
  CUDA_CHECK(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(std::uint64_t), stream));
  if (in_shared) {
    const std::size_t shared = counters * sizeof(unsigned);
    count<true><<<blocks, threads, shared, stream>>>(static_cast<const Key*>(keys.data), vectors, counter,
                                                     counts.data(), int(counters));
  } else {
    count<false><<<blocks, threads, 0, stream>>>(static_cast<const Key*>(keys.data), vectors, counter, counts.data(),
                                                 int(counters));
  }
  CUDA_CHECK(cudaGetLastError());
  scan_blelloch({counts.data(), counts.size()}, counts.span(), {}, stream);
  place_range<<<blocks, threads, 0, stream>>>(keys.data, vectors, counter,
                                              static_cast<const std::uint64_t*>(counts.data()), counters);
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

}  // namespace

void reduce(lab::Span<const std::uint32_t> keys, lab::Span<std::uint32_t> range, lab::LaunchShape shape,
            cudaStream_t stream) {
  find_range(keys, range.data, shape, stream);
}

template <class Key>
Range range_of(lab::Span<const Key> keys, lab::LaunchShape shape, cudaStream_t stream) {
  const lab::DeviceArray<std::uint32_t> found = scratch<std::uint32_t>(2, "ends of the range", stream);
  find_range(keys, found.data(), shape, stream);
  std::uint32_t range[2];
  CUDA_CHECK(cudaMemcpyAsync(range, found.data(), sizeof range, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return {range[0], range[1]};
}

template <class Key>
void sort_range(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  lab::blocks_or(shape, lab::threads_or(shape, 1), 1);  // refuses the impossible
  if (keys.n < 2) return;
  sort_in(range_of(lab::Span<const Key>{keys.data, keys.n}, shape, stream), keys, order, shape, stream);
}

template <class Key>
void sort_declared_range(lab::Span<Key> keys, Key low, Key high, lab::Order order, lab::LaunchShape shape,
                         cudaStream_t stream) {
  lab::blocks_or(shape, lab::threads_or(shape, 1), 1);  // refuses the impossible
  if (lab::less(high, low)) {
    throw lab::Unsupported("the declared range " + std::to_string(low) + " .. " + std::to_string(high) + " is empty");
  }
  if (keys.n == 0) return;
  const Range declared = {lab::ordered_bits(low), lab::ordered_bits(high)};
  // A key outside would be counted, and write, outside the counters: it is found before anything is.
  const Range found = range_of(lab::Span<const Key>{keys.data, keys.n}, shape, stream);
  if (found.smallest < declared.smallest || found.largest > declared.largest) {
    const auto text = [](std::uint32_t bits) {
      return std::to_string(lab::from_ordered_bits<Key>(lab::Bits<Key>(bits)));
    };
    throw lab::Unsupported("key " + text(found.smallest < declared.smallest ? found.smallest : found.largest) +
                           " lies outside the declared range " + std::to_string(low) + " .. " + std::to_string(high) +
                           "; nothing was sorted");
  }
  sort_in(declared, keys, order, shape, stream);
}

template void sort_range(lab::Span<std::uint8_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_range(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_range(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_declared_range(lab::Span<std::uint8_t>, std::uint8_t, std::uint8_t, lab::Order, lab::LaunchShape,
                                  cudaStream_t);
template void sort_declared_range(lab::Span<std::uint32_t>, std::uint32_t, std::uint32_t, lab::Order, lab::LaunchShape,
                                  cudaStream_t);
template void sort_declared_range(lab::Span<std::int32_t>, std::int32_t, std::int32_t, lab::Order, lab::LaunchShape,
                                  cudaStream_t);
template Range range_of(lab::Span<const std::uint32_t>, lab::LaunchShape, cudaStream_t);

}  // namespace counting

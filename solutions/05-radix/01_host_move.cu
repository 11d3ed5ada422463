// Step 01: count on the device, move on the host.
//
// Idea: the device counts the digits of all keys and scans the counters; where a digit's keys begin is then known, and
// the host moves them there one after another, which keeps equal digits in their order.
// New since step 00: a histogram in shared memory, so that most atomics stay within the multiprocessor, and its scan.
// Cost: for each digit of 8 bits the device reads every key once; but every key also crosses the bus twice, and one core
// moves it. That is the lesson: the part that was not made parallel decides.
// Limits: the host's memory and the bus.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "digit.cuh"
#include "scan.cuh"
#include "step/host_view.h"

namespace radix {
namespace {

constexpr int digit_bits = 8;
constexpr int digits = 1 << digit_bits;
constexpr int default_threads = 256;
constexpr int keys_a_thread = 16;

/// Adds the digits of all keys to `counters`, which has a counter a digit.
template <class Key>
__global__ void count_digits(lab::Span<const Key> keys, Digits<Key> of, int shift, long long* counters) {
  __shared__ unsigned counts[digits];  // of the keys that this block has seen
  // begin solution
  //~ // Your code: clear the block's counters; count the digit of every key that the block sees (a grid-stride loop,
  //~ // atomicAdd in shared memory); add what is not 0 to the counters in global memory, which are 64 bits wide:
  //~ // atomicAdd(reinterpret_cast<unsigned long long*>(..), ..). Two barriers are needed. Where?
  //~ (void)counts;
  for (int digit = threadIdx.x; digit < digits; digit += blockDim.x) counts[digit] = 0;
  __syncthreads();  // nobody counts before all counters are clear
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < keys.n; i += stride) {
    atomicAdd(&counts[of.of(keys.data[i], shift, digit_bits)], 1u);
  }
  __syncthreads();  // all keys of the block are counted
  for (int digit = threadIdx.x; digit < digits; digit += blockDim.x) {
    if (counts[digit] == 0) continue;
    atomicAdd(reinterpret_cast<unsigned long long*>(&counters[digit]), static_cast<unsigned long long>(counts[digit]));
  }
  // end solution
}

template <class Key, class Value>
void sort(lab::Span<Key> keys, Value* values, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  // A block's counters have 32 bits: it must not see more keys than they can count.
  const unsigned fewest = unsigned(keys.n >> 31) + 1;
  const unsigned blocks = std::max(fewest, lab::blocks_or(shape, keys.n, std::int64_t{threads} * keys_a_thread));
  if (keys.n < 2) return;
  const Digits<Key> of(order);
  const lab::DeviceArray<long long> counters(digits, stream);
  const auto moved = std::make_unique_for_overwrite<Key[]>(keys.n);
  const auto moved_values = std::make_unique_for_overwrite<Value[]>(has_values<Value> ? keys.n : 0);
  // begin solution
  //~ // Your code: for each digit, the least significant first: clear the counters (cudaMemsetAsync), count_digits,
  //~ // exclusive_scan(counters.span(), stream). Then the host's part: HostViews of counters, keys and values; every key,
  //~ // from first to last, goes to moved[next[digit]++]; copy them back into the view, and store() it.
  //~ (void)blocks, (void)threads, (void)of;
  //~ NOT_WRITTEN("step 01");
  for (int shift = 0; shift < int(8 * sizeof(Key)); shift += digit_bits) {
    CUDA_CHECK(cudaMemsetAsync(counters.data(), 0, digits * sizeof(long long), stream));
    count_digits<<<blocks, threads, 0, stream>>>(lab::Span<const Key>{keys.data, keys.n}, of, shift, counters.data());
    CUDA_CHECK(cudaGetLastError());
    exclusive_scan(counters.span(), stream);
    const lab::HostView<long long> next(counters.span(), stream);
    const lab::HostView<Key> view(keys, stream);
    const lab::HostView<Value> value_view({values, has_values<Value> ? keys.n : 0}, stream);
    for (std::int64_t i = 0; i < keys.n; ++i) {
      const long long place = next.data()[of.of(view.data()[i], shift, digit_bits)]++;
      moved[place] = view.data()[i];
      if constexpr (has_values<Value>) moved_values[place] = value_view.data()[i];
    }
    std::copy_n(moved.get(), keys.n, view.data());
    if constexpr (has_values<Value>) std::copy_n(moved_values.get(), keys.n, value_view.data());
    view.store();
    value_view.store();
  }
  // end solution
}

}  // namespace

template <class Key>
void sort_host_move(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort(keys, static_cast<NoValue*>(nullptr), order, shape, stream);
}

template <class Key, class Value>
void sort_host_move(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                    cudaStream_t stream) {
  sort(keys, values.data, order, shape, stream);
}

template void sort_host_move(lab::Span<std::uint8_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_host_move(lab::Span<std::uint16_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_host_move(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_host_move(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_host_move(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_host_move(lab::Span<std::int64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_host_move(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_host_move(lab::Span<double>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_host_move(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                             cudaStream_t);

}  // namespace radix

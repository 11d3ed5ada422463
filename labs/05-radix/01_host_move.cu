// Step 01: count on the device, move on the host.
//
// Idea: the device counts the digits of all keys and scans the counters, which shows where the keys of each digit
// begin. The host then moves the keys there in their order, so that equal digits keep theirs.
// New since step 00: a histogram in shared memory, so that most atomics stay within the multiprocessor, and its scan.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "array_scan.cuh"
#include "digit.cuh"
#include "step/host_view.h"

namespace radix {
namespace {

constexpr int digit_bits = 8;
constexpr int digit_values = 1 << digit_bits;
constexpr int default_threads = 256;
constexpr int items_per_thread = 16;

constexpr int values_per_thread = 4;

/// integers[i] = the unsigned integer that compares as the float with the bits floats[i] does. A block takes the values
/// of a tile, 4 for each thread.
__global__ void flip_tiles(lab::Span<const std::uint32_t> floats, lab::Span<std::uint32_t> integers) {
  const std::int64_t tile = std::int64_t{values_per_thread} * blockDim.x, stride = gridDim.x * tile;
  for (std::int64_t begin = blockIdx.x * tile; begin < floats.n; begin += stride) {
    for (int item = 0; item < values_per_thread; ++item) {
      // Your code: find the position of this thread's value, so that neighbouring threads have neighbouring values.
      // If there is one, invert its sign bit, or all bits if the sign bit is set.
    }
  }
}

/// floats[i] = the bits of the float from which flip_tiles makes integers[i].
__global__ void unflip_tiles(lab::Span<const std::uint32_t> integers, lab::Span<std::uint32_t> floats) {
  const std::int64_t tile = std::int64_t{values_per_thread} * blockDim.x, stride = gridDim.x * tile;
  for (std::int64_t begin = blockIdx.x * tile; begin < integers.n; begin += stride) {
    for (int item = 0; item < values_per_thread; ++item) {
      // Your code: the inverse.
    }
  }
}

/// Adds the digits of all keys to `counters`, which has one counter per digit.
template <class Key>
__global__ void count_digits(lab::Span<const Key> keys, Digits<Key, digit_bits> digits, long long* counters) {
  __shared__ unsigned counts[digit_values];  // of the keys that this block has seen
  // Your code: clear the block's counters; count the digit of every key that the block sees (a grid-stride loop,
  // atomicAdd in shared memory); add every counter that is not 0 to the counters in global memory, which have 64
  // bits: atomicAdd(reinterpret_cast<unsigned long long*>(...), ...). Two barriers are needed. Where?
  (void)counts;
}

}  // namespace

template <class Key, class Value>
void sort_host_move(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                    cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  // A block's counters have 32 bits, so it must not see more than 2^31 keys.
  const unsigned fewest = unsigned(keys.n >> 31) + 1;
  const unsigned blocks = std::max(fewest, lab::blocks_or(shape, keys.n, std::int64_t{threads} * items_per_thread));
  if (keys.n < 2) return;
  const lab::DeviceArray<long long> counters(digit_values, stream);
  const auto moved_keys = std::make_unique_for_overwrite<Key[]>(keys.n);
  const auto moved_values = std::make_unique_for_overwrite<Value[]>(values.n);
  // Your code, for each digit, the least significant first. Clear the counters (cudaMemsetAsync), count_digits (of
  // lab::Span<const Key>{keys.data, keys.n}), exclusive_scan(counters.span(), stream). Then the host's part: take
  // HostViews of counters, keys and values. (A HostView copies when it is constructed.) Move every key, from first
  // to last, to the next position of its digit in moved_keys. Copy them back into the view, and store() it.
  (void)blocks, (void)threads, (void)order;
  NOT_WRITTEN("step 01");
}

void flip(lab::Span<const std::uint32_t> floats, lab::Span<std::uint32_t> integers, lab::LaunchShape shape,
          cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = lab::blocks_or(shape, floats.n, std::int64_t{threads} * values_per_thread);
  if (floats.n == 0) return;
  // Your code: launch flip_tiles.
  (void)integers, (void)blocks, (void)threads, (void)stream;
  NOT_WRITTEN("step 01");
}

void unflip(lab::Span<const std::uint32_t> integers, lab::Span<std::uint32_t> floats, lab::LaunchShape shape,
            cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const unsigned blocks = lab::blocks_or(shape, integers.n, std::int64_t{threads} * values_per_thread);
  if (integers.n == 0) return;
  // Your code: launch unflip_tiles.
  (void)floats, (void)blocks, (void)threads, (void)stream;
  NOT_WRITTEN("step 01");
}

INSTANTIATE_FOR_ALL_TYPES(sort_host_move);

}  // namespace radix

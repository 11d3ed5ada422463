// How the steps divide the device memory that they may use: into slots, each with its own stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "05-radix/radix.h"
#include "beyond.h"
#include "step/device_array.h"
#include "step/error.h"
#include "step/stream.h"

namespace beyond {

/// While one slot's keys are copied to the device, those of another are sorted, and those of the third are copied back.
inline constexpr int slot_count = 3;

/// The bits to invert in every key, so that the results compare in ascending order: none, or all for descending order.
inline std::uint32_t inversion_of(lab::Order order) { return order == lab::Order::ascending ? 0u : ~0u; }

/// The device memory that a step may use, in bytes. Throws Unsupported if it is too little.
inline std::int64_t usable_bytes(std::int64_t device_bytes) {
  if (device_bytes == 0) {
    cudaMemPool_t pool;
    std::uint64_t reserved = 0, used = 0;
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    device_bytes = std::int64_t(free + (reserved - used)) / 10 * 9;  // the pool keeps what was freed for the next array
  }
  if (device_bytes < fewest_device_bytes) {
    throw lab::Unsupported("this step needs at least " + std::to_string(fewest_device_bytes) +
                           " bytes of device memory, not " + std::to_string(device_bytes) +
                           ": choose --memory 256K or more");
  }
  return device_bytes;
}

// --- the sort of a piece: step 04 of lab 05 ---

inline constexpr int onesweep_threads = 384;

/// How many keys a slot has room for, with all that sort_piece() allocates for them. A binary search finds the number,
/// because the more keys there are, the more memory they need.
inline std::int64_t keys_per_slot(std::int64_t device_bytes) {
  const std::int64_t slot_bytes = device_bytes / slot_count;
  std::int64_t fits = 0, too_many = slot_bytes / std::int64_t{sizeof(std::uint32_t)} + 1;
  while (too_many - fits > 1) {
    const std::int64_t n = fits + (too_many - fits) / 2;
    const std::int64_t keys = lab::allocated_bytes(n * sizeof(std::uint32_t));
    (keys + radix::onesweep_temporary_bytes(n) <= slot_bytes ? fits : too_many) = n;
  }
  return fits;
}

/// Sorts n keys in device memory.
inline void sort_piece(std::uint32_t* keys, std::int64_t n, lab::Order order, int blocks, cudaStream_t stream) {
  radix::sort_onesweep(lab::Span<std::uint32_t>{keys, n}, order, {blocks, onesweep_threads}, stream);
}

/// Room for some keys in device memory, and the stream in which all work on them is queued.
struct Slot {
  explicit Slot(std::int64_t capacity) : keys(capacity, stream) {}

  lab::Stream stream;
  lab::DeviceArray<std::uint32_t> keys;
};

/// Queues a copy of n keys from the host to the device.
inline void copy_in(std::uint32_t* device, const std::uint32_t* host, std::int64_t n, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(device, host, n * sizeof(std::uint32_t), cudaMemcpyHostToDevice, stream));
}

/// Arrays in host memory, and where in device memory their copies go.
struct Copies {
  std::vector<void*> device;
  std::vector<const void*> host;
  std::vector<std::size_t> bytes;

  void add(std::uint32_t* to, const std::uint32_t* from, std::int64_t n) {
    device.push_back(to);
    host.push_back(from);
    bytes.push_back(n * sizeof(std::uint32_t));
  }
};

/// Queues copies from the host to the device. In a stream, each copy waits until the one before has ended, which adds
/// some 10 microseconds. The copies of a batch do not wait for each other. With CUDA 12 the
/// copies are queued one by one.
inline void copy_in(const Copies& copies, cudaStream_t stream) {
  if (copies.bytes.empty()) return;
#if CUDART_VERSION >= 13000
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first_copy = 0;  // of those with these attributes
  CUDA_CHECK(cudaMemcpyBatchAsync(copies.device.data(), copies.host.data(), copies.bytes.data(), copies.bytes.size(),
                                  &attributes, &first_copy, 1, stream));
#else
  for (std::size_t i = 0; i < copies.bytes.size(); ++i) {
    CUDA_CHECK(cudaMemcpyAsync(copies.device[i], copies.host[i], copies.bytes[i], cudaMemcpyHostToDevice, stream));
  }
#endif
}

/// Queues a copy of n keys from the device to the host.
inline void copy_out(std::uint32_t* host, const std::uint32_t* device, std::int64_t n, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(host, device, n * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, stream));
}

/// The slots of a step.
class Slots {
 public:
  explicit Slots(std::int64_t capacity) : slots_{Slot(capacity), Slot(capacity), Slot(capacity)} {}

  /// The slot for the next piece: the slots are used in rotation.
  Slot& next() { return slots_[next_++ % slot_count]; }

  Slot* begin() { return slots_; }
  Slot* end() { return slots_ + slot_count; }

  /// Waits for the work on all slots.
  void synchronize() {
    for (Slot& slot : slots_) CUDA_CHECK(cudaStreamSynchronize(slot.stream));
  }

 private:
  Slot slots_[slot_count];
  std::uint64_t next_ = 0;
};

}  // namespace beyond

// What step 00 uses but does not teach: scratch memory on the host, and writes that bypass the caches.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "radix.h"

namespace radix {

/// One entry per digit of 8 bits: the number of its keys, or where its next key goes. Count has 32 bits where n fits.
template <class Count>
using PerDigit = std::array<Count, 256>;

struct HostMemory {
  void* data = nullptr;
  std::int64_t bytes = -1;  ///< -1: no memory
};

inline thread_local constinit HostMemory kept;  ///< for the next Scratch

/// n uninitialized values, on large pages where the system has them, because a scatter touches many pages at once. The
/// memory freed last is kept for the next call, because getting fresh memory from the system, which clears every page,
/// can take longer than sorting. (The device's pool keeps the device's memory in the same way.)
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t n) {
    const std::int64_t bytes = (n * std::int64_t{sizeof(T)} / page + 1) * page;
    if (kept.bytes >= bytes) {
      memory_ = std::exchange(kept, {});
      return;
    }
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw lab::Unsupported("no memory for a second array of keys: choose a smaller --n");
    madvise(data, bytes, MADV_HUGEPAGE);
    memory_ = {data, bytes};
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() {
    if (kept.bytes < memory_.bytes) std::swap(kept, memory_);
    if (memory_.data != nullptr) munmap(memory_.data, memory_.bytes);
  }
  T* data() const { return static_cast<T*>(memory_.data); }

 private:
  static constexpr std::int64_t page = std::int64_t{1} << 21;
  HostMemory memory_;
};

/// Writes values to 256 regions of an array, in any order of the regions, but always in whole cache lines. Values for
/// one region are collected in a buffer that stays in the cache, and then written to memory, bypassing the caches. If
/// values were written one at a time, each would fetch its line and evict one that is not full yet. The positions
/// within a region must come in ascending order. A writer is for one array, so values need one of their own.
template <class T, class Count>
class LineWriter {
 public:
  /// `firsts`: where each digit's region begins. They are copied.
  LineWriter(T* to, const PerDigit<Count>& firsts)
      : to_(to), firsts_(firsts), offset_(Count(reinterpret_cast<std::uintptr_t>(to) % sizeof(Lines) / sizeof(T))) {}

  void put(unsigned digit, Count position, T value) {
    const Count slot = (position + offset_) % per_buffer;
    buffers_[digit].values[slot] = value;
    if (slot == per_buffer - 1) write(digit, position);
  }

  /// Writes what is left in the buffers. `ends`: one past each digit's last position.
  void finish(const PerDigit<Count>& ends) {
    for (unsigned digit = 0; digit < ends.size(); ++digit) {
      const Count slot = (ends[digit] + offset_) % per_buffer;
      copy(digit, std::max(firsts_[digit], ends[digit] < slot ? Count(0) : Count(ends[digit] - slot)), ends[digit]);
    }
#ifdef __SSE2__
    _mm_sfence();  // writes that bypass the caches are in memory before any later write
#endif
  }

 private:
  static constexpr Count per_buffer = 256 / sizeof(T);  // four lines: fewer changes between pages
  struct alignas(64) Lines {
    T values[per_buffer];
  };

  void write(unsigned digit, Count last) {
    if (last < firsts_[digit] + (per_buffer - 1)) return copy(digit, firsts_[digit], last + 1);
    T* const begin = to_ + (last - (per_buffer - 1));
#ifdef __SSE2__
    auto* const to = reinterpret_cast<__m128i*>(begin);
    const auto* const from = reinterpret_cast<const __m128i*>(buffers_[digit].values);
    for (int i = 0; i < 16; ++i) _mm_stream_si128(to + i, _mm_load_si128(from + i));
#else
    std::memcpy(begin, buffers_[digit].values, sizeof(Lines));
#endif
  }

  void copy(unsigned digit, Count begin, Count end) {
    for (Count i = begin; i < end; ++i) to_[i] = buffers_[digit].values[(i + offset_) % per_buffer];
  }

  T* const to_;
  const PerDigit<Count> firsts_;
  const Count offset_;
  Lines buffers_[256];
};

/// The writer for keys without values: writes nothing.
template <class Count>
class LineWriter<NoValue, Count> {
 public:
  LineWriter(NoValue*, const PerDigit<Count>&) {}
  void put(unsigned, Count, NoValue) {}
  void finish(const PerDigit<Count>&) {}
};

}  // namespace radix

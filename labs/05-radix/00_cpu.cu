// Step 00: the reference, on one core of the host.
//
// Idea: a counting sort for each digit, the least significant first. Since each is stable, the order by the digits done
// so far survives the next one.
// New here: the counters of all digits come from one read of the keys; a digit that all keys share is skipped; signed
// integers and floats are sorted by the bits of an unsigned integer with the same order.
// Cost: one read, then at most one read and one write of every key for each byte.
// Limits: as much memory again as the keys take.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "digit.cuh"
#include "step/host_view.h"

namespace radix {
namespace {

constexpr int digit_bits = 8;
constexpr int digits = 1 << digit_bits;
template <class Key>
constexpr int passes = sizeof(Key);

struct Memory {
  void* data = nullptr;
  std::int64_t bytes = -1;  ///< -1: there is none
};

thread_local Memory kept;  ///< for the next Scratch

/// n values that nothing has written, on large pages where the system has them: a scatter touches many pages at once.
/// The last one given back is kept for the next call: to get fresh memory from the system, which clears every page, can
/// take longer than to sort. (The device's memory is kept in the same way, by its pool.)
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t n) : bytes_((n * std::int64_t{sizeof(T)} / page + 1) * page) {
    if (kept.bytes >= bytes_) {
      data_ = static_cast<T*>(kept.data);
      bytes_ = kept.bytes;
      kept = {};
      return;
    }
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw lab::Unsupported("no memory for a second array of keys: choose a smaller --n");
    madvise(memory, bytes_, MADV_HUGEPAGE);
    data_ = static_cast<T*>(memory);
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() {
    Memory mine{data_, bytes_};
    if (kept.bytes < mine.bytes) std::swap(kept, mine);
    if (mine.data != nullptr) munmap(mine.data, mine.bytes);
  }
  T* data() const { return data_; }

 private:
  static constexpr std::int64_t page = std::int64_t{1} << 21;
  std::int64_t bytes_;
  T* data_;
};

/// Something for each digit: how many keys have it, or where the next one of them goes. Count: 32 bits where n fits.
template <class Count>
using PerDigit = std::array<Count, digits>;

/// Writes values to 256 places of an array by turns, but always whole lines of the cache: what goes to one place is
/// collected in a buffer that stays in the cache, and then sent to memory past the caches. Written one by one, each value
/// would fetch its line and throw out one that is still to be filled. Positions of a digit come in ascending order.
template <class T, class Count>
class LineWriter {
 public:
  /// `firsts`: where each digit begins.
  LineWriter(T* to, const PerDigit<Count>& firsts)
      : to_(to), firsts_(firsts), offset_(Count(reinterpret_cast<std::uintptr_t>(to) % sizeof(Line) / sizeof(T))) {}

  void put(unsigned digit, Count position, T value) {
    const Count slot = (position + offset_) % per_line;
    lines_[digit].values[slot] = value;
    if (slot == per_line - 1) write(digit, position);
  }

  /// Writes what is left; `ends`: behind each digit's last position.
  void finish(const PerDigit<Count>& ends) {
    for (unsigned digit = 0; digit < digits; ++digit) {
      const Count slot = (ends[digit] + offset_) % per_line;
      copy(digit, std::max(firsts_[digit], ends[digit] < slot ? Count(0) : Count(ends[digit] - slot)), ends[digit]);
    }
#ifdef __SSE2__
    _mm_sfence();  // what went past the caches is in memory before anybody is told
#endif
  }

 private:
  static constexpr Count per_line = 256 / sizeof(T);  // four lines: fewer turns between memory's pages
  struct alignas(64) Line {
    T values[per_line];
  };

  void write(unsigned digit, Count last) {
    if (last < firsts_[digit] + (per_line - 1)) return copy(digit, firsts_[digit], last + 1);
    T* const begin = to_ + (last - (per_line - 1));
#ifdef __SSE2__
    auto* const line = reinterpret_cast<__m128i*>(begin);
    const auto* const values = reinterpret_cast<const __m128i*>(lines_[digit].values);
    for (int i = 0; i < 16; ++i) _mm_stream_si128(line + i, _mm_load_si128(values + i));
#else
    std::memcpy(begin, lines_[digit].values, sizeof(Line));
#endif
  }

  void copy(unsigned digit, Count begin, Count end) {
    for (Count i = begin; i < end; ++i) to_[i] = lines_[digit].values[(i + offset_) % per_line];
  }

  T* const to_;
  const PerDigit<Count> firsts_;
  const Count offset_;
  Line lines_[digits];
};

/// Writes no values.
struct NoLines {
  template <class... Arguments>
  explicit NoLines(Arguments&&...) {}
};

/// The counters of all digits, from one read of the keys.
template <class Count, class Key>
std::array<PerDigit<Count>, passes<Key>> count(const Key* keys, std::int64_t n, Digits<Key> of) {
  std::array<PerDigit<Count>, passes<Key>> counters{};
  // Your code: for every key and every pass, count its digit. of.of(key, shift, digit_bits) gives the digit.
  return counters;
}

/// One pass: moves every key (and its value) to its place by the digit at `shift`. `places` holds the digit's counters
/// on entry.
template <class Count, class Key, class Value>
void move(const Key* keys, Key* to, const Value* values, Value* values_to, std::int64_t n, Digits<Key> of, int shift,
          PerDigit<Count>& places) {
  // Your code: turn the counters into the first place of each digit (an exclusive scan), then walk the keys from
  // first to last, and put each at the next place of its digit: to[places[digit]++] = key. When that is right and
  // timed, let a LineWriter do the writing: put() for each key, finish() at the end.
  NOT_WRITTEN("step 00");
}

template <class Count, class Key, class Value>
int sort_counted(Key* keys, Value* values, std::int64_t n, lab::Order order) {
  const Digits<Key> of(order);
  auto counters = count<Count>(keys, n, of);
  const Scratch<Key> scratch(n);
  const Scratch<Value> value_scratch(has_values<Value> ? n : 0);
  Key* from = keys;
  Key* to = scratch.data();
  Value* values_from = values;
  Value* values_to = value_scratch.data();
  int moved = 0;
  for (int pass = 0; pass < passes<Key>; ++pass) {
    const int shift = pass * digit_bits;
    if (counters[pass][of.of(keys[0], shift, digit_bits)] == Count(n)) continue;  // all keys share this digit
    move(from, to, values_from, values_to, n, of, shift, counters[pass]);
    std::swap(from, to);
    std::swap(values_from, values_to);
    ++moved;
  }
  if (from != keys) {
    std::copy_n(from, n, keys);
    if constexpr (has_values<Value>) std::copy_n(values_from, n, values);
  }
  return moved;
}

template <class Key, class Value>
int sort(Key* keys, Value* values, std::int64_t n, lab::Order order) {
  if (n < 2) return 0;
  return n < std::int64_t{1} << 32 ? sort_counted<std::uint32_t>(keys, values, n, order)
                                   : sort_counted<std::uint64_t>(keys, values, n, order);
}

void refuse_shape(lab::LaunchShape shape) {
  if (shape.blocks != 0 || shape.threads != 0)
    throw lab::Unsupported("step 00 runs on the host: it has no launch shape");
}

}  // namespace

template <class Key>
int sort_on_cpu(Key* keys, std::int64_t n, lab::Order order) {
  return sort(keys, static_cast<NoValue*>(nullptr), n, order);
}

template <class Key, class Value>
int sort_on_cpu(Key* keys, Value* values, std::int64_t n, lab::Order order) {
  return sort(keys, values, n, order);
}

template <class Key>
void sort_reference(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  refuse_shape(shape);
  const lab::HostView<Key> view(keys, stream);
  sort_on_cpu(view.data(), keys.n, order);
  view.store();
}

template <class Key, class Value>
void sort_reference(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                    cudaStream_t stream) {
  refuse_shape(shape);
  const lab::HostView<Key> view(keys, stream);
  const lab::HostView<Value> value_view(values, stream);
  sort_on_cpu(view.data(), value_view.data(), keys.n, order);
  view.store();
  value_view.store();
}

template int sort_on_cpu(std::uint8_t*, std::int64_t, lab::Order);
template int sort_on_cpu(std::uint16_t*, std::int64_t, lab::Order);
template int sort_on_cpu(std::uint32_t*, std::int64_t, lab::Order);
template int sort_on_cpu(std::uint64_t*, std::int64_t, lab::Order);
template int sort_on_cpu(std::int32_t*, std::int64_t, lab::Order);
template int sort_on_cpu(std::int64_t*, std::int64_t, lab::Order);
template int sort_on_cpu(float*, std::int64_t, lab::Order);
template int sort_on_cpu(double*, std::int64_t, lab::Order);
template int sort_on_cpu(std::uint32_t*, std::uint32_t*, std::int64_t, lab::Order);
template void sort_reference(lab::Span<std::uint8_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_reference(lab::Span<std::uint16_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_reference(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_reference(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_reference(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_reference(lab::Span<std::int64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_reference(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_reference(lab::Span<double>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_reference(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                             cudaStream_t);

}  // namespace radix

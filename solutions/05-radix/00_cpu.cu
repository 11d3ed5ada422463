// Step 00: the reference, on one core of the host.
//
// Idea: a counting sort for each digit, the least significant first. Since each is stable, the order by the digits done
// so far survives the next one.
// New here: the counters of all digits come from one read of the keys; a digit that all keys share is skipped; signed
// integers and floats are sorted by the bits of an unsigned integer with the same order.
// Cost: one read, then a read and a write of every key for each digit of 11 bits (8 for keys of 1 and 2 bytes).
// Limits: as much memory again as the keys take.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "digit.cuh"
#include "lab/host_view.h"

namespace radix {
namespace {

/// A short key has few digits; a long one has fewer passes with wider digits, as long as the counters fit the cache.
template <class Key>
constexpr int digit_bits = sizeof(Key) <= 2 ? 8 : 11;
template <class Key>
constexpr int passes = (8 * int(sizeof(Key)) + digit_bits<Key> - 1) / digit_bits<Key>;
template <class Key>
constexpr int digits = 1 << digit_bits<Key>;

/// n values that nothing has written, on large pages where the system has them: a scatter touches many pages at once.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t n) : bytes_((n * std::int64_t{sizeof(T)} / page + 1) * page) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw lab::Unsupported("no memory for a second array of keys: choose a smaller --n");
    madvise(memory, bytes_, MADV_HUGEPAGE);
    data_ = static_cast<T*>(memory);
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() { munmap(data_, bytes_); }
  T* data() const { return data_; }

 private:
  static constexpr std::int64_t page = std::int64_t{1} << 21;
  std::int64_t bytes_;
  T* data_;
};

/// Writes values to many places of an array by turns, a whole cache line at a time: a line is collected in a buffer of
/// its own, which stays in the nearest cache, and then goes to memory past the caches. Positions of one digit ascend.
template <class T>
class LineWriter {
 public:
  LineWriter(T* to, const std::int64_t* firsts, int count)
      : to_(to), firsts_(firsts, firsts + count), memory_(std::make_unique<Line[]>(count)),
        lines_(memory_.get()),
        offset_(std::int64_t(reinterpret_cast<std::uintptr_t>(to) % sizeof(Line) / sizeof(T))) {}

  void put(unsigned digit, std::int64_t position, T value) {
    const std::int64_t slot = (position + offset_) % per_line;
    lines_[digit].values[slot] = value;
    if (slot == per_line - 1) write(digit, position + 1);
  }

  /// Writes what is left of a digit, whose last position is end - 1.
  void finish(unsigned digit, std::int64_t end) {
    const std::int64_t slot = (end + offset_) % per_line;
    copy(digit, std::max(firsts_[digit], end - slot), end);
  }

 private:
  static constexpr std::int64_t per_line = 64 / sizeof(T);
  struct alignas(64) Line {
    T values[per_line];
  };

  void write(unsigned digit, std::int64_t end) {
    const std::int64_t begin = end - per_line;
    if (begin < firsts_[digit]) return copy(digit, firsts_[digit], end);
#ifdef __SSE2__
    auto* const line = reinterpret_cast<__m128i*>(to_ + begin);
    const auto* const values = reinterpret_cast<const __m128i*>(lines_[digit].values);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(line + i, _mm_load_si128(values + i));
#else
    std::memcpy(to_ + begin, lines_[digit].values, sizeof(Line));
#endif
  }

  void copy(unsigned digit, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to_[i] = lines_[digit].values[(i + offset_) % per_line];
  }

  T* to_;
  std::vector<std::int64_t> firsts_;
  std::unique_ptr<Line[]> memory_;
  Line* lines_;
  std::int64_t offset_;
};

template <class Key>
using Counters = std::array<std::int64_t, digits<Key>>;

/// The counters of all digits, from one read of the keys: counters[pass][digit].
template <class Key>
std::vector<Counters<Key>> count(const Key* keys, std::int64_t n, Digits<Key> of) {
  std::vector<Counters<Key>> counters(passes<Key>, Counters<Key>{});
  // begin solution
  //~ // Your code: for every key and every pass, count its digit. of.of(key, shift, bits) gives the digit.
  std::int64_t* all[passes<Key>];
  for (int pass = 0; pass < passes<Key>; ++pass) all[pass] = counters[pass].data();
  for (std::int64_t i = 0; i < n; ++i) {
    for (int pass = 0; pass < passes<Key>; ++pass) {
      ++all[pass][of.of(keys[i], pass * digit_bits<Key>, digit_bits<Key>)];
    }
  }
  // end solution
  return counters;
}

/// One pass: moves every key (and its value) to its place by the digit at `shift`. `places` holds the digit's counters
/// on entry.
template <class Key, class Value>
void move(const Key* keys, Key* to, const Value* values, Value* values_to, std::int64_t n, Digits<Key> of, int shift,
          Counters<Key>& places) {
  // begin solution
  //~ // Your code: turn the counters into the first place of each digit (an exclusive scan), then walk the keys from
  //~ // first to last, and put each at the next place of its digit: to[places[digit]++] = key. When that is right, let
  //~ // a LineWriter do the writing: put() for each key, finish() for each digit at the end.
  //~ NOT_WRITTEN("step 00");
  std::int64_t next = 0;
  for (std::int64_t& place : places) next += std::exchange(place, next);
  LineWriter<Key> key_lines(to, places.data(), digits<Key>);
  std::int64_t* const next_place = places.data();
  LineWriter<Value> value_lines(values_to, places.data(), has_values<Value> ? digits<Key> : 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const unsigned digit = of.of(keys[i], shift, digit_bits<Key>);
    const std::int64_t place = next_place[digit]++;
    key_lines.put(digit, place, keys[i]);
    if constexpr (has_values<Value>) value_lines.put(digit, place, values[i]);
  }
  for (unsigned digit = 0; digit < digits<Key>; ++digit) {
    key_lines.finish(digit, places[digit]);
    if constexpr (has_values<Value>) value_lines.finish(digit, places[digit]);
  }
  // end solution
}

template <class Key, class Value>
int sort(Key* keys, Value* values, std::int64_t n, lab::Order order) {
  if (n < 2) return 0;
  const Digits<Key> of(order);
  std::vector<Counters<Key>> counters = count(keys, n, of);
  const Scratch<Key> scratch(n);
  const Scratch<Value> value_scratch(has_values<Value> ? n : 0);
  Key* from = keys;
  Key* to = scratch.data();
  Value* values_from = values;
  Value* values_to = value_scratch.data();
  int moved = 0;
  for (int pass = 0; pass < passes<Key>; ++pass) {
    const int shift = pass * digit_bits<Key>;
    if (counters[pass][of.of(keys[0], shift, digit_bits<Key>)] == n) continue;  // all keys share this digit
    move(from, to, values_from, values_to, n, of, shift, counters[pass]);
    std::swap(from, to);
    std::swap(values_from, values_to);
    ++moved;
  }
  if (from != keys) {
    std::memcpy(keys, from, n * sizeof(Key));
    if constexpr (has_values<Value>) std::memcpy(values, values_from, n * sizeof(Value));
  }
  return moved;
}

void refuse_shape(lab::LaunchShape shape) {
  if (shape.blocks != 0 || shape.threads != 0) throw lab::Unsupported("step 00 runs on the host: it has no launch shape");
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

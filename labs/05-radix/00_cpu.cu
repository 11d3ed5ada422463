// Step 00: the reference, on one core of the host.
//
// Idea: one counting sort for each digit, the least significant first. Each of these sorts is stable, so it keeps the
// order by the digits that were sorted before.
// New here: one read of the keys gives the counters of all digits, a digit that all keys share is skipped, and signed
// integers and floats are sorted by the bits of an unsigned integer with the same order.
// Limits: needs a second array as large as the keys.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "digit.cuh"
#include "line_writer.h"
#include "step/host_view.h"

namespace radix {
namespace {

void refuse_shapes(lab::LaunchShape shape) {
  if (shape.blocks == 0 && shape.threads == 0) return;
  throw lab::Unsupported("step 00 runs on the host and has no launch shape: leave out --blocks and --threads");
}

constexpr int digit_bits = 8;
template <class Key>
constexpr int passes = sizeof(Key);

/// Returns the counters of all digits, from one read of the keys. `digits`: the digits of pass 0.
template <class Count, class Key>
std::array<PerDigit<Count>, passes<Key>> count(const Key* keys, std::int64_t n, Digits<Key, digit_bits> digits) {
  std::array<PerDigit<Count>, passes<Key>> counters{};
  // Your code: count the digit of every key in every pass. digits.extract(key, shift) is the digit at bit `shift`.
  return counters;
}

/// One pass: moves every key, and its value if it has one, to its position. `positions` holds the digit's counters on
/// entry.
template <class Count, class Key, class Value>
void move(Pairs<const Key, const Value> from, Pairs<Key, Value> to, std::int64_t n, Digits<Key, digit_bits> digits,
          PerDigit<Count>& positions) {
  // Your code: turn the counters into the first position of each digit (an exclusive scan). Then go through the
  // keys from first to last, and put each, with its value, in the next position of its digit. Once that is correct
  // and timed, let a LineWriter do the writing: put() for each key, then finish() with the advanced positions.
  NOT_WRITTEN("step 00");
}

/// Sorts with counters of the type Count; returns the number of passes that moved keys.
template <class Count, class Key, class Value>
int sort_with(Pairs<Key, Value> pairs, std::int64_t n, lab::Order order) {
  auto counters = count<Count>(pairs.keys, n, Digits<Key, digit_bits>(order, 0));
  const Scratch<Key> scratch_keys(n);
  const Scratch<Value> scratch_values(has_values<Value> ? n : 0);
  Pairs<Key, Value> from = pairs, to = {scratch_keys.data(), scratch_values.data()};
  int moved = 0;
  for (int pass = 0; pass < passes<Key>; ++pass) {
    const Digits<Key, digit_bits> digits(order, pass * digit_bits);
    if (counters[pass][digits.extract(pairs.keys[0])] == Count(n)) continue;  // all keys share this digit
    move(read_only(from), to, n, digits, counters[pass]);
    std::swap(from, to);
    ++moved;
  }
  if (from.keys != pairs.keys) {
    std::copy_n(from.keys, n, pairs.keys);
    if constexpr (has_values<Value>) std::copy_n(from.values, n, pairs.values);
  }
  return moved;
}

}  // namespace

void sort_strings_on_cpu(unsigned char* strings, std::int64_t n, std::int64_t length) {
  const auto scratch = std::make_unique_for_overwrite<unsigned char[]>(n * length);
  unsigned char *from = strings, *to = scratch.get();
  for (std::int64_t letter = length - 1; letter >= 0; --letter) {
    PerDigit<std::int64_t> positions{};
    // Your code, one pass: count this letter of all strings; turn the counters into the first position of each
    // letter (an exclusive scan); then copy the strings, from first to last, each to the next position of its
    // letter in `to`. String i begins at from + i * length.
    (void)positions;
    NOT_WRITTEN("step 00");
    std::swap(from, to);
  }
  if (from != strings) std::copy_n(from, n * length, strings);
}

void sort_strings(lab::Span<const std::uint64_t> strings, lab::Span<std::uint64_t> sorted, lab::LaunchShape shape,
                  cudaStream_t stream) {
  refuse_shapes(shape);
  const std::int64_t length = sizeof(std::uint64_t), bytes = strings.n * length;
  const auto letters = std::make_unique_for_overwrite<unsigned char[]>(bytes);
  CUDA_CHECK(cudaMemcpyAsync(letters.get(), strings.data, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  sort_strings_on_cpu(letters.get(), strings.n, length);
  CUDA_CHECK(cudaMemcpyAsync(sorted.data, letters.get(), bytes, cudaMemcpyHostToDevice, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

template <class Key, class Value>
int sort_on_cpu(Key* keys, Value* values, std::int64_t n, lab::Order order) {
  if (n < 2) return 0;
  const Pairs<Key, Value> pairs = {keys, values};
  return n < std::int64_t{1} << 32 ? sort_with<std::uint32_t>(pairs, n, order)
                                   : sort_with<std::uint64_t>(pairs, n, order);
}

template <class Key, class Value>
void sort_reference(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                    cudaStream_t stream) {
  refuse_shapes(shape);
  const lab::HostView<Key> key_view(keys, stream);
  const lab::HostView<Value> value_view(values, stream);
  sort_on_cpu(key_view.data(), value_view.data(), keys.n, order);
  key_view.store();
  value_view.store();
}

template int sort_on_cpu(std::uint8_t*, NoValue*, std::int64_t, lab::Order);
template int sort_on_cpu(std::uint16_t*, NoValue*, std::int64_t, lab::Order);
template int sort_on_cpu(std::uint32_t*, NoValue*, std::int64_t, lab::Order);
template int sort_on_cpu(std::uint64_t*, NoValue*, std::int64_t, lab::Order);
template int sort_on_cpu(std::int32_t*, NoValue*, std::int64_t, lab::Order);
template int sort_on_cpu(std::int64_t*, NoValue*, std::int64_t, lab::Order);
template int sort_on_cpu(float*, NoValue*, std::int64_t, lab::Order);
template int sort_on_cpu(double*, NoValue*, std::int64_t, lab::Order);
template int sort_on_cpu(std::uint32_t*, std::uint32_t*, std::int64_t, lab::Order);
INSTANTIATE_FOR_ALL_TYPES(sort_reference);

}  // namespace radix
